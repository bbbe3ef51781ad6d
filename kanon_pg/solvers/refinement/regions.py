"""Large neighbourhood search: the best of everything in one region of a solution after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.certificate import PRICE_UNIT
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.core.solution import Solution
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.compatibility import Compatibility
from kanon_pg.solvers.exact.integer_program import Effort, solve_sub_problem
from kanon_pg.solvers.refinement.region import Layout, draw_region, layout_of, region_of

_FIRST_PAIRS = 5_000
_LEAST_PAIRS = 200
_MOST_PAIRS = 20_000
_NODES = 100
_LARGER = 1.25
_SMALLER = 0.7
_SHORTEST_CALL = 0.05


def improve_by_regions(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    rounds: int,
    prices: NDArray[np.int64] | None = None,
    seed: int | None = None,
    rest_may_be_small: bool = False,
) -> Solution:
    """Lower the weighted cost of a solution by integer programs on parts of it.

    Each round chooses some classes near each other, leaves all others as they are but for rows that join
    them, and solves what remains. Regions grow while their programs are solved to the end, and shrink
    otherwise.

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
    rounds : int
        Most integer programs.
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
    most_pairs = float(_FIRST_PAIRS)
    for turn in range(rounds):
        if clock.is_over():
            break
        clock.report("neighbourhood", turn / rounds)
        first = _somewhere(layout, prices, random)
        layout, is_solved = _solve_region(layout, first, int(most_pairs), random, clock)
        most_pairs *= _LARGER if is_solved else _SMALLER
        most_pairs = min(max(most_pairs, _LEAST_PAIRS), _MOST_PAIRS)
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
) -> tuple[Layout, bool]:
    """Return the layout with a region solved, and whether that was proven to be its best."""
    region = region_of(layout, draw_region(layout, first, most_pairs, random))
    left = clock.left()
    effort = Effort(None if left is None else max(left, _SHORTEST_CALL), _NODES)
    answer = solve_sub_problem(region.problem, effort, region.inside)
    if answer.rows is None:
        return layout, False
    rows = layout.rows[region.pairs] - region.inside + answer.rows
    return layout.with_rows(region.pairs, rows), answer.is_optimal
