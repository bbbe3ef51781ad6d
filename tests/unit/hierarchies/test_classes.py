"""Classes of at least so many rows: what the levels of such a hierarchy promise, whatever the values."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.errors import InfeasibleError, InputError, KanonError, UnsuitableColumn
from kanon_pg.hierarchies.build import Task, classes
from kanon_pg.hierarchies.dates import roundest_moment
from kanon_pg.hierarchies.inputs import ColumnValues, Spec
from kanon_pg.worker.grouping.intervals import intervals
from kanon_pg.worker.grouping.labels import group_labels


def find(task: Task, weights: Sequence[int], least: int, cost: Any, method: str) -> list[int]:
    """Ask the solvers without a worker."""
    if task == "intervals":
        found = intervals(weights, least, cost)
    else:
        found = group_labels(weights, least, method, cost)
    numbers: list[int] = found.class_of.tolist()
    return numbers


def built(base_type: str, rows: dict[str, int], **spec: Any) -> GeneralizationHierarchy:
    column = ColumnFacts(
        "c", *[base_type] * 3, "b", False, False, True, None, None, selectable=True, is_key=False
    )
    taken = Spec(spec, "spec")
    found = classes(find, ColumnValues(column, tuple(rows), tuple(rows.values())), taken)
    taken.done()
    return found


def sizes(hierarchy: GeneralizationHierarchy, rows: dict[str, int]) -> list[Counter[str]]:
    """Return the rows of each node, level by level."""
    levels: dict[int, Counter[str]] = defaultdict(Counter)
    for value, *nodes in hierarchy.rows():
        for level, node in enumerate(nodes):
            levels[level][node] += rows[value]
    return list(levels.values())


COUNTS = st.integers(1, 9)
LEAST = st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True).map(sorted)


@given(st.dictionaries(st.integers(-2000, 2000).map(str), COUNTS, min_size=1), LEAST)
def test_every_interval_has_enough_rows_and_holds_its_values(rows: dict[str, int], least: list[int]) -> None:
    if sum(rows.values()) < least[-1]:
        with pytest.raises(InfeasibleError):
            built("int4", rows, least=least)
        return
    found = built("int4", rows, least=least)
    for fewest, nodes in zip(least, sizes(found, rows), strict=False):
        assert min(nodes.values()) >= fewest
    for value, *nodes in found.rows():
        for node in nodes:
            low, high = node[1:-1].split(",")
            assert not low or int(low) <= int(value)
            assert not high or int(value) < int(high)


@given(
    st.dictionaries(st.text("abc, ", min_size=1, max_size=4), COUNTS, min_size=1),
    LEAST,
    st.sampled_from(["spread", "fold"]),
)
def test_every_group_has_enough_rows(rows: dict[str, int], least: list[int], method: str) -> None:
    if sum(rows.values()) >= least[-1]:
        found = built("text", rows, least=least, method=method)
        for fewest, nodes in zip(least, sizes(found, rows), strict=False):
            assert min(nodes.values()) >= fewest


def test_no_extreme_value_is_a_bound_and_cuts_are_round() -> None:
    rows = {str(age): 10 for age in (18, 19, 23, 37, 61, 66, 99)}
    nodes = {node for row in built("int4", rows, least=20).rows() for node in row[1:]}
    assert nodes == {"(,30)", "[30,66)", "[66,)"}


def test_dates_are_cut_where_long_periods_begin() -> None:
    days = {(date(2018, 12, 20) + timedelta(days=8 * n)).isoformat(): 3 for n in range(12)}
    nodes = {node for row in built("date", days, least=9).rows() for node in row[1:]}
    assert nodes == {"(,2019-01-13)", "[2019-01-13,2019-02-01)", "[2019-02-01,2019-03-01)", "[2019-03-01,)"}


@given(st.datetimes(), st.datetimes(), st.booleans())
def test_a_cut_lies_between_two_moments(one: datetime, other: datetime, is_date: bool) -> None:
    low, high = sorted([one, other])
    if is_date:
        low, high = (m.replace(hour=0, minute=0, second=0, microsecond=0) for m in (low, high))
    if low < high:
        assert low < roundest_moment(low, high, is_date=is_date) <= high


def test_fewer_people_too_many_cost_less() -> None:
    rows = {str(n): n for n in range(1, 40)}
    evenness = {
        cost: sum(size**2 for size in sizes(built("int8", rows, least=50, cost=cost), rows)[0].values())
        for cost in ("max", "sum")
    }
    assert evenness["sum"] <= evenness["max"]


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({}, InputError),
        ({"least": 0}, InputError),
        ({"least": [5, 5]}, InputError),
        ({"least": [5, 4]}, InputError),
        ({"least": []}, InputError),
        ({"least": "5"}, InputError),
        ({"least": True}, InputError),
        ({"least": 5, "cost": "mean"}, InputError),
        ({"least": 5, "method": "best"}, InputError),
        ({"least": 5, "width": 5}, InputError),
        ({"least": 5000}, InfeasibleError),
    ],
)
def test_what_cannot_be_understood_is_refused(spec: dict[str, Any], error: type[KanonError]) -> None:
    with pytest.raises(error) as refused:
        built("text", {"a": 10, "b": 10}, **spec)
    assert refused.value.hint


@pytest.mark.parametrize(("base_type", "value"), [("float8", "NaN"), ("date", "infinity")])
def test_what_has_no_place_on_the_line_is_refused(base_type: str, value: str) -> None:
    with pytest.raises(UnsuitableColumn):
        built(base_type, {value: 10, str(Decimal(1)) if base_type == "float8" else "2020-01-01": 10}, least=5)
