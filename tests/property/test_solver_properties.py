"""What must be true of every solution, on random small tables."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import cheapest_first, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.solvers.greedy.heuristic import greedy
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.local_search.improvement import improve
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.examples import examples
from tests.fixtures.packing import masks, pack, solution_of

quick = settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])

GENERAL = ["auto", "greedy", "exact", "mondrian"]
"""Methods for every kind of table."""

WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 2.0, 3.25])


@st.composite
def tables(draw, most_rows=30, most_columns=4, may_share=True):
    columns = draw(st.integers(1, most_columns))
    cell = st.integers(0, 3)
    rows = draw(st.lists(st.tuples(*[cell] * columns), min_size=2, max_size=most_rows))
    people = None
    if may_share and draw(st.booleans()):
        who = st.one_of(st.none(), st.integers(0, len(rows)))
        people = draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
    names = [f"c{number}" for number in range(columns)]
    weights = {name: draw(WEIGHTS) for name in names}
    patterns = draw(st.one_of(st.none(), st.lists(st.lists(st.sampled_from(names), unique=True), max_size=6)))
    return rows, names, people, weights, patterns, draw(st.integers(2, 5))


def people_of(rows, people):
    return len(rows) if people is None else len(set(people) - {None})


def check(rows, names, people, weights, patterns, k, outcome):
    """Recount a solution from the rows themselves."""
    solution = solution_of(pack(rows, names, people=people, weights=weights), outcome)
    vectors = np.repeat(solution.vector, solution.rows).tolist()
    types = list(dict.fromkeys(rows))
    in_order = sorted(range(len(rows)), key=lambda number: types.index(rows[number]))
    vector_of = dict(zip(in_order, vectors, strict=True))
    if patterns is not None:
        allowed = {sum(1 << names.index(name) for name in pattern) for pattern in patterns}
        assert set(vector_of.values()) <= allowed | {(1 << len(names)) - 1}
    classes: dict = {}
    cost, cells = 0.0, 0
    for number, row in enumerate(rows):
        vector = vector_of[number]
        hidden = [bool(vector >> column & 1) for column in range(len(names))]
        published = (
            vector,
            *(None if is_hidden else cell for cell, is_hidden in zip(row, hidden, strict=True)),
        )
        classes.setdefault(published, set()).add(number if people is None else people[number])
        cells += sum(hidden)
        cost += sum(weights[name] for name, is_hidden in zip(names, hidden, strict=True) if is_hidden)
    assert min(len(who - {None}) if people else len(who) for who in classes.values()) >= k
    assert outcome.classes == len(classes)
    assert outcome.suppressed_cells == cells
    assert outcome.weighted_cost == pytest.approx(cost)
    assert outcome.lower_bound <= outcome.weighted_cost


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables())
def test_every_class_has_k_people_and_the_cost_is_what_was_said(method, table):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    packed = pack(rows, names, people=people, weights=weights)
    check(*table, solve(packed, SolveRequest(k, method=method, patterns=patterns)))


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_solution(method, table, random):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = [rows[number] for number in order]
    whose = None if people is None else [people[number] for number in order]
    request = SolveRequest(k, method=method, patterns=patterns)
    straight = solve(pack(rows, names, people=people, weights=weights), request)
    other = solve(pack(shuffled, names, people=whose, weights=weights), request)
    of_row = dict(zip(dict.fromkeys(rows), masks(straight.patterns).tolist(), strict=True))
    of_other = dict(zip(dict.fromkeys(shuffled), masks(other.patterns).tolist(), strict=True))
    assert of_row == of_other


@quick
@given(table=tables(), random=st.randoms(use_true_random=False))
def test_the_order_of_columns_changes_no_bound_and_gives_a_valid_solution(table, random):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    order = list(range(len(names)))
    random.shuffle(order)
    turned = [tuple(row[column] for column in order) for row in rows]
    turned_names = [names[column] for column in order]
    request = SolveRequest(k, "greedy", patterns=patterns)
    straight = solve(pack(rows, names, people=people, weights=weights), request)
    other = solve(pack(turned, turned_names, people=people, weights=weights), request)
    assert other.lower_bound == pytest.approx(straight.lower_bound)
    check(turned, turned_names, people, weights, patterns, k, other)


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables(most_rows=6, most_columns=2))
def test_bound_optimum_and_solution_are_in_this_order(method, table):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    packed = pack(rows, names, people=people, weights=weights)
    outcome = solve(packed, SolveRequest(k, method, patterns=patterns))
    whole = RowTypeTable.from_packed(packed)
    mask = parse_patterns({} if patterns is None else patterns, whole.columns)
    optimum = brute_force(whole if people else single_rows(whole), mask.vectors, k)
    assert outcome.lower_bound <= optimum + 1e-9
    assert outcome.weighted_cost >= optimum - 1e-9
    assert not outcome.optimal or outcome.weighted_cost == pytest.approx(optimum)
    assert method != "exact" or outcome.optimal


@quick
@given(table=tables(), seed=st.integers(0, 3))
def test_improvement_never_worsens_and_keeps_classes_large(table, seed):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    row_types = RowTypeTable.from_packed(pack(rows, names, people=people, weights=weights))
    mask = parse_patterns({} if patterns is None else patterns, row_types.columns)
    vectors = cheapest_first(mask, row_types.cardinalities, seed)
    start = fill_rest(row_types, greedy(row_types, vectors, k, Clock()), k)
    assert classes_of(row_types, start).people.min() >= k
    reach = cheapest_reach(row_types, mask.vectors, k, Clock())
    improved = improve(row_types, vectors, start, reach, k, Clock())
    assert classes_of(row_types, improved).people.min() >= k
    before, after = (Solution.undivided(row_types, one).cost(row_types.weights) for one in (start, improved))
    assert after <= before + 1e-9


@quick
@given(table=tables(), effort=st.integers(1, 40))
def test_a_bound_that_was_cut_short_is_lower(table, effort):
    rows, names, people, weights, patterns, k = table
    assume(people_of(rows, people) >= k)
    row_types = RowTypeTable.from_packed(pack(rows, names, people=people, weights=weights))
    mask = parse_patterns({} if patterns is None else patterns, row_types.columns)
    whole = cheapest_reach(row_types, mask.vectors, k, Clock())
    short = cheapest_reach(row_types, mask.vectors, k, Clock(), effort)
    assert (short <= whole).all()
