"""Exact search under privacy models finds what trying everything finds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import adds_up
from kanon_pg.worker.patterns import parse_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.exact.model_constraints import search_exactly_with_models
from kanon_pg.worker.verification.recount import recount, require_k, require_models
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.diversity import MODELS, pack_sensitive, types_of
from tests.fixtures.examples import examples

quick = settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 2))
    size = draw(st.integers(3, 9 if columns == 1 else 7))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=size, max_size=size))
    secrets = draw(st.lists(st.tuples(st.sampled_from([0, 1, 5, None])), min_size=size, max_size=size))
    return rows, secrets, draw(st.integers(2, 3))


def solved(packed, types, mask, k, models, optimum):
    try:
        found = search_exactly_with_models(types, mask, SolveRequest(k, models=models), Clock())
    except InfeasibleError:
        assert np.isinf(optimum)
        return
    solution = found.solution
    parts = solution.parts_of(types)
    classes = classes_of(parts, solution.vector)
    require_k(recount(packed, solution, classes.class_of), k)
    require_models(packed, solution, classes.class_of, models)
    cost = float((suppression_costs(solution.vector, types.weights) * solution.rows).sum())
    assert cost == pytest.approx(optimum)
    assert found.lower_bound == pytest.approx(optimum)


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables())
def test_divided_row_types_reach_the_optimum_of_single_rows(models, table):
    rows, secrets, k = table
    packed = pack_sensitive(rows, secrets, ordered=True)
    types = RowTypeTable.from_packed(packed)
    mask = parse_patterns({}, types.columns)
    optimum = brute_force(single_rows(types), mask.vectors, k, models)
    solved(packed, types, mask, k, models, optimum)


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables(), data=st.data())
def test_row_types_of_people_stay_whole_and_count_twice(models, table, data):
    rows, secrets, k = table
    types_of_row = types_of(rows, secrets)
    # A person stays within one row type, so that people add up; several rows may be hers.
    people = [(kind, data.draw(st.integers(0, 2))) for kind in types_of_row]
    packed = pack_sensitive(rows, secrets, people=people, ordered=True)
    types = RowTypeTable.from_packed(packed)
    assume(types.total_people >= k)
    assert adds_up(types)
    mask = parse_patterns({}, types.columns)
    solved(packed, types, mask, k, models, brute_force(types, mask.vectors, k, models))
