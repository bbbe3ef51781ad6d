"""Row assignment against constraint programming, and the examples of the papers."""

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns, bounded_patterns, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.row_assignment import MOST_ROW_TYPES, assign_rows, search_by_row_assignment
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.brute_force import brute_force
from tests.fixtures.packing import pack
from tests.instances.bipartite import subgraph_table
from tests.instances.known import Known, greedy_trap
from tests.instances.optimum import least_cost
from tests.instances.set_cover import set_cover_table

pytestmark = pytest.mark.slow


def vectors_over(width):
    return list(chain.from_iterable(combinations(range(width), size) for size in range(width + 1)))


def answer(rows, k, patterns=None, weights=(), clock=None, **wishes):
    """Return cost, classes and bound of a recounted solution, None if there is none."""
    known = Known(tuple(rows), k, 0, patterns, tuple(weights))
    packed = known.packed()
    table = RowTypeTable.from_packed(packed)
    mask = (
        all_patterns(table.columns)
        if patterns is None
        else parse_patterns(known.named_patterns, table.columns)
    )
    found = search_by_row_assignment(table, mask, SolveRequest(k, **wishes), clock or Clock())
    if found is None:
        return None
    classes = classes_of(found.solution.parts_of(table), found.solution.vector)
    counted = recount(packed, found.solution, classes.class_of)
    is_rest = classes.vectors == mask.full
    assert (classes.people >= np.where(is_rest & wishes.get("rest_may_be_small", False), 1, k)).all()
    return counted.weighted_cost, len(classes), found.lower_bound


def random_case(random):
    width, k = int(random.integers(1, 5)), int(random.integers(2, 6))
    count = int(random.integers(k, 16))
    rows = [tuple(row) for row in random.integers(0, int(random.integers(2, 4)), (count, width)).tolist()]
    weights = [int(weight) for weight in random.integers(1, 4, width)] if random.random() < 0.5 else []
    allowed = [list(vector) for vector in vectors_over(width)[:-1] if random.random() < 0.7]
    return rows, k, allowed, weights


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_constraint_programming(seed):
    random = np.random.default_rng(seed)
    for _ in range(40):
        rows, k, allowed, weights = random_case(random)
        rest_may_be_small = bool(random.random() < 0.3)
        everything = [*allowed, list(range(len(rows[0])))]
        expected = least_cost(rows, k, everything, weights, rest_may_be_small=rest_may_be_small)
        cost, _, bound = answer(rows, k, allowed, weights, rest_may_be_small=rest_may_be_small)
        assert cost == expected == pytest.approx(bound)


@pytest.mark.parametrize("seed", range(8))
def test_numbers_of_classes_are_kept_at_least_cost(seed):
    random = np.random.default_rng(100 + seed)
    infeasible = 0
    for _ in range(25):
        rows, k, allowed, weights = random_case(random)
        fewest = int(random.integers(1, 4)) if random.random() < 0.7 else None
        most = (fewest or 1) + int(random.integers(0, 2)) if random.random() < 0.7 else None
        everything = [*allowed, list(range(len(rows[0])))]
        expected = least_cost(rows, k, everything, weights, fewest=fewest, most=most)
        if expected is None:
            infeasible += 1
            with pytest.raises(InfeasibleError):
                answer(rows, k, allowed, weights, fewest_classes=fewest, most_classes=most)
            continue
        cost, classes, bound = answer(rows, k, allowed, weights, fewest_classes=fewest, most_classes=most)
        assert cost == expected == pytest.approx(bound)
        assert (fewest or 1) <= classes <= (most or classes)
    assert infeasible > 0


def test_a_class_can_be_wanted_that_differs_only_in_what_it_suppresses():
    rows = [("a", "b")] * 4
    assert answer(rows, 2) == (0.0, 1, 0.0)
    assert answer(rows, 2, fewest_classes=2) == (2.0, 2, 2.0)
    with pytest.raises(InfeasibleError, match="number of classes"):
        answer(rows, 2, fewest_classes=3)


def test_one_class_suppresses_every_column_in_which_rows_differ():
    rows = [("a", 1, "x"), ("a", 2, "x"), ("a", 1, "y"), ("a", 1, "x")] * 2
    assert answer(rows, 2, most_classes=1)[:2] == (16.0, 1)
    assert answer(rows, 2)[:2] == (0.0, 3)


