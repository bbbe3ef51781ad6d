"""The worked examples of Yuan, "Finding Quasi-identifiers Against k-anonymity", and its reduction.

Its cover examples count the different rows of a projection (identifying sets); its definitions speak of
classes smaller than k (violating sets). Both readings are tested on the same tables.
"""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from ortools.sat.python import cp_model

from kanon_pg.worker.audit.identifying import (
    minimal_identifying_set,
    smallest_identifying_set,
)
from kanon_pg.worker.audit.violating import find_violating_sets
from tests.fixtures.auditing import identifies, is_anonymous, read, violates

NOTHING = "⊥"

COVER_TABLE = [
    (1, NOTHING, NOTHING, NOTHING),
    (2, 2, NOTHING, NOTHING),
    (3, NOTHING, 3, NOTHING),
    (NOTHING, 4, 4, 4),
    (NOTHING, NOTHING, NOTHING, 5),
    (NOTHING, NOTHING, NOTHING, NOTHING),
]
"""Section 4.2: the cover of {a, b, c, d, e} by {a, b, c}, {b, d}, {c, d}, {d, e}."""

LETTERS_TABLE = [
    ("x", 1, "x", 6, "x"),
    ("x", "x", 2, 7, "x"),
    ("x", 3, "x", 8, "x"),
    ("x", "x", 4, "x", 9),
    (5, "x", "x", "x", 0),
]
"""Section 5.2, as printed."""


def cover_rows(elements: int, family: list[set[int]]) -> list[tuple]:
    """Return the table of Proposition 2: a row per element and one of nothing, a column per set."""
    rows = [
        tuple(element if element in chosen else NOTHING for chosen in family) for element in range(elements)
    ]
    return [*rows, (NOTHING,) * len(family)]


def smallest_cover(elements: int, family: list[set[int]]) -> int:
    model = cp_model.CpModel()
    takes = [model.new_bool_var(f"takes_{number}") for number in range(len(family))]
    for element in range(elements):
        model.add_bool_or([take for take, chosen in zip(takes, family, strict=True) if element in chosen])
    model.minimize(sum(takes))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return int(solver.objective_value)


def test_example_of_the_cover():
    table = read(COVER_TABLE)
    found = smallest_identifying_set(table)
    assert found.columns == (0, 3)
    assert found.lower_bound == 2
    # "If we project something incorrect": the e-row and the last row are identical on the others.
    assert not identifies(COVER_TABLE, (0, 1, 2))


def test_example_of_the_cover_by_the_definition_of_violation():
    """By Definition 3 single columns violate already: each shows a symbol that nobody shares."""
    found = find_violating_sets(read(COVER_TABLE), 2)
    assert found.sets == ((0,), (1,), (2,), (3,))
    assert found.minimum == 1


def test_example_of_the_algorithm():
    """The steps that the paper shows need a row of x alone, as in section 4.2: else b and c identify."""
    table = read([*LETTERS_TABLE, ("x",) * 5])
    assert minimal_identifying_set(table) == (0, 1, 2)
    assert smallest_identifying_set(table).columns == (3, 4)


def test_example_of_the_algorithm_as_printed():
    table = read(LETTERS_TABLE)
    assert minimal_identifying_set(table) == (1, 2)
    assert len(smallest_identifying_set(table).columns) == 2


@pytest.mark.parametrize("seed", range(12))
def test_reduction_from_minimum_cover(seed):
    generator = np.random.default_rng(seed)
    elements, sets = int(generator.integers(4, 25)), int(generator.integers(4, 15))
    family = [set(np.flatnonzero(generator.random(elements) < 0.3).tolist()) for _ in range(sets)]
    family.append(set(range(elements)) - set().union(*family) | {0})
    found = smallest_identifying_set(read(cover_rows(elements, family)))
    assert found.is_optimal
    assert len(found.columns) == smallest_cover(elements, family)
    assert set().union(*(family[column] for column in found.columns)) == set(range(elements))


@pytest.mark.parametrize("seed", range(6))
def test_smallest_edge_covers_of_graphs(seed):
    """Sets of two elements: a smallest cover is a smallest edge cover, which is found in polynomial time."""
    graph = nx.gnm_random_graph(12, 26, seed=seed)
    graph.remove_nodes_from([node for node, degree in dict(graph.degree).items() if degree == 0])
    graph = nx.convert_node_labels_to_integers(graph)
    family = [set(edge) for edge in graph.edges]
    found = smallest_identifying_set(read(cover_rows(len(graph), family)))
    assert len(found.columns) == found.lower_bound == len(nx.min_edge_cover(graph))


def test_smallest_identifying_sets_are_the_smallest_vertex_covers_of_a_graph():
    """A row per edge with the columns of its ends: sets that meet every difference set cover the edges."""
    graph = nx.petersen_graph()
    rows = [
        tuple(number if node in edge else NOTHING for node in graph)
        for number, edge in enumerate(graph.edges)
    ]
    found = smallest_identifying_set(read([*rows, (NOTHING,) * len(graph)]))
    independent = max(nx.find_cliques(nx.complement(graph)), key=len)
    assert found.is_optimal
    assert len(found.columns) == len(graph) - len(independent)


def test_smallest_violating_set_can_be_large():
    """All rows of zeros and ones: a row is alone on all columns together, and on no fewer."""
    width = 7
    rows = list(np.ndindex(*[2] * width))
    found = find_violating_sets(read(rows), 2)
    assert found.sets == (tuple(range(width)),)
    assert found.minimum == width
    assert is_anonymous(read(rows), 2, range(width - 1))
    assert not is_anonymous(read(rows), 2)


def test_every_combination_of_few_columns_on_another_table():
    """Rows with at most two ones among nine: three columns single somebody out for k = 8, two don't."""
    rows = [
        tuple(int(column in ones) for column in range(9))
        for size in range(3)
        for ones in combinations(range(9), size)
    ]
    for k in (2, 7, 8, 9, 46, 47):
        found = find_violating_sets(read(rows), k)
        expected = next(size for size in range(10) if violates(rows, range(size), k))
        assert found.sets == tuple(combinations(range(9), expected))
        assert found.minimum == expected


def test_a_column_that_nearly_tells_another_may_belong_to_a_set():
    """Where the second is 1 so is the first, which leaves both together one class more than either."""
    often = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
    found = find_violating_sets(read([*often * 4, (1, 0, 1)]), 3)
    assert found.sets == ((0, 1, 2),)


def test_a_column_that_tells_another_does_not_join_it():
    """Twins and a constant: each smaller set shows the same classes."""
    rows = [(city, city, "here", shop) for city in range(3) for shop in range(2)] * 4
    found = find_violating_sets(read([*rows, (0, 0, "here", 2), (1, 1, "here", 2), (2, 2, "here", 2)]), 3)
    assert found.sets == ((0, 3), (1, 3))
