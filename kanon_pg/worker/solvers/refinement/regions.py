"""Large neighbourhood search: the best of everything in one region of a solution after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.integer_program import Effort, solve_sub_problem
from kanon_pg.worker.solvers.refinement.region import Layout, draw_region, layout_of, region_of
from kanon_pg.worker.verification.certificate import PRICE_UNIT

_FIRST_PAIRS = 1_000
_LEAST_PAIRS = 200
_MOST_PAIRS = 200_000
_NODES = 20
_LARGER = 1.15
_SMALLER = 0.9
_MUCH_SMALLER = 0.8

EFFORT_PER_SECOND = 20_000_000
"""Effort that takes about a second: steps of the simplex method times pairs of the program."""

_MOST_EFFORT = 0.05
"""Share of the effort that one program may take, or a second; otherwise the next ones get smaller."""

_LEAST_EFFORT = EFFORT_PER_SECOND // 50
"""What each program costs beside the steps of the simplex method."""
_SHORTEST_CALL = 0.05
_LONGEST_CALL = 12.0
"""Seconds after which a program is given up: rare, but the library may work for minutes on its first node."""


def improve_by_regions(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    effort: int,
    prices: NDArray[np.int64] | None = None,
    seed: int | None = None,
    rest_may_be_small: bool = False,
) -> Solution:
    """Lower the weighted cost of a solution by integer programs on parts of it.

    Each round chooses some classes near each other, leaves all others as they are but for rows that join
    them, and solves what remains. Regions grow while their programs are solved to the end with little
    effort, and shrink otherwise.

    Parameters
    ----------
    table : RowTypeTable
    graph : Compatibility
        The graph of this table and k; best the part that `thin` returns, which makes regions larger.
    solution : Solution
        Every class has at least k people and is an instance of the graph.
    k : int
    clock : Clock
        Ends the search when time is over.
    effort : int
        Ends the search: steps of the simplex method times pairs, so that the same input gives the same
        result unless time runs out.
    prices : ndarray of int64, shape (n,), optional
        Valid prices: regions begin where classes cost much more than the prices of their rows.
    seed : int, optional
        Seed of the random choices.
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.

    Returns
    -------
    Solution
        Never dearer than `solution`.

    Notes
    -----
    Shaw 1998, "Using constraint programming and local search methods to solve vehicle routing problems".
    """
    layout = layout_of(table, graph, solution, k, rest_may_be_small)
    random = np.random.default_rng(0 if seed is None else seed)
    most_pairs, used, most_work = float(_FIRST_PAIRS), 0, max(EFFORT_PER_SECOND, _MOST_EFFORT * effort)
    while used < effort and not clock.is_over():
        clock.report("neighbourhood", used / effort)
        first = _somewhere(layout, prices, random)
        layout, is_solved, work = _solve_region(layout, first, int(most_pairs), random, clock)
        used += work
        if is_solved:
            most_pairs *= _LARGER if work <= most_work else _SMALLER
        else:
            most_pairs *= _MUCH_SMALLER
        most_pairs = min(max(most_pairs, _LEAST_PAIRS), _MOST_PAIRS, layout.rows.size)
    return layout.solution()


def _somewhere(layout: Layout, prices: NDArray[np.int64] | None, random: np.random.Generator) -> int:
    """Draw an open instance, one that costs much in excess of its rows' prices more often."""
    surplus = layout.graph.cost[layout.instance]
    if prices is not None:
        surplus = surplus - prices[layout.row_type] / PRICE_UNIT
    excess = np.bincount(layout.instance, weights=surplus * layout.rows, minlength=len(layout.graph))
    total = np.cumsum(np.maximum(excess, 0.0))
    if total[-1] <= 0.0:
        return int(random.choice(layout.instance[layout.rows > 0]))
    return int(np.searchsorted(total, random.random() * total[-1], side="right"))


def _solve_region(
    layout: Layout, first: int, most_pairs: int, random: np.random.Generator, clock: Clock
) -> tuple[Layout, bool, int]:
    """Return the layout with a region solved, whether that was proven to be its best, and the effort."""
    region = region_of(layout, draw_region(layout, first, most_pairs, random))
    left = clock.left()
    seconds = _LONGEST_CALL if left is None else min(max(left, _SHORTEST_CALL), _LONGEST_CALL)
    effort = Effort(seconds, _NODES)
    answer = solve_sub_problem(region.problem, effort, region.start)
    work = _LEAST_EFFORT + answer.iterations * region.problem.member.size
    if answer.rows is None:
        return layout, False, work
    moved = region.rows_of(answer.rows, layout.row_type[region.pairs])
    rows = layout.rows[region.pairs] - region.inside + moved
    return layout.with_rows(region.pairs, rows), answer.is_optimal, work
