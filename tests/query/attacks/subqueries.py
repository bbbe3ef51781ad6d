"""Subqueries in expressions: each can look at one person while the outer level looks at many."""

from __future__ import annotations

from tests.query.cases import Attack, Secret, V, attack, of_kind

_VICTIM_IN_ONCOLOGY = f"(select 1 from patients v where v.{V} and v.ward = 'oncology')"

ATTACKS: tuple[Attack, ...] = of_kind(
    "subqueries",
    attack(
        "scalar subquery beside an honest aggregate",
        f"select count(*), (select ward from patients where {V}) from patients",
        secret=Secret.WARD,
    ),
    attack(
        "scalar subquery over the public table only",
        f"select ward, (select p.cost from patients p where p.{V}) from wards",
        secret=Secret.COST,
    ),
    attack(
        "exists as an oracle in WHERE",
        f"select count(*) from patients where exists {_VICTIM_IN_ONCOLOGY}",
        secret=Secret.WARD,
    ),
    attack(
        "exists over the public table: no protected table outside",
        f"select title from wards where exists {_VICTIM_IN_ONCOLOGY}",
        secret=Secret.WARD,
    ),
    attack(
        "not exists",
        f"select count(*) from calendar where not exists {_VICTIM_IN_ONCOLOGY}",
        secret=Secret.WARD,
    ),
    attack(
        "in with a subquery",
        f"select title from wards where ward in (select ward from patients where {V})",
        secret=Secret.WARD,
    ),
    attack(
        "not in with a subquery",
        f"select title from wards where ward not in (select ward from patients where {V})",
        secret=Secret.WARD,
    ),
    attack(
        "row in a subquery",
        f"select title from wards where (ward, floor) in (select p.ward, 2 from patients p where p.{V})",
        secret=Secret.WARD,
    ),
    attack(
        "any",
        f"select count(*) from wards where ward = any (select ward from patients where {V} and cost > 50000)",
        secret=Secret.COST,
    ),
    attack(
        "all",
        f"select count(*) from wards where beds < all (select cost from patients where {V} and cost > 50000)"
        f" and floor > any (select 0 from patients where {V} and readmitted)",
        secret=Secret.COST,
    ),
    attack(
        "array of a subquery",
        f"select array(select ward from patients where {V})",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in HAVING",
        "select sex, count(*) from patients group by sex having exists " + _VICTIM_IN_ONCOLOGY,
        secret=Secret.WARD,
    ),
    attack(
        "subquery in ORDER BY",
        "select title from wards order by (select case when p.ward = 'oncology' then 1 else -1 end"
        f" from patients p where p.{V}) * beds limit 2",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in LIMIT",
        f"select title from wards order by title limit (select length(ward) - 6 from patients where {V})",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in OFFSET",
        f"select sex, count(*) from patients group by sex order by 1 offset (select count(*) from patients"
        f" where {V} and ward = 'oncology')",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in a join condition",
        "select count(*) from wards w join icd_codes c on w.ward = (select ward from patients"
        f" where {V}) and w.floor = 2 and w.building = 'A'",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in FILTER",
        f"select count(*) filter (where exists {_VICTIM_IN_ONCOLOGY}) from patients",
        secret=Secret.WARD,
    ),
    attack(
        "subquery in GROUP BY",
        f"select count(*) from patients group by zip < (select case when cost > 50000 then '104' else '0' end"
        f" from patients where {V})",
        secret=Secret.COST,
    ),
    attack(
        "correlated subquery ranks everybody",
        "select count(*) from patients p where (select count(*) from patients q where q.cost > p.cost) = 0"
        " and p.ward = 'oncology'",
        secret=Secret.COST,
    ),
    attack(
        "subquery inside CASE of a grouping expression",
        f"select case when exists {_VICTIM_IN_ONCOLOGY} then sex else 'x' end, count(*)"
        " from patients group by 1",
        secret=Secret.WARD,
    ),
)
