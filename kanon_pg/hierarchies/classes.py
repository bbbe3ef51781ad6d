"""Classes of at least so many rows that are as even as can be: intervals of what has an order, else groups.

The solvers are those of ``kanon_intervals`` and ``kanon_groups``, with the guarantees of Du, Eppstein,
Goodrich and Lueker (2009): intervals are optimal, groups by Spread within 5/2 of the optimum (Theorem 10). A
second level merges classes of the first, so what holds for it is measured against these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Protocol

from kanon_pg.core.grouping import GroupingTask, Kind, class_names, packed, unpacked
from kanon_pg.core.hierarchy import GeneralizationHierarchy, from_levels
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.hierarchies.dates import moment_of, moment_writer, roundest_moment
from kanon_pg.hierarchies.inputs import ColumnValues, Spec
from kanon_pg.hierarchies.intervals import plain, roundest
from kanon_pg.hierarchies.ranges import half_open, range_type
from kanon_pg.runner.parent import group_in_child, memory_budget

Task = Literal["intervals", "labels"]
METHODS = ("spread", "fold")
COSTS = ("max", "sum")

_SECONDS = 60.0
_MOST_ROWS = 1 << 62


class ClassFinder(Protocol):
    """Groups values by their weights into classes of at least `least`."""

    def __call__(
        self, task: Task, weights: Sequence[int], least: int, *, cost: str, method: str
    ) -> list[int]:
        """Return the class of each value; for intervals the values are in order, and so are the classes."""


def finder_in_worker(db: Database) -> ClassFinder:
    """Return what has classes found in this session's worker.

    Parameters
    ----------
    db : Database
        Says how much memory there is and when to stop.
    """

    def find(task: Task, weights: Sequence[int], least: int, *, cost: str, method: str) -> list[int]:
        options = {"k": least, "cost": cost, "seconds": _SECONDS, "method": method, "epsilon": 0.25}
        arrays: dict[str, tuple[Kind, bytes]] = {"weights": ("<i8", packed("<i8", weights))}
        answer = group_in_child(
            GroupingTask(task, options, arrays),
            checkpoint=db.checkpoint,
            progress=db.progress,
            memory_bytes=memory_budget(db),
        )
        return unpacked("<i8", answer.class_of)

    return find


def nested_classes(
    weights: Sequence[int], least: Sequence[int], find: Callable[[Sequence[int], int], list[int]]
) -> list[list[int]]:
    """Return per level the class of each value; the classes of a level are made of those of the level below.

    Parameters
    ----------
    weights : sequence of int
        Rows per value.
    least : sequence of int
        Fewest rows of a class at each level, rising.
    find : callable
        Classes of weights, numbered from 0.

    Raises
    ------
    InfeasibleError
        If all values together have fewer rows than a class needs.
    """
    if sum(weights) < max(least):
        raise InfeasibleError(
            f"All values together have {sum(weights):,} rows, fewer than {max(least):,}.",
            hint='Lower "least" of the classes.',
        )
    levels: list[list[int]] = []
    classes, sizes = list(range(len(weights))), list(weights)
    for fewest in least:
        merged = find(sizes, fewest)
        classes = [merged[number] for number in classes]
        sizes = [0] * (max(merged) + 1)
        for number, weight in zip(classes, weights, strict=True):
            sizes[number] += weight
        levels.append(classes)
    return levels


def take_least(spec: Spec) -> list[int]:
    """Take the fewest rows of a class per level.

    Raises
    ------
    InputError
        If they are not there or do not rise.
    """
    least = spec.wholes("least", 1, _MOST_ROWS)
    if not least or any(low >= high for low, high in pairwise(least)):
        raise InputError(
            '"least" of the classes must be a whole number, or one per level that rise.',
            hint='For example {"builder": "classes", "least": 100}.',
        )
    return least


def classes(find: ClassFinder, values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build classes of the values of a column.

    Intervals are cut at the roundest place between two values, and the outer ones have no end: no extreme
    value becomes a bound.

    Parameters
    ----------
    values : ColumnValues
        Values of any type; numbers, dates and timestamps are taken in their order.
    spec : Spec
        ``least``: fewest rows of a class, or one number per level, rising. ``cost``: ``max`` (unless given)
        for a small largest class, ``sum`` for few people too many. ``method``: ``spread`` (unless given) or
        ``fold``, for values without order.

    Raises
    ------
    InputError, UnsuitableColumn, InfeasibleError
        If the keys cannot be understood, the values are no finite numbers or moments, or have too few rows.
    """
    least, cost = take_least(spec), spec.text("cost", COSTS) or "max"
    if range_type(values.column.base_type) is not None:
        return _intervals(values, least, partial(find, "intervals", cost=cost, method=""))
    method = spec.text("method", METHODS) or METHODS[0]
    levels = nested_classes(values.rows, least, partial(find, "labels", cost=cost, method=method))
    weighed = list(zip(values.texts, values.rows, strict=True))
    names = [(level, class_names(weighed, level, max(level) + 1)) for level in levels]
    return from_levels(values.texts, [[named[number] for number in level] for level, named in names])


def _intervals(
    values: ColumnValues, least: Sequence[int], find: Callable[[Sequence[int], int], list[int]]
) -> GeneralizationHierarchy:
    """Return intervals over values that have an order."""
    places, round_cut, write = _line(values)
    order = sorted(range(len(places)), key=places.__getitem__)
    levels = nested_classes([values.rows[place] for place in order], least, find)
    nodes: list[list[str]] = []
    for level in levels:
        # A cut is that of the lowest level, so that the intervals of higher levels end where these do.
        cuts = [
            write(round_cut(places[order[after - 1]], places[order[after]]))
            for after in range(1, len(order))
            if level[after] != level[after - 1]
        ]
        ends = [None, *cuts, None]
        number, of_value = 0, [""] * len(order)
        for after, place in enumerate(order):
            number += after > 0 and level[after] != level[after - 1]
            of_value[place] = half_open(ends[number], ends[number + 1])
        nodes.append(of_value)
    return from_levels(values.texts, nodes)


def _line(values: ColumnValues) -> tuple[list[Any], Callable[[Any, Any], Any], Callable[[Any], str]]:
    """Return where values are in their order, where to cut between two of them, and how a cut is written."""
    if not values.are_moments:
        numbers: list[Decimal] = values.numbers()
        return numbers, roundest, plain
    is_date = values.column.base_type == "date"
    moments = [moment_of(values, text) for text in values.texts]
    return moments, partial(roundest_moment, is_date=is_date), moment_writer(values.column.base_type)
