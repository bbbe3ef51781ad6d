"""What is answered in memory is what PostgreSQL answers, statement by statement, for every service.

The tests of services without a server (``tests/unit/services``) stand on this.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.types.range import Range

from kanon_pg.db.statements import statement
from kanon_pg.errors import KanonError, NotPermitted, ReleaseError
from kanon_pg.release import releasing
from kanon_pg.release.declare import declaration
from kanon_pg.release.publish import solving
from tests.fixtures import dividing_solver
from tests.fixtures.memory import ANSWERS
from tests.fixtures.memory.mirror import NOT_COMPARED, Mirror
from tests.fixtures.memory.refusals import ALL_CASES
from tests.fixtures.memory.services import Services
from tests.fixtures.memory.tables import (
    COLUMNS,
    SPECIAL_RELATIONS,
    declare_all,
    odd_tables,
    people_tables,
    special_relations,
    thing_tables,
)
from tests.fixtures.stand_in_solvers import handed_to


@pytest.fixture
def mirror(connection: psycopg.Connection[Any]) -> Mirror:
    return Mirror(connection)


@pytest.fixture
def analyst(mirror: Mirror) -> Iterator[str]:
    yield mirror.login("mirrored", "kanon_analyst")
    mirror.connection.execute("drop owned by mirrored; drop role mirrored")


def test_refusals(mirror: Mirror) -> None:
    mirror.connection.execute("select kanon.add_readers(32)")
    for make in (people_tables, thing_tables, odd_tables):
        make(mirror.table)
    mirror.connection.execute(SPECIAL_RELATIONS.encode())
    special_relations(mirror.memory.state.table)
    mirror.grant_read("secret")
    services = mirror.services()
    declare_all(services)
    for case in ALL_CASES:
        with pytest.raises(KanonError) as raised:
            case.call(services)
        assert (type(raised.value), raised.value.message) == (case.kind, case.sentence), case.title
    for name in ("nothing", '"T"', "²", "a.b.c", "a.b.c.d", 't"', "", "drop table t;"):
        with pytest.raises(KanonError):
            services.measure(name)
        with pytest.raises(KanonError):
            services.drop(name)


def read_everything(mirror: Mirror) -> None:
    people_tables(mirror.table)
    thing_tables(mirror.table)
    services = mirror.services()
    services.declare(
        "of_persons",
        identifiers=["id"],
        quasi_identifiers=COLUMNS,
        sensitive=["illness"],
        entity="person",
        weights={"age": 2.5},
    )
    services.declare("of_things", identifiers=["id"], quasi_identifiers=["age"], entity="person")
    for relation in ("people", "of_persons"):
        services.measure(relation, COLUMNS, ["illness"])
        services.audit(relation, 5, details=True)
        services.is_anonymous(relation, 3, ["sex"])
        services.identify(relation)
        services.suggest(relation)
        services.curve(relation, ks=[2, 5], method="greedy", quasi_identifiers=COLUMNS)
    services.risk("people", columns=COLUMNS, population="register")
    for relation in ("things", "of_things"):
        services.group("groups", relation, "name", 20)
        services.group("groups", relation, "name", 20, weight="load")
        services.group("intervals", relation, "age", 20)
        services.group("rectangles", relation, "x", "y", 20)
        services.group("rectangles", relation, "place", None, 20)
        services.group("regions", relation, "name", "roads", 20, positions=("x", "y"))
    # rows of nobody: their class counts as one person
    mirror.table("shades", {"a": "integer", "who": "integer"}, [(i % 2, None) for i in range(9)])
    services.declare("shades", quasi_identifiers=["a"], entity="who")
    services.is_anonymous("shades", 2)
    services.measure("shades")
    services.risk("shades")
    services.group("intervals", "things", "day", 20)
    services.group("intervals", "gaps", "age", 20)
    services.group("groups", "gaps", "name", 20)


# --- values of many types -----------------------------------------------------------------------------------

_CELLS: dict[str, tuple[str, list[Any]]] = {
    "a": ("integer", [1, 2, 2, 3]),
    "b": ("text", ["x", "y", None]),
    "c": ("numeric", [Decimal("1.0"), Decimal("1.00"), Decimal(2), Decimal("NaN"), None]),
    "d": ("double precision", [0.0, -0.0, math.nan, math.inf, 1.5]),
    "e": ("character(3)", ["u", "u  ", "v"]),
    "f": ("date", [date(2020, 1, 1), date(1999, 12, 31), None]),
    "g": ("boolean", [True, False]),
    "h": ("text[]", [[], ["x"], None]),
    "i": ("jsonb", ['{"a": 1}', '{"a":1}', "2"]),
    "j": ("int4range", [Range(0, 5), Range(5, 10), Range(None, 3), None]),
    "k": ("numeric(4,2)", [Decimal("1.50"), Decimal("2.25")]),
}
"""By column its type and some values; several are the same to GROUP BY."""


@pytest.mark.parametrize("seed", range(3))
def test_values_of_many_types(mirror: Mirror, seed: int) -> None:
    chance = random.Random(seed)
    columns = {name: kind for name, (kind, _) in _CELLS.items()} | {"who": "integer"}
    rows = [
        (*(chance.choice(values) for _, values in _CELLS.values()), chance.choice([None, 1, 2, 3, 4]))
        for _ in range(chance.choice([6, 40]))
    ]
    mirror.table("typed", columns, rows)
    services = mirror.services()
    if seed:
        services.declare("typed", quasi_identifiers=["a", "b"], identifiers=["who"], entity="who")
    for name in _CELLS:
        services.measure("typed", [name])
        services.measure("typed", ["g" if name == "a" else "a"], [name])
        services.audit("typed", 3, columns=[name])
        # the rows do not suffice for two people of each class everywhere
        with suppress(KanonError):
            services.group("groups", "typed", name, 2)
    services.measure("typed", list(_CELLS)[:5], ["f", "k"])
    services.curve("typed", ks=[2], quasi_identifiers=["a", "b", "c", "d", "f"], method="greedy")
    services.anonymize("typed", 2, quasi_identifiers=["a", "b", "c", "d"], sensitive=["k"], method="greedy")
    services.measure("safe.typed")


def test_names_that_queries_use_themselves(mirror: Mirror) -> None:
    names = ['Mixed "Case"', "q1", "person", "suppressed", "value", "größe" * 9, "a'b\\c"]
    mirror.table('T "x"', dict.fromkeys(names, "text") | {"n": "integer"}, [(*["x"] * len(names), 1)] * 4)
    services = mirror.services()
    services.measure('"T ""x"""', names, ["n"])
    services.audit('"T ""x"""', 2)
    services.anonymize('"T ""x"""', 2, quasi_identifiers=names, release='r "x"', method="greedy")
    services.measure('safe."r ""x"""')
    services.drop('r "x"')


