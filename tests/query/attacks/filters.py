"""FILTER with few people, on its own or against its complement."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, alike, attack, limited, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "filters",
    *alike({
        "filter of one person": f"select sum(cost) filter (where {V}) from patients",
        "filter of all but one person": f"select sum(cost), sum(cost) filter (where not {V}) from patients",
        "filter with a value that only the victim has": "select count(*) filter (where cost = 94821.37) from patients",
        "a union of two filters and one person": f"select sum(cost) filter (where sex = 'M'), sum(cost) filter (where sex = 'F' and readmitted and not {V}), sum(cost) filter (where sex = 'M' or (sex = 'F' and readmitted and not {V}) or {V}) from patients",
        "six filters in steps of one day": "select " + ", ".join(f"sum(cost) filter (where birth_date <= date '1957-05-0{day}')" for day in range(4, 10)) + " from patients",
    }, secret=Secret.COST, expect=WITHHELD),
    *alike({
        "filter of one person beside an honest count": f"select ward, count(*), count(*) filter (where {V}) from patients group by ward",
        "filters that nobody passes tell as much as filters that one passes": f"select count(*), count(*) filter (where {V} and ward = 'oncology') from patients",
    }, secret=Secret.WARD, expect=WITHHELD),
    attack(
        "two filters whose difference is one person",
        "select avg(cost) filter (where zip = '10437' and birth_date <= date '1957-05-09'),"
        " avg(cost) filter (where zip = '10437' and birth_date < date '1957-05-09') from patients",
        secret=Secret.COST,
        expect=REFUSED,
        policy=PAIRWISE,
    ),
    *alike({
        "two filters, one null aware": f"select count(*) filter (where {V} is true), count(*) filter (where ({V}) is not true) from patients where ward = 'oncology'",
        "filter hidden in HAVING": f"select ward from patients group by ward having count(*) filter (where {V}) > 0",
        "filter in an expression": f"select 1.0 * count(*) filter (where {V}) / count(*) from patients where ward = 'oncology'",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("filter over the rows of one person", "select department, count(*) filter (where physician = 'Dr. Only') from visits group by department", secret=Secret.VISITS, expect=WITHHELD),
    attack(
        "two filters and their total leave one person",
        "select sum(cost), sum(cost) filter (where birth_date < date '1957-05-09'),"
        " sum(cost) filter (where birth_date > date '1957-05-09') from patients",
        secret=Secret.COST,
        expect=limited("all, those before one person and those after: three answers, which is not promised"),
    ),
    attack(
        "three filters of which every two overlap",
        f"select sum(cost) filter (where sex = 'F' and not {V}), sum(cost) filter (where sex = 'M'),"
        " avg(cost), count(*) from patients",
        secret=Secret.COST,
        expect=limited("of all, of women and of men: three answers are an equation, which is not promised"),
    ),
    attack(
        "a filter leaves out one person with a value and many without",
        "select sum(l.value), sum(l.value) filter (where l.value is not null and not"
        " p.birth_date = '1957-05-09')"
        " from lab_results l join patients p using (patient_id) where l.test = 'hiv'",
        secret=Secret.TEST,
        expect=WITHHELD,
    ),
)
# fmt: on
