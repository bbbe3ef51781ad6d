"""Subqueries in expressions: each can look at one person while the outer level looks at many."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import WITHHELD, Attack, Channel, Secret, V, alike, attack, of_kind

_VICTIM_IN_ONCOLOGY = f"(select 1 from patients v where v.{V} and v.ward = 'oncology')"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "subqueries",
    *alike({
        "scalar subquery beside an honest aggregate": f"select count(*), (select ward from patients where {V}) from patients",
        "exists as an oracle in WHERE": f"select count(*) from patients where exists {_VICTIM_IN_ONCOLOGY}",
        "exists over the public table: no protected table outside": f"select title from wards where exists {_VICTIM_IN_ONCOLOGY}",
        "not exists": f"select count(*) from calendar where not exists {_VICTIM_IN_ONCOLOGY}",
        "not in with a subquery": f"select title from wards where ward not in (select ward from patients where {V})",
        "row in a subquery": f"select title from wards where (ward, floor) in (select p.ward, 2 from patients p where p.{V})",
        "array of a subquery": f"select array(select ward from patients where {V})",
        "subquery in HAVING": "select sex, count(*) from patients group by sex having exists " + _VICTIM_IN_ONCOLOGY,
        "subquery in ORDER BY": f"select title from wards order by (select case when p.ward = 'oncology' then 1 else -1 end from patients p where p.{V}) * beds limit 2",
        "subquery in LIMIT": f"select title from wards order by title limit (select length(ward) - 6 from patients where {V})",
        "subquery in OFFSET": f"select sex, count(*) from patients group by sex order by 1 offset (select count(*) from patients where {V} and ward = 'oncology')",
        "subquery in a join condition": f"select count(*) from wards w join icd_codes c on w.ward = (select ward from patients where {V}) and w.floor = 2 and w.building = 'A'",
        "subquery in FILTER": f"select count(*) filter (where exists {_VICTIM_IN_ONCOLOGY}) from patients",
        "subquery inside CASE of a grouping expression": f"select case when exists {_VICTIM_IN_ONCOLOGY} then sex else 'x' end, count(*) from patients group by 1",
        "membership that names the outer query": f"select count(*) from patients p where p.zip in (select z.zip from zip_regions z where p.{V} and p.ward = 'oncology')",
        "membership under OR": f"select count(*) from patients where sex = 'F' or ward in (select ward from patients where {V})",
    }, secret=Secret.WARD),
    *alike({
        "scalar subquery over the public table only": f"select ward, (select p.cost from patients p where p.{V}) from wards",
        "one person beside an honest mean": f"select avg(cost) - (select max(cost) from patients where {V}) from patients",
        "a mean as a narrow range beside one person": f"select sum(cost) from patients where cost between (select avg(cost) from patients) and (select avg(cost) + 20 from patients) or {V}",
        "a calculation that fails for one person's value of a query": f"select count(*) from patients where cost / (select avg(cost) - 94821.37 from patients where {V}) > 0",
        "any": f"select count(*) from wards where ward = any (select ward from patients where {V} and cost > 50000)",
        "all": f"select count(*) from wards where beds < all (select cost from patients where {V} and cost > 50000) and floor > any (select 0 from patients where {V} and readmitted)",
        "subquery in GROUP BY": f"select count(*) from patients group by zip < (select case when cost > 50000 then '104' else '0' end from patients where {V})",
        "correlated subquery ranks everybody": "select count(*) from patients p where (select count(*) from patients q where q.cost > p.cost) = 0 and p.ward = 'oncology'",
    }, secret=Secret.COST),
    *alike({
        "one person's cost as a threshold": f"select count(*) from patients where cost > (select avg(cost) from patients where {V})",
        "membership of one person in a public list": f"select sum(cost) from patients where {V} and ward in (select ward from wards)",
        "a query for columns that is none": f"select cost from patients where {V} and not 1 = 0",
        "a query for columns beside another one": f"select ward, 0.0 from patients where 1 = 0 union all select ward, cost from patients where {V}",
    }, secret=Secret.COST, expect=WITHHELD),
    *alike({
        "one person as a threshold for groups": f"select sex, count(*) from patients group by sex having count(*) > 100000 * (select count(*) from patients where {V} and ward = 'oncology')",
        "in with a subquery": f"select title from wards where ward in (select ward from patients where {V})",
        "a list with duplicates does not make more people": f"select count(*) from patients where {V} and ward in ('oncology', 'oncology', 'oncology', 'oncology', 'oncology', 'oncology')",
        "membership in the wards of one person": f"select count(*) from patients where ward in (select ward from patients where {V})",
    }, secret=Secret.WARD, expect=WITHHELD),
    attack("all and all but one in one query", f"select sum(cost) - (select sum(cost) from patients where not {V}) from patients", secret=Secret.COST, expect=WITHHELD, policy=PAIRWISE),
    attack(
        "a query with duplicates does not make more people",
        f"select count(*) from patients where {V} and ward in (select ward from wards where ward = 'oncology'"
        " union all select ward from wards union all select ward from wards where floor > 100)",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=WITHHELD,
    ),
    attack("membership of the person", "select count(*) from patients where patient_id in (select patient_id from visits where physician = 'Dr. Only')", secret=Secret.VISITS, channel=Channel.EFFECT, expect=WITHHELD),
    *alike({
        "mean over people of whom there is one": "select avg(n) from (select patient_id, sum(fee) as n from visits where physician = 'Dr. Only' group by patient_id) v",
        "how often the most frequent guest came": "select max(n) from (select patient_id, count(*) as n from visits where department = 'oncology' group by patient_id) v",
        "people by their numbers of rows": "select n, count(*) from (select patient_id, count(*) as n from visits where department = 'oncology' group by patient_id) v group by n",
    }, secret=Secret.VISITS),
    attack("number of rows of one person", "select avg(n) from (select patient_id, count(*) as n from visits where department = 'oncology' and physician = 'Dr. Only' group by patient_id) v", secret=Secret.VISITS, expect=WITHHELD),
)
# fmt: on
