"""Positions: LIMIT, OFFSET, ORDER BY and DISTINCT ON as channels."""

from tests.query.cases import REFUSED, WITHHELD, Attack, Channel, Secret, V, alike, attack, harmless, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "limit and order",
    *alike({
        "limit 1 of an ordered table": "select ward from patients order by birth_date <> date '1957-05-09' limit 1",
        "backed groups in the order of an aggregate of one person": (f"select ward from patients group by ward order by count(*) filter (where {V}) desc, ward", f"select ward from patients group by ward order by count(*) filter (where {V}) desc limit 1"),
        "order by position and by alias": f"select ward, count(*) filter (where {V}) as c from patients group by ward order by c desc limit 1",
        "fetch first with ties": f"select ward from patients group by ward order by count(*) filter (where {V}) desc fetch first 1 rows with ties",
        "select without a list": f"select from patients where {V} and ward = 'oncology'",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("limit of groups in which one is not backed", "select birth_date, sum(cost) from patients group by birth_date order by 2 desc limit 1", secret=Secret.COST, expect=WITHHELD),
    attack("limit leaves only backed rows in the answer", "select ward, count(*) from patients group by ward, birth_date = date '1957-05-09' order by 2 desc limit 8", secret=Secret.WARD, expect=WITHHELD, channel=Channel.EFFECT),
    attack("offset skips to the group of one", "select zip, birth_date, count(*) from patients group by zip, birth_date order by 3 offset 2990", secret=Secret.PRESENCE, expect=WITHHELD),
    *alike({
        "backed groups in the order of a maximum": "select ward from patients group by ward order by max(cost) desc limit 1",
        "distinct on": "select distinct on (birth_date) birth_date, ward from patients order by birth_date, cost",
        "distinct on in a derived table": f"select d.ward from (select distinct on (birth_date) birth_date, ward from patients) as d where d.{V}",
        "the dearest people inside the query": "select ward, count(*) from (select ward, cost from patients order by cost desc limit 1) x group by ward",
    }, secret=Secret.WARD),
    attack(
        "limit by a parameter, zero rows",
        "select birth_date, ward from patients group by birth_date, ward order by birth_date limit 0",
        secret=Secret.WARD,
        expect=harmless("no row is returned, and nothing may follow from the refusal either"),
        channel=Channel.EFFECT,
    ),
    attack(
        "the first group by a count inside the query, where one person is a group",
        "select p.sex, count(*) from patients p join (select ward, count(*) as n from patients"
        f" where {V} or ward = 'icu' group by ward order by n limit 1) x on x.ward = p.ward group by p.sex",
        secret=Secret.WARD,
        expect=WITHHELD,
    ),
)
# fmt: on
