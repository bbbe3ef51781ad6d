"""All minimal violating sets, against trying every subset of the columns."""

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.worker.audit.auditor import figures_of
from kanon_pg.worker.audit.violating import find_violating_sets
from tests.fixtures.auditing import (
    EndingByLooks,
    classes_by_hand,
    minimal_by_hand,
    people_by_hand,
    read,
    tables,
    violates,
)
from tests.fixtures.examples import examples

quick = settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
KS = st.sampled_from([2, 2, 3, 4, 7])


@quick
@given(tables(), KS)
def test_every_minimal_violating_set_and_no_other(table, k):
    rows, people = table
    found = find_violating_sets(read(rows, people), k)
    expected = minimal_by_hand(len(rows[0]), lambda columns: violates(rows, columns, k, people))
    assert found.sets == tuple(expected)
    assert found.is_complete
    assert found.minimum == (len(expected[0]) if expected else None)


@quick
@given(tables(), KS, st.integers(1, 4))
def test_limited_to_few_columns(table, k, most):
    rows, people = table
    found = find_violating_sets(read(rows, people), k, max_columns=most)
    every = minimal_by_hand(len(rows[0]), lambda columns: violates(rows, columns, k, people))
    assert found.sets == tuple(columns for columns in every if len(columns) <= most)
    assert found.complete_columns >= min(most, len(rows[0]))
    if found.is_complete:
        assert found.sets == tuple(every)


@quick
@given(tables(), KS, st.integers(0, 12), st.one_of(st.none(), st.integers(1, 4)))
def test_what_is_known_when_time_is_over(table, k, looks, most):
    rows, people = table
    found = find_violating_sets(read(rows, people), k, EndingByLooks(looks), max_columns=most)
    every = minimal_by_hand(len(rows[0]), lambda columns: violates(rows, columns, k, people))
    assert set(found.sets) <= set(every)
    assert {columns for columns in every if len(columns) <= min(found.complete_columns, most or 9)} <= set(
        found.sets
    )
    if found.is_complete:
        assert set(found.sets) == set(every)
    if found.minimum is not None:
        assert found.minimum == len(every[0])


@quick
@given(tables(), KS)
def test_figures_of_sets(table, k):
    rows, people = table
    width = len(rows[0])
    sets = sorted(
        {tuple(range(size)) for size in range(width + 1)} | {(width - 1,), tuple(range(0, width, 2))}
    )
    for columns, figures in figures_of(read(rows, people), sets, k):
        classes = classes_by_hand(rows, columns, people)
        small = [(count, who) for count, who in classes if max(1, len(who)) < k]
        assert figures.classes == len(classes)
        assert figures.classes_at_risk == len(small)
        assert figures.smallest_class == min(max(1, len(who)) for _, who in classes)
        assert figures.rows_at_risk == sum(count for count, _ in small)
        assert figures.people_at_risk == people_by_hand(who for _, who in small)
        assert figures.distinction == pytest.approx(len(classes) / len(rows))
        keys = [tuple(row[column] for column in columns) for row in rows]
        pairs = list(combinations(keys, 2))
        separated = sum(one != other for one, other in pairs)
        assert figures.separation == pytest.approx(separated / len(pairs) if pairs else 1.0)
