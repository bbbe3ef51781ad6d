"""Two answers whose difference is one person, by one role or several."""

from tests.query.attacks.shared_parts import LINEAR, NEAR, PAIRWISE, cost_of, number_of
from tests.query.cases import (
    BROKEN_OFF,
    BROKEN_OFF_AS_IS,
    Attack,
    Channel,
    Secret,
    Step,
    V,
    Via,
    alike,
    attack,
    backed,
    of_kind,
)
from tests.query.hospital import BEN

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "differencing",
    *alike({
        "everybody, and everybody but one": ("select sum(cost) from patients", cost_of(f"not {V}")),
        "the smaller set first": (cost_of(f"not {V}"), "select sum(cost) from patients"),
        "averages and counts": (f"select avg(cost), count(*) from patients where {NEAR}", f"select avg(cost), count(*) from patients where {NEAR} and not {V}"),
        "two roles compare notes": (cost_of(NEAR), cost_of(f"{NEAR} and not {V}", BEN)),
        "two sessions of one role": (cost_of(NEAR), cost_of(f"{NEAR} and not {V}", session=2)),
        "a range that is one day shorter": (cost_of("birth_date between '1950-01-01' and '1957-05-09'"), cost_of("birth_date between '1950-01-01' and '1957-05-08'")),
        "groups whose boundaries move by a day": (
                Step(
                    "select width_bucket(birth_date - date '1935-01-01', 0, 27000, 3), sum(cost) from patients"
                    " group by 1"
                ),
                Step(
                    "select case when birth_date < date '1957-05-09' then 'a' else 'b' end, sum(cost) from patients"
                    " group by 1"
                ),
                Step(
                    "select case when birth_date < date '1957-05-10' then 'a' else 'b' end, sum(cost) from patients"
                    " group by 1"
                ),
            ),
        "a group of one answer against another answer": ("select ward, sum(cost) from patients group by ward", f"select ward, sum(cost) from patients where not {V} group by ward"),
        "through a join that drops one person": ("select sum(p.cost) from patients p join zip_regions z on z.zip = p.zip", f"select sum(p.cost) from patients p join calendar c on c.day = p.admission_date where not p.{V}"),
        "through two filters in one query": f"select sum(cost) filter (where {NEAR}), sum(cost) filter (where {NEAR} and not {V}) from patients",
        "through two branches of one query": f"select sum(cost) from patients where {NEAR} union all select sum(cost) from patients where {NEAR} and not {V}",
    }, secret=Secret.COST, expect=BROKEN_OFF, policy=PAIRWISE),
    attack("counts instead of sums", number_of("ward = 'oncology'"), number_of(f"ward = 'oncology' and not {V}"), secret=Secret.WARD, expect=BROKEN_OFF_AS_IS, policy=PAIRWISE),
    attack("total of groups against the total", Step("select sex, sum(cost) from patients group by sex"), cost_of(f"sex = 'M' or not {V}"), secret=Secret.COST, expect=BROKEN_OFF, policy=LINEAR),
    *alike({
        "through different tables with the same people": ("select count(distinct patient_id) from patients where ward = 'oncology'", f"select count(distinct patient_id) from stays where ward = 'oncology' and not {V}"),
        "through the number of rows of a row selection": (f"select sex from patients where {NEAR}", f"select sex from patients where {NEAR} and not ({V} and ward = 'oncology')"),
    }, secret=Secret.WARD, expect=BROKEN_OFF, policy=PAIRWISE),
    attack(
        "through percentiles",
        Step(f"select percentile_cont(0.5) within group (order by cost) from patients where {NEAR}"),
        Step(
            f"select percentile_cont(0.5) within group (order by cost) from patients where {NEAR} and not {V}"
        ),
        secret=Secret.COST,
        expect=BROKEN_OFF,
        policy=PAIRWISE,
        channel=Channel.EFFECT,
    ),
    attack("through count of distinct values", Step(f"select count(distinct cost) from patients where {NEAR}"), Step(f"select count(distinct cost) from patients where {NEAR} and not {V}"), secret=Secret.PRESENCE, expect=BROKEN_OFF_AS_IS, policy=PAIRWISE),
    attack("through NULLs: a count of a column", Step(f"select count(discharge_date), count(*) from patients where {NEAR}"), Step(f"select count(discharge_date) from patients where {NEAR} and not {V}"), secret=Secret.PRESENCE, expect=BROKEN_OFF, policy=PAIRWISE),
    attack(
        "the same query before and after somebody is admitted",
        cost_of(NEAR),
        Step(
            "insert into hospital.patients select 9001, 'New', '9', '1999-09-09', 'F', '10437', 'A',"
            " '2024-01-01', null, ward, diagnosis, cost, false from hospital.patients where patient_id = 17",
            via=Via.ADMIN,
        ),
        cost_of(NEAR),
        secret=Secret.COST,
        expect=backed("asked again, the query has the answer of then"),
        policy=PAIRWISE,
        channel=Channel.EFFECT,
    ),
    attack("queries that were refused do not count as answers", number_of(V), Step("select ward, count(*) from patients group by ward"), secret=Secret.WARD, expect=backed("k people behind every ward; the first query disclosed nothing"), policy=PAIRWISE),
)
# fmt: on
