"""Random small tables, blocks and changes, for what must be true of every one of them.

There are patients, each a person; visits, linked to them; and wards, about nobody. Tables have few people
and few values, so that groups are about as large as k.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from tests.query.blocks import (
    And,
    Block,
    Column,
    Comparison,
    Condition,
    Exists,
    Figure,
    IsIn,
    IsNull,
    Link,
    Not,
    Or,
    Row,
    Rows,
    Source,
    Table,
    Value,
    columns_of,
    literal,
)
from tests.query.judge import Change, Judge, Key

K = 3
PATIENTS = Table("patients", ("id",), known=("id", "zip", "age"), secret=("s", "x"), person=("id",))
VISITS = Table(
    "visits",
    ("visit",),
    known=("patient", "ward", "day"),
    secret=("d", "cost"),
    withheld=("visit",),
    link=Link(("patient",), "patients"),
)
WARDS = Table("wards", ("name",), known=("name", "floor"))
SENIORS = PATIENTS.view("seniors", Comparison(Column("seniors", "age"), ">", 0))
TABLES = {table.name: table for table in (PATIENTS, VISITS, WARDS, SENIORS)}
POOLS: Mapping[str, tuple[Value, ...]] = {
    **dict.fromkeys(("zip", "age", "day", "s", "d"), (None, 0, 1, 2)),
    **dict.fromkeys(("x", "cost"), (None, 0, 1, 2, 3, 4)),
    **dict.fromkeys(("ward", "floor"), (0, 1, 2)),
}
"""The values of each column."""
VALUES = {name: st.sampled_from(pool) for name, pool in POOLS.items()}
AT_PATIENT = (("id", Column("visits", "patient")),)
AT_VISIT = (("patient", Column("patients", "id")),)
AT_WARD = (("name", Column("visits", "ward")),)
SOURCES = (
    (Source("patients"),),
    (Source("seniors"),),
    (Source("visits"),),
    (Source("visits"), Source("patients", AT_PATIENT)),
    (Source("visits"), Source("seniors", AT_PATIENT)),
    (Source("patients"), Source("visits", AT_VISIT)),
    (Source("patients"), Source("visits", AT_VISIT, left=True)),
    (Source("visits"), Source("wards", AT_WARD)),
    (Source("visits"), Source("wards", AT_WARD), Source("patients", AT_PATIENT)),
)


def _row(table: Table, **given: Value) -> st.SearchStrategy[Row]:
    drawn = {name: VALUES[name] for name in table.columns if name not in given}
    return st.fixed_dictionaries({**{name: st.just(value) for name, value in given.items()}, **drawn})


@st.composite
def worlds(draw: st.DrawFn, least: int = 0, most: int = 9) -> dict[str, list[Row]]:
    """Draw what the tables hold: visits of anybody, or of everybody the same ones but for one or two."""
    people = range(draw(st.integers(least, most)))
    if people and draw(st.booleans()):
        missing = draw(st.sets(st.tuples(st.sampled_from(people), st.integers(0, 1)), max_size=2))
        planned = [(who, day) for who in people for day in (0, 1) if (who, day) not in missing]
    else:
        owners = draw(st.lists(st.sampled_from(people), max_size=2 * most)) if people else []
        planned = [(who, draw(VALUES["day"])) for who in owners]
    return {
        "patients": [draw(_row(PATIENTS, id=person)) for person in people],
        "visits": [draw(_row(VISITS, visit=n, patient=who, day=day)) for n, (who, day) in enumerate(planned)],
        "wards": [draw(_row(WARDS, name=name)) for name in range(3)],
    }


def _columns(tables: Sequence[str], *, secret: bool = True) -> list[Column]:
    """Return what queries may name in some tables."""
    return [
        Column(name, column)
        for name in tables
        for column in (*TABLES[name].known, *(TABLES[name].secret if secret else ()))
    ]


def _atoms(tables: Sequence[str]) -> st.SearchStrategy[Condition]:
    column = st.sampled_from(_columns(tables))
    return st.one_of(
        st.builds(Comparison, column, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), st.integers(0, 3)),
        st.builds(IsIn, column, st.lists(VALUES["s"], min_size=1, max_size=2).map(tuple)),
        st.builds(IsNull, column),
    )


def conditions(tables: Sequence[str]) -> st.SearchStrategy[Condition]:
    """Return conditions on some tables, with subqueries over visits where patients stand alone."""
    leaves = _atoms(tables)
    if "patients" in tables and "visits" not in tables:
        inside = st.builds(lambda *each: And(each), _atoms(["visits"]), _atoms(["visits"]))
        leaves |= st.builds(Exists, st.just("visits"), st.just(AT_VISIT), inside)
    return st.recursive(leaves, _combined, max_leaves=3)


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=2).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, inner))


@st.composite
def blocks(draw: st.DrawFn, kinds: Sequence[str] = ("count", "people", "sum", "avg", "median")) -> Block:
    """Draw a block with up to two keys and two figures."""
    sources = draw(st.sampled_from(SOURCES))
    names = [source.table for source in sources]
    condition = st.just(And()) | conditions(names)
    figures = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2)):
        numbers = [column for column in _columns(names) if column.name in ("x", "cost", "age", "day")]
        column = None if kind in ("count", "people") else draw(st.sampled_from(numbers))
        figures.append(Figure(kind, column, draw(st.just(And()) | conditions(names))))
    keys = [column for column in _columns(names) if column.name in ("zip", "age", "ward", "day", "s", "d")]
    return Block(
        sources,
        tuple(figures),
        tuple(draw(st.lists(st.sampled_from(keys), unique=True, max_size=2))),
        draw(condition),
    )


@st.composite
def alike(draw: st.DrawFn, block: Block) -> Block:
    """Draw a block that differs in one thing: a person, a day, the tables, or the figures."""
    names = [source.table for source in block.sources]
    person = Column(names[0], "patient" if names[0] == "visits" else "id")
    more: list[Condition] = [Comparison(person, "<>", draw(st.integers(0, 8)))]
    if "visits" in names:
        more.append(Comparison(Column("visits", "day"), "=", draw(st.integers(0, 1))))
    named = {*block.keys, *columns_of(block.where)}
    for figure in block.figures:
        named |= {*columns_of(figure.where), *([figure.column] if figure.column else [])}
    wanted = {column.table for column in named}
    others = [sources for sources in SOURCES if wanted <= {source.table for source in sources}]
    ways: list[Callable[[], Block]] = [
        lambda: replace(block, where=And((block.where, draw(st.sampled_from(more))))),
        lambda: replace(block, figures=(Figure("people"), *block.figures[1:])),
    ]
    if others and not _asks_within(block):
        ways.append(lambda: replace(block, sources=draw(st.sampled_from(others))))
    return draw(st.sampled_from(ways))()


def _asks_within(block: Block) -> bool:
    return "Exists(" in repr(block)


@st.composite
def changes(draw: st.DrawFn, rows: Rows) -> list[Change]:
    """Draw what may happen to one person: a visit or a secret more or less, or all of them gone."""
    new = 1 + max((int(row["visit"] or 0) for row in rows["visits"]), default=0)
    patients, visits = rows["patients"], rows["visits"]
    ways: list[Callable[[], list[Change]]] = [
        lambda: [Change("patients", (100 + new,), draw(_row(PATIENTS, id=100 + new)))]
    ]
    if patients:
        person = draw(st.sampled_from(patients))
        kept = {name: person[name] for name in ("id", "zip", "age")}
        theirs = [Change("visits", (v["visit"],), None) for v in visits if v["patient"] == person["id"]]
        ways += [
            lambda: [*theirs, Change("patients", (person["id"],), None)],
            lambda: [Change("patients", (person["id"],), draw(_row(PATIENTS, **kept)))],
            lambda: [Change("visits", (new,), draw(_row(VISITS, visit=new, patient=person["id"])))],
        ]
    if visits:
        visit = draw(st.sampled_from(visits))
        ways.append(lambda: [Change("visits", (visit["visit"],), None)])
    return draw(st.sampled_from(ways))()


# --- the same in a database


def definitions() -> list[str]:
    """Return the statements that create the tables and the view."""
    return [
        "CREATE TABLE patients (id int PRIMARY KEY, zip int, age int, s int, x int)",
        "CREATE TABLE visits (visit int PRIMARY KEY, patient int NOT NULL REFERENCES patients, ward int,"
        " day int, d int, cost int)",
        "CREATE TABLE wards (name int PRIMARY KEY, floor int)",
        "CREATE VIEW seniors AS SELECT * FROM patients WHERE age > 0",
    ]


def insertions(rows: Rows) -> list[str]:
    """Return the statements that fill the tables."""
    return [_insertion(name, row) for name in ("patients", "visits", "wards") for row in rows[name]]


def statements(change: Change) -> list[str]:
    """Return the statements that make a change."""
    key = TABLES[change.table].key
    here = " AND ".join(f"{name} = {literal(value)}" for name, value in zip(key, change.key, strict=True))
    if change.row is None:
        return [f"DELETE FROM {change.table} WHERE {here}"]
    taken = ", ".join(f"{name} = excluded.{name}" for name in change.row)
    inserted = _insertion(change.table, change.row)
    return [f"{inserted} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {taken}"]


def _insertion(table: str, row: Row) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(map(literal, row.values()))})"


# --- what an implementation withholds


@dataclass
class Meter:
    """Counts the rows that an implementation shows, beside those that the judge would have shown.

    Parameters
    ----------
    possible, shown : int
        How many rows could have been shown, one answer after the other, and how many were.
    """

    possible: int = 0
    shown: int = 0

    def add(self, judge: Judge, block: Block, shown: Sequence[Key]) -> None:
        """Count an answer; before the judge is told of it."""
        self.possible += len(judge.most(block))
        self.shown += len(shown)

    @property
    def withheld(self) -> float:
        """The share of the rows that were withheld beyond the judge; below 0 where it left out too much."""
        return 1 - self.shown / self.possible if self.possible else 0.0


def owner(name: str, row: Row) -> Value:
    """Return whom a row is about, None if it is about nobody."""
    return row.get({"patients": "id", "visits": "patient"}.get(name, ""))


def fresh(name: str, random: Random) -> Row:
    """Return other secrets for a row of a table."""
    return {column: random.choice(POOLS[column]) for column in TABLES[name].secret}


def other_secrets(rows: Rows, people: Collection[Value], random: Random) -> dict[str, list[Row]]:
    """Return the tables with other secrets of some people."""
    return {
        name: [{**row, **fresh(name, random)} if owner(name, row) in people else row for row in held]
        for name, held in rows.items()
    }
