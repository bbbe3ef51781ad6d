"""Whole rows, comparisons of rows, physical positions, samples, locks."""

from tests.query.cases import REFUSED, Attack, Channel, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "whole rows and system columns",
    *alike({
        "whole row": f"select p from patients p where {V}",
        "whole row as text": f"select p::text from patients p where {V}",
        "whole row to json": f"select to_jsonb(p) from patients p where {V}",
        "row_to_json": f"select row_to_json(p) from patients p where {V}",
        "star of a whole row": f"select (p).* from patients p where {V}",
        "function notation of a column": f"select ward(p) from patients p where {V}",
        "column notation of a function": f"select p.to_jsonb from patients p where {V}",
        "ctid in WHERE": "select ward from patients where ctid = '(0,17)'",
        "ctid as group": f"select ctid, ward, count(*) from patients where {V} group by ctid, ward",
        "xmin as group": "select xmin::text, ward, count(*) from patients group by 1, 2",
        "range of ctid": "select count(*) from patients where ctid >= '(0,16)' and ctid < '(0,18)' and ward = 'oncology'",
        "tablesample of everything": f"select ward from patients tablesample system (100) where {V}",
        "tablesample that repeats": "select ward, count(*) from patients tablesample bernoulli (50) repeatable (3) group by ward",
        "tablesample in a join": f"select p.ward, count(*) from wards w join patients p tablesample system (100) repeatable (1) on w.ward = p.ward where p.{V} group by 1",
    }, secret=Secret.WARD),
    *alike({
        "whole row in a count": f"select count(distinct p) from patients p where {V}",
        "is distinct from a row": f"select count(*) from patients p where {V} and p is distinct from null",
    }, secret=Secret.PRESENCE, expect=REFUSED),
    *alike({
        "field of a whole row": f"select (p).ward from patients p where {V}",
        "comparison of rows": "select count(*) from patients p where row(p.birth_date, p.ward) = row(date '1957-05-09', 'oncology')",
        "only": f"select ward from only (patients) where {V}",
        "inheritance star": f"select ward from patients * where {V}",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("comparison of whole rows ranks by the first column", f"select count(*) from patients p join patients q on p < q and q.{V}", secret=Secret.PRESENCE),
    attack("tableoid as group", "select tableoid::regclass::text, count(*) from lab_results where abnormal group by 1", secret=Secret.TEST),
    *alike({
        "for update": f"select ward from patients where {V} for update",
        "for key share skip locked": "select ward, count(*) from patients group by ward for key share",
        "select into": "select ward into evil from patients",
    }, secret=Secret.SERVER, channel=Channel.EFFECT),
)
# fmt: on
