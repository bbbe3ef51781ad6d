"""The owner's rules for the ledger of a protected relation: how answers are compared, and budgets.

The ledger's refusals are themselves answers to "is there a small difference here?"; a budget bounds how often
that can be asked (the denial problem: Kenthapadi, Mishra and Nissim, "Simulatable auditing", 2005).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
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


class BudgetCounter:
    """What a budget still allows after the queries that were recorded, kept up query by query.

    Queries that are refused for the budget itself must not be counted, else a lockout would prolong itself
    for ever.
    """

    def __init__(self, budget: QueryBudget) -> None:
        self._budget = budget
        self._times: list[float] = []
        usual = RefusalCost()
        most = None if budget.refusals is None else usual.fifths * budget.refusals
        self._refusals = _Lockouts(most, budget)
        self._near = _Lockouts(budget.near_refusals, budget)

    def add(self, past: PastQuery) -> None:
        """Count a query; one that was first written elsewhere is recorded later than it was asked."""
        if self._budget.queries is not None:
            insort(self._times, past.time)
        if not past.answered:
            cost = REFUSAL_COSTS.get(past.reason, RefusalCost())
            self._refusals.add(past.time, cost.fifths)
            self._near.add(past.time, cost.near)

    def status(self, now: float) -> BudgetStatus:
        """Return what is left at a moment."""
        left = None
        if self._budget.queries is not None:
            recent = len(self._times) - bisect_right(self._times, now - self._budget.period)
            left = max(0, self._budget.queries - recent)
        ends = [end for end in (self._refusals.end, self._near.end) if end is not None and end > now]
        locked_until = max(ends, default=None)
        return BudgetStatus(left != 0 and locked_until is None, left, locked_until)


class _Lockouts:
    """The last lockout; one begins with every refusal that completes the cost within one period."""

    def __init__(self, most: int | None, budget: QueryBudget) -> None:
        self._most = most
        self._budget = budget
        self._costs: list[tuple[float, int]] = []
        self._restart()

    def _restart(self) -> None:
        self.end: float | None = None
        self._first, self._spent = 0, 0

    def add(self, time: float, cost: int) -> None:
        if self._most is None or not cost:
            return
        is_last = not self._costs or self._costs[-1][0] <= time
        insort(self._costs, (time, cost), key=itemgetter(0))
        if is_last:
            self._take(self._costs[-1])
            return
        self._restart()
        for one in self._costs:
            self._take(one)

    def _take(self, refusal: tuple[float, int]) -> None:
        time, cost = refusal
        self._spent += cost
        while time - self._costs[self._first][0] >= self._budget.period:
            self._spent -= self._costs[self._first][1]
            self._first += 1
        if self._most is not None and self._spent >= self._most:
            self.end = time + self._budget.lockout
