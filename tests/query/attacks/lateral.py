"""LATERAL, written or implied: a query for each row of another table."""

from tests.query.cases import Attack, Secret, V, alike, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "lateral",
    *alike({
        "lateral subquery": f"select w.ward, l.cost from wards w, lateral (select p.cost from patients p where p.{V} and p.ward <> w.building limit 1) as l",
        "lateral values": f"select l.x, count(*) from patients p, lateral (values (p.cost), (p.cost)) as l (x) where p.{V} group by l.x",
    }, secret=Secret.COST),
    *alike({
        "left join lateral": f"select w.ward, l.n from wards w left join lateral (select count(*) as n from patients p where p.ward = w.ward and p.{V}) as l on true",
        "lateral without the word: a function call in FROM": f"select w.title, g from wards w, patients p, generate_series(1, length(p.ward)) as g where p.{V} and w.floor = 0",
        "lateral inside a derived table": f"select count(*) from (select l.ward from wards w, lateral (select ward from patients p where p.{V} and p.ward = w.ward) as l where w.building = 'A') as d",
    }, secret=Secret.WARD),
)
# fmt: on
