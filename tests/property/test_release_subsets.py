"""k people for every m columns: solved, published, and after plain refreshes, counted in Python."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.packing import masks, pack
from tests.fixtures.releases import PublishedRow, base_table, published, suppressed_cells_with_values

QUASI = ["a", "b", "c", "d"]
COLUMNS = "a citext, b integer, c integer, d integer, who integer"
K = 3

Cells = tuple[str | None, int | None, int | None, int | None]

few = st.sampled_from([1, 2, None])
cells = st.tuples(st.sampled_from(["u", "U", "v", None]), few, few, few)
new_cells = st.tuples(st.sampled_from(["u", "new", None]), *[st.sampled_from([1, 2, None, 99])] * 3)
person = st.none() | st.integers(1, 9)
rows = st.lists(st.tuples(cells, person), min_size=6, max_size=30)

_INSERT = "insert into base (a, b, c, d, who) values (%s, %s, %s, %s, %s)"
Change = tuple[str, Sequence[Any]]

changes: st.SearchStrategy[Change] = st.one_of(
    st.tuples(new_cells, person).map(lambda new: (_INSERT, (*new[0], new[1]))),
    st.tuples(st.integers(2, 5), st.integers(0, 4)).map(
        lambda part: ("delete from base where id %% %s = %s", part)
    ),
    st.tuples(new_cells, st.integers(0, 3)).map(
        lambda new: ("update base set a = %s, b = %s, c = %s, d = %s where id %% 4 = %s", (*new[0], new[1]))
    ),
    st.tuples(person, st.integers(0, 3)).map(
        lambda new: ("update base set who = %s where id %% 4 = %s", new)
    ),
    st.tuples(st.integers(-1, 15) | st.just(1 << 40), st.integers(-3, 3)).map(
        lambda new: ("update {mapping} set pattern = %s where row_type %% 4 = %s", new)
    ),
    st.just(("delete from {mapping} where row_type %% 2 = %s", (0,))),
)


def fewest_alike(
    seen: Sequence[PublishedRow], size: int, person_of: Mapping[Any, Hashable] | None = None
) -> int:
    """Count who shares what is shown of each set of columns; suppressed cells are not any value."""
    fewest = len(seen) + K
    for chosen in combinations(range(len(QUASI)), size):
        people: dict[Hashable, set[Hashable]] = defaultdict(set)
        for row in seen:
            look = tuple((QUASI[place] in row.suppressed, row.cells[place]) for place in chosen)
            people[look].add(row.carried if person_of is None else person_of[row.carried])
        fewest = min([fewest, *(len(who - {None}) for who in people.values())])
    return fewest


def combinations_hold(
    shown: Sequence[tuple[Hashable, ...]], people: Sequence[Any], size: int, k: int
) -> bool:
    """Whether k people share what rows show of each set of columns."""
    for chosen in combinations(range(len(shown[0])), size):
        alike: dict[Hashable, set[Any]] = defaultdict(set)
        for row, who in zip(shown, people, strict=True):
            alike[tuple(row[place] for place in chosen)].add(who)
        if any(len(who - {None}) < k for who in alike.values()):
            return False
    return True


def cheapest(
    table: Sequence[tuple[int, ...]], people: Sequence[Any], weights: Sequence[float], size: int, k: int
) -> float:
    """Try every way to suppress cells of row types."""
    types, width = sorted(set(table)), len(table[0])
    best = float("inf")
    for hidden in product(list(product([False, True], repeat=width)), repeat=len(types)):
        of = dict(zip(types, hidden, strict=True))
        cost = sum(w for row in table for w, is_hidden in zip(weights, of[row], strict=True) if is_hidden)
        if cost < best:
            shown = [tuple((h, None if h else v) for v, h in zip(row, of[row], strict=True)) for row in table]
            best = cost if combinations_hold(shown, people, size, k) else best
    return best


values = st.integers(0, 2)
tiny = st.lists(
    st.sampled_from(list(product(range(2), repeat=3))), min_size=1, max_size=4, unique=True
).flatmap(lambda types: st.lists(st.sampled_from(types), min_size=2, max_size=9))


@given(
    table=tiny,
    several=st.booleans(),
    weights=st.lists(st.sampled_from([1.0, 2.5, 0.5]), min_size=3, max_size=3),
    size=st.integers(1, 2),
    data=st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_bound_optimum_and_solution_lie_in_this_order(
    table: Sequence[tuple[int, ...]], several: bool, weights: Sequence[float], size: int, data: st.DataObject
) -> None:
    people: list[Any] = list(range(len(table)))
    if several:
        people = data.draw(st.lists(st.integers(0, 4) | st.none(), min_size=len(table), max_size=len(table)))
    k = 2
    if len({*people} - {None}) < k:
        return
    names = ["c0", "c1", "c2"]
    packed = pack(
        table, names, people=people if several else None, weights=dict(zip(names, weights, strict=True))
    )
    outcome = solve(packed, SolveRequest(k, subsets=size))
    hidden = dict(zip(dict.fromkeys(table), masks(outcome.patterns).tolist(), strict=True))
    shown = [
        tuple((hidden[row] >> c & 1, None if hidden[row] >> c & 1 else v) for c, v in enumerate(row))
        for row in table
    ]
    assert combinations_hold(shown, people, size, k)
    optimum = cheapest(table, people, weights, size, k)
    assert outcome.lower_bound is not None
    assert outcome.lower_bound - 1e-9 <= optimum <= outcome.weighted_cost + 1e-9
    event(f"optimal: {outcome.weighted_cost <= optimum + 1e-9}")


@given(table=st.lists(st.tuples(*[values] * 5), min_size=8, max_size=60), size=st.integers(1, 4))
@settings(max_examples=examples(60), deadline=None)
def test_larger_solutions_hide_everybody_and_bounds_are_no_higher(
    table: Sequence[tuple[int, ...]], size: int
) -> None:
    outcome = solve(pack(table), SolveRequest(K, subsets=size))
    hidden = dict(zip(dict.fromkeys(table), masks(outcome.patterns).tolist(), strict=True))
    shown = [tuple(None if hidden[row] >> c & 1 else v for c, v in enumerate(row)) for row in table]
    assert combinations_hold(shown, range(len(table)), size, K)
    assert outcome.lower_bound is not None
    assert outcome.lower_bound <= outcome.weighted_cost
    assert outcome.weighted_cost <= solve(pack(table), SolveRequest(K, method="greedy")).weighted_cost


@pytest.fixture(scope="module")
def citext_interface(lasting_interface: Interface) -> Interface:
    lasting_interface.connection.execute("create extension citext")
    return lasting_interface


def check_what_readers_see(interface: Interface, size: int, entity: str | None) -> int:
    seen = published(interface.connection, "base", QUASI, "id")
    person_of = dict(interface.connection.execute(f"select id, {entity or 'id'} from base".encode()))
    assert fewest_alike(seen, size, person_of) >= K
    assert len({row.carried for row in seen}) == len(seen)
    assert suppressed_cells_with_values(seen, QUASI) == 0
    return len(seen)


@given(
    content=rows,
    size=st.integers(1, 3),
    entity=st.sampled_from([None, "who"]),
    history=st.lists(st.lists(changes, min_size=1, max_size=4), min_size=1, max_size=4),
)
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
def test_no_change_shows_a_combination_of_few_people(
    citext_interface: Interface,
    content: Sequence[tuple[Cells, int | None]],
    size: int,
    entity: str | None,
    history: Sequence[Sequence[Change]],
) -> None:
    if entity is not None and len({who for _, who in content} - {None}) < K:
        content = [*content, *((("u", 1, 1, 1), who) for who in (1, 2, 3))]
    interface = citext_interface
    people = [(*row, who) for row, who in content]
    facts = {"quasi_identifiers": QUASI, "sensitive": ["id"], "entity": entity}
    with base_table(interface, COLUMNS, people, **facts):
        report = interface.anonymize("base", K, subsets=size)
        assert check_what_readers_see(interface, size, entity) == report.rows == len(content)
        assert report.smallest_class >= K
        found = interface.connection.execute(
            "select storage::text, mapping::text from kanon.release"
        ).fetchone()
        assert found is not None
        for step in history:
            for query, arguments in step:
                interface.connection.execute(query.replace("{mapping}", found[1]).encode(), arguments)
            interface.connection.execute("set role kanon_owner")
            interface.connection.execute(f"refresh materialized view {found[0]}".encode())
            interface.connection.execute("reset role")
            shown = check_what_readers_see(interface, size, entity)
            event(f"rows are left: {shown > 0}")
        interface.refresh("base")
        interface.drop("base")
