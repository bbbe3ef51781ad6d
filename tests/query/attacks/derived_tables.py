"""Levels: derived tables and common table expressions in which the inner or outer level is not honest."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import EXPLAINED, REFUSED, Attack, Channel, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "derived tables",
    *alike({
        "inner level of one person, outer level of the public": f"select w.title, d.c from wards w cross join (select sum(cost) as c from patients where {V}) as d",
        "inner level per person, outer level a maximum": "select max(c) from (select patient_id, sum(cost) as c from patients group by patient_id) as d",
        "inner level per person, outer level counts costs in bands of one": "select floor(c), count(*) from (select patient_id, sum(cost) as c from patients group by patient_id) as d group by 1",
        "inner limit picks one": "select avg(cost) from (select cost from patients order by birth_date <> date '1957-05-09', zip limit 1) as d",
        "inner distinct makes rows that are no longer people": f"select sum(c) from (select distinct cost as c from patients where {V} or cost is null) as d",
        "aliases exchange two tables": f"select patients.title, wards.cost from wards as patients, patients as wards where wards.{V}",
        "column aliases exchange two columns": f"select sum(d.sex), count(*) from (select cost, zip from patients where {V}) as d (sex, cost)",
        "honest inner groups, outer difference of two groups": f"select max(c) - min(c) from (select sex, sum(cost) as c from patients where sex = 'F' or not {V} group by sex, {V}) as d",
    }, secret=Secret.COST, expect=REFUSED),
    *alike({
        "inner groups of one, outer filter on their key": f"select sum(n) from (select birth_date, count(*) filter (where ward = 'oncology') as n from patients group by birth_date) as d where {V}",
        "common table expression of one person": f"with one as (select ward from patients where {V}) select ward from one",
        "common table expression named like a public table": f"with wards as (select ward as title from patients where {V}) select title from wards",
        "common table expression named like the protected table": f"with patients as (select * from patients where {V}) select ward from patients",
        "nested WITH hides a name from the outer level": f"with a as (with patients as (select 1 as x from wards) select x from patients) select ward from patients, (select 1 from a limit 1) as d where {V}",
        "materialized common table expression": f"with d as materialized (select ward, count(*) from patients where {V} group by ward) select ward from d",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("two derived tables that differ by one person", f"select a.c - b.c from (select sum(cost) as c from patients where ward <> 'x') as a, (select sum(cost) as c from patients where not {V}) as b", secret=Secret.COST, expect=REFUSED, policy=PAIRWISE),
    attack(
        "join of two aggregated levels on their sums",
        "select a.ward from (select ward, sum(cost) as c from patients group by ward) as a"
        f" join (select ward, sum(cost) as c from patients where not {V} group by ward) as b"
        " on b.ward = a.ward and b.c <> a.c",
        secret=Secret.WARD,
        expect=REFUSED,
        policy=PAIRWISE,
    ),
    attack("common table expression that writes", "with gone as (delete from patients returning ward) select count(*) from gone", secret=Secret.SERVER, expect=EXPLAINED, channel=Channel.EFFECT),
)
# fmt: on