# --- releases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"l": 2, "sensitive": ["illness"]},
        {"l": 2, "sensitive": ["illness"], "diversity": "entropy"},
        {"p": 2, "sensitive": ["illness"]},
        {"t": 0.4, "sensitive": ["illness"]},
        {"t": 0.3, "sensitive": ["illness"], "distance": "ordered"},
    ],
    ids=str,
)
@pytest.mark.parametrize("relation", ["people", "of_persons"])
def test_releases(mirror: Mirror, relation: str, options: dict[str, Any]) -> None:
    people_tables(mirror.table)
    services = mirror.services()
    if relation == "of_persons":
        services.declare(relation, identifiers=["id"], quasi_identifiers=COLUMNS, entity="person")
    options = {"quasi_identifiers": COLUMNS, "method": "greedy", **options}
    services.anonymize(relation, 4, **options)
    services.anonymize(relation, 3, **options)
    if options.keys() == {"quasi_identifiers", "method"} and relation == "people":
        services.certificate(relation, time_limit=1)
    services.measure(f"safe.{relation}")
    services.audit(relation, 3, details=True)
    mirror.delete(relation, lambda row: row[0] % 5 == 0)
    services.refresh(relation)
    services.anonymize(relation, 3, **options | {"quasi_identifiers": ["age", "sex"]})
    services.drop(relation)


