"""The optimum of tables with few row types: all sets of output row types, and a flow for each.

R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity on the Computational
Complexity of Combinatorial Data Anonymization" (2014), Lemmas 1 and 2 and Theorem 3; for pattern vectors, R.
Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013), Theorem 3.

An output row type is a class that few row types can form. The papers guess the set of output row types and
assign rows by a flow. Here sets grow by decisions: an output row type is open (it gets at least k rows),
closed, or undecided (it gets any number). The flow with undecided ones costs no more than any solution that
fits the decisions, so most sets are never looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import DEFECT, InfeasibleError, InputError, SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.exact.granularity import whole_costs


class OutputType(NamedTuple):
    """A pattern vector together with row types that agree on what it keeps."""

    cost: int
    """Cost of one row in units of `whole_costs`."""
    vector: int
    """Bit mask of suppressed columns."""
    members: tuple[int, ...]
    """Positions of the row types, ascending."""
    fewest: int
    """Rows that it needs if it is used."""


def output_types(
    table: RowTypeTable,
    vectors: Iterable[tuple[int, int]],
    k: int,
    *,
    rest_may_be_small: bool = False,
    keep_equal: bool = False,
) -> list[OutputType]:
    """List the output row types of some row types.

    Parameters
    ----------
    vectors : iterable of (int, int)
        Cost of one row and bit mask of each allowed vector.
    k : int
        Output row types with fewer compatible rows are left out.
    rest_may_be_small : bool
        The fully suppressed one may have any number of rows.
    keep_equal : bool
        Keep output row types with the same members. Otherwise only the cheapest of them is listed: that
        changes no optimum, but classes may then be fewer than they could be.

    Returns
    -------
    list of OutputType
        Cheapest first.

    Notes
    -----
    O(p n m) for p vectors; cells are compared, not hashes.
    """
    codes = table.codes.T.tolist()
    rows = table.rows.tolist()
    full = (1 << table.width) - 1
    found: list[OutputType] = []
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for cost, vector in sorted(vectors):
        kept = [column for column in range(table.width) if not vector >> column & 1]
        groups: dict[tuple[int, ...], list[int]] = {}
        for item, code in enumerate(codes):
            groups.setdefault(tuple(code[column] for column in kept), []).append(item)
        fewest = 1 if rest_may_be_small and vector == full else k
        for group in groups.values():
            members = tuple(group)
            if sum(rows[item] for item in members) < fewest or (not keep_equal and (fewest, members) in seen):
                continue
            seen.add((fewest, members))
            found.append(OutputType(cost, vector, members, fewest))
        table.heartbeat()
    return found


@dataclass(frozen=True)
class Assignment:
    """Rows of row types in output row types."""

    row_type: NDArray[np.int64]
    output: NDArray[np.int64]
    """Shape (e,). `row_type`, `output`: pairs that hold rows."""
    rows: NDArray[np.int64]
    """Shape (e,). Rows of each pair, >= 1."""
    cost: int
    """Whole cost of all rows."""


def assign_rows(
    rows: NDArray[np.int64],
    pairs: Sequence[tuple[int, int, int]] | NDArray[np.int64],
    fewest: NDArray[np.int64],
) -> Assignment | None:
    """Distribute the rows of row types at least cost.

    Parameters
    ----------
    pairs : sequence of (int, int, int), or ndarray of int64, shape (e, 3)
        Row type, output row type and whole cost of one row for all that are compatible.
    fewest : ndarray of int64, shape (q,)
        Rows that each output row type must get at least.

    Returns
    -------
    Assignment or None
        The cheapest, whole by the integrality of flows; None if there is none.

    Raises
    ------
    SolverError
        Costs or rows are too large for the library.

    Notes
    -----
    The network of Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 1: row types supply their
    rows, output row types demand what they need at least, and a sink takes what is left. Polynomial:
    the paper names O(v log v (e + v log v)) for v row types and output row types and e pairs (Orlin 1988);
    the library's cost-scaling takes O(v^2 e log(v c)) for costs of at most c.
    """
    left = int(rows.sum() - fewest.sum())
    if left < 0:
        return None
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    network = min_cost_flow.SimpleMinCostFlow()
    types, outputs = rows.size, fewest.size
    row_type, output, cost = np.asarray(pairs, dtype=np.int64).T
    arcs = network.add_arcs_with_capacity_and_unit_cost(row_type, types + output, rows[row_type], cost)
    network.add_arcs_with_capacity_and_unit_cost(
        np.arange(types, types + outputs),
        np.full(outputs, types + outputs),
        np.full(outputs, left),
        np.zeros(outputs, dtype=np.int64),
    )
    network.set_nodes_supplies(np.arange(types + outputs + 1), np.concatenate([rows, -fewest, [-left]]))
    if not is_solved(network):
        return None
    flow = np.asarray(network.flows(arcs), dtype=np.int64)
    used = flow > 0
    return Assignment(row_type[used], output[used], flow[used], int(network.optimal_cost()))


def is_solved(network: Any) -> bool:
    """Solve a network of the library for flows; return whether there is a flow.

    Raises
    ------
    SolverError
        Costs or supplies are too large for the library.
    """
    status = network.solve()
    if status not in (network.OPTIMAL, network.INFEASIBLE):
        raise SolverError("The library for flows failed.", detail=f"status {status.name}", hint=DEFECT)
    return bool(status == network.OPTIMAL)


MOST_ROW_TYPES = 24
"""Row types of tables for which all sets of output row types are searched."""

MOST_WORK = 1 << 20
"""Most pattern vectors times row types: about a second to list the output row types."""

MOST_NODES = 20_000
"""Sets of decisions after which the search gives up: some seconds to a minute."""

METHOD = "all sets of output row types"
BY_FLOWS = "a minimum-cost flow for every set of output row types"


@dataclass(frozen=True)
class AssignmentTask:
    """What is searched."""

    rows: np.ndarray
    """Shape (n,)."""
    outputs: list[OutputType]
    """Cheapest first."""
    fewest: int
    most: int
    """`fewest`, `most`: limits for the number of classes."""


@dataclass(frozen=True, order=True)
class SearchNode:
    """Decisions about output row types and the cheapest assignment that they allow."""

    cost: int
    """No solution that fits the decisions costs less."""
    turn: int
    """Breaks ties: the later found first."""
    opened: frozenset[int] = field(compare=False)
    closed: frozenset[int] = field(compare=False)
    """`opened`, `closed`: decided output row types."""
    assignment: Assignment = field(compare=False)


def search_by_row_assignment(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult | None:
    """Find a cheapest solution of a table with few row types, and prove that it is one.

    Parameters
    ----------
    request : SolveRequest
        Limits for the number of classes are kept: output row types are counted, so two classes may
        differ only in what they suppress.

    Returns
    -------
    SearchResult or None
        None if there are too many row types, pattern vectors or sets, or time is over. No bound is
        claimed for a bounded mask.

    Raises
    ------
    InputError
        The table has an entity, or the request a privacy model: this method divides row types freely.
    InfeasibleError
        There are not as many classes as requested.

    Notes
    -----
    At most 2^q flows for q output row types, q <= min(p n, 2^n) for n row types and p vectors, hence
    fixed-parameter tractable for n. Unless more are requested, n classes suffice (Lemma 2). The search
    visits the sets of least cost first and stops at the first that is a solution.
    """
    _require_divisible(table, request)
    if len(table) > MOST_ROW_TYPES or mask.vectors.size * len(table) > MOST_WORK:
        return None
    costs, unit = whole_costs(mask.costs())
    task = _task(table, mask, request, costs.tolist())
    best = search_sets(task, clock)
    if best is None:
        return None
    chosen = best.assignment
    vector = np.array([output.vector for output in task.outputs], dtype=np.int64)
    solution = Solution.of_parts(chosen.row_type, vector[chosen.output], chosen.rows)
    if np.isfinite(mask.outside):
        # Vectors that were left out of the mask could make a solution cheaper.
        return SearchResult(solution, METHOD)
    return SearchResult(solution, METHOD, chosen.cost * unit, BY_FLOWS)


def _require_divisible(table: RowTypeTable, request: SolveRequest) -> None:
    if table.has_entity or request.models:
        raise InputError(
            "Row assignment divides row types freely, so it supports no entity and no privacy model.",
            hint="Use another method.",
        )


def _task(table: RowTypeTable, mask: PatternMask, request: SolveRequest, costs: list[int]) -> AssignmentTask:
    fewest = request.fewest_classes or 1
    outputs = output_types(
        table,
        zip(costs, mask.vectors.tolist(), strict=True),
        request.k,
        rest_may_be_small=request.rest_may_be_small,
        keep_equal=fewest > 1,
    )
    enough = max(len(table), fewest)
    most = enough if request.most_classes is None else min(request.most_classes, enough)
    return AssignmentTask(table.rows, outputs, fewest, most)


def search_sets(task: AssignmentTask, clock: Clock) -> SearchNode | None:
    """Return a node whose assignment is a cheapest solution, None if there are too many or time is over.

    Raises
    ------
    InfeasibleError
        No solution has the number of classes that is wanted.
    """
    turns = count(0, -1)
    waiting: list[SearchNode] = []
    for node in _grown(task, frozenset(), frozenset(), turns):
        heapq.heappush(waiting, node)
    for visited in range(MOST_NODES):
        if not waiting:
            raise InfeasibleError(
                "No solution has the number of classes that is wanted.",
                hint="Ask for fewer classes, or choose a smaller k.",
            )
        if clock.is_over():
            return None
        clock.report("search", visited / MOST_NODES)
        node = heapq.heappop(waiting)
        branch = _branch(task, node)
        if branch is None:
            return node
        for opened, closed in ((node.opened | {branch}, node.closed), (node.opened, node.closed | {branch})):
            for child in _grown(task, opened, closed, turns):
                heapq.heappush(waiting, child)
    return None


def _branch(task: AssignmentTask, node: SearchNode) -> int | None:
    """Return an output row type to decide about, None if the assignment is a solution."""
    held = np.bincount(node.assignment.output, node.assignment.rows, len(task.outputs))
    used = [int(place) for place in np.flatnonzero(held) if int(place) not in node.opened]
    small = [place for place in used if held[place] < task.outputs[place].fewest]
    if small:
        return min(small, key=lambda place: (-held[place], place))
    if len(used) + len(node.opened) > task.most:
        return min(used, key=lambda place: (held[place], place))
    if len(used) + len(node.opened) < task.fewest:
        return next(place for place in _undecided(task, node.opened, node.closed) if place not in used)
    return None


def _undecided(task: AssignmentTask, opened: frozenset[int], closed: frozenset[int]) -> list[int]:
    """Return what may still be opened."""
    if len(opened) >= task.most:
        return []
    return [place for place in range(len(task.outputs)) if place not in opened and place not in closed]


def _grown(
    task: AssignmentTask, opened: frozenset[int], closed: frozenset[int], turns: Iterator[int]
) -> Iterator[SearchNode]:
    """Yield the node of some decisions unless nothing fits them."""
    undecided = _undecided(task, opened, closed)
    if len(opened) + len(undecided) < task.fewest or len(opened) > task.most:
        return
    pairs = [
        (item, place, task.outputs[place].cost)
        for place in sorted(opened)
        for item in task.outputs[place].members
    ]
    waiting = set(range(task.rows.size))
    for place in undecided:
        # They have no demand, so the cheapest of them is enough for each row type.
        output = task.outputs[place]
        pairs += [(item, place, output.cost) for item in output.members if item in waiting]
        waiting.difference_update(output.members)
        if not waiting:
            break
    fewest = np.zeros(len(task.outputs), dtype=np.int64)
    for place in opened:
        fewest[place] = task.outputs[place].fewest
    assignment = assign_rows(task.rows, pairs, fewest) if pairs else None
    if assignment is not None:
        yield SearchNode(assignment.cost, next(turns), opened, closed, assignment)
