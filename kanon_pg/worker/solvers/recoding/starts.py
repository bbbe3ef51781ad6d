"""Classes that a recoding starts from: of level vectors, along hierarchies, or of suppression alone.

What suppression alone finds is a recoding, too: each of its classes publishes the lowest nodes that its
members share, which cost at most as much as the cells that it suppresses. So starting from it, hierarchies
never make a release costlier.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.solution import SearchResult
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.portfolio import search_until_good
from kanon_pg.worker.solvers.recoding.demands import find_forbidden
from kanon_pg.worker.solvers.recoding.greedy import assign_rest, greedy_classes, is_lattice_small
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.recoding.top_down import top_down_classes

_SHARE_FOR_SUPPRESSION = 0.3
"""Share of the time that is left in which suppression alone is searched further where it is ahead."""


class Start(NamedTuple):
    """Allowed classes, numbered from 0, of the row types of a task, and what made them.

    The task may have parts of the given row types.
    """

    task: RecodingTask
    class_of: NDArray[np.int64]
    method: str
    by_suppression: bool = False

    @property
    def cost(self) -> float:
        """The weighted cost of all rows."""
        return self.task.cost_of(self.class_of)


def start_of(task: RecodingTask, *, is_thorough: bool = False) -> Start:
    """Return the cheapest of some starts; the first is made whatever the time.

    Parameters
    ----------
    is_thorough : bool
        Whether all methods for suppression alone are tried where the fast one is ahead of those that know the
        hierarchies, as it can be under privacy models.
    """
    starts = [_by_levels(task) if is_lattice_small(task.forest, task.table) else along_hierarchies(task)]
    if task.request.models and is_lattice_small(task.forest, task.table) and not task.clock.is_over():
        # The first classes of the greedy heuristic can use up the rare values that the last ones need.
        starts.append(along_hierarchies(task))
    if not task.clock.is_over():
        starts.append(_by_suppression(task, is_thorough=False))
    best = min(starts, key=lambda start: start.cost)
    if is_thorough and best.by_suppression and not task.clock.is_over():
        best = min(best, _by_suppression(task, is_thorough=True), key=lambda start: start.cost)
    return best


def along_hierarchies(task: RecodingTask) -> Start:
    """Return what splitting the table along the hierarchies gives."""
    class_of = top_down_classes(task.forest, task.codes, task.table, task.demands, task.clock)
    is_forbidden = find_forbidden(task.demands, class_of)
    rest = np.flatnonzero(is_forbidden[class_of]).astype(np.int32)
    class_of = assign_rest(task.forest, task.codes, task.table, task.demands, class_of, rest, task.clock)
    return Start(task, class_of, "mondrian along hierarchies")


def _by_levels(task: RecodingTask) -> Start:
    class_of, rest = greedy_classes(task.forest, task.table, task.demands, task.clock)
    class_of = assign_rest(task.forest, task.codes, task.table, task.demands, class_of, rest, task.clock)
    return Start(task, class_of, "greedy over level vectors")


def _by_suppression(task: RecodingTask, *, is_thorough: bool) -> Start:
    found = _suppressed(task, is_thorough=is_thorough)
    parts = task.divided(found.solution)
    class_of = classes_of(parts.table, found.solution.vector).class_of
    return Start(parts, class_of, f"suppression alone ({found.method})", by_suppression=True)


def _suppressed(task: RecodingTask, *, is_thorough: bool) -> SearchResult:
    request = replace(task.request, method="auto", suppressed_rows=None)
    clock = task.clock.part(_SHARE_FOR_SUPPRESSION) if is_thorough else task.clock
    mask = mask_of_all(task.table, request.k, clock)
    search = search_until_good if is_thorough else search_greedily
    return search(task.table, mask, request, clock)
