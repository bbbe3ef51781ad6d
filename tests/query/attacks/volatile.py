"""Predicates that are different each time, or that remember."""

from tests.query.cases import REFUSED, Attack, Secret, V, alike, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "volatile predicates",
    *alike({
        "random picks other people each time": "select sum(cost) from patients where zip = '10437' and random() < 0.5",
        "random in a group": "select floor(random() * 100), sum(cost) from patients group by 1",
        "clock as a predicate": "select sum(cost) from patients where zip = '10437' and extract(microseconds from clock_timestamp())::integer % 2 = 0",
        "gen_random_uuid": "select gen_random_uuid(), cost from patients",
        "setting as a switch between counting and showing": f"select sum(cost) from patients where current_setting('my.all', true) is not null or {V}",
        "number of backends as a switch": f"select sum(cost) from patients where (pg_backend_pid() = 0) or {V}",
        "setseed makes random repeatable": ("select setseed(0.1)", "select sum(cost) from patients where zip = '10437' and random() < 0.97"),
    }, secret=Secret.COST),
    *alike({
        "clock turns a checked query into another one": f"select sum(cost) from patients where now() < timestamp '2023-01-01' or {V}",
        "role as a switch": f"select sum(cost) from patients where current_user = 'postgres' or {V}",
    }, secret=Secret.COST, expect=REFUSED),
)
# fmt: on
