"""Annealing, flows and integer programs of regions: what must be true of every solution they return."""

from functools import cache

import numpy as np
import pytest

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import anneal
from kanon_pg.worker.solvers.annealing.graph import graph_around, thin
from kanon_pg.worker.solvers.compatibility import compatibility_of
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.refinement.flow import reassign
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool, search_among
from kanon_pg.worker.solvers.refinement.refine import refine
from kanon_pg.worker.solvers.refinement.regions import improve_as_a_whole, improve_by_regions
from tests.fixtures.brute_force import brute_force
from tests.fixtures.packing import pack
from tests.fixtures.searching import Ending, case_of, cost_after_recount

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


def annealed(case, clock=None, seed=1):
    return anneal(case.search, case.start, clock or Clock(), effort=200_000, seed=seed)


def annealed_without_prices(case, clock=None, seed=1):
    return anneal(case.priceless, case.start, clock or Clock(), effort=200_000, seed=seed)


def refined(case, clock=None, seed=1):
    pool = SolutionPool(case.search)
    pool.add(case.start)
    return refine(pool, clock or Clock(), seconds=0.02, seed=seed)


def by_regions(case, clock=None, seed=1):
    return improve_by_regions(case.search, case.start, clock or Clock(), effort=2_000_000, seed=seed)


def reassigned(case, clock=None, seed=1):
    return reassign(case.search, case.start)


def as_a_whole(case, clock=None, seed=1):
    found, is_tried = improve_as_a_whole(case.search, case.start, clock or Clock(), seconds=10.0)
    assert is_tried
    return found


def pool_of(case, *, solutions=4):
    """Return a pool of different solutions of about the same cost."""
    pool = SolutionPool(case.search)
    for seed in range(solutions):
        pool.add(anneal(case.priceless, case.start, Clock(), effort=20_000, seed=seed))
    return pool


def among_the_classes_of_others(case, clock=None, seed=1):
    pool = pool_of(case)
    return search_among(pool, clock or Clock(), seconds=0.02, seed=seed)


def refined_in_rounds(case, clock=None, seed=1):
    pool = SolutionPool(case.search)
    pool.add(case.start)
    for turn, anew in enumerate((True, True, False)):
        refine(pool, clock or Clock(), seconds=0.02, seed=seed + turn, anew=anew, goes_on=True)
    return pool.best


SEARCHES = [
    annealed,
    annealed_without_prices,
    refined,
    refined_in_rounds,
    by_regions,
    as_a_whole,
    among_the_classes_of_others,
    reassigned,
]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("persons", [0, 25])
def test_solutions_are_valid_and_never_dearer(search, persons):
    for seed in range(6):
        case = case_of(seed, persons=persons, k=2 + seed % 4)
        found = search(case)
        cost = cost_after_recount(case, found)
        assert cost <= case.search.cost(case.start) + 1e-9
        assert cost >= (case.prices * case.table.rows).sum() / 1e6 - 1e-9
        assert not (persons and found.is_divided)


@pytest.mark.parametrize("search", [annealed, refined, refined_in_rounds, by_regions])
def test_equal_seeds_give_equal_solutions(search):
    for persons in (0, 30):
        case = case_of(5, rows=60, persons=persons)
        one, other = search(case), search(case)
        assert np.array_equal(one.row_type, other.row_type)
        assert np.array_equal(one.vector, other.vector)
        assert np.array_equal(one.rows, other.rows)


@cache
def tiny(seed):
    """Return a tiny case and its optimum. Rows may be divided: the oracle sees each as a row type."""
    case = case_of(seed, rows=5, columns=3, values=2, k=2)
    single = RowTypeTable.from_packed(pack([(*row, number) for number, row in enumerate(case.rows)]))
    own = RowTypeTable(
        case.table.columns, single.cells[:3], single.rows, single.people, (None,) * 3,
        single.shared_start, single.shared_people,
    )  # fmt: skip
    return case, brute_force(own, case.mask.vectors, case.k)


@pytest.mark.parametrize("search", [annealed, refined, by_regions])
def test_most_tiny_tables_are_solved_to_the_optimum(search):
    optimal = 0
    for seed in range(12):
        case, optimum = tiny(seed)
        cost = cost_after_recount(case, search(case))
        assert cost >= optimum - 1e-9
        optimal += cost <= optimum + 1e-9
    assert optimal >= 10


@pytest.mark.parametrize("search", [annealed, refined, by_regions])
@pytest.mark.parametrize("reports", [0, 1, 2])
def test_searches_stop_when_time_is_over(search, reports):
    case = case_of(3, rows=80)
    clock = Ending(reports)
    found = search(case, clock)
    assert cost_after_recount(case, found) <= case.search.cost(case.start)
    assert clock.counted <= reports + 4


