"""Solutions from prices under privacy models satisfy k and the models, and cost no less than proven."""

from types import SimpleNamespace

import numpy as np
import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker import clock
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.annealing.graph import graph_around
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.recoding.dives import LevelDives
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.starts import start_of
from kanon_pg.worker.solvers.recoding.task import classes_of_solution, task_of
from kanon_pg.worker.solvers.refinement import diving_under_models
from kanon_pg.worker.solvers.refinement.dives import SuppressionDives
from kanon_pg.worker.solvers.refinement.diving_under_models import dive_for_people
from kanon_pg.worker.verification.recount import recount, require_k, require_models
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import pack
from tests.fixtures.recoding import Tree, with_trees

MODELS = [
    PrivacyModels(p=3),
    PrivacyModels(l=2),
    PrivacyModels(l=3),
    PrivacyModels(l=2, diversity="entropy"),
    PrivacyModels(t=0.4),
    PrivacyModels(l=2, p=3, t=0.5),
]


def case(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(20, 80))
    rows = [tuple(row) for row in random.integers(0, 3, (size, 3)).tolist()]
    secrets = [(int(value),) for value in random.choice(5, size, p=[0.3, 0.25, 0.2, 0.15, 0.1])]
    packed = pack_sensitive(rows, secrets)
    return packed, RowTypeTable.from_packed(packed)


def cost_after_recount(packed, types, solution, k, models):
    """Recount a solution from the cells; return its cost."""
    classes = classes_of(solution.parts_of(types), solution.vector)
    counted = recount(packed, solution, classes.class_of)
    require_k(counted, k)
    require_models(packed, solution, classes.class_of, models)
    return counted.weighted_cost


@pytest.mark.parametrize("models", MODELS, ids=str)
def test_dives_satisfy_the_models_and_cost_no_less_than_the_bound(models):
    dives = 0
    for seed in range(8):
        packed, types = case(seed)
        mask, request, k = all_patterns(types.columns), SolveRequest(3, models=models), 3
        try:
            raised = raise_prices(types, mask.vectors, k, Clock(), models=models, steps=200)
            solution = SuppressionDives(types, mask, request, Clock(), raised.prices).first()
        except InfeasibleError:
            continue
        if solution is not None:
            dives += 1
            assert cost_after_recount(packed, types, solution, k, models) >= raised.bound
    assert dives


@pytest.mark.parametrize("models", MODELS, ids=str)
def test_parts_of_a_solution_can_be_dived_for_again(models):
    other = 0
    for seed in range(8):
        packed, types = case(seed)
        mask, request, k = all_patterns(types.columns), SolveRequest(3, models=models), 3
        try:
            before = search_greedily(types, mask, request, Clock()).solution
            raised = raise_prices(types, mask.vectors, k, Clock(), models=models, steps=200)
            after = SuppressionDives(types, mask, request, Clock(), raised.prices).again(before, seed)
        except InfeasibleError:
            continue
        if after is not None:
            cost = cost_after_recount(packed, types, after, k, models)
            assert cost >= raised.bound
            other += cost != cost_after_recount(packed, types, before, k, models)
    assert other


TREE = Tree({value: (value, value // 2) for value in range(4)}, (0.0, 0.25, 1.0))


@pytest.mark.parametrize("models", MODELS, ids=str)
def test_dives_with_hierarchies_satisfy_the_models_and_cost_no_less_than_the_bound(models):
    dives, other = 0, 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        rows = [tuple(row) for row in random.integers(0, 4, (60, 3)).tolist()]
        secrets = [(int(value),) for value in random.choice(5, 60, p=[0.3, 0.25, 0.2, 0.15, 0.1])]
        packed = with_trees(pack_sensitive(rows, secrets), [TREE, None, TREE])
        request = SolveRequest(3, models=models)
        try:
            whole = task_of(packed, RowTypeTable.from_packed(packed), request, Clock())
        except InfeasibleError:
            continue
        start = start_of(whole)
        raised = raise_level_prices(whole, np.full(len(whole.table), 3.0), start.cost, Clock())
        searches = LevelDives(whole, raised.found, Clock())
        for solution in (searches.first(), searches.again(searches.solution_of(start), seed)):
            if solution is None:
                continue
            dives += 1
            parts = solution.parts_of(whole.table)
            class_of = classes_of_solution(packed, parts, solution)
            counted = recount(packed, solution, class_of)
            require_k(counted, 3)
            require_models(packed, solution, class_of, models)
            assert counted.weighted_cost == pytest.approx(searches.cost(solution))
            assert counted.weighted_cost >= raised.found.bound
            other += counted.weighted_cost != pytest.approx(start.cost)
    assert dives > 4
    assert other


@pytest.mark.parametrize("models", MODELS, ids=str)
def test_local_search_and_flow_never_make_a_solution_dearer(models):
    for seed in range(8):
        packed, types = case(seed)
        mask, request, k = all_patterns(types.columns), SolveRequest(3, models=models), 3
        try:
            before = search_greedily(types, mask, request, Clock()).solution
        except InfeasibleError:
            continue
        nothing = np.zeros(len(types), dtype=np.int64)
        after = SuppressionDives(types, mask, request, Clock(), nothing).finished(before)
        cost = cost_after_recount(packed, types, after, k, models)
        assert cost <= cost_after_recount(packed, types, before, k, models) + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_dives_keep_row_types_of_people_in_one_piece_and_k_people_in_a_class(seed):
    random = np.random.default_rng(seed)
    size, k = int(random.integers(20, 80)), int(random.integers(2, 5))
    rows = [tuple(row) for row in random.integers(0, 3, (size, 3)).tolist()]
    packed = pack(rows, people=random.integers(0, size // 2, size).tolist())
    types = RowTypeTable.from_packed(packed)
    mask = all_patterns(types.columns)
    before = search_greedily(types, mask, SolveRequest(k), Clock()).solution
    raised = raise_prices(types, mask.vectors, k, Clock(), steps=200)
    graph = graph_around(types, mask.vectors, before, k, Clock(), prices=raised.prices)
    solution = dive_for_people(GraphSearch(types, graph, k, raised.prices), Clock(), seed=seed % 3)
    assert solution is not None
    assert not solution.is_divided
    assert cost_after_recount(packed, types, solution, k, PrivacyModels()) >= raised.bound


@pytest.mark.parametrize(("seconds", "are_fewer"), [(None, False), (1000.0, False), (30.0, True)])
def test_rounds_take_fewer_steps_where_the_first_one_shows_that_the_dive_would_take_too_long(
    seconds, are_fewer, monkeypatch
):
    now, steps, adjust = [0.0], [], diving_under_models.adjust_prices
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def adjust_slowly(pool, stage, people, k, wanted, *others):
        now[0] += 0.0 if steps else 8.0
        steps.append(wanted)
        return adjust(pool, stage, people, k, wanted, *others)

    monkeypatch.setattr(diving_under_models, "adjust_prices", adjust_slowly)
    _, types = case(1)
    mask, request = all_patterns(types.columns), SolveRequest(3, models=PrivacyModels(l=2))
    raised = raise_prices(types, mask.vectors, 3, Clock(), models=request.models)
    assert SuppressionDives(types, mask, request, Clock(seconds), raised.prices).first() is not None
    assert len(steps) > 1
    assert all(later < steps[0] for later in steps[1:]) == are_fewer
    assert are_fewer or set(steps) == {steps[0]}
