"""Budgets and lockouts, as functions of the history."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.worker.ledger.rules import (
    REFUSAL_COSTS,
    BudgetCounter,
    BudgetStatus,
    PastQuery,
    QueryBudget,
    RefusalCost,
)


def budget_status(history: Sequence[PastQuery], budget: QueryBudget, now: float) -> BudgetStatus:
    counter = BudgetCounter(budget)
    for past in history:
        counter.add(past)
    return counter.status(now)


def refused(*times: float) -> list[PastQuery]:
    return [PastQuery(time, answered=False) for time in times]


def answered(*times: float) -> list[PastQuery]:
    return [PastQuery(time, answered=True) for time in times]


def test_without_limits_everything_may_be_asked() -> None:
    assert budget_status(refused(*range(100)), QueryBudget(), 100.0) == BudgetStatus(
        within_budget=True, queries_left=None, locked_until=None
    )


@pytest.mark.parametrize(("now", "left"), [(10.0, 0), (10.5, 0), (11.0, 1), (12.0, 2), (30.0, 3)])
def test_queries_count_for_one_period(now: float, left: int) -> None:
    history = answered(1.0) + refused(2.0) + answered(10.0)
    found = budget_status(history, QueryBudget(queries=3, period=10.0), now)
    assert (found.queries_left, found.within_budget) == (left, left > 0)


@pytest.mark.parametrize(
    ("times", "locked_until"),
    [
        ((), None),
        ((95.0, 99.0), None),
        ((90.0, 95.0, 99.0), 149.0),
        ((80.0, 90.0, 99.0), None),
        ((60.0, 61.0, 62.0), 112.0),
        ((40.0, 41.0, 42.0), None),
        ((60.0, 61.0, 62.0, 99.0), 112.0),
        ((60.0, 61.0, 62.0, 63.0), 113.0),
    ],
)
def test_refusals_within_one_period_lock_out(times: tuple[float, ...], locked_until: float | None) -> None:
    budget = QueryBudget(refusals=3, period=10.0, lockout=50.0)
    found = budget_status(answered(1.0) + refused(*times), budget, 100.0)
    assert found.locked_until == locked_until
    assert found.within_budget == (locked_until is None)


def test_answers_neither_cause_nor_end_a_lockout() -> None:
    budget = QueryBudget(refusals=2, period=10.0, lockout=50.0)
    history = sorted(refused(90.0, 92.0) + answered(91.0, 93.0, 94.0), key=lambda past: past.time)
    assert budget_status(history, budget, 100.0).locked_until == 142.0
    assert budget_status(answered(90.0, 91.0, 92.0), budget, 100.0).within_budget


def test_refusals_that_were_recorded_late_count_at_their_time() -> None:
    budget = QueryBudget(refusals=3, period=10.0, lockout=50.0)
    assert budget_status(refused(99.0, 90.0, 95.0), budget, 100.0).locked_until == 149.0
    assert budget_status(refused(99.0, 80.0, 95.0), budget, 100.0).locked_until is None


def test_a_budget_of_no_queries_answers_none() -> None:
    assert not budget_status([], QueryBudget(queries=0), 0.0).within_budget


@pytest.mark.parametrize(
    ("reason", "refusals", "near"),
    [
        ("size", 3, None),
        ("error", 3, None),
        ("people", 3, 16),
        ("surprising", 3, 2),
        ("expected", 15, None),
        ("fault", None, None),
    ],
)
def test_a_refusal_counts_by_what_it_tells(reason: str, refusals: int | None, near: int | None) -> None:
    for budget, most in ((QueryBudget(refusals=3), refusals), (QueryBudget(near_refusals=16), near)):
        for number in range(1, 30):
            history = [PastQuery(float(time), answered=False, reason=reason) for time in range(number)]
            is_locked = not budget_status(history, budget, 30.0).within_budget
            assert is_locked == (most is not None and number >= most)


PAST = st.builds(
    PastQuery,
    st.integers(0, 40).map(float),
    st.booleans(),
    st.sampled_from(["size", "people", "surprising", "expected", "fault"]),
)
LIMIT = st.none() | st.integers(0, 12)


@given(
    history=st.lists(PAST, max_size=25),
    budget=st.builds(
        QueryBudget,
        queries=LIMIT,
        period=st.integers(1, 15).map(float),
        refusals=st.none() | st.integers(1, 4),
        lockout=st.integers(0, 20).map(float),
        near_refusals=st.none() | st.integers(1, 12),
    ),
    now=st.integers(0, 60).map(float),
)
def test_a_counter_says_what_the_whole_history_says(
    history: list[PastQuery], budget: QueryBudget, now: float
) -> None:
    """Queries come in any order; windows of one period end with every refusal that costs something."""
    ends = []
    for name, most in (
        ("fifths", None if budget.refusals is None else 5 * budget.refusals),
        ("near", budget.near_refusals),
    ):
        costs = [
            (past.time, getattr(REFUSAL_COSTS.get(past.reason, RefusalCost()), name))
            for past in history
            if not past.answered
        ]
        for time, own in costs:
            spent = sum(cost for at, cost in costs if time - budget.period < at <= time)
            if most is not None and own and spent >= most and time + budget.lockout > now:
                ends.append(time + budget.lockout)
    asked = sum(past.time > now - budget.period for past in history)
    left = None if budget.queries is None else max(0, budget.queries - asked)
    assert budget_status(history, budget, now) == BudgetStatus(
        left != 0 and not ends, left, max(ends, default=None)
    )
