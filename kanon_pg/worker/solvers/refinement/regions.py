"""Large neighbourhood search: the best of everything in one region of a solution after the other.

A region is some classes near each other; an integer program says what they could be.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.integer_program import Effort
from kanon_pg.worker.solvers.exact.network import slices
from kanon_pg.worker.solvers.exact.sub_problem import SubProblem, solve_near_relaxation, solve_sub_problem
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]

_TRIES_PER_PAIR = 2
_LARGEST_SHARE = 2


@dataclass(frozen=True)
class Layout:
    """Rows on each pair of a row type and an instance.

    Pairs are listed by row type, those of row type `t` from ``start[t]`` to ``start[t + 1]``, cheapest
    instance first.
    """

    table: RowTypeTable
    graph: Compatibility
    limits: Numbers
    """Shape (q,). People that a class of each instance needs."""
    row_type: Numbers
    """Shape (e,). Row type of each pair."""
    rows: Numbers
    """Shape (e,)."""

    @property
    def start(self) -> Numbers:
        """Where the pairs of each row type begin."""
        return self.graph.instances_of[0]

    @property
    def instance(self) -> NDArray[np.int32]:
        """Instance of each pair."""
        return self.graph.instances_of[1]

    def with_rows(self, pairs: Numbers, rows: Numbers) -> Layout:
        """Return the layout with other rows on some pairs."""
        changed = self.rows.copy()
        changed[pairs] = rows
        return replace(self, rows=changed)

    def solution(self) -> Solution:
        """Return the solution of this layout."""
        return Solution.of_parts(self.row_type, self.graph.vector[self.instance], self.rows)


def layout_of(search: GraphSearch, solution: Solution) -> Layout:
    """Return the layout of a solution, whose classes the graph has; costs never rise."""
    problem, held_by = problem_of(search, solution)
    table, graph = search.table, search.graph
    start, instance = graph.instances_of
    row_type = np.repeat(np.arange(len(table)), np.diff(start))
    place = np.searchsorted(
        row_type * len(graph) + instance, problem.type_of * np.int64(len(graph)) + held_by
    )
    rows = np.zeros(row_type.size, dtype=np.int64)
    np.add.at(rows, place, problem.rows)
    limits = np.full(len(graph), search.k, dtype=np.int64)
    limits[-1] = problem.limits[1]
    return Layout(table, graph, limits, row_type, rows)


def draw_region(layout: Layout, first: int, most_pairs: int, random: np.random.Generator) -> Numbers:
    """Draw open instances near each other.

    Parameters
    ----------
    first : int
        The open instance to begin with.
    most_pairs : int
        Pairs that their row types should have.

    Returns
    -------
    ndarray of int64
        Open instances, ascending.

    Notes
    -----
    The region grows by classes of row types that could share an instance with one of its own.
    """
    start, instance, graph = layout.start, layout.instance, layout.graph
    used = np.flatnonzero(layout.rows)
    by_instance = used[np.argsort(instance[used], kind="stable")]
    begin = np.searchsorted(instance[by_instance], np.arange(len(graph) + 1))
    region, types, pairs = {first}, list(layout.row_type[by_instance[begin[first] : begin[first + 1]]]), 0
    pairs = int((start[np.array(types) + 1] - start[types]).sum())
    for _ in range(_TRIES_PER_PAIR * most_pairs):
        if pairs >= most_pairs:
            break
        row_type = types[random.integers(len(types))]
        shared = graph.members(instance[random.integers(start[row_type], start[row_type + 1])])
        other = shared[random.integers(shared.size)]
        places = start[other] + np.flatnonzero(layout.rows[start[other] : start[other + 1]])
        number = int(instance[places[random.integers(places.size)]])
        if number in region:
            continue
        joining = layout.row_type[by_instance[begin[number] : begin[number + 1]]]
        more = int((start[joining + 1] - start[joining]).sum())
        if pairs + more <= _LARGEST_SHARE * most_pairs:
            region.add(number)
            types.extend(joining)
            pairs += more
    return np.array(sorted(region), dtype=np.int64)


@dataclass(frozen=True)
class Region:
    """The integer program of a region."""

    problem: SubProblem
    """All rows in the classes of the region, by group of row types that may join the same instances. Other
    open classes take any number of them."""
    pairs: Numbers
    """Shape (e,). Pairs of the layout that the program is about."""
    inside: Numbers
    """Shape (e,). Rows on these pairs that the program may move."""
    place: Numbers
    """Shape (e,). Pair of the program for each of these pairs."""

    @property
    def start(self) -> Numbers:
        """Rows on each pair of the program as they are."""
        size = self.problem.member.size
        return np.bincount(self.place, weights=self.inside, minlength=size).astype(np.int64)

    def rows_of(self, answer: Numbers, row_type: Numbers) -> Numbers:
        """Hand the rows on each pair of the program out to its row types, one after the other.

        Parameters
        ----------
        answer : ndarray of int64
            Rows on each pair of the program.
        row_type : ndarray of int64, shape (e,)
            Row types of `pairs`.

        Returns
        -------
        ndarray of int64, shape (e,)
            Rows on `pairs`.
        """
        member, instance = self.problem.member, self.problem.instance
        order = np.lexsort((instance, member))
        part_end = np.cumsum(answer[order])
        key = member[self.place] * (int(row_type.max()) + 1) + row_type
        types, mine = np.unique(key, return_inverse=True)
        type_end = np.cumsum(np.bincount(mine, weights=self.inside, minlength=types.size)).astype(np.int64)
        end = np.union1d(type_end, part_end)
        of_type = np.searchsorted(type_end, end)
        of_pair = order[np.searchsorted(part_end, end)]
        by_place = np.lexsort((self.place, mine))
        size = member.size
        keys = mine[by_place] * size + self.place[by_place]
        rows = np.zeros(self.pairs.size, dtype=np.int64)
        rows[by_place[np.searchsorted(keys, of_type * size + of_pair)]] = np.diff(end, prepend=0)
        return rows


def region_of(layout: Layout, chosen: Numbers) -> Region:
    """Return the integer program of some open instances and what their rows could open instead.

    Parameters
    ----------
    chosen : ndarray of int64
        Open instances.
    """
    graph, table = layout.graph, layout.table
    is_chosen = np.zeros(len(graph), dtype=np.bool_)
    is_chosen[chosen] = True
    is_open = np.bincount(layout.instance, weights=layout.rows, minlength=len(graph)) > 0
    fewest = np.where(is_open & ~is_chosen, 0, layout.limits)
    moving = (layout.rows > 0) & is_chosen[layout.instance]
    types = np.unique(layout.row_type[moving])
    pairs = slices(layout.start, types)
    kept = _useful(layout, pairs, moving, types, fewest)
    pairs, moving = pairs[kept], moving[pairs[kept]]
    numbers, instance = np.unique(layout.instance[pairs], return_inverse=True)
    inside = np.where(moving, layout.rows[pairs], 0)
    node = np.searchsorted(types, layout.row_type[pairs])
    group = np.arange(types.size) if table.has_entity else _alike(node, instance, types.size)
    keys, place = np.unique(instance * types.size + group[node], return_inverse=True)
    begin = np.searchsorted(keys, np.arange(numbers.size + 1) * types.size)
    rows = np.bincount(group[node], weights=inside).astype(np.int64)
    times = np.diff(table.shared_start)[types]
    problem = SubProblem(
        rows, graph.cost[numbers], begin, keys % types.size, fewest[numbers],
        is_divisible=not table.has_entity,
        own=table.own[types],
        shared_begin=np.concatenate([[0], np.cumsum(times)]),
        shared=table.shared_people[slices(table.shared_start, types)],
    )  # fmt: skip
    return Region(problem, pairs, inside, place)


def _alike(node: Numbers, instance: Numbers, nodes: int) -> Numbers:
    """Return a group for each node: nodes of a group have the same instances; pairs ascend by both."""
    begin = np.searchsorted(node, np.arange(nodes + 1))
    known: dict[bytes, int] = {}
    return np.array(
        [
            known.setdefault(instance[first:last].tobytes(), len(known))
            for first, last in itertools.pairwise(begin)
        ],
        dtype=np.int64,
    )


def _useful(
    layout: Layout, pairs: Numbers, moving: NDArray[np.bool_], types: Numbers, fewest: Numbers
) -> NDArray[np.bool_]:
    """Return which pairs the program needs.

    Of the instances that take any number of rows only the cheapest one of each row type is of use, and
    the others only if the row types of the region have enough people for them.
    """
    instance, row_type = layout.instance[pairs], layout.row_type[pairs]
    is_free = fewest[instance] == 0
    first_free = np.full(len(layout.table), pairs.max() + 1)
    np.minimum.at(first_free, row_type[is_free], pairs[is_free])
    people = np.zeros(len(layout.table), dtype=np.int64)
    if layout.table.has_entity:
        people[types] = layout.table.people[types]
    else:
        np.add.at(people, layout.row_type[moving], layout.rows[moving])
    able = np.bincount(instance, weights=people[row_type], minlength=fewest.size)
    kept: NDArray[np.bool_] = np.where(
        is_free, pairs == first_free[row_type], able[instance] >= fewest[instance]
    )
    return kept


_FIRST_PAIRS = 1_000
_LEAST_PAIRS = 200
_MOST_PAIRS = 200_000
"""Pairs of a row type and an instance in the first region, and in the smallest and largest."""

_MOST_PAIRS_AS_A_WHOLE = 30_000
"""Pairs of a program of everything up to which it is tried."""

_LARGER = 1.15
_SMALLER = 0.9
_MUCH_SMALLER = 0.8
"""How regions grow when one was solved, shrink when that took long, and when it was not solved."""

_NODES = 20
"""Most nodes of the search tree of one region."""

_NODES_OF_WHOLE = 1
"""The same for a program of everything."""

EFFORT_PER_SECOND = 20_000_000
"""Effort that takes about a second: steps of the simplex method times pairs of the program."""

_MOST_EFFORT = 0.05
"""Share of the effort that one program may take, or a second; otherwise the next ones get smaller."""

_LEAST_EFFORT = EFFORT_PER_SECOND // 50
"""What each program costs besides the steps of the simplex method."""
_SHORTEST_CALL = 0.05
_LONGEST_CALL = 12.0
"""Seconds after which a program is given up: rare, but the library may work for minutes on its first node."""


def improve_by_regions(
    search: GraphSearch, solution: Solution, clock: Clock, *, effort: int, seed: int | None = None
) -> Solution:
    """Lower the weighted cost of a solution by integer programs on parts of it.

    Each round chooses some classes near each other, leaves all others as they are but for rows that join
    them, and solves what remains. Regions grow while their programs are solved to the end with little
    effort, and shrink otherwise.

    Parameters
    ----------
    search : GraphSearch
        With prices regions begin where classes cost much more than the prices of their rows. The fewer
        pairs the graph has, the larger regions are.
    solution : Solution
        Every class has at least k people and is an instance of the graph.
    effort : int
        Ends the search: steps of the simplex method times pairs, so that the same input gives the same
        result unless time runs out.

    Returns
    -------
    Solution
        Never costlier than `solution`.

    Notes
    -----
    Shaw 1998, "Using constraint programming and local search methods to solve vehicle routing problems".
    """
    layout = layout_of(search, solution)
    random = np.random.default_rng(0 if seed is None else seed)
    most_pairs, used, most_work = float(_FIRST_PAIRS), 0, max(EFFORT_PER_SECOND, _MOST_EFFORT * effort)
    while used < effort and not clock.is_over():
        clock.report("neighbourhood", used / effort)
        first = _draw_instance(layout, search.prices, random)
        layout, is_solved, work = _solve_region(layout, first, int(most_pairs), random, clock)
        used += work
        if is_solved:
            most_pairs *= _LARGER if work <= most_work else _SMALLER
        else:
            most_pairs *= _MUCH_SMALLER
        most_pairs = min(max(most_pairs, _LEAST_PAIRS), _MOST_PAIRS, layout.rows.size)
    return layout.solution()


def improve_as_a_whole(
    search: GraphSearch, solution: Solution, clock: Clock, *, seconds: float
) -> tuple[Solution, bool]:
    """Lower the weighted cost of a solution by one integer program of everything, if that is small enough.

    Parameters
    ----------
    search : GraphSearch
        The graph has the pairs that `solution` uses, and a few others.
    seconds : float
        After which the program is given up, should it not have ended: then what is found depends on the
        machine.

    Returns
    -------
    solution : Solution
        Never costlier than `solution`.
    is_tried : bool
        Whether the program was small enough.

    Notes
    -----
    It opens what its linear relaxation does (`solve_near_relaxation`), so there may be better answers.
    """
    layout = layout_of(search, solution)
    region = region_of(layout, np.unique(layout.instance[layout.rows > 0]))
    if region.problem.member.size > _MOST_PAIRS_AS_A_WHOLE:
        return solution, False
    clock.heartbeat()
    left = clock.left()
    seconds = seconds if left is None else min(seconds, left)
    effort = Effort(max(seconds, _SHORTEST_CALL), _NODES_OF_WHOLE)
    answer = solve_near_relaxation(region.problem, effort, region.start)
    if answer.rows is None:
        return solution, True
    return _moved(layout, region, answer.rows).solution(), True


def _moved(layout: Layout, region: Region, answer: Numbers) -> Layout:
    """Return a layout with the rows of a region as its integer program answered."""
    moved = region.rows_of(answer, layout.row_type[region.pairs])
    return layout.with_rows(region.pairs, layout.rows[region.pairs] - region.inside + moved)


def _draw_instance(layout: Layout, prices: NDArray[np.int64] | None, random: np.random.Generator) -> int:
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
    return _moved(layout, region, answer.rows), answer.is_nearly_optimal, work
