"""Privacy models in the solvers: worked cases, refusals, the flow of Lemma 3."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError, InputError, UnknownName, UnsuitableColumn
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of, require_feasible, require_valid_models, violations
from kanon_pg.worker.patterns import all_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.model_constraints import PEOPLE_DO_NOT_ADD_UP, search_exactly_with_models
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.sensitive_flow import reassign_sensitively
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.examples import examples
from tests.fixtures.packing import pack

SECRET = "SECRET-VALUE"


def table_of(rows, secrets, **options):
    return RowTypeTable.from_packed(pack_sensitive(rows, secrets, **options))


def cost_of(types, solution):
    return float((suppression_costs(solution.vector, types.weights) * solution.rows).sum())


def ill(*values):
    return [(value,) for value in values]


@pytest.mark.parametrize(
    ("models", "message", "hint"),
    [
        (PrivacyModels(p=3), "has 2 different values, fewer than p = 3", "p of at most 2"),
        (PrivacyModels(l=3, diversity="distinct"), "fewer than l = 3", "l of at most 2"),
        (PrivacyModels(l=2), "is in 4 of 6 rows, more than 1 in 2", "Leave column"),
        (PrivacyModels(l=2, diversity="entropy"), "is that of 1.890 equally frequent", "Leave column"),
    ],
)
def test_impossible_demands_are_refused_with_what_is_possible(models, message, hint):
    types = table_of([(n,) for n in range(6)], ill(SECRET, SECRET, SECRET, SECRET, "b", "b"))
    with pytest.raises(InfeasibleError) as caught:
        require_feasible(types, models)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert '"s0"' in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_largest_possible_l_is_named_and_possible():
    types = table_of([(n,) for n in range(7)], ill("a", "a", "b", "b", "c", "c", "d"))
    with pytest.raises(InfeasibleError, match="most frequent value") as caught:
        require_feasible(types, PrivacyModels(l=4))
    assert caught.value.hint == "Choose l of at most 3."
    require_feasible(types, PrivacyModels(l=3))


def test_every_closeness_is_possible():
    types = table_of([(0,), (0,), (1,), (1,)], ill("a", "b", "a", "c"))
    found = search_greedily(
        types, all_patterns(types.columns), SolveRequest(2, models=PrivacyModels(t=0.0)), Clock()
    )
    assert found.solution.vector.tolist() == [1, 1, 1, 1]


def test_people_of_several_rows_make_a_frequent_value_rare_only_in_rows():
    rows = [(n,) for n in range(6)]
    types = table_of(rows, ill("a", "b", "b", "b", "b", "b"), people=[1, 2, 2, 2, 2, 2])
    with pytest.raises(InfeasibleError, match="5 of 6 rows"):
        require_feasible(types, PrivacyModels(l=2))


@pytest.mark.parametrize(
    ("models", "error"),
    [
        (PrivacyModels(l=1), InputError),
        (PrivacyModels(p=True), InputError),
        (PrivacyModels(t=1.0), InputError),
        (PrivacyModels(t=float("nan")), InputError),
        (PrivacyModels(l=2, diversity="none"), UnknownName),
        (PrivacyModels(t=0.1, distance="none"), UnknownName),
        (PrivacyModels(t=0.1, distance="ordered"), UnsuitableColumn),
    ],
)
def test_demands_without_meaning_are_refused(models, error):
    types = table_of([(0,), (0,)], ill("a", "b"))
    with pytest.raises(error):
        require_valid_models(types, models)


def test_models_need_a_sensitive_column():
    types = RowTypeTable.from_packed(pack([("a",), ("b",)]))
    with pytest.raises(InputError, match="need a sensitive column"):
        require_valid_models(types, PrivacyModels(l=2))


def test_homogeneous_classes_are_broken_up():
    """The attack that p-sensitivity answers (Truta and Vinay 2006): k equal rows with one sensitive value."""
    rows = [("a", 1)] * 2 + [("a", 2)] * 2
    secrets = ill("flu", "flu", "cold", "cold")
    types = table_of(rows, secrets)
    mask = all_patterns(types.columns)
    for search in (search_greedily, search_exactly_with_models):
        found = search(types, mask, SolveRequest(2, models=PrivacyModels(p=2)), Clock())
        assert cost_of(types, found.solution) == 4
        assert set(found.solution.vector.tolist()) == {0b10}


def test_a_frequent_value_is_thinned_out_of_its_group():
    rows = [("a", 1)] * 6 + [("b", 2)] * 3
    secrets = ill("flu", "flu", "flu", "cold", "cold", "gout", "x", "y", "z")
    types = table_of([(*row, n) for n, row in enumerate(rows)], secrets)
    found = search_greedily(
        types, all_patterns(types.columns), SolveRequest(3, models=PrivacyModels(l=3)), Clock()
    )
    classes = classes_of(types, found.solution.vector)
    evaluator = evaluator_of(types, PrivacyModels(l=3))
    assert not violations(evaluator, classes.class_of, len(classes)).any.any()
    assert len(classes) > 1


def test_row_types_are_divided_where_that_is_cheaper():
    rows = [("a",)] * 4 + [("b",)] * 2
    secrets = ill("x", "x", "y", "y", "y", "x")
    types = table_of(rows, secrets)
    found = search_exactly_with_models(
        types, all_patterns(types.columns), SolveRequest(2, models=PrivacyModels(l=2)), Clock()
    )
    assert cost_of(types, found.solution) == 0
    assert found.lower_bound == 0


def test_exact_search_says_when_people_do_not_add_up():
    rows = [(0,), (1,), (0,), (1,)]
    types = table_of(rows, ill("a", "b", "b", "a"), people=[1, 1, 2, 3])
    found = search_exactly_with_models(
        types, all_patterns(types.columns), SolveRequest(2, models=PrivacyModels(p=2)), Clock()
    )
    assert PEOPLE_DO_NOT_ADD_UP in found.notes


def cheapest_distribution(rows, secrets, outputs, k, p):
    """Try every way to send each row to one of the outputs, all of which must be used."""
    best = np.inf
    fits = [
        [
            n
            for n, output in enumerate(outputs)
            if all(o in (None, c) for o, c in zip(output, row, strict=True))
        ]
        for row in rows
    ]
    for choice in itertools.product(*fits):
        members = [[m for m, c in enumerate(choice) if c == n] for n in range(len(outputs))]
        if all(len(m) >= k and len({secrets[i] for i in m}) >= p for m in members):
            best = min(best, sum(outputs[c].count(None) for c in choice))
    return best


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), k=st.integers(1, 3), p=st.integers(2, 3))
def test_the_flow_is_the_cheapest_distribution(data, k, p):
    """Lemma 3 of Bredereck, Nichterlein, Niedermeier and Philip (2014)."""
    size = data.draw(st.integers(3, 8))
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=size, max_size=size))
    secrets = data.draw(st.lists(st.tuples(st.integers(0, 2)), min_size=size, max_size=size))
    vectors = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    types = table_of(rows, secrets)
    named = Solution.undivided(types, np.array(vectors[: len(types)], dtype=np.int64))
    keys = list(dict.fromkeys(zip(rows, secrets, strict=True)))
    outputs = sorted(
        {
            tuple(None if int(vector) >> c & 1 else keys[n][0][c] for c in range(2))
            for n, vector in enumerate(named.vector)
        },
        key=str,
    )
    found = reassign_sensitively(types, named, k, p, Clock())
    expected = cheapest_distribution(rows, secrets, outputs, max(k, p), p)
    if found is None:
        assert np.isinf(expected)
        return
    assert cost_of(types, found) == expected
    parts = found.parts_of(types)
    classes = classes_of(parts, found.vector)
    assert len(classes) == len(outputs)
    assert (classes.rows >= k).all()
    evaluator = evaluator_of(parts, PrivacyModels(p=p))
    assert not violations(evaluator, classes.class_of, len(classes)).any.any()


def test_under_p_sensitivity_the_greedy_search_distributes_rows_by_flow():
    rows = [("a",)] * 7 + [("c",)]
    secrets = ill("x", "x", "x", "y", "y", "z", "z", "x")
    types = table_of(rows, secrets)
    found = search_greedily(
        types, all_patterns(types.columns), SolveRequest(2, models=PrivacyModels(p=2)), Clock()
    )
    # One row of "a" with another value joins that of "c"; as whole row types two of them would have to.
    assert cost_of(types, found.solution) == 2
    assert found.solution.is_divided
    assert found.method.endswith("minimum-cost flow")
