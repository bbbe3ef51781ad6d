"""Budgets of questions and lockout after refusals, as pure functions of what is recorded.

The ledger's refusals are themselves answers to "is there a small difference here?"; a budget bounds how often
that can be asked (the denial problem: Kenthapadi, Mishra and Nissim, "Simulatable auditing", 2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recorded question, as far as budgets care.

    Parameters
    ----------
    time : float
        Seconds since any fixed moment, by the server's clock.
    answered : bool
        False if the answer was withheld because of the data.
    """

    time: float
    answered: bool


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one asker or one relation; None is no limit.

    Parameters
    ----------
    questions : int, optional
        Most questions within `period`, answered or withheld.
    period : float
        Seconds that a question counts, > 0.
    refusals : int, optional
        Withheld answers within `period` after which nothing is answered for `lockout`.
    lockout : float
        Seconds from the last of these refusals, >= 0.
    """

    questions: int | None = None
    period: float = 86_400.0
    refusals: int | None = None
    lockout: float = 3_600.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether one more question may be asked.

    Parameters
    ----------
    may_ask : bool
        Whether it may.
    questions_left : int or None
        Questions left in this period, None without a limit.
    locked_until : float or None
        When the lockout ends, None if there is none.
    """

    may_ask: bool
    questions_left: int | None
    locked_until: float | None


def standing(history: Iterable[Outcome], budget: Budget, now: float) -> Standing:
    """Return what a budget still allows.

    Questions that are refused for the budget itself must not be in the history, else a lockout would prolong
    itself for ever.

    Parameters
    ----------
    history : iterable of Outcome
        Recorded questions, in the order of time.
    budget : Budget
        The limits.
    now : float
        The present, on the clock of the history.
    """
    if budget.questions is None and budget.refusals is None:
        return Standing(may_ask=True, questions_left=None, locked_until=None)
    recorded = list(history)
    recent = sum(1 for outcome in recorded if outcome.time > now - budget.period)
    left = None if budget.questions is None else max(0, budget.questions - recent)
    locked_until = _locked_until(recorded, budget, now)
    return Standing(left != 0 and locked_until is None, left, locked_until)


def _locked_until(recorded: list[Outcome], budget: Budget, now: float) -> float | None:
    if budget.refusals is None:
        return None
    times = [outcome.time for outcome in recorded if not outcome.answered]
    # a lockout begins with every refusal that completes the number within one period
    ends = [
        last + budget.lockout
        for first, last in zip(times, times[budget.refusals - 1 :], strict=False)
        if last - first < budget.period
    ]
    return ends[-1] if ends and ends[-1] > now else None
