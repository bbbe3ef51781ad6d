"""The exact search against trying everything, on random small tables."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import parse_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.exact.optimum import search_exactly
from kanon_pg.worker.solvers.heuristics import search_greedily
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.examples import examples
from tests.fixtures.packing import pack

careful = settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
few = settings(careful, max_examples=examples(20))

WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 2.0, 3.25, 0.1])


@st.composite
def tables(draw, most_rows, most_patterns, has_entity=False):
    columns = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=2, max_size=most_rows))
    names = [f"c{number}" for number in range(columns)]
    people = None
    if has_entity:
        who = st.one_of(st.none(), st.integers(0, len(rows) - 1))
        people = draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
    weights = {name: draw(WEIGHTS) for name in names}
    table = RowTypeTable.from_packed(pack(rows, names, people=people, weights=weights))
    vector = st.lists(st.sampled_from(names), unique=True)
    patterns = draw(st.lists(vector, min_size=1, max_size=most_patterns, unique_by=frozenset))
    mask = parse_patterns(patterns, table.columns)
    k = draw(st.integers(2, 3))
    assume(table.total_people >= k)
    return rows, people, table, mask, k


def cost_of(table, solution):
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


def classes_by_hand(table, parts):
    """Return for each class its pattern vector and the rows or people in it."""
    classes = {}
    for number, (row_type, vector, rows) in enumerate(parts):
        kept = tuple(
            None if vector >> column & 1 else int(table.cells[column][row_type])
            for column in range(table.width)
        )
        held = classes.setdefault((vector, kept), set())
        if table.has_entity:
            begin, end = table.shared_start[row_type : row_type + 2]
            held |= {("shared", int(person)) for person in table.shared_people[begin:end]}
            held |= {(row_type, own) for own in range(int(table.own[row_type]))}
        else:
            held |= {(number, row) for row in range(rows)}
    return classes


def is_allowed(table, parts, request):
    classes = classes_by_hand(table, parts)
    full = (1 << table.width) - 1
    large = all(
        len(held) >= request.k or (request.rest_may_be_small and vector == full)
        for (vector, _), held in classes.items()
    )
    return large and (request.fewest_classes or 1) <= len(classes) <= (request.most_classes or math.inf)


def least_cost(table, mask, request):
    """Try all assignments of vectors to rows, or to row types of people told apart by an entity."""
    single = table if table.has_entity else single_rows(table)
    costs = dict(zip(mask.vectors.tolist(), mask.costs().tolist(), strict=True))
    best = math.inf
    for vectors in product(costs, repeat=len(single)):
        rows = single.rows.tolist()
        cost = sum(costs[vector] * count for vector, count in zip(vectors, rows, strict=True))
        if cost < best and is_allowed(
            single, list(zip(range(len(single)), vectors, rows, strict=True)), request
        ):
            best = cost
    return best


def check(table, mask, request, found, least):
    solution = found.solution
    parts = list(
        zip(solution.row_type.tolist(), solution.vector.tolist(), solution.rows.tolist(), strict=True)
    )
    assert set(solution.vector.tolist()) <= set(mask.vectors.tolist())
    assert np.array_equal(np.bincount(solution.row_type, weights=solution.rows), table.rows)
    assert is_allowed(table, parts, request)
    assert not (table.has_entity and solution.is_divided)
    assert cost_of(table, solution) == pytest.approx(least)
    assert found.lower_bound == pytest.approx(least)


@pytest.mark.parametrize(("has_entity", "most_rows"), [(False, 9), (True, 12)], ids=["rows", "people"])
@careful
@given(data=st.data())
def test_rows_of_a_type_are_divided_where_that_suppresses_least(has_entity, most_rows, data):
    _, _, table, mask, k = data.draw(tables(most_rows, 4, has_entity))
    single = table if has_entity else single_rows(table)
    assume(mask.vectors.size ** len(single) <= 20_000)
    request = SolveRequest(k=k)
    found = search_exactly(table, mask, request, Clock())
    check(table, mask, request, found, brute_force(single, mask.vectors, k))


@pytest.mark.parametrize(("has_entity", "most_rows"), [(False, 6), (True, 7)], ids=["rows", "people"])
@few
@given(rest_may_be_small=st.booleans(), data=st.data())
def test_limits_for_classes_and_both_rules_for_the_rest_are_kept(
    has_entity, most_rows, rest_may_be_small, data
):
    _, _, table, mask, k = data.draw(tables(most_rows, 3, has_entity))
    fewest = data.draw(st.one_of(st.none(), st.integers(1, 3)))
    most = data.draw(st.one_of(st.none(), st.integers(fewest or 1, 3)))
    request = SolveRequest(k=k, rest_may_be_small=rest_may_be_small, fewest_classes=fewest, most_classes=most)
    least = least_cost(table, mask, request)
    if math.isinf(least):
        with pytest.raises(InfeasibleError):
            search_exactly(table, mask, request, Clock())
    else:
        check(table, mask, request, search_exactly(table, mask, request, Clock()), least)


@few
@given(tables(most_rows=9, most_patterns=4))
def test_prices_strike_out_nothing_that_an_optimum_needs(drawn):
    _, _, table, mask, k = drawn
    single = single_rows(table)
    assume(mask.vectors.size ** len(single) <= 20_000)
    request = SolveRequest(k=k)
    prices = raise_prices(table, mask.vectors, k, Clock()).prices
    found = search_exactly(table, mask, request, Clock(), prices=prices)
    check(table, mask, request, found, brute_force(single, mask.vectors, k))


@few
@given(tables(most_rows=40, most_patterns=6))
def test_a_search_that_is_stopped_proves_no_more_than_is_true(drawn):
    _, _, table, mask, k = drawn
    request = SolveRequest(k=k)
    start = search_greedily(table, mask, request, Clock())
    least = cost_of(table, search_exactly(table, mask, request, Clock(), start).solution)
    for stopped in (
        search_exactly(table, mask, request, Clock(), start, nodes=0),
        search_exactly(table, mask, request, Clock(0.0), start),
    ):
        assert stopped.lower_bound <= least * (1 + 1e-12)
        assert least <= cost_of(table, stopped.solution) <= cost_of(table, start.solution)


@few
@given(tables(most_rows=40, most_patterns=6))
def test_equal_requests_give_equal_answers(drawn):
    _, _, table, mask, k = drawn
    first, second = (search_exactly(table, mask, SolveRequest(k=k), Clock()) for _ in range(2))
    assert np.array_equal(first.solution.vector, second.solution.vector)
    assert np.array_equal(first.solution.rows, second.solution.rows)
    assert first.lower_bound == second.lower_bound
