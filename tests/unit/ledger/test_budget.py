"""Budgets and lockouts, as functions of the history."""

from __future__ import annotations

import pytest

from kanon_pg.worker.ledger.rules import BudgetStanding, PastQuery, QueryBudget, standing


def refused(*times: float) -> list[PastQuery]:
    return [PastQuery(time, answered=False) for time in times]


def answered(*times: float) -> list[PastQuery]:
    return [PastQuery(time, answered=True) for time in times]


def test_without_limits_everything_may_be_asked() -> None:
    assert standing(refused(*range(100)), QueryBudget(), 100.0) == BudgetStanding(
        may_ask=True, queries_left=None, locked_until=None
    )


@pytest.mark.parametrize(("now", "left"), [(10.0, 0), (10.5, 0), (11.0, 1), (12.0, 2), (30.0, 3)])
def test_queries_count_for_one_period(now: float, left: int) -> None:
    history = answered(1.0) + refused(2.0) + answered(10.0)
    found = standing(history, QueryBudget(queries=3, period=10.0), now)
    assert (found.queries_left, found.may_ask) == (left, left > 0)


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
    found = standing(answered(1.0) + refused(*times), budget, 100.0)
    assert found.locked_until == locked_until
    assert found.may_ask == (locked_until is None)


def test_answers_neither_cause_nor_end_a_lockout() -> None:
    budget = QueryBudget(refusals=2, period=10.0, lockout=50.0)
    history = sorted(refused(90.0, 92.0) + answered(91.0, 93.0, 94.0), key=lambda outcome: outcome.time)
    assert standing(history, budget, 100.0).locked_until == 142.0
    assert standing(answered(90.0, 91.0, 92.0), budget, 100.0).may_ask


def test_a_budget_of_no_queries_answers_none() -> None:
    assert not standing([], QueryBudget(queries=0), 0.0).may_ask
