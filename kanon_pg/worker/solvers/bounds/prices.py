"""Prices of rows that prove a lower bound, for tables and pattern masks of any size.

Only the few groups of row types whose classes are about as costly as their rows' prices matter. They are
found by passes over all classes (`collect_and_repair`), between which a subgradient ascent works on those
that are known so far (`kanon_pg.worker.solvers.bounds.lagrangian`). Each pass ends with valid prices.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.models.evaluator import evaluator_of
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, Pool, climb
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.solvers.bounds.repair import lower_prices, lower_prices_under
from kanon_pg.worker.verification.certificate import (
    NO_CAP,
    NO_MODELS,
    PRICE_UNIT,
    FormableClasses,
    PricedGroups,
    formable_classes,
    list_members,
    price_cap,
    unit_weights,
)
from kanon_pg.worker.verification.class_demands import PricedRows, class_demands

STEPS = 3_000
"""Steps of the ascent that usually come within some hundredths of a percent of the best bound."""

_FIRST_STEPS = 60
_MORE_STEPS = 1.5
"""Steps of the first ascent, and how many times as many each next one has."""

_FIRST_MARGIN = 0.4
_SMALLER_MARGIN = 0.75
_LEAST_MARGIN = 0.05
"""Margins of the first pass, the factor between passes, and the least margin (see `collect_and_repair`)."""

_UNPROVEN = 0.7
"""Share of the costs of a known solution at which the ascent begins under models."""

_LEAST_STRIDE = 0.02
"""After groups have been added the ascent begins with steps of at least this factor."""

_LONGER_PASS = 1.6
"""A pass may take this many times as long as the one before: an ascent ends in time for that, because
what it found is lost with the pass."""

_SHORTER_PASS = 0.5
"""Share of the first pass that the second takes at most, where the first begins with prices not valid."""

MOST_MEMBERS = 12_000_000
"""Most members of all groups of a pool together: about 100 MiB with working arrays."""


@dataclass(frozen=True)
class Prices:
    """Prices of rows and what they prove."""

    prices: NDArray[np.int64]
    """Shape (n,). Price of each row of a row type in units of 1 / `PRICE_UNIT`, as
    `kanon_pg.worker.verification.certificate` takes it."""
    bound: float
    """The sum of all prices: no solution costs less. `certified_bound` also rounds it up."""
    complete: bool
    """Whether the search ended by itself, neither by time nor by effort."""
    pass_seconds: float = 0.0
    """How long the last pass over all classes took; checking the prices takes no longer."""


def raise_prices(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    *,
    models: PrivacyModels = NO_MODELS,
    start: NDArray[np.int64] | None = None,
    known: NDArray[np.float64] | None = None,
    target: float = np.inf,
    steps: int = STEPS,
    rest_may_be_small: bool = False,
    outside: float = np.inf,
) -> Prices:
    """Search for prices that prove a high lower bound.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    clock : Clock
        Ends the search early; the prices are valid whenever it ends.
    models : PrivacyModels
        What classes satisfy besides k.
    start : ndarray of int64, shape (n,), optional
        Valid prices to begin with, for example those for a smaller k. Without them those of
        `cheapest_reach`.
    known : ndarray of float64, shape (n,), optional
        What a row of each row type costs in a known solution: where models are demanded, the ascent begins
        near it.
    target : float
        Cost of a known solution: the ascent aims at it.
    steps : int
        Most steps of the ascent.
    rest_may_be_small : bool
        The rule of the paper for the fully suppressed class.
    outside : float
        Vectors that are allowed but not listed cost at least this.

    Returns
    -------
    Prices
        They prove at least what `start` proves, but for rounding with an entity. Let
        `kanon_pg.worker.verification.certificate.certified_bound` confirm them.

    Notes
    -----
    The bound tends to the value of the linear relaxation with strong linking constraints. The same input
    gives the same prices unless time ends the search.
    """
    if not fits(table, k):
        return Prices(np.zeros(len(table), dtype=np.int64), 0.0, False)
    cap = price_cap(table.columns, rest_may_be_small, outside)
    wanted = None
    if start is None or table.has_entity:
        evaluator = evaluator_of(table, models) if models else None
        # What is accepted for fewer people is valid for k, but shares rounded for fewer may be higher.
        wanted = None if start is None else np.minimum(start, cap)
        start = _first_prices(table, cheapest_reach(table, vectors, k, clock, models=evaluator))
    demands = class_demands(table, models)
    classes = formable_classes(table, vectors, k, demands, rest_may_be_small=rest_may_be_small)
    start = np.minimum(start, cap)
    if models and known is not None:
        wanted = np.minimum(np.maximum(start, (_UNPROVEN * known * PRICE_UNIT).astype(np.int64)), cap)
    return ascend(table, classes, start, clock, cap=cap, target=target, steps=steps, wanted=wanted)


def ascend(
    table: RowTypeTable,
    classes: FormableClasses,
    start: NDArray[np.int64],
    clock: Clock,
    *,
    cap: int = NO_CAP,
    target: float = np.inf,
    steps: int = STEPS,
    wanted: NDArray[np.int64] | None = None,
    collected: Collected | None = None,
) -> Prices:
    """Search for prices that prove a high lower bound on what any formable classes cost.

    Parameters
    ----------
    start : ndarray of int64, shape (n,)
        Valid prices.
    cap : int
        No price may exceed it.
    wanted : ndarray of int64, shape (n,), optional
        Prices to begin with that need not be valid.
    collected : Collected, optional
        Receives the groups that matter.

    Returns
    -------
    Prices
        They prove at least what `start` proves.
    """
    search = _PriceSearch(
        table, classes, start, clock, Collected() if collected is None else collected, wanted
    )
    complete = False
    try:
        search.begin()
        while steps > 0 and not complete and not search.before_pass().is_over():
            length = search.length
            complete = search.go_on(cap, target, min(length, steps))
            steps -= length
    except TimeOver:
        pass  # the prices of the last whole pass are valid
    return Prices(search.best, _worth(table, search.best) / PRICE_UNIT, complete, search.pass_seconds)


class _PriceSearch:
    """Ascents, each followed by a pass over all classes that makes its prices valid.

    `best` are the best valid prices, `length` the steps of the next ascent, and `pass_seconds` how long the
    last pass took: the first ones, far from valid prices, take much longer.
    """

    def __init__(
        self,
        table: RowTypeTable,
        classes: FormableClasses,
        prices: NDArray[np.int64],
        clock: Clock,
        collected: Collected,
        wanted: NDArray[np.int64] | None,
    ) -> None:
        self._table, self._classes, self._clock = table, classes, clock
        self._counts = Counts(table.rows, table.people, classes.k)
        self._collected = collected
        self._margin, self._stride = _FIRST_MARGIN, 1.0
        self._prices = prices if wanted is None else wanted
        self.best, self.length, self.pass_seconds = prices, _FIRST_STEPS, 0.0
        # k times the full cost keeps sums within 64 bits. Where k is all that is demanded, prices below 0 are
        # of little use: they raise the bound of Adult (7 columns, k = 5) by 0.02 %.
        self._lowest = (
            0.0 if classes.demands is None else -float(classes.k * sum(unit_weights(table.columns)))
        )

    def before_pass(self) -> Clock:
        """Return a clock that leaves time for a pass."""
        return self._clock.without(_LONGER_PASS * self.pass_seconds)

    def begin(self) -> None:
        """Collect the first groups."""
        self._area = self._pass()
        if self._prices is not self.best:
            self.pass_seconds *= _SHORTER_PASS
        self.best = self._prices = _better(self._table, self.best, self._area.repaired)

    def go_on(self, cap: int, target: float, steps: int) -> bool:
        """Climb and make the prices valid; return whether steps have become too short to matter.

        Raises
        ------
        TimeOver
            The pass could not be finished.
        """
        reached = climb(
            self._collected.pool(), self._counts, self._prices.astype(np.float64),
            np.minimum(self._area.highest, cap).astype(np.float64), target * PRICE_UNIT,
            steps, self._stride, self.before_pass(), demands=self._classes.demands,
            lowest=self._lowest,
        )  # fmt: skip
        self.length = int(self.length * _MORE_STEPS)
        self._margin = max(_LEAST_MARGIN, self._margin * _SMALLER_MARGIN)
        self._prices = reached.prices.astype(np.int64)
        self._area = self._pass()
        self.best = _better(self._table, self.best, self._area.repaired)
        self._stride = max(reached.stride, _LEAST_STRIDE)
        return reached.is_done

    def _pass(self) -> PassResult:
        before = time.monotonic()
        found = collect_and_repair(
            self._table, self._classes, self._prices, self._margin, self._collected, self._clock.raising()
        )
        self.pass_seconds = time.monotonic() - before
        return found


def _first_prices(table: RowTypeTable, reach: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the costs that no row can go below as prices, less what rounding took from weights."""
    rounded = sum(Fraction(column.weight) * PRICE_UNIT % 1 > 0 for column in table.columns)
    prices: NDArray[np.int64] = np.maximum((reach * PRICE_UNIT).astype(np.int64) - rounded, 0)
    return prices


