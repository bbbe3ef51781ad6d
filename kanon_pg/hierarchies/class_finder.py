"""Finds classes of at least so many rows among the values of a column, by the solvers of one attribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, Protocol

from kanon_pg.core.grouping import GroupingQuestion, Kind, packed, unpacked
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.runner.budget import memory_budget
from kanon_pg.runner.parent import group_in_child

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
            GroupingQuestion(task, options, arrays),
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
