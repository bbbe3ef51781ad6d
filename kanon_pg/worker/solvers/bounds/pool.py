"""One pass over all classes that could be formed: which of them break prices, and prices that none breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solvers.bounds.lagrangian import Pool
from kanon_pg.worker.verification.certificate_groups import Groups, Priced, visit_broken_groups

MOST_MEMBERS = 12_000_000
"""Most members of all groups of a pool together: about 100 MiB with working arrays."""


class Demand(NamedTuple):
    """What classes must satisfy: vectors with their costs in price units, people per class."""

    vectors: NDArray[np.int64]
    costs: NDArray[np.int64]
    k: int


@dataclass(frozen=True)
class Area:
    """Where all groups that can break prices are known.

    Parameters
    ----------
    highest : ndarray of int64, shape (n,)
        No unknown group breaks prices up to these.
    repaired : ndarray of int64, shape (n,)
        Valid prices.
    """

    highest: NDArray[np.int64]
    repaired: NDArray[np.int64]


@dataclass
class Collected:
    """Groups that broke some prices, each once for its least cost."""

    cost: list[NDArray[np.int64]] = field(default_factory=list)
    length: list[NDArray[np.int64]] = field(default_factory=list)
    member: list[NDArray[np.int32]] = field(default_factory=list)
    known: dict[tuple[int, int], int] = field(default_factory=dict)
    members: int = 0

    def add(
        self, cost: int, lengths: NDArray[np.int64], members: NDArray[np.int32], signs: list[int]
    ) -> None:
        """Add groups that are not known for this cost.

        Groups are told apart by size and the sum of random marks of their members: should two collide,
        one is missed here, but not by the pass that repairs prices.
        """
        keys = list(zip(signs, lengths.tolist(), strict=True))
        is_new = np.array([self.known.get(key, cost + 1) > cost for key in keys], dtype=np.bool_)
        for key, new in zip(keys, is_new.tolist(), strict=True):
            if new:
                self.known[key] = cost
        if is_new.any():
            members = members[np.repeat(is_new, lengths)]
            self.cost.append(np.full(int(is_new.sum()), cost))
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
    demand: Demand,
    prices: NDArray[np.int64],
    margin: float,
    collected: Collected,
    clock: Clock,
) -> Area:
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
    Area
        The repaired prices are nowhere higher than before.

    Notes
    -----
    Where the prices of a group are too high by some gain, those above the cost of its vector are drawn
    towards it until the gain is gone. All prices together fall by at most the sum of the gains, so the
    repaired prices prove at least the Lagrangian value.
    """
    higher = (prices * (1.0 + margin)).astype(np.int64) if margin else prices
    repaired = prices.copy()
    marks = mix(np.arange(1, len(table) + 1, dtype=np.uint64))

    def visit(_: int, cost: int, groups: Groups) -> bool:
        begin, members, signs = _listed(groups, marks)
        _draw_down(begin, members, cost, demand.k, table.rows, table.people, repaired)
        if collected.members < MOST_MEMBERS:
            collected.add(cost, np.diff(begin), members, signs.tolist())
        return False

    priced = Priced(list(table.cells), table.rows, table.people, higher)
    visit_broken_groups(priced, *demand, visit, lambda: clock.report("bound", None))
    return Area(higher, repaired)


@kernel
def _listed(
    groups: Groups, marks: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
    """Return where each group begins, the members group by group, and the signature of each group."""
    begin = np.zeros(groups.groups + 1, dtype=np.int64)
    signs = np.zeros(groups.groups, dtype=np.uint64)
    for position in range(groups.items.size):
        begin[groups.group[position] + 1] += 1
        signs[groups.group[position]] += marks[groups.items[position]]
    for group in range(groups.groups):
        begin[group + 1] += begin[group]
    place = begin[:-1].copy()
    members = np.empty(groups.items.size, dtype=np.int32)
    for position in range(groups.items.size):
        group = groups.group[position]
        members[place[group]] = groups.items[position]
        place[group] += 1
    return begin, members, signs


@kernel
def _draw_down(
    begin: NDArray[np.int64],
    members: NDArray[np.int32],
    cost: int,
    k: int,
    rows: NDArray[np.int64],
    people: NDArray[np.int64],
    prices: NDArray[np.int64],
) -> None:
    """Lower the prices above the cost in groups whose worst class is cheaper than its rows' prices."""
    for group in range(begin.size - 1):
        listed = members[begin[group] : begin[group + 1]]
        excess, taken = 0, 0
        for item in listed:
            if prices[item] > cost:
                excess += rows[item] * (prices[item] - cost)
                taken += people[item]
        if excess == 0:
            continue
        spare = 0
        if taken < k:
            order = np.argsort(-prices[listed])
            for place in order:
                item = listed[place]
                if prices[item] <= cost and taken < k:
                    more = min(people[item], k - taken)
                    spare += more * (cost - prices[item])
                    taken += more
        if spare >= excess:
            continue
        share = np.float64(spare) / np.float64(excess)
        for item in listed:
            if prices[item] > cost:
                prices[item] = cost + np.int64(share * (prices[item] - cost))
