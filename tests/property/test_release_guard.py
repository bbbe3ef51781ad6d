"""A plain refresh after any change of the base table, or of the mapping, never shows a class below k."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from psycopg import sql

from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import base_table, people_by_class, published, suppressed_cells_with_values

QUASI = ["a", "b"]
COLUMNS = "a citext, b integer, who integer"
K = 3

VALUES = ("u", "U", "v", None)
"""Of type citext, so that u and U are one value."""

Person = int | None
Cells = tuple[str | None, int | None]


@dataclass(frozen=True)
class Change:
    """Statements on the base table or on the mapping, with the arguments of each."""

    name: str
    query: str
    rows: Sequence[tuple[Any, ...]] = ((),)


cells = st.tuples(st.sampled_from(VALUES), st.sampled_from([1, 2, None]))
new_cells = st.tuples(st.sampled_from([*VALUES, "new"]), st.sampled_from([1, 2, None, 99]))
person = st.none() | st.integers(1, 9)
rows = st.lists(st.tuples(cells, person), min_size=6, max_size=25)

_INSERT = "insert into base (a, b, who) values (%s, %s, %s)"
_CHANGE_MAPPING = "update {mapping} set pattern = %s where row_type %% 3 = %s"

changes = st.one_of(
    st.lists(st.tuples(new_cells, person), min_size=1, max_size=6).map(
        lambda new: Change("insert", _INSERT, [(*row, who) for row, who in new])
    ),
    st.integers(0, 2).map(lambda rest: Change("delete", "delete from base where id %% 3 = %s", [(rest,)])),
    st.tuples(new_cells, st.integers(0, 3)).map(
        lambda new: Change("update", "update base set a = %s, b = %s where id %% 4 = %s", [(*new[0], new[1])])
    ),
    st.tuples(person, st.integers(0, 3)).map(
        lambda new: Change("other people", "update base set who = %s where id %% 4 = %s", [new])
    ),
    st.sampled_from(VALUES).map(
        lambda value: Change("delete a value", "delete from base where a is not distinct from %s", [(value,)])
    ),
    st.just(Change("truncate", "truncate base")),
    st.tuples(st.sampled_from([0, 1, 2, 3, -1, 1 << 40]), st.integers(-2, 2)).map(
        lambda new: Change("wrong patterns", _CHANGE_MAPPING, [new])
    ),
    st.just(Change("lost patterns", "delete from {mapping} where row_type %% 2 = %s", [(0,)])),
)


@pytest.fixture(scope="module")
def guarded_interface(lasting_interface: Interface) -> Interface:
    lasting_interface.connection.execute("create extension citext")
    return lasting_interface


def insert(interface: Interface, query: str | sql.Composed, arguments: Sequence[tuple[Any, ...]]) -> None:
    text = query.encode() if isinstance(query, str) else query
    for values in arguments:
        interface.connection.execute(text, values or None)


def row_types(interface: Interface) -> set[tuple[str | None, int | None]]:
    return set(interface.connection.execute("select lower(a::text), b from base").fetchall())


def check_what_readers_see(
    interface: Interface, entity: str | None, known: set[Any], *, tampered: bool
) -> None:
    seen = published(interface.connection, "base", QUASI, "id")
    who = "null" if entity is None else entity
    base = {
        row_id: (person, (a, b))
        for row_id, person, a, b in interface.connection.execute(
            f"select id, {who}, lower(a::text), b from base".encode()
        )
    }
    person_of = {row_id: row_id if entity is None else facts[0] for row_id, facts in base.items()}
    classes = people_by_class(seen, person_of)
    event(f"classes: {min(len(classes), 3)}")
    assert min(classes.values(), default=K) >= K
    assert len({row.carried for row in seen}) == len(seen) <= len(base)
    assert suppressed_cells_with_values(seen, QUASI) == 0
    if not tampered:
        strangers = [row for row in seen if base[row.carried][1] not in known]
        assert all(row.suppressed == set(QUASI) for row in strangers)


@given(
    content=rows,
    entity=st.sampled_from([None, "who"]),
    history=st.lists(st.lists(changes, min_size=1, max_size=3), min_size=1, max_size=3),
)
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
def test_no_change_of_the_base_table_shows_a_small_class(
    guarded_interface: Interface,
    content: Sequence[tuple[Cells, Person]],
    entity: str | None,
    history: Sequence[Sequence[Change]],
) -> None:
    people = {who for _, who in content} - {None}
    if entity is not None and len(people) < K:
        content = [*content, *((("u", 1), who) for who in (1, 2, 3))]
    interface = guarded_interface
    people = [(*row, who) for row, who in content]
    facts = {"quasi_identifiers": QUASI, "sensitive": ["id"], "entity": entity}
    with base_table(interface, COLUMNS, people, **facts):
        interface.anonymize("base", K)
        known = row_types(interface)
        check_what_readers_see(interface, entity, known, tampered=False)
        row = interface.connection.execute(
            "select storage::text, mapping::text from kanon.release"
        ).fetchone()
        assert row is not None
        tampered = False
        for step in history:
            for change in step:
                event(change.name)
                tampered |= "{mapping}" in change.query
                insert(interface, change.query.replace("{mapping}", row[1]), change.rows)
            interface.connection.execute("set role kanon_owner")
            interface.connection.execute(f"refresh materialized view {row[0]}".encode())
            interface.connection.execute("reset role")
            check_what_readers_see(interface, entity, known, tampered=tampered)
        interface.drop("base")
