"""The reductions of the papers as tables: constants, and answers to yes and no questions."""

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import cheapest_first, parse_patterns
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.greedy.heuristic import greedy
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.paper_order import paper_order
from tests.instances.bipartite import limit as subgraph_limit
from tests.instances.bipartite import most_common_neighbours, subgraph_table
from tests.instances.known import Known, greedy_trap
from tests.instances.optimum import least_cost, least_cost_by_subsets
from tests.instances.set_cover import (
    VECTORS,
    set_cover_rows,
    set_cover_table,
    smallest_set_cover,
)
from tests.instances.set_cover import limit as cover_limit
from tests.instances.vertex_cover import smallest_cover, vertex_cover_table

CUBIC = {
    "K4": nx.complete_graph(4),
    "prism": nx.circular_ladder_graph(3),
    "K3,3": nx.complete_bipartite_graph(3, 3),
    "two K4": nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4)),
    "cube": nx.hypercube_graph(3),
    "Wagner": nx.circulant_graph(8, [1, 4]),
    "Petersen": nx.petersen_graph(),
}


def all_vectors(width):
    return list(chain.from_iterable(combinations(range(width), size) for size in range(width + 1)))


def solved(known: Known) -> int | None:
    vectors = known.patterns
    width = len(known.rows[0])
    allowed = all_vectors(width) if vectors is None else [*vectors, list(range(width))]
    return least_cost(known.rows, known.k, allowed, known.weights)


@pytest.mark.parametrize("name", CUBIC)
def test_the_optimum_of_a_cubic_graph_is_its_base_cost_and_vertex_cover(name):
    known = vertex_cover_table(CUBIC[name])
    assert len(known.rows) == 20 * len(CUBIC[name]) + 2 * CUBIC[name].number_of_edges() + 14
    assert solved(known) == known.optimum


def test_vertex_covers_are_those_of_the_literature():
    covers = {name: smallest_cover(graph) for name, graph in CUBIC.items()}
    assert covers == {"K4": 3, "prism": 4, "K3,3": 3, "two K4": 6, "cube": 4, "Wagner": 5, "Petersen": 6}


def planted(half, left, right, seed, chance):
    """Return a random bipartite graph in which `left` and `right` are completely joined."""
    graph = nx.bipartite.random_graph(half, half, chance, seed)
    graph.add_edges_from((one, half + other) for one in left for other in right)
    return graph


SUBGRAPH_GRAPHS = {
    "planted, four": planted(4, (0, 2), (1, 3), 1, 0.3),
    "planted, six": planted(6, (1, 3, 4), (0, 2, 5), 2, 0.3),
    "complete": nx.complete_bipartite_graph(4, 4),
    "perfect matching": nx.Graph([(number, 4 + number) for number in range(4)]),
    "cycle": nx.Graph([(number, 4 + (number + step) % 4) for number in range(4) for step in (0, 1)]),
    "sparse, six": planted(6, (), (), 3, 0.4),
}


@pytest.mark.parametrize(
    ("name", "output_types"),
    [
        (name, output_types)
        for name in SUBGRAPH_GRAPHS
        for output_types in (2, 3, 4)
        if output_types == 2 or "six" not in name  # twelve columns have too many vectors for a unit test
    ],
)
def test_the_optimum_tells_whether_there_is_a_balanced_complete_subgraph(name, output_types):
    graph = SUBGRAPH_GRAPHS[name]
    half = len(graph) // 2
    known = subgraph_table(graph, half, output_types)
    quarter = half // 2
    exists = most_common_neighbours(graph, list(range(half)), list(range(half, 2 * half)), quarter) >= quarter
    optimum = solved(known)
    assert optimum == known.optimum
    assert (optimum <= subgraph_limit(half)) == exists
    assert exists == (name in ("planted, four", "planted, six", "complete"))
    assert len({symbol for row in known.rows for symbol in row}) <= output_types + 2


@pytest.mark.parametrize("output_types", [2, 3])
def test_a_subgraph_table_has_its_number_of_output_types_even_if_another_one_is_allowed(output_types):
    known = subgraph_table(SUBGRAPH_GRAPHS["planted, four"], 4, output_types)
    vectors = all_vectors(len(known.rows[0]))
    exactly = least_cost(known.rows, known.k, vectors, fewest=output_types, most=output_types)
    fewer = least_cost(known.rows, known.k, vectors, most=output_types - 1)
    assert exactly == known.optimum
    assert fewer > subgraph_limit(4)
    assert least_cost(known.rows, known.k, vectors, fewest=output_types + 1) is None


