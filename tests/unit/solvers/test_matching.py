"""Perfect matchings against another implementation, their prices, and changes of a few vertices."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest

from kanon_pg.worker.solvers.pairs.forest import NOBODY
from kanon_pg.worker.solvers.pairs.matching import UNIT, cost_of, perfect_matching
from kanon_pg.worker.solvers.pairs.rematching import Rematching

SIZES = (2, 4, 10, 1000)


def random_costs(random, vertices):
    costs = random.integers(0, int(random.choice(SIZES)), (vertices, vertices))
    return costs + costs.T


def least_cost(costs):
    graph = nx.Graph()
    graph.add_weighted_edges_from(
        (one, other, int(costs[one, other])) for one in range(len(costs)) for other in range(one)
    )
    return sum(costs[one, other] for one, other in nx.min_weight_matching(graph))


def holders(forest, vertex):
    """Return the blossoms that hold a vertex."""
    found, node = [], forest.within[vertex]
    while node != NOBODY:
        found.append(int(node))
        node = forest.within[node]
    return found


def require_proof(costs, forest):
    """Check the dual solution: feasible, and worth as much as the matching costs."""
    vertices = len(costs)
    inside = [set(holders(forest, vertex)) for vertex in range(vertices)]
    for one in range(vertices):
        for other in range(one):
            both = sum(int(forest.price[blossom]) for blossom in inside[one] & inside[other])
            assert forest.price[one] + forest.price[other] - both <= UNIT * costs[one, other]
    blossoms = set().union(*inside)
    assert all(forest.price[blossom] >= 0 for blossom in blossoms)
    worth = int(forest.price[:vertices].sum()) - sum(
        int(forest.price[blossom]) * (sum(blossom in held for held in inside) // 2) for blossom in blossoms
    )
    assert worth == UNIT * cost_of(forest)


@pytest.mark.parametrize("seed", range(4))
def test_matchings_are_perfect_cheapest_and_proven(seed):
    random = np.random.default_rng(seed)
    nested = 0
    for _ in range(60):
        costs = random_costs(random, 2 * int(random.integers(1, 12)))
        forest = perfect_matching(costs)
        everybody = np.arange(len(costs))
        assert (forest.mate[forest.mate] == everybody).all()
        assert (forest.mate != everybody).all()
        assert cost_of(forest) == least_cost(costs)
        require_proof(costs, forest)
        nested += any(len(holders(forest, vertex)) > 1 for vertex in everybody)
    assert nested > 0


def test_two_triangles_need_a_blossom():
    costs = np.full((6, 6), 10)
    costs[:3, :3] = costs[3:, 3:] = 1
    forest = perfect_matching(costs)
    assert cost_of(forest) == 1 + 1 + 10
    require_proof(costs, forest)
    assert all(holders(forest, vertex) for vertex in range(6))


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_vertices_cost_what_a_matching_from_scratch_costs(seed):
    random = np.random.default_rng(seed)
    for _ in range(15):
        vertices = 2 * int(random.integers(3, 16))
        costs = random_costs(random, vertices)
        again = Rematching(perfect_matching(costs))
        for _ in range(6):
            changed, changes = costs.copy(), []
            for vertex in random.choice(vertices, int(random.integers(1, 6)), replace=False):
                row = random.integers(0, 2 * int(random.choice(SIZES)), vertices)
                changed[vertex] = changed[:, vertex] = row
                changes.append((int(vertex), row))
            optimum = cost_of(perfect_matching(changed))
            assert again.is_cheaper_with(changes, optimum + 1)
            assert not again.is_cheaper_with(changes, optimum)


def test_the_arrays_of_a_matching_are_freed():
    """Kernels that count no references must not keep arrays that Python gave them."""
    costs = random_costs(np.random.default_rng(8), 12)
    again = Rematching(perfect_matching(costs))
    arrays = [*again._base, *again._work]
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(3):
        again.is_cheaper_with([(0, np.arange(12)), (5, np.arange(12))], 1000)
    assert [sys.getrefcount(array) for array in arrays] == before


def test_long_work_gives_sign_of_life():
    beats = []
    perfect_matching(np.ones((20, 20), dtype=np.int64), lambda: beats.append(True))
    assert len(beats) == 10
