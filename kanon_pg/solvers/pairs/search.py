"""The optimum for k = 2: rows in pairs and triples.

J. Blocki, R. Williams: "Resolving the Complexity of Some Data Privacy Problems" (2010), reduce 2-anonymity to
Simplex Matching; R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013),
Theorem 2, carry this over to pattern vectors. Every class of at least two rows splits into pairs and triples
that cost no more.
"""

from __future__ import annotations

import numpy as np

from kanon_pg.core.patterns import PatternMask
from kanon_pg.core.request import SolveRequest
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.core.solution import Solution
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.pairs.costs import SingleRows, paired_with_itself, single_rows
from kanon_pg.solvers.pairs.triples import Grouping, best_grouping
from kanon_pg.solvers.search import Found

MOST_ROWS = 1600
"""Rows that may have to be paired with others: some seconds for a first matching, and 0.3 GiB."""

EFFORT = 50_000
"""Changes of matchings after which the search gives up."""

METHOD = "pairs and triples"
BOUND_METHOD = "weighted matchings for k = 2"
NOT_PROVEN = "Effort or time were over before the pairs and triples were proven to be the best."


def search_by_pairs(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> Found | None:
    """Find a cheapest solution for k = 2, and prove that it is one.

    Parameters
    ----------
    table : RowTypeTable
    mask : PatternMask
    request : SolveRequest
    clock : Clock

    Returns
    -------
    Found or None
        None if the request is of another kind (k > 2, an entity, a privacy model, a limit for the number
        of classes, the papers' rule for the rest) or there are too many rows. Without a bound if effort or
        time were over or the mask is bounded.

    Notes
    -----
    Proven optimal by `best_grouping`, polynomial for weights of 1.
    """
    if not _is_suitable(table, request):
        return None
    if int((table.rows - paired_with_itself(table.rows)).sum()) > MOST_ROWS:
        return None
    rows = single_rows(table, mask, clock)
    start = (0,) if rows.row_type.size % 2 == 1 else ()
    grouping = best_grouping(rows, start, EFFORT, clock)
    solution = _solution(rows, grouping)
    if not grouping.is_optimal:
        return Found(solution, METHOD, notes=(NOT_PROVEN,))
    if np.isfinite(mask.outside):
        return Found(solution, METHOD)
    whole = grouping.cost + rows.cheapest * int(rows.paired_rows.sum())
    return Found(solution, METHOD, whole * rows.unit, BOUND_METHOD)


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
