"""Groups of any size that show one row: equal values with different spellings, chosen by a condition."""

from tests.query.cases import Attack, Channel, Secret, alike, attack, harmless, of_kind

FIRST = "birth_date >= date '1957-05-09' and birth_date < date '1958-11-18'"
"""A set of about sixty people of whom the victim is the first in the table."""

_ONE_SPELLING = harmless("equal values of people are shown in one spelling")
_ZERO = "case when cost > 5000 then -1 else 1 end * 0::float8"
_DECIMAL = "case when cost > 5000 then 1.00 else 1.0 end + 0"
_RAREST = "case when cost > 60000 then 1." + 30 * "0" + " else 1.0 end"
_WARDS = "case when ward = 'oncology' then 1.00 when ward = 'psychiatry' then 1.000 else 1.0 end + 0"
_LENGTH = "case when cost > 5000 then interval '1 month' else interval '30 days' end"


def _grouped(key: str) -> str:
    return f"select {key}, count(*) from patients where {FIRST} group by 1"


# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "spellings",
    *alike({
        "decimals of a group key": _grouped(_DECIMAL),
        "decimals of equal rows": f"select distinct {_DECIMAL} from patients where {FIRST}",
        "decimals of a group key as text": f"select x::text, sum(n) from (select {_DECIMAL} as x, count(*) as n from patients where {FIRST} group by 1) as q group by 1",
        "decimals of a key of grouping sets": f"select {_DECIMAL}, count(*) from patients where {FIRST} group by rollup ({_DECIMAL})",
        "decimals of a sum": f"select sum({_RAREST}) from patients where {FIRST}",
        "decimals of a mean": f"select avg({_RAREST}) from patients where {FIRST}",
        "decimals of a deviation": f"select stddev({_RAREST} * extract(day from birth_date)) from patients where {FIRST}",
        "the sign of zero": _grouped(_ZERO),
        "the sign of a zero that rounding makes": _grouped("round(case when cost > 5000 then -0.1 else 0.1 end::float8)"),
    }, secret=Secret.COST, expect=_ONE_SPELLING),
    attack("decimals that tell one of many wards", _grouped(_WARDS), secret=Secret.WARD, expect=_ONE_SPELLING),
    attack(
        "decimals of the most frequent value",
        f"select mode() within group (order by {_DECIMAL}) from patients where {FIRST}",
        secret=Secret.COST,
        # which of equal values comes first in the order is PostgreSQL's choice
        channel=Channel.EFFECT,
        expect=_ONE_SPELLING,
    ),
    attack("a month or thirty days", f"select x::text, n from (select {_LENGTH} as x, count(*) as n from patients where {FIRST} group by 1) as q", secret=Secret.COST),
)
# fmt: on
