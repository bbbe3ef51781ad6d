"""Classes that a recoding starts from: of level vectors, along hierarchies, or of suppression alone.

What suppression alone finds is a recoding, too: each of its classes publishes the lowest nodes that its
members share, which cost at most as much as the cells that it suppresses. So starting from it, hierarchies
never make a release costlier, as far as time suffices: unless it is proven that suppression alone cannot be
cheaper, all its methods are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.child_processes import WorkFailed, in_child_beside
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

_GRACE = 0.15
"""How much later than its end the search of suppression may still answer, as a share of the time that is
left: on a busy machine its last step can take long, and what it found would be lost."""


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


Suppressed = Callable[[], "Start | None"]


@contextmanager
def suppression_beside(task: RecodingTask, first: Start, share: float) -> Iterator[Suppressed]:
    """Search suppression alone by all its methods while the block does something else.

    Yields
    ------
    callable
        Returns what was found once it is there, None where that cannot be cheaper than `first`, or nothing
        was found.

    Notes
    -----
    A process of its own searches, so that the search takes none of the time of the block where there is a
    second processor; without a limit of time, or a further process, it runs once it is asked for.
    """
    if first.least_suppression >= first.cost or task.clock.is_over():
        yield lambda: None
        return

    def search(clock: Clock) -> tuple[Solution, str] | None:
        thorough = search_until_optimal if task.request.method == "exact" else search_until_good
        found = _suppressed(task, thorough, clock)
        return None if found is None else (found.solution, found.method)

    def work() -> bytes:
        found = search(clock)
        return b"" if found is None else found[1].encode() + b"\0" + found[0].to_bytes()

    clock, late = task.clock.part(share), 1.0 + _GRACE * (task.clock.left() or 0.0)
    seconds = clock.left()
    with ExitStack() as stack:
        answer = None
        if seconds is not None:
            try:
                answer = stack.enter_context(in_child_beside(work, seconds + late))
            except OSError:
                clock = task.clock.part(share)

        def found() -> Start | None:
            if answer is None:
                result = search(clock)
                return None if result is None else _of_suppression(task, *result)
            try:
                method, _, solution = (answer() or b"").partition(b"\0")
            except WorkFailed:
                return None
            return _of_suppression(task, Solution.from_bytes(solution), method.decode()) if solution else None

        yield found


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