@pytest.mark.parametrize(
    "models",
    [
        {},
        {"p": 2},
        {"l": 2, "diversity": "distinct"},
        {"l": 2, "diversity": "frequency"},
        {"l": 2, "diversity": "entropy"},
        {"t": 0.3},
        {"t": 0.25, "distance": "ordered"},
    ],
    ids=str,
)
@pytest.mark.parametrize("of_people", [False, True])
def test_what_a_refresh_withholds(mirror: Mirror, models: dict[str, Any], of_people: bool) -> None:
    """Of three classes one keeps a single value, one k rows with all values, one two and a row of nobody."""
    rows = [(i, i % 3, i // 3 % 3, i) for i in range(36)] + [(36, 2, 0, None)]
    mirror.table("t", dict.fromkeys(("id", "a", "s", "who"), "integer"), rows)
    services = mirror.services()
    services.declare(
        "t", identifiers=["id"], quasi_identifiers=["a"], sensitive=["s"], entity="who" if of_people else None
    )
    services.anonymize("t", 3, method="greedy", **models)
    kept = {row[0] for row in rows if row[1] == row[2] == 0} | {1, 4, 7} | {5, 8, 36}
    mirror.delete("t", lambda row: row[0] not in kept)
    services.refresh("t")
    left = mirror.memory.state.rows_of(mirror.memory.state.relation_named("safe.t"))
    expected = {1} | (set() if models else {0}) | (set() if of_people else {2})
    assert {row[0] for row in left} == expected


def divide(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide row types: which rows a part has is left to chance in PostgreSQL, what is seen of them not."""
    monkeypatch.setattr(solving, "handed_over", handed_to(dividing_solver.solve))
    services = mirror.services()
    services.anonymize("t", 4, quasi_identifiers=["a", "b"], seed=1)
    services.certificate("t")
    services.refresh("t")
    services.drop("t")


# --- rights -------------------------------------------------------------------------------------------------


def test_rights_are_those_of_the_caller(mirror: Mirror, analyst: str) -> None:
    people_tables(mirror.table)
    owner, own = mirror.services(), mirror.services(analyst)
    owner.declare("of_persons", quasi_identifiers=COLUMNS, sensitive=["illness"], entity="person")
    owner.anonymize("of_persons", 3, method="greedy")

    def asked(services: Services) -> list[Callable[[], object]]:
        return [
            lambda: services.measure("people", ["age"]),
            lambda: services.audit("people", 5, columns=["age"]),
            lambda: services.is_anonymous("people", 5, ["age"]),
            lambda: services.group("groups", "people", "age", 5),
            lambda: services.curve("people", ks=[5], quasi_identifiers=["age"], method="greedy"),
        ]

    for ask in asked(own):
        with pytest.raises(NotPermitted, match="may not read"):
            ask()
    mirror.grant(analyst, "people", "age")
    for ask in asked(own):
        ask()
    with pytest.raises(NotPermitted, match="may not read"):
        own.measure("people", ["age"], ["sex"])
    own.measure("safe.of_persons")
    own.audit("safe.of_persons", 3)
    owner.declare("register", quasi_identifiers=["age"])
    mirror.grant(analyst, "register")
    assert own.measure("register") != owner.measure("register")


# --- all of it ----------------------------------------------------------------------------------------------


def test_every_answer_in_memory_is_compared(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    services = mirror.services()
    read_everything(mirror)
    services.anonymize("of_persons", 3, method="greedy")
    services.anonymize("people", 3, quasi_identifiers=COLUMNS, sensitive=["illness"], method="greedy")
    services.risk("of_persons")
    services.is_anonymous("safe.of_persons", 3)
    services.refresh("people")
    mirror.connection.execute("grant select on safe.people to pg_monitor")
    mirror.memory.state.roles["pg_monitor"] = ()
    mirror.memory.state.grant("pg_monitor", "safe.people")
    services.anonymize("people", 3, quasi_identifiers=["age"], method="greedy")
    services.declare("coarse_register", identifiers=["ward"], quasi_identifiers=["age"])
    with mirror.transaction(mirror.user):
        declaration.undeclare(mirror, "coarse_register")
        releasing.releases(mirror)
    require_that_nothing_depends(mirror, services)
    services.drop("people")
    services.undeclare("of_things")
    mirror.table("t", {"a": "integer", "b": "integer"}, [(i % 3, i % 2) for i in range(60)])
    divide(mirror, monkeypatch)
    with mirror.transaction(mirror.user):
        mirror.row(statement("revoke_read"), mirror.memory.state.relation_named("things").oid)
    services.measure("things", ["age"])  # lent a reader
    assert {*ANSWERS} - {*mirror.compared} - NOT_COMPARED == _ELSEWHERE


def require_that_nothing_depends(mirror: Mirror, services: Services) -> None:
    """Let others build a view on a release, which then cannot be dropped; and drop that view."""
    mirror.connection.execute("create view safe.built_on_it as select age from safe.people")
    view = mirror.memory.state.find("safe", "people")
    assert view is not None
    built = mirror.memory.state.table("safe.built_on_it", {"age": "integer"}, kind="v", reads=(view.oid,))
    with pytest.raises(ReleaseError, match="Other objects depend") as refusal:
        services.drop("people")
    assert refusal.value.detail == "These do: view safe.built_on_it."
    mirror.connection.execute("drop view safe.built_on_it")
    mirror.memory.state.drop(built)


_ELSEWHERE = {"find_relation", "roles_published", "sample_row_types", "suggest_varying"}
"""What other tests here compare, or what depends on which rows come first."""
