"""What the search of suppression makes of recodings: instances are node vectors."""

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.recoding import instances, refinement
from kanon_pg.worker.solvers.recoding.instances import Instances, graph_of
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.refinement import _LevelRounds, refined
from kanon_pg.worker.solvers.recoding.starts import Start, along_hierarchies
from kanon_pg.worker.solvers.recoding.task import task_of
from kanon_pg.worker.solvers.refinement import recombination
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


def test_of_equal_instances_the_cheapest_is_kept_and_stands_for_all():
    task = task_with()
    count = len(task.table)
    one = Instances(np.array([0.5, 0.25, 0.75]), np.array([2, 3, 2]), np.array([4, 3, 5, 6, 7, 8, 9]))
    other = Instances(np.array([0.4, 1.0]), np.array([2, 3]), np.array([3, 4, 7, 6, 5]))
    graph, numbers = graph_of(task, [one, other])
    members = [graph.members(instance).tolist() for instance in range(len(graph))]
    assert members == [[5, 6, 7], [3, 4], [8, 9], list(range(count))]
    assert graph.cost.tolist() == [0.25, 0.4, 0.75, task.table.weights.sum()]
    assert [number.tolist() for number in numbers] == [[1, 0, 2], [1, 0]]


def test_instances_are_told_apart_even_where_their_marks_agree(monkeypatch):
    monkeypatch.setattr(instances, "mix", np.ones_like)
    task = task_with()
    some = Instances(np.array([0.5, 0.25, 0.75]), np.array([2, 2, 2]), np.array([3, 4, 5, 6, 6, 5]))
    graph, (numbers,) = graph_of(task, [some])
    assert [graph.members(int(number)).tolist() for number in numbers] == [[3, 4], [5, 6], [5, 6]]
    assert graph.cost.tolist()[:2] == [0.25, 0.5]


def test_solutions_that_are_good_in_different_places_are_put_together(monkeypatch):
    monkeypatch.setattr(recombination, "_MOST_COST", np.inf)
    task = task_with(k=2)
    start = along_hierarchies(task)
    rounds = rounds_of(task, start)
    is_low = start.class_of < start.class_of.max() // 2
    for kept in (is_low, ~is_low):
        class_of = np.unique(np.where(kept, start.class_of, -1), return_inverse=True)[1]
        rounds.keep(start._replace(class_of=class_of))
    assert rounds.best.cost > start.cost
    assert rounds.together(0.01, seed=1).cost <= start.cost


def test_rows_that_a_dive_leaves_over_get_a_place_in_its_classes(monkeypatch):
    task = task_with()
    dive = refinement.dive

    def leaving_one_over(search, clock, *, seed):
        found, graph, k = dive(search, clock, seed=seed), search.graph, search.k
        size = np.bincount(found.vector, weights=found.rows)[found.vector]
        one = np.flatnonzero((size - found.rows >= k) & (found.rows < k))[0]
        vector = found.vector.copy()
        vector[one] = graph.vector[-1]
        return Solution(found.row_type, vector, found.rows)

    monkeypatch.setattr(refinement, "dive", leaving_one_over)
    monkeypatch.setattr(_LevelRounds, "improved", lambda _, start, *__: start)
    everything = Start(task, np.zeros(len(task.table), dtype=np.int64), "one class")
    rounds = rounds_of(task, everything)
    rounds.keep(everything)
    found = rounds.start_of(rounds.dived(*rounds.near(everything), 1.0, seed=1))
    assert found.cost < along_hierarchies(task).cost
    assert np.bincount(found.class_of, weights=found.task.table.rows).min() >= task.request.k


@pytest.mark.parametrize("people", [None, [number // 2 for number in range(90)]])
@pytest.mark.parametrize("effort", [1, 10**9], ids=["many solutions", "two solutions"])
def test_refinement_is_cheaper_than_splitting_and_no_cheaper_than_its_bound(people, effort, monkeypatch):
    monkeypatch.setattr(refinement, "_EFFORT_PER_ROW", effort)
    task = task_with(people)
    start = along_hierarchies(task)
    raised = raised_for(task, start)
    better = refined(task, start, raised, 0.0, Clock())
    assert raised.found.bound <= better.cost < start.cost
    counted = np.bincount(better.class_of, weights=better.task.table.people)
    assert counted.min() >= task.request.k
