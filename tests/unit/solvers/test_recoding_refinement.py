"""What the search of suppression makes of recodings: instances are node vectors."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.recoding import refinement
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.refinement import _LevelRounds, refined
from kanon_pg.worker.solvers.recoding.starts import Start, along_hierarchies
from kanon_pg.worker.solvers.recoding.task import task_of
from tests.fixtures.packing import pack
from tests.fixtures.recoding import Tree, with_trees

AGES = Tree({age: (age, age // 5, age // 20) for age in range(40)}, (0.0, 0.2, 0.6, 1.0))
PLACES = Tree({place: (place, place // 4) for place in range(12)}, (0.0, 0.5, 1.0))


def task_with(people=None, k=3, times=1):
    random = np.random.default_rng(7)
    rows = [(int(age), int(place)) for age, place in random.integers(0, (40, 12), (90, 2))]
    packed = with_trees(pack(rows * times, ["age", "place"], people=people), (AGES, PLACES))
    return task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(k, seed=1), Clock())


def raised_for(task, start):
    return raise_level_prices(task, task.row_costs_of(start.class_of), start.cost, Clock())


def rounds_of(task, start):
    return _LevelRounds(task, raised_for(task, start), Clock(), start.cost / task.table.total_rows)


def undivided(task):
    return along_hierarchies(task)


def divided(task):
    """Return classes between which rows of a row type are divided, as refinement does."""
    vector = np.array([0, 0, 1, 1, *[1] * (len(task.table) - 2)])
    row_type = np.array([0, 1, 0, 1, *range(2, len(task.table))])
    rows = task.table.rows[row_type].copy()
    rows[:4] = [*task.table.rows[:2] - 1, 1, 1]
    solution = Solution.of_parts(row_type, vector, rows)
    return Start(task.divided(solution), solution.vector, "by hand")


@pytest.mark.parametrize("start_of", [undivided, divided])
def test_the_graph_has_the_classes_of_the_solution_at_their_cost(start_of):
    task = task_with(times=3)
    start = start_of(task)
    graph, solution = rounds_of(task, along_hierarchies(task)).graph_around(start)
    assert (graph.all_costs[solution.vector] * solution.rows).sum() == pytest.approx(start.cost)
    assert np.bincount(solution.row_type, weights=solution.rows).tolist() == task.table.rows.tolist()
    assert (np.diff(graph.cost) >= 0).all()
    assert graph.members(len(graph) - 1).size == len(task.table)
    for row_type, instance in zip(solution.row_type, solution.vector, strict=True):
        assert row_type in graph.members(int(instance))


def test_rows_that_a_dive_leaves_over_get_a_place_in_its_classes(monkeypatch):
    task = task_with()
    dive = refinement.dive

    def leaving_one_over(table, graph, k, clock, *, prices):
        found = dive(table, graph, k, clock, prices=prices)
        size = np.bincount(found.vector, weights=found.rows)[found.vector]
        one = np.flatnonzero((size - found.rows >= k) & (found.rows < k))[0]
        vector = found.vector.copy()
        vector[one] = graph.vector[-1]
        return Solution(found.row_type, vector, found.rows)

    monkeypatch.setattr(refinement, "dive", leaving_one_over)
    monkeypatch.setattr(_LevelRounds, "improved", lambda _, start, *__: start)
    everything = Start(task, np.zeros(len(task.table), dtype=np.int64), "one class")
    found = rounds_of(task, everything).dived(everything)
    assert found.cost < along_hierarchies(task).cost
    assert np.bincount(found.class_of, weights=found.task.table.rows).min() >= task.request.k


@pytest.mark.parametrize("people", [None, [number // 2 for number in range(90)]])
@pytest.mark.parametrize("effort", [0, 10**9], ids=["by regions", "annealed alone"])
def test_refinement_is_cheaper_than_splitting_and_no_cheaper_than_its_bound(people, effort, monkeypatch):
    monkeypatch.setattr(refinement, "_EFFORT_PER_ROW", effort)
    task = task_with(people)
    start = along_hierarchies(task)
    raised = raised_for(task, start)
    better = refined(task, start, raised, 0.0, Clock())
    assert raised.found.bound <= better.cost < start.cost
    counted = np.bincount(better.class_of, weights=better.task.table.people)
    assert counted.min() >= task.request.k
