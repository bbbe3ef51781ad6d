"""Whatever the values are, builders make hierarchies that hold their values and nest."""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from ipaddress import ip_network
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.hierarchy import GeneralizationHierarchy, hierarchy_of
from kanon_pg.hierarchies.operations import TreeNode, tree_of
from kanon_pg.hierarchies.sources import taxonomy
from tests.unit.hierarchies.test_builders import built

whole = st.integers(-(2**31), 2**31 - 1)
small = st.integers(-50, 50)
columns = st.lists(small | whole, min_size=1, max_size=40, unique=True)
factors = st.integers(2, 5)


def bounds(node: str) -> tuple[Decimal, Decimal]:
    low, high = node[1:-1].split(",")
    return Decimal(low or "-Infinity"), Decimal(high or "Infinity")


def assert_ranges_nest(hierarchy: GeneralizationHierarchy) -> None:
    for row in hierarchy.rows():
        spans = [bounds(node) for node in row[1:]]
        assert all(low <= Decimal(row[0]) < high for low, high in spans)
        assert all(outer[0] <= inner[0] and inner[1] <= outer[1] for inner, outer in pairwise(spans))
    for level in hierarchy.levels:
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(map(bounds, set(level)))))


@given(columns, st.integers(1, 10**6), small, factors)
def test_intervals_of_equal_width_hold_their_values_and_nest(
    numbers: list[int], width: int, origin: int, factor: int
) -> None:
    spec = {"builder": "intervals", "width": width, "origin": origin, "factor": factor}
    found = built("int8", [str(number) for number in numbers], spec)
    assert_ranges_nest(found)
    for level in found.levels[:1]:
        assert {high - low for low, high in map(bounds, level)} == {width}


@given(
    st.lists(
        st.tuples(small | whole, st.integers(1, 100)), min_size=1, max_size=40, unique_by=lambda one: one[0]
    ),
    st.integers(2, 20),
    factors,
)
def test_groups_hold_their_values_nest_and_are_as_even_as_values_allow(
    counted: list[tuple[int, int]], groups: int, factor: int
) -> None:
    texts, rows = [str(number) for number, _ in counted], [count for _, count in counted]
    found = built("int8", texts, {"builder": "intervals", "groups": groups, "factor": factor}, rows)
    assert_ranges_nest(found)
    if found.levels:
        sizes: dict[str, int] = {}
        for node, count in zip(found.levels[0], rows, strict=True):
            sizes[node] = sizes.get(node, 0) + count
        assert 2 <= len(sizes) <= groups
        # Each end is off its ideal place by half of a value's rows at most.
        assert max(sizes.values()) <= sum(rows) / groups * (groups - len(sizes) + 1) + max(rows)


@given(columns, st.lists(small, min_size=1, max_size=8, unique=True), factors)
def test_given_cuts_hold_their_values_and_nest(numbers: list[int], cuts: list[int], factor: int) -> None:
    spec = {"builder": "intervals", "cuts": sorted(cuts), "factor": factor}
    assert_ranges_nest(built("int8", [str(number) for number in numbers], spec))


@given(st.lists(st.dates(), min_size=1, max_size=30, unique=True))
def test_calendar_periods_hold_their_dates_and_nest(days: list[date]) -> None:
    names = ["month", "quarter", "year", "decade", "century"]
    found = built("date", [day.isoformat() for day in days], {"builder": "dates", "levels": names})
    for row in found.rows():
        day, spans = date.fromisoformat(row[0]), [node[1:-1].split(",") for node in row[1:]]
        for low, high in spans:
            assert not low or date.fromisoformat(low) <= day
            assert not high or day < date.fromisoformat(high)
        for inner, outer in pairwise(spans):
            assert not outer[0] or outer[0] <= inner[0]
            assert not outer[1] or inner[1] <= outer[1]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=30, unique=True), st.integers(1, 3))
def test_prefixes_nest_for_any_texts(texts: list[str], step: int) -> None:
    clean = [text.replace("\0", "") for text in texts]
    found = built("text", list(dict.fromkeys(clean)), {"builder": "prefix", "step": step})
    assert hierarchy_of([*row, ""] for row in found.rows()) == found


@given(st.lists(st.ip_addresses(), min_size=1, max_size=20, unique=True))
def test_networks_hold_their_addresses(addresses: list[Any]) -> None:
    found = built("inet", [str(address) for address in addresses], {"builder": "networks"})
    for row in found.rows():
        inner = ip_network(row[0])
        assert all(inner.subnet_of(ip_network(node)) for node in row[1:])  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30))
def test_what_priorities_keep_is_never_rarer_than_what_they_merge(rows: list[int]) -> None:
    texts = [f"v{number}" for number in range(len(rows))]
    found = built("text", texts, {"builder": "priority"}, rows)
    for level in found.levels:
        kept = [count for text, node, count in zip(texts, level, rows, strict=True) if node == text]
        merged = [count for text, node, count in zip(texts, level, rows, strict=True) if node != text]
        assert min(kept, default=101) >= max(merged, default=0)


@given(st.lists(st.integers(0, 10), max_size=20), st.booleans())
def test_a_table_of_parents_gives_each_value_its_ancestors(choices: list[int], with_inner: bool) -> None:
    entries: list[tuple[str | None, str | None]] = [("n0", None)]
    for number, choice in enumerate(choices, 1):
        entries.append((f"n{number}", f"n{choice % number}"))
    parents = {entry: parent for entry, parent in entries if entry is not None}
    found = taxonomy(entries, with_inner=with_inner, repeats=True)
    for row in found.rows():
        climbed = list(dict.fromkeys(row))
        assert all(parents[below] == above for below, above in pairwise(climbed))
    assert len(found.values) == (len(parents) if with_inner else len(set(parents) - set(parents.values())))


@given(columns)
def test_a_tree_has_every_value_once(numbers: list[int]) -> None:
    found = built("int8", [str(number) for number in numbers], {"builder": "intervals", "width": 7})
    top = tree_of(found, "int8range")
    assert top.leaves == len(numbers)
    assert [Decimal(label) for label in leaves(top)] == sorted(map(Decimal, numbers))


def leaves(node: TreeNode) -> Iterable[str]:
    if node.level == 0:
        yield node.label
    for child in node.children:
        yield from leaves(child)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=10, unique=True))
def test_a_domain_knows_every_value_to_come(numbers: list[int]) -> None:
    spec = {"builder": "intervals", "width": 10, "domain": [0, 99]}
    found = built("int4", [str(number) for number in numbers], spec)
    assert set(found.values) == {str(number) for number in range(100)}
    assert_ranges_nest(found)
    first = date(2020, 1, 1)
    days = [(first + timedelta(days=number)).isoformat() for number in numbers]
    found = built("date", days, {"builder": "dates", "domain": ["2020-01-01", "2020-12-31"]})
    assert len(found.values) == 366
