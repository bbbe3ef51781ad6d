"""Whole rows, comparisons of rows, physical positions, samples, locks."""

from __future__ import annotations

from tests.query.cases import REFUSED, Attack, Channel, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "whole rows and system columns",
    attack("whole row", f"select p from patients p where {V}", secret=Secret.WARD),
    attack("whole row as text", f"select p::text from patients p where {V}", secret=Secret.WARD),
    attack(
        "whole row in a count",
        f"select count(distinct p) from patients p where {V}",
        secret=Secret.PRESENCE,
        expect=REFUSED,
    ),
    attack("whole row to json", f"select to_jsonb(p) from patients p where {V}", secret=Secret.WARD),
    attack("row_to_json", f"select row_to_json(p) from patients p where {V}", secret=Secret.WARD),
    attack("star of a whole row", f"select (p).* from patients p where {V}", secret=Secret.WARD),
    attack(
        "field of a whole row",
        f"select (p).ward from patients p where {V}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack("function notation of a column", f"select ward(p) from patients p where {V}", secret=Secret.WARD),
    attack(
        "column notation of a function", f"select p.to_jsonb from patients p where {V}", secret=Secret.WARD
    ),
    attack(
        "comparison of rows",
        "select count(*) from patients p where row(p.birth_date, p.ward) = row(date"
        " '1957-05-09', 'oncology')",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "comparison of whole rows ranks by the first column",
        f"select count(*) from patients p join patients q on p < q and q.{V}",
        secret=Secret.PRESENCE,
    ),
    attack(
        "is distinct from a row",
        f"select count(*) from patients p where {V} and p is distinct from null",
        secret=Secret.PRESENCE,
        expect=REFUSED,
    ),
    attack("ctid in WHERE", "select ward from patients where ctid = '(0,17)'", secret=Secret.WARD),
    attack(
        "ctid as group",
        f"select ctid, ward, count(*) from patients where {V} group by ctid, ward",
        secret=Secret.WARD,
    ),
    attack(
        "xmin as group", "select xmin::text, ward, count(*) from patients group by 1, 2", secret=Secret.WARD
    ),
    attack(
        "tableoid as group",
        "select tableoid::regclass::text, count(*) from lab_results where abnormal group by 1",
        secret=Secret.TEST,
    ),
    attack(
        "range of ctid",
        "select count(*) from patients where ctid >= '(0,16)' and ctid < '(0,18)' and ward = 'oncology'",
        secret=Secret.WARD,
    ),
    attack(
        "tablesample of everything",
        f"select ward from patients tablesample system (100) where {V}",
        secret=Secret.WARD,
    ),
    attack(
        "tablesample that repeats",
        "select ward, count(*) from patients tablesample bernoulli (50) repeatable (3) group by ward",
        secret=Secret.WARD,
    ),
    attack(
        "tablesample in a join",
        "select p.ward, count(*) from wards w join patients p tablesample"
        f" system (100) repeatable (1) on w.ward = p.ward where p.{V} group by 1",
        secret=Secret.WARD,
    ),
    attack("only", f"select ward from only (patients) where {V}", secret=Secret.WARD, expect=REFUSED),
    attack("inheritance star", f"select ward from patients * where {V}", secret=Secret.WARD, expect=REFUSED),
    attack(
        "for update",
        f"select ward from patients where {V} for update",
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
    ),
    attack(
        "for key share skip locked",
        "select ward, count(*) from patients group by ward for key share",
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
    ),
    attack(
        "select into",
        "select ward into evil from patients",
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
    ),
)