def fits(table: RowTypeTable, k: int) -> bool:
    """Whether sums of prices stay far within 64 bits: no price needs to exceed k times the full cost."""
    return 4 * k * sum(unit_weights(table.columns)) * table.total_rows < 1 << 62


def _better(table: RowTypeTable, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    return other if _worth(table, other) > _worth(table, one) else one


def _worth(table: RowTypeTable, prices: NDArray[np.int64]) -> int:
    return int((prices * table.rows).sum())


@dataclass(frozen=True)
class PassResult:
    """What one pass over all classes found: prices within which every broken group is known."""

    highest: NDArray[np.int64]
    """Shape (n,). No unknown group breaks prices up to these."""
    repaired: NDArray[np.int64]
    """Shape (n,). Valid prices."""


@dataclass
class Collected:
    """Groups that broke some prices, each once for its least cost."""

    cost: list[NDArray[np.int64]] = field(default_factory=list)
    length: list[NDArray[np.int64]] = field(default_factory=list)
    member: list[NDArray[np.int32]] = field(default_factory=list)
    known: dict[tuple[int, int], int] = field(default_factory=dict)
    members: int = 0

    def add(
        self,
        costs: NDArray[np.int64],
        lengths: NDArray[np.int64],
        members: NDArray[np.int32],
        signs: list[int],
    ) -> None:
        """Add groups that are not known for their costs.

        Groups are told apart by size and the sum of random marks of their members: should two collide,
        one is missed here, but not by the pass that repairs prices.
        """
        keys = zip(signs, lengths.tolist(), costs.tolist(), strict=True)
        is_new = np.zeros(costs.size, dtype=np.bool_)
        for place, (sign, length, cost) in enumerate(keys):
            if self.known.get((sign, length), cost + 1) > cost:
                self.known[sign, length] = cost
                is_new[place] = True
        if is_new.any():
            members = members[np.repeat(is_new, lengths)]
            self.cost.append(costs[is_new])
            self.length.append(lengths[is_new])
            self.member.append(members)
            self.members += members.size

    def pool(self) -> Pool:
        """Return all groups as arrays."""
        if not self.cost:
            return Pool(np.empty(0), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
        self.cost, self.length = [np.concatenate(self.cost)], [np.concatenate(self.length)]
        self.member = [np.concatenate(self.member)]
        begin = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.length[0])])
        return Pool(self.cost[0].astype(np.float64), begin, self.member[0])


