"""The optimum for k = 2: rows in pairs and triples.

J. Blocki, R. Williams: "Resolving the Complexity of Some Data Privacy Problems" (2010), reduce 2-anonymity to
Simplex Matching; R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013),
Theorem 2, carry this over to pattern vectors. Every class of at least two rows splits into pairs and triples
that cost no more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.pairs.costs import SingleRows, paired_with_itself, single_rows
from kanon_pg.worker.solvers.pairs.triples import Grouping, best_grouping
from kanon_pg.worker.solvers.search import SearchResult, search_greedily

MOST_ROWS = 1600
"""Rows that may have to be paired with others: some seconds for a first matching, and 0.3 GiB."""

EFFORT = 50_000
"""Changes of matchings after which the search gives up."""

METHOD = "pairs and triples"
BOUND_METHOD = "weighted matchings for k = 2"


def search_by_pairs(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult | None:
    """Find a cheapest solution for k = 2, and prove that it is one.

    Parameters
    ----------
    table : RowTypeTable
    mask : PatternMask
    request : SolveRequest
    clock : Clock

    Returns
    -------
    SearchResult or None
        None if the request is of another kind (k > 2, an entity, a privacy model, a limit for the number
        of classes, the papers' rule for the rest) or there are too many rows. If effort or time were over,
        the greedy heuristic's solution where that is cheaper, with its bound.

    Notes
    -----
    Proven optimal by `best_grouping`, polynomial for weights of 1.
    """
    if not _is_suitable(table, request):
        return None
    if int((table.rows - paired_with_itself(table.rows)).sum()) > MOST_ROWS:
        return None
    known = search_greedily(table, mask, request, clock)
    try:
        rows = single_rows(table, mask, clock.firm())
        start = (0,) if rows.row_type.size % 2 == 1 else ()
        grouping = best_grouping(rows, start, EFFORT, clock.firm())
    except TimeOver:
        return known
    whole = (grouping.cost + rows.cheapest * int(rows.paired_rows.sum())) * rows.unit
    found = replace(known, solution=_solution(rows, grouping), method=METHOD)
    if grouping.is_optimal and not np.isfinite(mask.outside):
        return replace(found, lower_bound=whole, bound_method=BOUND_METHOD)
    costs = suppression_costs(known.solution.vector, table.weights) * known.solution.rows
    return found if whole < costs.sum() else known


def _is_suitable(table: RowTypeTable, request: SolveRequest) -> bool:
    has_limits = request.fewest_classes is not None or request.most_classes is not None
    is_plain = not (table.has_entity or request.models or has_limits or request.rest_may_be_small)
    return request.k == 2 and is_plain


def _solution(rows: SingleRows, grouping: Grouping) -> Solution:
    """Return the parts of the row types, one by one and those paired among themselves."""
    count = rows.row_type.size
    mate = grouping.mate
    vector = rows.vector[np.arange(count), np.minimum(mate, count - 1)]
    seated = mate >= count
    places = np.array(grouping.triples, dtype=np.int64)
    vector[seated] = rows.place_vector[places[(mate[seated] - count) // 3]]
    types = np.arange(rows.paired_rows.size)
    # A row and itself differ in nothing, so the diagonal holds the cheapest vector of all.
    return Solution.of_parts(
        np.concatenate([rows.row_type, types]),
        np.concatenate([vector, np.full(types.size, rows.vector[0, 0])]),
        np.concatenate([np.ones(count, dtype=np.int64), rows.paired_rows]),
    )