COVERS = {
    "one triple": (3, [(0, 1, 2)]),
    "two disjoint": (6, [(0, 1, 2), (3, 4, 5), (1, 2, 3)]),
    "chain": (7, [(0, 1, 2), (2, 3, 4), (4, 5, 6), (1, 3, 5)]),
    "all needed": (5, [(0, 1, 2), (0, 1, 3), (0, 1, 4)]),
    "many": (9, [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8)]),
}


@pytest.mark.parametrize("name", COVERS)
def test_the_optimum_of_a_family_of_triples_is_its_smallest_cover(name):
    universe, triples = COVERS[name]
    smallest = smallest_set_cover(universe, triples)
    optimum = least_cost(set_cover_rows(universe, triples), 3, VECTORS)
    assert optimum == cover_limit(universe, triples, smallest)
    assert optimum > cover_limit(universe, triples, smallest - 1)


def test_elements_outside_all_triples_leave_no_solution_under_two_vectors():
    assert least_cost(set_cover_rows(4, [(0, 1, 2)]), 3, VECTORS) is None


@pytest.mark.parametrize("name", COVERS)
def test_weights_keep_the_reduction_when_everything_may_be_suppressed(name):
    known = set_cover_table(*COVERS[name])
    assert solved(known) == known.optimum


def test_without_weights_full_suppression_breaks_the_reduction():
    universe, triples = COVERS["all needed"]
    rows = set_cover_rows(universe, triples)
    optimum = least_cost(rows, 3, [*VECTORS, (0, 1, 2)])
    assert optimum < cover_limit(universe, triples, smallest_set_cover(universe, triples))


@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 9])
def test_the_greedy_heuristic_is_a_factor_of_m_minus_one_away(width):
    known = greedy_trap(width)
    table = known.table()
    assigned = greedy(table, known.vectors(), width, Clock())
    assert Solution.undivided(table, assigned).cost(table.weights) == (width - 1) * known.optimum
    assert len(classes_of(table, assigned)) == 2


@pytest.mark.parametrize("width", [3, 4, 5, 6])
def test_the_order_of_equally_dear_vectors_does_not_save_the_greedy_heuristic(width):
    known = greedy_trap(width)
    table = known.table()
    mask = parse_patterns(known.named_patterns, table.columns)
    for vectors in (cheapest_first(mask, table.cardinalities, 5), paper_order(mask)):
        found = Solution.undivided(table, greedy(table, vectors, width, Clock()))
        assert found.cost(table.weights) == (width - 1) * width**2


@pytest.mark.parametrize("width", [3, 4, 5])
def test_the_optimum_of_the_greedy_trap_is_one_cell_per_row(width):
    known = greedy_trap(width)
    assert solved(known) == known.optimum == len(known.rows)


FAMILIES = {
    **{f"vertex cover, {name}": vertex_cover_table(CUBIC[name]) for name in ("K4", "prism", "K3,3")},
    **{f"set cover, {name}": set_cover_table(*cover) for name, cover in COVERS.items()},
    "greedy trap": greedy_trap(5),
    "subgraph": subgraph_table(SUBGRAPH_GRAPHS["planted, four"], 4, 2),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_bound_optimum_and_solution_of_the_product_are_in_this_order(name):
    known = FAMILIES[name]
    outcome = solve(known.packed(), SolveRequest(known.k, patterns=known.named_patterns))
    assert outcome.lower_bound <= known.optimum <= outcome.weighted_cost


def test_both_oracles_agree():
    random = np.random.default_rng(7)
    for _ in range(60):
        width, k = int(random.integers(1, 4)), int(random.integers(2, 4))
        count = int(random.integers(k, 9))
        rows = [tuple(row) for row in random.integers(0, 3, (count, width)).tolist()]
        allowed = [vector for vector in all_vectors(width)[:-1] if random.random() < 0.6]
        weights = [int(weight) for weight in random.integers(1, 4, width)]
        vectors = [*allowed, tuple(range(width))]
        assert least_cost(rows, k, vectors, weights) == least_cost_by_subsets(rows, k, vectors, weights)