def distributions(rows, places):
    """Yield all ways to distribute equal rows among some places."""
    if places == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in distributions(rows - first, places - 1):
            yield (first, *rest)


def cheapest_distribution(case):
    """Try all distributions of rows among the instances that the start uses."""
    table, start = case.table, case.start
    used = {}
    for row_type, vector in zip(start.row_type, start.vector, strict=True):
        kept = tuple(
            None if vector >> column & 1 else int(table.cells[column][row_type])
            for column in range(table.width)
        )
        used.setdefault((int(vector), kept), len(used))
    costs = [float(suppression_costs(np.array([vector]), table.weights)[0]) for vector, _ in used]
    best = [np.inf]

    def extend(row_type, sizes, cost):
        if row_type == len(table):
            if all(size >= case.k for size in sizes):
                best[0] = min(best[0], cost)
            return
        fits = [
            place
            for (_, kept), place in used.items()
            if all(cell is None or cell == table.cells[column][row_type] for column, cell in enumerate(kept))
        ]
        for way in distributions(int(table.rows[row_type]), len(fits)):
            after = list(sizes)
            for place, rows in zip(fits, way, strict=True):
                after[place] += rows
            more = sum(costs[place] * rows for place, rows in zip(fits, way, strict=True))
            extend(row_type + 1, after, cost + more)

    extend(0, [0] * len(used), 0.0)
    return best[0]


def test_a_flow_is_the_best_distribution_among_given_instances():
    gained = 0
    for seed in range(40):
        case = case_of(seed, rows=9, columns=3, values=2, k=2 + seed % 2)
        cost = cost_after_recount(case, reassigned(case))
        # Instances with the same members are one for the flow: it may even use a cheaper one.
        assert cost <= cheapest_distribution(case) + 1e-9
        gained += cost < case.search.cost(case.start) - 1e-9
    assert gained > 0


def test_the_rule_of_the_paper_lets_few_rows_be_fully_suppressed():
    """Seven rows in two groups and one that is unlike all others: alone it is cheapest."""
    table = RowTypeTable.from_packed(pack([(0, 0)] * 3 + [(1, 1)] * 3 + [(2, 2)]))
    vectors = np.arange(4)
    graph = compatibility_of(table, vectors, 3, Clock())
    start = Solution.undivided(table, np.full(len(table), 3))
    for may_be_small, cost in ((True, 2.0), (False, 8.0)):
        search = GraphSearch(table, graph, 3, rest_may_be_small=may_be_small)
        found = anneal(search, start, Clock(), effort=100_000)
        assert search.cost(found) == search.cost(reassign(search, found)) == cost


def test_a_thin_graph_keeps_the_solution_and_drops_what_costs_too_much():
    case = case_of(8, rows=120, columns=5)
    thinned = thin(case.search, case.start, 0.1)
    assert thinned.edges < case.graph.edges
    assert thinned.row_types == len(case.table)
    again = anneal(case.priceless.within(thinned), case.start, Clock(), effort=0)
    assert cost_after_recount(case, again) <= case.search.cost(case.start)


def test_a_graph_that_does_not_fit_is_built_around_the_solution():
    case = case_of(8, rows=120, columns=5)
    most = case.graph.edges // 2
    around = graph_around(
        case.table, case.mask.vectors, case.start, case.k, Clock(), prices=case.prices, most_edges=most
    )
    assert around.edges <= most
    found = anneal(case.priceless.within(around), case.start, Clock(), effort=200_000)
    assert cost_after_recount(case, found) < case.search.cost(case.start)


def test_a_pool_keeps_the_cheapest_solutions_each_cost_once():
    case = case_of(8, rows=120, columns=5)
    pool = pool_of(case)
    size, best = len(pool), pool.best
    assert size > 1
    pool.add(case.start)
    pool.add(best)
    assert len(pool) == size
    costs = [case.search.cost(annealed(case, seed=seed)) for seed in range(4)]
    for seed in range(4):
        pool.add(annealed(case, seed=seed))
    assert case.search.cost(pool.best) == min(*costs, case.search.cost(best))


@pytest.mark.parametrize("persons", [0, 40])
def test_what_several_solutions_use_together_is_at_least_as_good_as_the_best_of_them(persons):
    better = 0
    for seed in range(8):
        case = case_of(seed, rows=300, columns=5, persons=persons)
        pool = pool_of(case)
        before = case.search.cost(pool.best)
        found, is_tried = improve_as_a_whole(pool.used(), pool.best, Clock(), seconds=10.0)
        assert is_tried
        after = cost_after_recount(case, found)
        assert after <= before
        better += after < before
    assert better > 0
