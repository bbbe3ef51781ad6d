"""A plain refresh of a generalized release, after any change, shows no small class and no foreign node."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.fixtures.generalizing_solver import generalizing
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import base_table, people_by_class, published, suppressed_cells_with_values

QUASI = ["a", "b", "c"]
COLUMNS = "a text, b integer, c integer, who integer"
K = 3

LETTERS = ("aa", "ab", "ba")
NUMBERS = (2, 3, 6)
LATER = ("zz", 99, 9)
"""Values that no hierarchy knows."""

Cells = tuple[str | None, int | None, int | None]

cells = st.tuples(
    st.sampled_from([*LETTERS, None]), st.sampled_from([*NUMBERS, None]), st.sampled_from([1, None])
)
new_cells = st.tuples(
    st.sampled_from([*LETTERS, LATER[0], None]),
    st.sampled_from([*NUMBERS, LATER[1], None]),
    st.sampled_from([1, 2, LATER[2], None]),
)
person = st.none() | st.integers(1, 9)
rows = st.lists(st.tuples(cells, person), min_size=12, max_size=40)

_INSERT = "insert into base (a, b, c, who) values (%s, %s, %s, %s)"
Change = tuple[str, Sequence[Any]]

changes: st.SearchStrategy[Change] = st.one_of(
    st.tuples(new_cells, person).map(lambda new: (_INSERT, (*new[0], new[1]))),
    st.integers(0, 2).map(lambda rest: ("delete from base where id %% 3 = %s", (rest,))),
    st.tuples(new_cells, st.integers(0, 3)).map(
        lambda new: ("update base set a = %s, b = %s, c = %s where id %% 4 = %s", (*new[0], new[1]))
    ),
    st.tuples(person, st.integers(0, 3)).map(
        lambda new: ("update base set who = %s where id %% 4 = %s", new)
    ),
    st.tuples(st.integers(-1, 64) | st.just(1 << 40), st.integers(-2, 2)).map(
        lambda new: ("update {mapping} set pattern = %s where row_type %% 3 = %s", new)
    ),
    st.just(("delete from {mapping} where row_type %% 2 = %s", (0,))),
    st.sampled_from(LETTERS).map(lambda value: ("delete from {nodes} where value = %s", (value,))),
)


@pytest.fixture(scope="module")
def generalizing_interface(lasting_interface: Interface) -> Iterator[Interface]:
    connection = lasting_interface.connection
    connection.execute(
        "insert into kanon.hierarchy (name, version, kind, spec, output, height, nodes, created_by)"
        " values ('letters', 1, 'rows', '{}', 'text', 2, '{}', 'postgres'),"
        " ('numbers', 1, 'rows', '{}', 'int4range', 3, '{}', 'postgres')"
    )
    for letters in LETTERS:
        connection.execute(
            "insert into kanon.hierarchy_value values ('letters', 1, %s, %s)", [letters, [f"{letters[0]}*"]]
        )
    for number in NUMBERS:
        low = number - number % 2
        nodes = [f"[{low},{low + 2})", "[0,4)" if number < 4 else "[4,10)"]
        connection.execute(
            "insert into kanon.hierarchy_value values ('numbers', 1, %s, %s)", [str(number), nodes]
        )
    with generalizing(connection):
        yield lasting_interface


def stands_for(cell: str | None, value: str | int | None) -> bool:
    """Whether a published cell may be shown for a value: itself, or a node above it."""
    if value is None or cell is None:
        return cell is None and value is None
    if isinstance(value, str):
        return cell in (value, f"{value[0]}*")
    low, high = cell.strip("[)").split(",")
    return int(low) <= value < int(high)


def check_what_readers_see(interface: Interface, entity: str | None) -> None:
    seen = published(interface.connection, "base", QUASI, "id")
    who = "id" if entity is None else entity
    base = {
        row[0]: row[1:]
        for row in interface.connection.execute(f"select id, {who}, a, b, c from base".encode())
    }
    classes = people_by_class(seen, {row_id: facts[0] for row_id, facts in base.items()})
    event(f"classes: {min(len(classes), 3)}")
    assert min(classes.values(), default=K) >= K
    assert len({row.carried for row in seen}) == len(seen) <= len(base)
    assert suppressed_cells_with_values(seen, QUASI) == 0
    for row in seen:
        for name, cell, value in zip(QUASI, row.cells, base[row.carried][1:], strict=True):
            if name in row.suppressed:
                continue
            assert cell == (None if value is None else str(value)) if name == "c" else stands_for(cell, value)
            assert name == "c" or value not in LATER


@given(
    content=rows,
    entity=st.sampled_from([None, "who"]),
    seed=st.integers(0, 5),
    history=st.lists(st.lists(changes, min_size=1, max_size=4), min_size=1, max_size=3),
)
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
def test_no_change_shows_a_small_class_or_a_wrong_node(
    generalizing_interface: Interface,
    content: Sequence[tuple[Cells, int | None]],
    entity: str | None,
    seed: int,
    history: Sequence[Sequence[Change]],
) -> None:
    if entity is not None and len({who for _, who in content} - {None}) < K:
        content = [*content, *((("aa", 1, 1), who) for who in (1, 2, 3))]
    interface = generalizing_interface
    people = [(*row, who) for row, who in content]
    facts = {"quasi_identifiers": QUASI, "sensitive": ["id"], "entity": entity}
    with base_table(interface, COLUMNS, people, **facts):
        interface.anonymize("base", K, hierarchies={"a": "letters", "b": "numbers"}, seed=seed)
        check_what_readers_see(interface, entity)
        found = interface.connection.execute(
            "select storage::text, mapping::text, nodes[1]::text from kanon.release"
        ).fetchone()
        assert found is not None
        for step in history:
            for query, arguments in step:
                text = query.replace("{mapping}", found[1]).replace("{nodes}", found[2])
                interface.connection.execute(text.encode(), arguments)
            interface.connection.execute("set role kanon_owner")
            interface.connection.execute(f"refresh materialized view {found[0]}".encode())
            interface.connection.execute("reset role")
            check_what_readers_see(interface, entity)
        interface.drop("base")
