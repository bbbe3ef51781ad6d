"""Figures that weigh people by a value or show one: quotients, products, correlations, modes, extremes."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import (
    BROKEN_OFF,
    REFUSED,
    WITHHELD,
    Attack,
    Channel,
    Secret,
    V,
    alike,
    attack,
    backed,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "weights and values",
    attack("the most frequent value of a set with one", "select mode() within group (order by cost) from patients where zip = '10437'", secret=Secret.COST, channel=Channel.EFFECT, expect=WITHHELD),
    attack("the most frequent value, where one person breaks a tie", "select mode() within group (order by ward) from patients where birth_date between date '1957-01-01' and date '1957-05-09'", secret=Secret.WARD, channel=Channel.EFFECT, expect=WITHHELD),
    *alike({
        "whether anybody is, of one person": f"select bool_or({V} and ward = 'oncology') from patients",
        "whether everybody else is not": f"select bool_and(not {V} or ward <> 'oncology') from patients",
        "whether anybody is, by every and a filter": f"select every(ward = 'oncology') filter (where {V}) from patients",
        "one person as a group of grouping sets": f"select sex, {V} and ward = 'oncology', count(*) from patients group by grouping sets ((sex), ({V} and ward = 'oncology'))",
        "largest number of a public table by a secret": f"select max(w.beds) from patients p join wards w on w.ward = p.ward where p.{V}",
    }, secret=Secret.WARD, expect=WITHHELD),
    *alike({
        "correlation with being one person": f"select corr(cost, ({V})::integer) from patients",
        "covariance with a day that one person has": "select covar_pop(cost, extract(doy from birth_date)::integer) from patients where zip = '10437'",
        "product with a number that is zero for all others": f"select sum(cost * ({V})::integer) from patients",
    }, secret=Secret.COST, expect=WITHHELD),
    attack("slope over a day that one person has", "select regr_slope(cost, birth_date - date '1957-05-09') from patients where zip = '10437'", secret=Secret.COST),
    attack("quotient by a number that only one person has", "select avg(cost / (1 + (birth_date - date '1957-05-09')::numeric * 0)), avg(cost / nullif(birth_date - date '1957-05-09', 0)) from patients where zip = '10437'", secret=Secret.COST, expect=REFUSED),
    attack("product with a number for one person in a filter", "select sum(minutes * (1 + (physician = 'Dr. Only')::integer)), sum(minutes) from visits", secret=Secret.VISITS, channel=Channel.EFFECT),
    attack(
        "sum and quotient where one person stays longer than all others",
        "select sum(cost), sum(cost / nullif(discharge_date - admission_date, 0)) from patients"
        " where zip = '10437' and discharge_date - admission_date in (1, 42)",
        secret=Secret.COST,
        channel=Channel.EFFECT,
        expect=REFUSED,
    ),
    attack(
        "quotients with and without one person, in two queries",
        "select sum(minutes * minutes) from visits where physician in ('Dr. Abel', 'Dr. Only')",
        "select sum(minutes * minutes) from visits where physician = 'Dr. Abel'",
        secret=Secret.VISITS,
        channel=Channel.EFFECT,
        policy=PAIRWISE,
        expect=BROKEN_OFF,
    ),
    attack(
        "largest number of a public table in a set with one",
        "select max(z.population) from patients p join zip_regions z on z.zip = p.zip"
        " where p.birth_date between date '1957-05-01' and date '1957-05-15'",
        secret=Secret.PRESENCE,
        channel=Channel.EFFECT,
        expect=WITHHELD,
    ),
    attack("sum of a public table's numbers", "select sum(w.beds) from patients p join wards w on w.ward = p.ward where p.zip = '10437'", secret=Secret.WARD, expect=backed("a sum of numbers of people, each of whom there are k")),
)
# fmt: on
