"""What the search of suppression makes of recodings: instances are node vectors."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.refinement import _graph_around, refined
from kanon_pg.worker.solvers.recoding.starts import along_hierarchies
from kanon_pg.worker.solvers.recoding.task import task_of
from tests.fixtures.packing import pack
from tests.fixtures.recoding import Tree, with_trees

AGES = Tree({age: (age, age // 5, age // 20) for age in range(40)}, (0.0, 0.2, 0.6, 1.0))
PLACES = Tree({place: (place, place // 4) for place in range(12)}, (0.0, 0.5, 1.0))


def task_with(people=None, k=3):
    random = np.random.default_rng(7)
    rows = [(int(age), int(place)) for age, place in random.integers(0, (40, 12), (90, 2))]
    packed = with_trees(pack(rows, ["age", "place"], people=people), (AGES, PLACES))
    return task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(k, seed=1), Clock())


def raised_for(task, start):
    return raise_level_prices(task, task.row_costs_of(start.class_of), start.cost, Clock())


def test_the_graph_has_the_classes_of_the_solution_at_their_cost():
    task = task_with()
    start = along_hierarchies(task)
    graph, solution = _graph_around(task, start, raised_for(task, start).collected)
    assert (graph.all_costs[solution.vector] * solution.rows).sum() == pytest.approx(start.cost)
    assert (np.diff(graph.cost) >= 0).all()
    assert graph.members(len(graph) - 1).size == len(task.table)
    for row_type, instance in zip(solution.row_type, solution.vector, strict=True):
        assert row_type in graph.members(int(instance))


@pytest.mark.parametrize("people", [None, [number // 2 for number in range(90)]])
def test_refinement_is_cheaper_than_splitting_and_no_cheaper_than_its_bound(people):
    task = task_with(people)
    start = along_hierarchies(task)
    raised = raised_for(task, start)
    better = refined(task, start, raised, 0.0, Clock())
    assert raised.found.bound <= better.cost < start.cost
    counted = np.bincount(better.class_of, weights=better.task.table.people)
    assert counted.min() >= task.request.k
