"""The greedy heuristic under privacy models: a group becomes a class only if it satisfies them.

Algorithm 1 of Bredereck, Nichterlein and Niedermeier (2013) takes every group of k people. Here groups that
violate a model are thinned out first: values that are too frequent give row types away, which wait for
a later vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ModelEvaluator, is_satisfied
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.heuristic import UNASSIGNED, Scan, compact, group_sizes, scan_of
from kanon_pg.worker.solvers.greedy.scan import filter_living, group_candidates, list_groups, update_keys
from kanon_pg.worker.solvers.models.thinning import thin_out

_WORK_PER_STEP = 20_000_000
_WORK_PER_JUDGED = 8


@kernel
def _assign_groups(
    scan: Scan,
    found: int,
    groups: int,
    vector: int,
    k: int,
    evaluator: ModelEvaluator,
    is_thinned: bool,
    assigned: NDArray[np.int64],
) -> tuple[int, int]:
    """Make classes of the groups that satisfy everything; return row types assigned and looked at."""
    living, grouping = scan.living, scan.grouping
    sizes = group_sizes(scan, found, groups, k)
    first = list_groups(grouping, found, groups)
    done, looked = 0, 0
    for group in range(groups):
        if sizes[group] < k:
            continue
        places = grouping.members[first[group] : first[group + 1]]
        items = living.numbers[places]
        looked += items.size
        count = items.size
        if not is_satisfied(evaluator, items):
            count = thin_out(evaluator, items, places, k) if is_thinned else 0
        for position in range(count):
            assigned[items[position]] = vector
            living.alive[places[position]] = False
        done += count
    return done, looked


@kernel
def _assign_range(
    scan: Scan,
    vectors: NDArray[np.int64],
    begin: int,
    work: int,
    k: int,
    evaluator: ModelEvaluator,
    is_thinned: bool,
    assigned: NDArray[np.int64],
) -> int:
    """Apply the vectors from `begin` on until they end or the work is done; return where to go on."""
    living, grouping = scan.living, scan.grouping
    length, left, current = scan.state[0], scan.state[1], scan.state[2]
    turn = begin
    while turn < vectors.size and left > 0 and work > 0:
        vector = vectors[turn]
        turn += 1
        work -= length
        update_keys(living.keys, living.hashes, length, current, vector)
        current = vector
        found = filter_living(living, length, k, scan.counters, grouping.candidates)
        if found == 0:
            continue
        groups = group_candidates(living.keys, found, grouping)
        done, looked = _assign_groups(scan, found, groups, vector, k, evaluator, is_thinned, assigned)
        work -= _WORK_PER_JUDGED * looked
        left -= done
        if 8 * left < 7 * length:
            length = compact(living, length)
    scan.state[0], scan.state[1], scan.state[2] = length, left, current
    return turn if left > 0 else vectors.size


def greedy_with_models(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    evaluator: ModelEvaluator,
    clock: Clock,
    *,
    is_thinned: bool = True,
) -> NDArray[np.int64]:
    """Give row types the first vector under which unassigned ones make a class that satisfies everything.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Pattern vectors in the order of their turn, cheapest first.
    k : int
        Fewest distinct people per class.
    evaluator : ModelEvaluator
        The privacy models, see `kanon_pg.worker.models.evaluator.evaluator_of`.
    clock : Clock
        Progress is reported to it; its end is ignored, since this is the first solution.
    is_thinned : bool
        Whether groups that violate a model may leave row types out.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Those that found no class are fully suppressed, whatever they violate.

    Notes
    -----
    No guarantee: Theorem 4 does not hold under privacy models. O(p n (m + s)) time, with thinning O(d) more
    per row type left out, for d values.
    """
    scan = scan_of(table)
    assigned = np.full(len(table), UNASSIGNED, dtype=np.int64)
    turn = 0
    while turn < vectors.size:
        clock.report("greedy", turn / vectors.size)
        turn = _assign_range(scan, vectors, turn, _WORK_PER_STEP, k, evaluator, is_thinned, assigned)
    assigned[assigned == UNASSIGNED] = (1 << table.width) - 1
    return assigned