def collect_and_repair(
    table: RowTypeTable,
    classes: FormableClasses,
    prices: NDArray[np.int64],
    margin: float,
    collected: Collected,
    clock: Clock,
) -> PassResult:
    """Lower prices until no class breaks them, and collect the groups that nearly do.

    Parameters
    ----------
    prices : ndarray of int64, shape (n,)
    margin : float
        Groups are collected that prices higher by this share break, as far as there is room for them.
    collected : Collected
        Grows.

    Returns
    -------
    PassResult
        The repaired prices are nowhere higher than before.

    Notes
    -----
    Where the prices of a group are too high by some gain, those above the cost of its vector are drawn
    towards it until the gain is gone, or under models as `bounds.repair` says. All prices together fall by at
    most the sum of the gains where k is all that is demanded, so that the repaired prices prove at least the
    Lagrangian value, and by little more under a limit of shares.
    """
    higher = (prices + np.abs(prices) * margin).astype(np.int64) if margin else prices
    if margin and classes.demands is not None:
        # Where demands forbid what k allows, a price of 0 can be too low by a whole cell.
        usual = sum(unit_weights(table.columns)) / table.width
        higher = np.maximum(higher, prices + np.int64(margin * usual))
    repaired = prices.copy()
    marks = mix(np.arange(1, len(table) + 1, dtype=np.uint64))

    def visit(groups: PricedGroups, cost: NDArray[np.int64], _levels: list[int]) -> bool:
        begin, members = list_members(groups)
        signs = np.add.reduceat(marks[members], begin[:-1])
        if classes.demands is None:
            lower_prices(begin, members, cost, classes.k, table.rows, table.people, repaired)
        else:
            lowered = PricedRows(table.rows, table.people, repaired)
            lower_prices_under(classes.demands, begin, members, cost, classes.k, lowered)
        if collected.members < MOST_MEMBERS:
            collected.add(cost, np.diff(begin), members, signs.tolist())
        return False

    priced = PricedRows(table.rows, table.people, higher)
    classes.visit_broken(priced, visit, lambda: clock.report("bound", None))
    return PassResult(higher, repaired)
