"""LATERAL, written or implied: a query for each row of another table."""

from __future__ import annotations

from tests.query.cases import Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "lateral",
    attack(
        "lateral subquery",
        "select w.ward, l.cost from wards w, lateral (select p.cost from patients p"
        f" where p.{V} and p.ward <> w.building limit 1) as l",
        secret=Secret.COST,
    ),
    attack(
        "left join lateral",
        "select w.ward, l.n from wards w left join lateral (select count(*) as n from patients p"
        f" where p.ward = w.ward and p.{V}) as l on true",
        secret=Secret.WARD,
    ),
    attack(
        "lateral without the word: a function call in FROM",
        "select w.title, g from wards w, patients p, generate_series(1, length(p.ward)) as g"
        f" where p.{V} and w.floor = 0",
        secret=Secret.WARD,
    ),
    attack(
        "lateral values",
        f"select l.x, count(*) from patients p, lateral (values (p.cost), (p.cost)) as l (x) where p.{V}"
        " group by l.x",
        secret=Secret.COST,
    ),
    attack(
        "lateral inside a derived table",
        "select count(*) from (select l.ward from wards w, lateral (select ward from patients p"
        f" where p.{V} and p.ward = w.ward) as l where w.building = 'A') as d",
        secret=Secret.WARD,
    ),
)
