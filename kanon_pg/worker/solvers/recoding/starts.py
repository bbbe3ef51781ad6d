"""Classes that a recoding starts from: of level vectors, along hierarchies, or of suppression alone.

What suppression alone finds is a recoding, too: each of its classes publishes the lowest nodes that its
members share, which cost at most as much as the cells that it suppresses. So starting from it, hierarchies
never make a release costlier, as far as time suffices: unless it is proven that suppression alone cannot be
cheaper, all its methods are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.child_processes import ChildBeside
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.greedy.heuristic import UNASSIGNED, greedy_classes
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.portfolio import search_until_good, search_until_optimal
from kanon_pg.worker.solvers.recoding.demands import find_forbidden
from kanon_pg.worker.solvers.recoding.forest import cheapest_levels_first
from kanon_pg.worker.solvers.recoding.rest import assign_rest, is_lattice_small
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.recoding.top_down import top_down_classes

_GRACE = 1.0
"""Seconds after the end of all time in which the search of suppression may still find something."""

_PATIENCE = 0.1
"""Seconds after which who waits for something cheaper looks again."""

_SHARE_ALONE = 0.5
"""Share of the time that is left which the search of suppression takes where no further process can be."""

_MOST_TEXT = 1_000
_PER_ROW = 24
"""Most bytes of what suppression alone finds: its method and bound, and a part of a solution for each row."""


class Start(NamedTuple):
    """Allowed classes, numbered from 0, of the row types of a task, and what made them.

    The task may have parts of the given row types. `least_suppression` is what suppression alone costs at
    least, as far as it is known.
    """

    task: RecodingTask
    class_of: NDArray[np.int64]
    method: str
    least_suppression: float = 0.0

    @property
    def cost(self) -> float:
        """The weighted cost of all rows."""
        return self.task.cost_of(self.class_of)


def start_of(task: RecodingTask) -> Start:
    """Return the cheapest of some quick starts; the first is made whatever the time."""
    starts = [_by_levels(task) if is_lattice_small(task.forest, task.table) else along_hierarchies(task)]
    if task.request.models and is_lattice_small(task.forest, task.table) and not task.clock.is_over():
        # The first classes of the greedy heuristic can use up the rare values that the last ones need.
        starts.append(along_hierarchies(task))
    least = 0.0
    if not task.clock.is_over():
        found = _suppressed(task, search_greedily, task.clock)
        if found is not None:
            starts.append(_of_suppression(task, found.solution, found.method))
            least = found.lower_bound or 0.0
    return min(starts, key=lambda start: start.cost)._replace(least_suppression=least)


class SuppressionAlone:
    """The search of suppression alone by all its methods, beside the search with hierarchies.

    A process of its own searches, from now to the end of the time, just as it would where there are no
    hierarchies; it ends when it is closed. Without a limit of time, or a further process, it runs
    once somebody asks for what it found.
    """

    def __init__(self, task: RecodingTask) -> None:
        self._task, self._found = task, b""
        self._child: ChildBeside | None = None
        self.is_due = not task.clock.is_over()
        left = task.clock.left()
        if left:
            work = partial(self._search, Clock(left))  # one process alone reports its progress
            with suppress(OSError):
                self._child = ChildBeside(work, left + _GRACE, _MOST_TEXT + _PER_ROW * task.table.total_rows)

    def close(self) -> None:
        """End the search."""
        if self._child is not None:
            self._child.close()

    def or_cheaper(self, start: Start, *, waits: bool = False) -> Start:
        """Return a start, or what suppression alone has found if that is cheaper.

        Once suppression alone is proven to cost no less than a start, its search ends.

        Parameters
        ----------
        waits : bool
            Whether to wait for something cheaper until the search ends.
        """
        if not self.is_due:
            return start
        if self._child is None:
            self.is_due = False
            if start.least_suppression < start.cost:
                self._search(self._task.clock.part(_SHARE_ALONE), self._keep)
            return self._cheaper(start)[0]
        while True:
            is_over = self._child.wait(_PATIENCE if waits else 0.0)
            found, least = self._cheaper(start)
            if is_over or max(least, start.least_suppression) >= start.cost:
                self._child.close()
                self.is_due = False
            if not waits or found is not start or not self.is_due:
                return found
            self._task.clock.heartbeat()

    def _search(self, clock: Clock, say: Callable[[bytes], None]) -> None:
        def note(found: SearchResult) -> None:
            text = f"{found.lower_bound or 0.0}\n{found.method}"[: _MOST_TEXT - 1]
            say(f"{text}\n".encode() + found.solution.to_bytes())

        thorough = search_until_optimal if self._task.request.method == "exact" else search_until_good
        _suppressed(self._task, partial(thorough, note=note), clock)

    def _keep(self, found: bytes) -> None:
        self._found = found

    def _cheaper(self, start: Start) -> tuple[Start, float]:
        """Return what was found last if that is cheaper, and what suppression alone costs at least."""
        message = self._found if self._child is None else self._child.latest()
        if not message:
            return start, 0.0
        least, method, solution = message.split(b"\n", 2)
        found = _of_suppression(self._task, Solution.from_bytes(solution), method.decode())
        return (found if found.cost < start.cost else start), float(least)


def along_hierarchies(task: RecodingTask) -> Start:
    """Return what splitting the table along the hierarchies gives."""
    class_of = top_down_classes(task, task.clock)
    is_forbidden = find_forbidden(task.demands, class_of)
    rest = np.flatnonzero(is_forbidden[class_of]).astype(np.int32)
    class_of = assign_rest(task, class_of, rest, task.clock)
    return Start(task, class_of, "mondrian along hierarchies")


def _by_levels(task: RecodingTask) -> Start:
    levels = cheapest_levels_first(task.forest, task.table)
    class_of = greedy_classes(task.forest, task.table, levels, task.demands, task.clock).class_of
    rest = np.flatnonzero(class_of == UNASSIGNED).astype(np.int32)
    class_of = assign_rest(task, class_of, rest, task.clock)
    return Start(task, class_of, "greedy over level vectors")


def _of_suppression(task: RecodingTask, solution: Solution, method: str) -> Start:
    parts = task.divided(solution)
    class_of = classes_of(parts.table, solution.vector).class_of
    return Start(parts, class_of, f"suppression alone ({method})")


Search = Callable[[RowTypeTable, PatternMask, SolveRequest, Clock], SearchResult]


def _suppressed(task: RecodingTask, search: Search, clock: Clock) -> SearchResult | None:
    """Return what a method finds by suppression alone, None if it finds nothing that satisfies the models."""
    request = replace(task.request, method="auto", suppressed_rows=None)
    try:
        return search(task.table, mask_of_all(task.table, request.k, clock), request, clock)
    except InfeasibleError:
        return None
