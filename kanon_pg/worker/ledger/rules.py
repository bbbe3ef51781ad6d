"""The owner's rules for the ledger of a protected relation: how answers are compared, and budgets.

The ledger's refusals are themselves answers to "is there a small difference here?"; a budget bounds how often
that can be asked (the denial problem: Kenthapadi, Mishra and Nissim, "Simulatable auditing", 2005).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kanon_pg.errors import InputError

_LARGEST_K = 128
"""More than any k that a relation may have, because spreads need a larger one."""

Mode = Literal["off", "pairwise", "linear"]
"""``off``: every set by itself. ``pairwise``: also against every earlier set, and all sums and differences of
the recent ones. ``linear``: all sums and differences of everything ever answered."""


@dataclass(frozen=True, slots=True)
class LedgerRules:
    """Rules of one protected relation.

    Parameters
    ----------
    k : int
        Fewest people that anything an attacker can compute may depend on, at least 2.
    mode : {'off', 'pairwise', 'linear'}
        How far answers are compared with earlier ones.
    one_sided : bool
        Also refuse a set A if an earlier set B leaves 1 to k-1 people of A or contains 1 to k-1 others, even
        though the two answers alone do not disclose these people's share (they do once the intersection is
        known). Refuses much more, and takes time linear in all disclosed sets.
    rank : int
        Most linearly independent sets that are kept for sums and differences, 8 to 2048, and most new ones
        that one answer may bring. In mode ``linear`` a query that would need more is refused. In mode
        ``pairwise`` everything disclosed since the last change of generations is covered: when `rank` is
        exceeded, what was disclosed before half of it was reached is forgotten. Memory and time grow with
        the square.
    margin : int
        Where sensitive columns choose among people, those that known columns choose alone are at least
        ``margin * k``, and differ in as many, or in none, from those that earlier queries chose, 1 to 100.
    spread_k : int, optional
        Fewest people whose sums of squares are disclosed; they are compared with each other by this number.
    share : float
        Part of what the ledger can compare that one login's answers may take, above 0, at most 1. Where sums
        and differences of old answers are forgotten anyway, there is no such limit.
    suppresses : bool
        Whether groups of too few people are left out of answers, so that known people may be fewer.

    Raises
    ------
    InputError
        A number is out of range.
    """

    k: int
    mode: Mode = "pairwise"
    one_sided: bool = False
    rank: int = 256
    margin: int = 1
    suppresses: bool = False
    share: float = 1.0
    spread_k: int | None = None

    def __post_init__(self) -> None:
        if not 2 <= self.k <= _LARGEST_K or (self.spread_k or self.k) < self.k:
            raise InputError(f"The ledger needs a k from 2 to {_LARGEST_K}, and no smaller one for spreads.")
        if not 8 <= self.rank <= 2048:
            raise InputError("The ledger's rank must be from 8 to 2048.")
        if not 1 <= self.margin <= 100:
            raise InputError("The ledger's margin must be from 1 to 100.")
        if not 0 < self.share <= 1:
            raise InputError("The ledger's share must be above 0 and at most 1.")
        if self.mode not in {"off", "pairwise", "linear"}:
            raise InputError("The ledger's mode is one of off, pairwise and linear.")

    def of_spreads(self) -> LedgerRules:
        """Return the rules by which sums of squares are compared with each other."""
        return replace(self, k=self.spread_k or self.k, spread_k=None)


@dataclass(frozen=True, slots=True)
class PastQuery:
    """One recorded query, for budgets.

    Parameters
    ----------
    time : float
        Seconds since any fixed moment, by the server's clock.
    answered : bool
        False if the answer, or a part of it, was withheld because of the data.
    reason : str
        Why it was withheld, which decides what it counts (`REFUSAL_COSTS`).
    """

    time: float
    answered: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RefusalCost:
    """What a withheld answer counts against a budget.

    Parameters
    ----------
    fifths : int
        Of `QueryBudget.refusals`.
    near : int
        Of `QueryBudget.near_refusals`.
    """

    fifths: int = 5
    near: int = 0


REFUSAL_COSTS: Mapping[str, RefusalCost] = {
    "people": RefusalCost(near=1),
    "surprising": RefusalCost(near=8),
    "expected": RefusalCost(fifths=1),
    "fault": RefusalCost(fifths=0),
}
"""By the reason, for those that do not count one refusal. People who differ little, as known columns choose
them, tell nothing about a secret; that fewer have a secret than was to be expected is worth up to one bit
about a person of the attacker's choice; that few are to be expected is about nobody in particular. Files of
the ledger that cannot be used, or a process that cannot be started, say nothing; one that ran out of memory
or was killed may have been so because of the data."""


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """Limits for one analyst or one relation; None is no limit.

    Parameters
    ----------
    queries : int, optional
        Most queries within `period`, answered or withheld.
    period : float
        Seconds that a query counts, > 0.
    refusals : int, optional
        Withheld answers within `period` after which nothing is answered for `lockout`.
    lockout : float
        Seconds from the last of these refusals, >= 0.
    near_refusals : int, optional
        The same for those withheld because of people chosen with care (`RefusalCost.near`).
    """

    queries: int | None = None
    period: float = 86_400.0
    refusals: int | None = None
    lockout: float = 3_600.0
    near_refusals: int | None = None


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """What is left of a budget.

    Parameters
    ----------
    queries_left : int or None
        Queries left in this period, None without a limit.
    locked_until : float or None
        When the lockout ends, None if there is none.
    """

    within_budget: bool
    queries_left: int | None
    locked_until: float | None


def budget_status(history: Iterable[PastQuery], budget: QueryBudget, now: float) -> BudgetStatus:
    """Return what a budget still allows.

    Queries that are refused for the budget itself must not be in the history, else a lockout would prolong
    itself for ever.

    Parameters
    ----------
    history : iterable of PastQuery
        Recorded queries, in any order.
    """
    if budget.queries is None and budget.refusals is None and budget.near_refusals is None:
        return BudgetStatus(within_budget=True, queries_left=None, locked_until=None)
    # one that was first written elsewhere is recorded later
    recorded = sorted(history, key=lambda past: past.time)
    recent = sum(1 for past in recorded if past.time > now - budget.period)
    left = None if budget.queries is None else max(0, budget.queries - recent)
    locked_until = _locked_until(recorded, budget, now)
    return BudgetStatus(left != 0 and locked_until is None, left, locked_until)


def _locked_until(recorded: list[PastQuery], budget: QueryBudget, now: float) -> float | None:
    usual = RefusalCost()
    refusals = [(past.time, REFUSAL_COSTS.get(past.reason, usual)) for past in recorded if not past.answered]
    most = None if budget.refusals is None else usual.fifths * budget.refusals
    ends = [
        *_lockouts([(time, cost.fifths) for time, cost in refusals if cost.fifths], most, budget),
        *_lockouts([(time, cost.near) for time, cost in refusals if cost.near], budget.near_refusals, budget),
    ]
    return max(ends) if ends and max(ends) > now else None


def _lockouts(costs: list[tuple[float, int]], most: int | None, budget: QueryBudget) -> list[float]:
    """Return when lockouts end; one begins with every refusal that completes the cost within one period."""
    if most is None:
        return []
    found = []
    first, spent = 0, 0
    for time, cost in costs:
        spent += cost
        while time - costs[first][0] >= budget.period:
            spent -= costs[first][1]
            first += 1
        if spent >= most:
            found.append(time + budget.lockout)
    return found
