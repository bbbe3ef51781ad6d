"""Sums and counts as equations, of which one person's value is a solution.

After D. Dobkin, A. K. Jones, R. J. Lipton: Secure Databases: Protection Against User Influence (ACM TODS
1979), and F. Y. Chin, G. Özsoyoğlu: Auditing and Inference Control in Statistical Databases (IEEE TSE 1982).
"""

from itertools import pairwise

from tests.query.attacks.shared_parts import LINEAR, NEAR, PAIRWISE, cost_of, number_of
from tests.query.cases import (
    BROKEN_OFF,
    BROKEN_OFF_AS_IS,
    Attack,
    Secret,
    Step,
    V,
    alike,
    attack,
    limited,
    of_kind,
)

_CLASS = "ward = 'oncology'"

_BANDS = ("1950-01-01", "1953-01-01", "1956-01-01", "1959-01-01")

_A, _B, _C = (
    f"(birth_date >= '{low}' and birth_date < '{high}' and not {V})" for low, high in pairwise(_BANDS)
)

_AROUND = "birth_date >= '1957-04-01' and birth_date < '1957-07-01'"
"""Ten people, the victim among them: k, but too few for a sum and a sum of squares."""

_BEFORE = "birth_date >= '1950-01-01' and birth_date < '1957-04-01'"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "linear systems",
    *alike({
        "three sums of two of three sets and one with the victim": (cost_of(f"{_A} or {_B}"), cost_of(f"{_B} or {_C}"), cost_of(f"{_A} or {_C}"), cost_of(f"{_A} or {_B} or {_C} or {V}")),
        "two overlapping sets, their union and their intersection": (cost_of(f"{_A} or {_B}"), cost_of(f"{_B} or {_C} or {V}"), cost_of(_B), cost_of(f"{_A} or {_B} or {_C}")),
        "rows and columns of a table, and all but a cell": (
                Step("select sex, sum(cost) from patients group by sex"),
                Step("select ethnicity, sum(cost) from patients group by ethnicity"),
                cost_of(f"not {V} and sex = 'F' and ethnicity <> 'D'"),
                cost_of(f"sex = 'F' and ethnicity = 'D' and not {V}"),
            ),
    }, secret=Secret.COST, expect=limited("equations over several answers: not promised"), policy=LINEAR),
    attack(
        "a sum that is a sum of disjoint answers and one person",
        *(cost_of(f"{NEAR} and ward = '{ward}' and not {V}") for ward in ("oncology", "surgery", "icu")),
        cost_of(f"{NEAR} and ward in ('oncology', 'surgery', 'icu')"),
        secret=Secret.COST,
        expect=BROKEN_OFF_AS_IS,
        policy=LINEAR,
    ),
    *alike({
        "an average that is weighted by a count of another query": (f"select avg(cost) from patients where {_A} or {_B}", number_of(f"{_A} or {_B}"), f"select avg(cost) from patients where {_A} or {_B} or {V}", number_of(f"{_A} or {_B} or {V}")),
        "sums of squares through variances": (f"select var_pop(cost), avg(cost), count(*) from patients where {_A}", f"select var_pop(cost), avg(cost), count(*) from patients where {_A} or {V}"),
    }, secret=Secret.COST, expect=BROKEN_OFF, policy=PAIRWISE),
    attack("two equations about the values of ten people", Step(f"select avg(cost), stddev(cost) from patients where {_AROUND}"), secret=Secret.COST, expect=limited("equations over several answers, and numbers that are large: not promised")),
    attack(
        "two equations about the ten people in whom two sets differ",
        Step(f"select avg(cost), variance(cost) from patients where {_BEFORE}"),
        Step(f"select avg(cost), variance(cost) from patients where {_BEFORE} or {_AROUND}"),
        secret=Secret.COST,
        policy=PAIRWISE,
        expect=limited("equations over several answers, and numbers that are large: not promised"),
    ),
    attack(
        "overlapping windows of days: each k people, the chain gives one",
        *(
            cost_of(f"birth_date >= '1957-0{month}-01' and birth_date < '1957-0{month + 4}-01' and not {V}")
            for month in (1, 2, 3)
        ),
        cost_of("birth_date >= '1957-01-01' and birth_date < '1957-07-01'"),
        cost_of(
            "birth_date >= '1957-05-01' and birth_date < '1957-07-01' and"
            f" not {V} or birth_date >= '1957-01-01' and birth_date < '1957-05-01'"
        ),
        secret=Secret.COST,
        expect=BROKEN_OFF,
        policy=LINEAR,
    ),
    attack("k - 1 accomplices who know their own costs", cost_of("zip = '10437' and birth_date between '1956-01-01' and '1958-06-30'"), secret=Secret.COST, expect=limited("k people stand behind it; k - 1 of them can always compute the last one"), policy=LINEAR),
    attack(
        "counts alone are a system of equations",
        number_of(f"{_CLASS} and ({_A} or {_B})"),
        number_of(f"{_CLASS} and ({_B} or {_C})"),
        number_of(f"{_CLASS} and ({_A} or {_C})"),
        number_of(f"{_CLASS} and ({_A} or {_B} or {_C} or {V})"),
        secret=Secret.WARD,
        policy=LINEAR,
        expect=limited("equations over several answers, and numbers that are large: not promised"),
    ),
    *alike({
        "rows of a joined table as weights: everybody has three tests, the victim one": ("select sum(cost) from patients", "select sum(p.cost) from patients p join lab_results l on l.patient_id = p.patient_id"),
        "the same through an average": ("select avg(cost), count(*) from patients", "select avg(p.cost), count(*) from patients p join lab_results l on l.patient_id = p.patient_id"),
        "a join with itself on a key of few people as weights": ("select sum(p.cost) from patients p join patients q on q.birth_date = p.birth_date", "select sum(cost) from patients"),
    }, secret=Secret.COST, expect=BROKEN_OFF, policy=LINEAR),
    attack(
        "rows of a joined table as weights, the same people each time",
        *(
            Step(
                "select sum(p.cost), count(distinct p.patient_id) from patients p join visits v"
                f" on v.patient_id = p.patient_id where p.{V} or v.minutes > {least}"
            )
            for least in (4, 5, 6, 7)
        ),
        secret=Secret.COST,
        expect=BROKEN_OFF,
        policy=LINEAR,
    ),
)
# fmt: on
