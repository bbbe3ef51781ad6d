"""Subgradient ascent on the Lagrangian dual: prices of rows against the classes that could be formed.

The function is ``sum rows_i lambda_i - sum_j max(0, gain_j)``, where `gain_j` is by how much the prices of
a worst class of group j exceed its cost. It is concave, and its maximum is the value of the linear
relaxation with strong linking constraints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.verification.class_demands import NO_CLASS, ClassDemands, PricedRows
from kanon_pg.worker.verification.demanded_classes import greatest_gain

_MOMENTUM = 0.25
"""Share of the last direction in the next one (Camerini, Fratta and Maffioli 1975)."""

_SHORTER = 0.65
"""By how much steps get shorter when patience ends."""

_SHORTEST = 1e-4
"""Steps with a smaller factor end the climb: the time is worth more elsewhere."""

_MEMORY = 0.03
"""Weight of a step in the averages of `Usage`; the first steps weigh more."""

_HEARTBEAT_EVERY = 8


class Pool(NamedTuple):
    """Groups of row types that may form a class, in compressed rows."""

    cost: NDArray[np.float64]
    """Shape (q,). Cost of one row of a class, in price units."""
    begin: NDArray[np.int64]
    """Shape (q + 1,). Where the members of each group begin."""
    member: NDArray[np.int32]
    """Shape (e,). Row types."""


class Counts(NamedTuple):
    """How many rows and people each row type has, and how many people a class needs."""

    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    k: int


class Pace(NamedTuple):
    """How long steps are."""

    reach: float = 1.02
    """The optimum is guessed to be at most this multiple of the best value so far."""
    patience: int = 40
    """Steps without a better value after which steps get shorter."""


USUAL_PACE = Pace()


class Usage(NamedTuple):
    """How often the worst class of each group broke the prices of late, from 0 to 1.

    The averages tend to the openings of an optimum of the linear relaxation (Barahona and Anbil 2000, "The
    volume algorithm: producing primal solutions with a subgradient method").
    """

    share: NDArray[np.float64]
    broken: NDArray[np.int64]

    @classmethod
    def of(cls, pool: Pool) -> Usage:
        """Return the usage of a pool before the first step."""
        return cls(np.zeros(pool.cost.size), np.empty(pool.cost.size, dtype=np.int64))

    def note(self, count: int, step: int) -> None:
        """Take account of a step in which the first `count` groups of `broken` broke the prices."""
        weight = max(_MEMORY, 1.0 / (step + 1))
        self.share[:] *= 1.0 - weight
        self.share[self.broken[:count]] += weight


class _Front(NamedTuple):
    """What is remembered about each group between steps.

    The first `length` members are those of the worst class, costliest first. While all prices together
    have risen to at most `due`, the group breaks nothing.
    """

    length: NDArray[np.int64]
    due: NDArray[np.float64]


class Climb(NamedTuple):
    """Where an ascent stands: best prices, their value, length factor of the next step."""

    prices: NDArray[np.float64]
    value: float
    stride: float

    @property
    def is_done(self) -> bool:
        """Whether steps have become too short to matter."""
        return self.stride < _SHORTEST


def climb(
    pool: Pool,
    counts: Counts,
    prices: NDArray[np.float64],
    highest: NDArray[np.float64],
    target: float,
    steps: int,
    stride: float,
    clock: Clock,
    *,
    pace: Pace = USUAL_PACE,
    usage: Usage | None = None,
    demands: ClassDemands | None = None,
    lowest: float = 0.0,
) -> Climb:
    """Raise the dual value of prices by deflected subgradient steps.

    Parameters
    ----------
    pool : Pool
        All groups that are looked at; the arrays are not changed.
    highest : ndarray of float64, shape (n,)
        No price may exceed its own.
    target : float
        An upper bound on the optimum, in price units; infinite if none is known.
    stride : float
        Factor of the first step, from 0 to 1.
    usage : Usage, optional
        Receives averages over the steps.
    demands : ClassDemands, optional
        What classes must satisfy besides k.
    lowest : float
        No price may be lower. Below 0 are those of rows that let others form a cheaper class.

    Returns
    -------
    Climb

    Notes
    -----
    Step lengths follow Polyak (1969, "Minimization of unsmooth functionals"): the difference to the
    target over the squared length of the direction, times a factor that falls when nothing gets better.
    Gradients are scaled by the rows of a row type. A group is looked at again only when prices have risen
    by as much as it had to spare, so a step costs time for the tight groups alone.
    """
    ascent = _Ascent(
        pool, counts, prices, stride, pace, Usage.of(pool) if usage is None else usage, demands, lowest
    )
    for step in range(steps):
        if step % _HEARTBEAT_EVERY == 0:
            clock.report("bound", None)
        if clock.is_over():  # under models a step can take 0.1 s
            break
        value = ascent.evaluate(step)
        ascent.note(value)
        if ascent.stride < _SHORTEST or not ascent.move(value, target, highest):
            break
    return Climb(ascent.best, ascent.best_value, ascent.stride)


_NOTHING = 1e-200
"""Square of a direction that is but the rest of earlier ones, the gradient being 0: steps would overflow."""


class _Ascent:
    """Where an ascent stands: prices, the best ones so far, the direction, and what is known of groups."""

    def __init__(
        self,
        pool: Pool,
        counts: Counts,
        prices: NDArray[np.float64],
        stride: float,
        pace: Pace,
        usage: Usage,
        demands: ClassDemands | None,
        lowest: float,
    ) -> None:
        self._pool = pool._replace(member=pool.member.copy())
        self._front = _Front(np.zeros(pool.cost.size, dtype=np.int64), np.zeros(pool.cost.size))
        self._counts, self._rows, self._demands = counts, counts.rows.astype(np.float64), demands
        self._prices, self._risen = prices.copy(), 0.0
        self._gradient, self._direction = np.empty(prices.size), np.zeros(prices.size)
        self._pace, self._usage, self._waited = pace, usage, 0
        self._lowest = lowest
        self.best, self.best_value, self.stride = prices.copy(), -np.inf, stride

    def evaluate(self, step: int) -> float:
        """Return the value of the prices; note their gradient and which groups break them."""
        if self._demands is None:
            value, broken = _value_and_gradient(
                self._pool, self._front, self._counts, self._prices, self._risen, self._gradient,
                self._usage.broken,
            )  # fmt: skip
        else:
            priced = PricedRows(self._counts.rows, self._counts.people, self._prices.astype(np.int64))
            value, broken = _value_and_gradient_under(
                self._demands, self._pool, self._front, priced, self._counts.k, self._risen,
                self._gradient, self._usage.broken,
            )  # fmt: skip
        self._usage.note(broken, step)
        return value

    def note(self, value: float) -> None:
        """Keep the prices if they are the best, and take shorter steps if none have been for long."""
        self._waited += 1
        if value > self.best_value:
            self._waited, self.best_value, self.best = 0, value, self._prices.copy()
        if self._waited >= self._pace.patience:
            self._waited, self.stride = 0, self.stride * _SHORTER

    def move(self, value: float, target: float, highest: NDArray[np.float64]) -> bool:
        """Take a step; return whether there is anywhere to go."""
        self._direction = self._gradient / self._rows + _MOMENTUM * self._direction
        squared = float((self._direction * self._direction * self._rows).sum())
        # Nothing proven yet says nothing of the optimum.
        guess = self._pace.reach * self.best_value if self.best_value > 0.0 or np.isinf(target) else target
        distance = min(target, guess) - value
        if squared < _NOTHING or distance <= 0.0:
            self.stride = 0.0  # nothing is higher, or the target is reached
            return False
        step = (self.stride * distance / squared) * self._direction
        moved = np.clip(self._prices + step, self._lowest, highest)
        self._risen += max(0.0, float((moved - self._prices).max()))
        self._prices = moved
        return True


@kernel
def _value_and_gradient(
    pool: Pool,
    front: _Front,
    counts: Counts,
    prices: NDArray[np.float64],
    risen: float,
    gradient: NDArray[np.float64],
    broken: NDArray[np.int64],
) -> tuple[float, int]:
    """Return the dual value of prices and how many groups break them; write its gradient and the groups."""
    rows, people, k = counts
    value, count = 0.0, 0
    for item in range(prices.size):
        gradient[item] = rows[item]
        value += rows[item] * prices[item]
    for group in range(pool.cost.size):
        if front.due[group] > risen:
            continue
        _find_worst(group, pool, front.length, counts, prices)
        begin, cost = pool.begin[group], pool.cost[group]
        worst = pool.member[begin : begin + front.length[group]]
        gain, taken = 0.0, 0
        for item in worst:
            if prices[item] > cost:
                gain += rows[item] * (prices[item] - cost)
                taken += people[item]
            else:
                more = min(people[item], k - taken)
                gain -= more * (cost - prices[item])
                taken += more
        front.due[group] = risen + max(0.0, -gain / k)
        if gain > 0.0:
            value -= gain
            broken[count] = group
            count += 1
            taken = 0
            for item in worst:
                is_dear = prices[item] > cost
                more = rows[item] if is_dear else min(people[item], k - taken)
                gradient[item] -= more
                taken += people[item] if is_dear else more
    return value, count


@kernel
def _find_worst(
    group: int, pool: Pool, length: NDArray[np.int64], counts: Counts, prices: NDArray[np.float64]
) -> None:
    """Bring the row types of a group's worst class to its front, costliest first.

    These are all that are costlier than the cost and as many of the next as make up k people. The order is
    nearly that of the last call, so it is sorted by insertion.
    """
    member, people, k = pool.member, counts.people, counts.k
    begin, cost = pool.begin[group], pool.cost[group]
    end, together = begin, 0
    threshold = -np.inf
    known = begin + length[group]
    for place in range(begin, pool.begin[group + 1]):
        item = member[place]
        price = prices[item]
        if price <= threshold and place >= known:
            continue
        member[place] = member[end]
        spot = end
        while spot > begin and prices[member[spot - 1]] < price:
            member[spot] = member[spot - 1]
            spot -= 1
        member[spot] = item
        together += people[item]
        end += 1
        while end > begin and prices[member[end - 1]] <= cost and together - people[member[end - 1]] >= k:
            end -= 1
            together -= people[member[end]]
        if together >= k:
            threshold = min(prices[member[end - 1]], cost)
    length[group] = end - begin


@kernel
def _value_and_gradient_under(
    demands: ClassDemands,
    pool: Pool,
    front: _Front,
    priced: PricedRows,
    k: int,
    risen: float,
    gradient: NDArray[np.float64],
    broken: NDArray[np.int64],
) -> tuple[float, int]:
    """Do what `_value_and_gradient` does, for classes that satisfy demands."""
    rows, prices = priced.rows, priced.prices
    value, count = 0.0, 0
    for item in range(prices.size):
        gradient[item] = rows[item]
        value += np.float64(rows[item]) * prices[item]
    for group in range(pool.cost.size):
        if front.due[group] > risen:
            continue
        cost = np.int64(pool.cost[group])
        members = pool.member[pool.begin[group] : pool.begin[group + 1]]
        length = _bring_to_front(members, front.length[group], prices)
        if length > 0 and prices[members[0]] <= cost:
            front.due[group] = risen + 1.0 + (cost - prices[members[0]])
            continue
        gain, used = NO_CLASS, 0
        if length > 0:
            gain = greatest_gain(demands, priced, members[:length], cost, k)
            used = _last_taken(demands, length)
        if length < members.size and (gain <= NO_CLASS or _WIDER * used + _SPARE > length):
            sort_by_price(members, prices)
            length = members.size
            if prices[members[0]] <= cost:
                front.length[group] = min(length, _SPARE)
                front.due[group] = risen + 1.0 + (cost - prices[members[0]])
                continue
            gain = greatest_gain(demands, priced, members, cost, k)
            used = _last_taken(demands, length)
        front.length[group] = min(length, _WIDER * (_WIDER * used + _SPARE))
        members = members[:length]
        if gain <= NO_CLASS:
            front.due[group] = np.inf
        elif gain <= 0:
            # Half of what the worst class lacks per row: larger classes may lack less of it.
            front.due[group] = risen + max(1.0, -0.5 * gain / max(1, demands.taken[: members.size].sum()))
        else:
            value -= gain
            broken[count] = group
            count += 1
            for place in range(members.size):
                gradient[members[place]] -= demands.taken[place]
    return value, count


_WIDER = 2
_SPARE = 8
"""The front of a group is looked at alone if it is so many times as long as what the worst class takes of it,
and so much longer. That spares sorting."""


@kernel
def _bring_to_front(members: NDArray[np.int32], length: int, prices: NDArray[np.int64]) -> int:
    """Bring all members to the front, costliest first, that are at least as costly as any of the first ones.

    Returns how many they are; 0 if `length` is.
    """
    if length == 0:
        return 0
    least = prices[members[0]]
    for place in range(1, length):
        least = min(least, prices[members[place]])
    end = length
    for place in range(length, members.size):
        item = members[place]
        if prices[item] > least:
            members[place] = members[end]
            members[end] = item
            end += 1
    sort_by_price(members[:end], prices)
    return end


@inner_kernel
def _last_taken(demands: ClassDemands, length: int) -> int:
    """Return how many members the worst class needs to be looked at for: up to the last that it takes of."""
    while length > 0 and demands.taken[length - 1] == 0.0:
        length -= 1
    return length


_FEW = 32
"""Members that are sorted by insertion, which is fast where they are nearly sorted."""


@kernel
def sort_by_price(members: NDArray[np.int32], prices: NDArray[np.int64]) -> None:
    """Sort members in place, costliest first."""
    if members.size > _FEW:
        order = np.argsort(-prices[members], kind="mergesort")
        members[:] = members[order]
        return
    for place in range(1, members.size):
        item, spot = members[place], place
        while spot > 0 and prices[members[spot - 1]] < prices[item]:
            members[spot] = members[spot - 1]
            spot -= 1
        members[spot] = item