def test_the_graph_of_figure_one_has_exactly_two_output_types():
    """Paper 3, Proposition 1 and Theorem 1: with exactly t_out classes the cost is that of the subgraph."""
    graph = nx.complete_bipartite_graph(2, 2)
    graph = nx.relabel_nodes(graph, {2: 4, 3: 5})
    graph.add_nodes_from(range(8))
    known = subgraph_table(graph, 4, 3)
    exactly = answer(known.rows, known.k, fewest_classes=3, most_classes=3)
    assert exactly[:2] == (known.optimum, 3)
    assert answer(known.rows, known.k)[0] == known.optimum
    assert answer(known.rows, known.k, most_classes=2)[0] > known.optimum


@pytest.mark.parametrize(
    "known",
    [greedy_trap(3), greedy_trap(4), set_cover_table(5, [(0, 1, 2), (2, 3, 4)])],
    ids=["greedy trap, 3", "greedy trap, 4", "set cover"],
)
def test_known_optima(known):
    assert answer(known.rows, known.k, known.patterns, known.weights)[0] == known.optimum


def test_the_flow_of_figure_three_sends_what_is_left_to_the_cheapest():
    """Paper 3, Lemma 1: every output row type gets k rows first, the sink takes the rest."""
    rows = np.array([5, 2, 2])
    pairs = [(0, 0, 0), (0, 1, 1), (1, 1, 1), (1, 2, 3), (2, 2, 3)]
    found = assign_rows(rows, pairs, np.array([2, 3, 3]))
    parts = set(zip(found.row_type.tolist(), found.output.tolist(), found.rows.tolist(), strict=True))
    assert parts == {(0, 0, 3), (0, 1, 2), (1, 1, 1), (1, 2, 1), (2, 2, 2)}
    assert found.cost == 2 + 1 + 9
    assert assign_rows(rows, pairs, np.array([4, 3, 3])) is None
    assert assign_rows(rows, pairs, np.array([0, 0, 5])) is None


def test_costs_without_a_common_unit_give_a_bound_below_the_cost():
    rows = [("a", "b"), ("a", "c"), ("d", "c"), ("d", "b"), ("e", "c")]
    table = RowTypeTable.from_packed(pack(rows, ["x", "y"], weights={"x": 2**0.5, "y": 3**0.5}))
    mask = all_patterns(table.columns)
    found = search_by_row_assignment(table, mask, SolveRequest(2), Clock())
    optimum = brute_force(table, mask.vectors, 2)
    assert found.lower_bound <= optimum
    assert found.lower_bound == pytest.approx(optimum, abs=1e-4)


def test_too_many_row_types_are_handed_back():
    rows = [(number, number) for number in range(MOST_ROW_TYPES + 1)]
    assert answer(rows, 2) is None


def test_without_time_nothing_is_claimed():
    assert answer([("a", "b"), ("a", "c")], 2, clock=Clock(0.0)) is None


def test_entities_and_privacy_models_are_refused():
    with_people = RowTypeTable.from_packed(pack([("a",), ("a",)], people=[1, 2]))
    plain = RowTypeTable.from_packed(pack([("a",), ("a",)]))
    mask = all_patterns(plain.columns)
    with pytest.raises(InputError, match="no entity"):
        search_by_row_assignment(with_people, mask, SolveRequest(2), Clock())
    with pytest.raises(InputError, match="no privacy model"):
        search_by_row_assignment(plain, mask, SolveRequest(2, models=PrivacyModels(l=2)), Clock())


def test_a_bounded_mask_proves_nothing_about_the_vectors_that_it_leaves_out():
    table = RowTypeTable.from_packed(pack([("a", "b"), ("a", "c"), ("d", "b"), ("d", "c")]))
    mask = bounded_patterns(np.array([0], dtype=np.int64), table.columns, "bounded", 1.0)
    found = search_by_row_assignment(table, mask, SolveRequest(2), Clock())
    assert found.solution.vector.tolist() == [3, 3, 3, 3]
    assert found.lower_bound is None
