"""What must be true of every solution under privacy models, on random small tables."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import adds_up, evaluator_of, require_feasible, violations
from kanon_pg.worker.patterns import parse_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable, by_content
from kanon_pg.worker.solvers.heuristics import repair_and_improve, search_greedily
from kanon_pg.worker.verification.recount import recount, require_k, require_models
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.diversity import MODELS, pack_sensitive, types_of, violated
from tests.fixtures.examples import examples

quick = settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])

WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 2.0])


@st.composite
def tables(draw, most_rows=30, most_columns=3, may_share=True):
    columns = draw(st.integers(1, most_columns))
    size = draw(st.integers(2, most_rows))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=size, max_size=size))
    secrets = draw(st.lists(st.tuples(st.sampled_from([0, 1, 5, None])), min_size=size, max_size=size))
    people = None
    if may_share and draw(st.booleans()):
        who = st.one_of(st.none(), st.integers(0, size))
        people = draw(st.lists(who, min_size=size, max_size=size))
    weights = {f"c{number}": draw(WEIGHTS) for number in range(columns)}
    names = list(weights)
    patterns = draw(st.one_of(st.none(), st.lists(st.lists(st.sampled_from(names), unique=True), max_size=6)))
    return rows, secrets, people, weights, patterns, draw(st.integers(2, 4))


def prepared(table):
    rows, secrets, people, weights, patterns, k = table
    assume(len(rows if people is None else set(people) - {None}) >= k)
    packed = pack_sensitive(rows, secrets, people=people, weights=weights, ordered=True)
    types = RowTypeTable.from_packed(packed)
    return packed, types, parse_patterns({} if patterns is None else patterns, types.columns)


def found_or_infeasible(table, types, mask, models):
    """Search; where that fails, check that it is right to fail."""
    rows, secrets, people, _, _, k = table
    try:
        return search_greedily(types, mask, SolveRequest(k, models=models), Clock())
    except InfeasibleError:
        assert violated(models, list(range(len(rows))), secrets, people)
        return None


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables())
def test_every_class_has_k_people_and_satisfies_the_models(models, table):
    rows, secrets, people, _, _, k = table
    packed, types, mask = prepared(table)
    found = found_or_infeasible(table, types, mask, models)
    if found is None:
        return
    solution = found.solution
    parts = solution.parts_of(types)
    classes = classes_of(parts, solution.vector)
    counted = recount(packed, solution, classes.class_of)
    require_k(counted, k)
    require_models(packed, solution, classes.class_of, models)
    if not solution.is_divided:
        class_of_row = classes.class_of[types_of(rows, secrets)]
        for number in range(len(classes)):
            assert not violated(models, np.flatnonzero(class_of_row == number).tolist(), secrets, people)
    assert set(solution.vector.tolist()) <= set(mask.vectors.tolist())
    assert found.lower_bound <= counted.weighted_cost + 1e-9


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables(most_rows=6, most_columns=2))
def test_bound_optimum_and_solution_are_in_this_order(models, table):
    _, types, mask = prepared(table)
    single = types if types.has_entity else single_rows(types)
    optimum = brute_force(single, mask.vectors, table[-1], models)
    found = found_or_infeasible(table, types, mask, models)
    if found is None:
        # With people in several row types the table can violate what its classes satisfy.
        assert np.isinf(optimum) or not adds_up(types)
        return
    assert found.lower_bound <= optimum + 1e-9
    costs = suppression_costs(found.solution.vector, types.weights)
    assert optimum <= float((costs * found.solution.rows).sum()) + 1e-9


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables(may_share=False), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_solution(models, table, random):
    rows, secrets, _, weights, patterns, k = table
    """Where row types stand in the order of their content, as `solve` has them."""
    _, types, mask = prepared(table)
    types, _ = by_content(types)
    found = found_or_infeasible(table, types, mask, models)
    order = list(range(len(rows)))
    random.shuffle(order)
    turned = ([rows[n] for n in order], [secrets[n] for n in order], None, weights, patterns, k)
    _, other_types, _ = prepared(turned)
    other_types, _ = by_content(other_types)
    other = found_or_infeasible(turned, other_types, mask, models)
    if found is None:
        assert other is None
        return
    whole, other_whole = (
        sorted(
            (*(int(cells[kind]) for cells in one.cells), *one.sensitive[:, kind].tolist(), vector, number)
            for kind, vector, number in zip(
                solution.row_type.tolist(), solution.vector.tolist(), solution.rows.tolist(), strict=True
            )
        )
        for one, solution in ((types, found.solution), (other_types, other.solution))
    )
    assert whole == other_whole


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables(), data=st.data())
def test_any_assignment_can_be_made_to_satisfy_the_models(models, table, data):
    _, types, mask = prepared(table)
    vectors = data.draw(
        st.lists(st.sampled_from(mask.vectors.tolist()), min_size=len(types), max_size=len(types))
    )
    try:
        found = repair_and_improve(
            types, mask, SolveRequest(table[-1], models=models), Clock(), np.array(vectors), "drawn"
        )
    except InfeasibleError:
        return
    classes = classes_of(types, found.solution.vector)
    assert classes.people.min() >= table[-1]
    assert not violations(evaluator_of(types, models), classes.class_of, len(classes)).any.any()


@pytest.mark.parametrize("models", MODELS, ids=str)
@quick
@given(table=tables(most_rows=6, most_columns=2, may_share=False))
def test_demands_are_refused_exactly_if_nothing_satisfies_them(models, table):
    _, types, mask = prepared(table)
    is_possible = np.isfinite(brute_force(types, mask.vectors, table[-1], models))
    try:
        require_feasible(types, models)
    except InfeasibleError:
        assert not is_possible
    else:
        assert is_possible
