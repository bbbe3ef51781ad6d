"""Prices as a certificate: anyone can check in one pass that no solution costs less.

Give every row of row type i a price ``lambda_i``. If in every class that a solution could form the prices
of the rows add up to at most what the class costs, then every solution costs at least the sum of all
prices, because each row lies in one class. A price may be below 0: another row of its kind would make a
solution cheaper, as rows with rare values do under privacy models. This is a feasible solution of the dual
of the linear relaxation of Bredereck, Nichterlein and Niedermeier (2013), ILP (5)-(8), with strong linking
constraints.

A class publishes each column at some level, suppression alone being a hierarchy of height 1, and all its rows
share their nodes there. So it lies within a group of the table that shares these nodes, a row of it costs
what the nodes lose, ``c``, and it has at least k people. Suppose it has ``y_i`` rows of row type i. At most
``z_i = min(y_i, people_i)`` of its people have a row of this type, so ``sum z_i >= k`` is necessary, whether
people are told apart by an entity or not, whether they have rows of several types or not, and whether row
types are divided or not. The check takes the worst ``y`` with this property for every group: all rows that
cost more than `c`, and, if these have fewer than k people, the next most expensive rows, one for each person
that lacks. If no such choice has prices above ``c * sum y_i``, no class has. Privacy models remove classes,
and so do people who have rows of several row types, which stay in one piece then: higher prices are valid.
`kanon_pg.worker.verification.demanded_classes` has the worst ``y`` under them.

All arithmetic is on integers. Losses times weights are rounded down to millionths, so that a class is never
held for more expensive than it is, and prices are whole millionths. Row types are grouped by comparing nodes,
never hashes, and hierarchies are read from what the solvers were given.

The search for a class that costs less than the prices of its rows looks at all level vectors at once. They
are leaves of a tree that goes through the columns, in each from the top down. One step down splits groups, so
a group that breaks nothing at the least cost of the leaves below a node of the tree contains no group that
breaks anything there, and is left out. Where only some vectors are allowed the tree has these leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isinf, lcm, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import LevelFields, PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import floats, integers
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.verification.class_demands import ClassDemands, PricedRows, class_demands
from kanon_pg.worker.verification.demanded_classes import with_gain

PRICE_UNIT = 1_000_000
"""Prices are whole numbers of this fraction of a cost unit."""

NO_MODELS = PrivacyModels()

NO_CAP = 1 << 62
"""A price that no row has."""


def certified_bound(
    row_types: PackedRowTypes | RowTypeTable,
    vectors: NDArray[np.int64] | None,
    k: int,
    prices: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
    *,
    models: PrivacyModels = NO_MODELS,
    rest_may_be_small: bool = False,
    outside: float = np.inf,
) -> float | None:
    """Return the lower bound that prices prove on the cost of every solution, None if they prove none.

    Parameters
    ----------
    row_types : PackedRowTypes or RowTypeTable
        `n` row types, with the hierarchies of their columns, if they have any.
    vectors : ndarray of int64, shape (p,), optional
        All pattern vectors that a solution may use, but for those that `outside` stands for. None for all
        that there are.
    prices : ndarray of int64, shape (n,)
        Price of each row of a row type in units of 1 / `PRICE_UNIT`.
    heartbeat : callable, optional
        Called every now and then; whatever it raises cancels.
    models : PrivacyModels
        What every class satisfies besides k, but for the fully suppressed one under the rule of the paper.
    rest_may_be_small : bool
        The rule of the paper: the fully suppressed class may have any size. Then no row may cost more
        than full suppression.
    outside : float
        Vectors that are not listed but allowed cost at least this; then no row may cost more.

    Returns
    -------
    float or None
        Where nothing but suppression is allowed it is rounded up to the next cost that sums of weights can
        have; with weights of 1, to the next integer.

    Raises
    ------
    SolverError
        There is not one price per row type, or a hierarchy lacks a value.

    Notes
    -----
    O(p n) after the column codes in the worst case, for p level vectors. Groups in which even the cheapest
    vector that refines them breaks nothing are left at once, so real tables take a fraction of it.
    """
    columns = row_types.columns
    if isinstance(row_types, RowTypeTable):
        rows, people, is_suppression = row_types.rows, row_types.people, True
    else:
        rows, people = integers(row_types.rows), integers(row_types.people)
        is_suppression = not any(row_types.hierarchies)
    if prices.dtype != np.int64 or prices.shape != rows.shape:
        raise SolverError("A certificate needs one price for each row type.", hint=DEFECT)
    classes = formable_classes(
        row_types, vectors, k, class_demands(row_types, models), rest_may_be_small=rest_may_be_small
    )
    # No sum of the check may leave 64 bits.
    highest = max(int(prices.max()), -int(prices.min()), classes.full_cost)
    if highest * 2 * int(rows.sum()) >= NO_CAP:
        return None
    if int(prices.max()) > price_cap(columns, rest_may_be_small, outside):
        return None
    if classes.has_broken(PricedRows(rows, people, prices), heartbeat):
        return None
    total = sum(int(price) * int(count) for price, count in zip(prices, rows, strict=True) if price)
    bound = Fraction(total, PRICE_UNIT)
    return _rounded_down(_next_sum_of_weights(bound, columns) if is_suppression else bound)


def unit_weights(columns: tuple[QuasiIdentifier, ...]) -> list[int]:
    """Return the weight of each column in price units, rounded down exactly."""
    return [int(Fraction(column.weight) * PRICE_UNIT // 1) for column in columns]


def price_cap(columns: tuple[QuasiIdentifier, ...], rest_may_be_small: bool, outside: float) -> int:
    """Return a price in price units that no row may exceed, whatever class it is in.

    Parameters
    ----------
    rest_may_be_small : bool
        Whether the fully suppressed class may have any size; then its cost is the cap.
    outside : float
        Vectors that are not searched cost at least this.
    """
    caps = [sum(unit_weights(columns))] if rest_may_be_small else []
    if not isinf(outside):
        caps.append(int(Fraction(outside) * PRICE_UNIT // 1))
    return min(caps, default=NO_CAP)


def _next_sum_of_weights(bound: Fraction, columns: tuple[QuasiIdentifier, ...]) -> Fraction:
    """Round up to a multiple of what all weights are multiples of."""
    weights = [Fraction(column.weight) for column in columns]
    denominator = lcm(*(weight.denominator for weight in weights))
    step = Fraction(gcd(*(int(weight * denominator) for weight in weights)), denominator)
    return -(-bound // step) * step


def _rounded_down(exact: Fraction) -> float:
    """Return the largest float that is not above a number, or the one below."""
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else nextafter(rounded, 0.0)


class ColumnLevels(NamedTuple):
    """What one column of row types shows and costs, from its lowest level to the top."""

    lowest: int
    """Its lowest level."""
    nodes: list[NDArray[np.int32]]
    """Shape (n,). Per level but the top the node of each row type, numbered from 0."""
    counts: list[int]
    """Per level but the top how many nodes there are."""
    costs: list[int | NDArray[np.int64]]
    """Shape (n,). Per level what a cell costs in price units, at most its true cost; the same within a node,
    and one number where it is the same for all nodes."""
    least: list[int]
    """Per level what the cheapest cell costs."""

    def ordered(self, order: NDArray[np.int32]) -> ColumnLevels:
        """Return the column with its row types in some order."""
        return self._replace(
            nodes=[np.ascontiguousarray(one[order]) for one in self.nodes],
            costs=[one if isinstance(one, int) else one[order] for one in self.costs],
        )


def _column_levels(
    weight: Fraction, hierarchy: PackedHierarchy | None, cells: NDArray[np.int64]
) -> ColumnLevels:
    """Return what row types show and cost at the levels at which a column may be published."""
    code, first = number_values(cells)
    values = cells[first].astype(np.int64)  # packed cells are big-endian
    shown, losses, lowest = [values], np.repeat([[0.0], [1.0]], values.size, axis=1), 0
    if hierarchy is not None:
        place = _places(integers(hierarchy.cells), values)
        shown += [integers(nodes)[place] for nodes in hierarchy.nodes]
        losses, lowest = np.stack([floats(one)[place] for one in hierarchy.losses]), hierarchy.lowest
    column = ColumnLevels(lowest, [], [], [], [])
    for level, identities in enumerate([*shown, np.zeros_like(values)][lowest:], lowest):
        nodes, one_of = number_values(identities)
        cost = np.full(one_of.size, NO_CAP, dtype=np.int64)
        np.minimum.at(cost, nodes, _units(weight, losses[level]))
        column.least.append(int(cost.min()))
        column.costs.append(column.least[-1] if (cost == cost[0]).all() else cost[nodes][code])
        if level < len(shown):
            column.nodes.append(nodes.astype(np.int32)[code])
            column.counts.append(int(one_of.size))
    return column


def _places(known: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.intp]:
    order = np.argsort(known)
    place = order[np.minimum(np.searchsorted(known[order], values), known.size - 1)]
    if not np.array_equal(known[place], values):
        raise SolverError("A hierarchy does not know all values of its column.", hint=DEFECT)
    return place


def _units(weight: Fraction, losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return weighted losses in price units, rounded down exactly."""
    distinct, which = np.unique(losses, return_inverse=True)
    units = [min(int(weight * Fraction(loss) * PRICE_UNIT // 1), NO_CAP) for loss in distinct.tolist()]
    return np.array(units, dtype=np.int64)[which]


class PricedGroups(NamedTuple):
    """Some row types in groups, most expensive first: positions, group of each, number of groups."""

    items: NDArray[np.int32]
    group: NDArray[np.int32]
    groups: int


GroupVisit = Callable[[PricedGroups, NDArray[np.int64], list[int]], bool]
"""Gets groups, the cost of a row in each of them, and the level of each column; returns whether to stop."""


def formable_classes(
    row_types: PackedRowTypes | RowTypeTable,
    vectors: NDArray[np.int64] | None,
    k: int,
    demands: ClassDemands | None = None,
    *,
    hierarchies: tuple[PackedHierarchy | None, ...] = (),
    rest_may_be_small: bool = False,
) -> FormableClasses:
    """Return the classes that row types may form.

    Parameters
    ----------
    vectors, rest_may_be_small
        See `certified_bound`.
    hierarchies : tuple of (PackedHierarchy or None)
        Of the columns of a table; packed row types have their own.
    """
    if isinstance(row_types, RowTypeTable):
        cells, own = list(row_types.cells), hierarchies
    else:
        cells, own = [integers(buffer) for buffer in row_types.cells], row_types.hierarchies
    own = own or (None,) * len(cells)
    columns = [
        _column_levels(Fraction(column.weight), hierarchy, values)
        for column, hierarchy, values in zip(row_types.columns, own, cells, strict=True)
    ]
    levels = None
    if vectors is not None:
        fields = LevelFields(tuple(1 if one is None else one.height for one in own))
        listed = vectors[vectors != fields.top] if rest_may_be_small else vectors
        levels = np.stack(
            [
                listed >> at & (1 << width) - 1
                for at, width in zip(fields.offsets, fields.widths, strict=True)
            ],
            axis=1,
        )
    return FormableClasses(columns, k, demands, levels)


@dataclass(frozen=True)
class FormableClasses:
    """Which classes may be formed, and what they cost; for a search of prices and for their check."""

    columns: list[ColumnLevels]
    k: int
    """Fewest people per class."""
    demands: ClassDemands | None = None
    """What classes must satisfy besides k."""
    levels: NDArray[np.int64] | None = None
    """Shape (p, m). The level vectors that are allowed; None for all."""

    @property
    def full_cost(self) -> int:
        """Return what a row costs at most, in price units."""
        return sum(int(np.max(column.costs[-1])) for column in self.columns)

    def has_broken(self, priced: PricedRows, heartbeat: Callable[[], None]) -> bool:
        """Return whether some class costs less than the prices of its rows."""
        broken: list[PricedGroups] = []

        def stop(groups: PricedGroups, _costs: NDArray[np.int64], _levels: list[int]) -> bool:
            broken.append(groups)
            return True

        self.visit_broken(priced, stop, heartbeat)
        return bool(broken)

    def visit_broken(self, priced: PricedRows, visit: GroupVisit, heartbeat: Callable[[], None]) -> None:
        """Call `visit` with the groups of each level vector in which a class is cheaper than its prices.

        Parameters
        ----------
        heartbeat : callable
            Called at every node of the tree.
        """
        # Columns of many values first: they split groups best. Row types are numbered by price, so that
        # groups list them in the order in which memory holds them.
        order = sorted(range(len(self.columns)), key=lambda column: -max([1, *self.columns[column].counts]))
        by_price = np.argsort(-priced.prices, kind="stable").astype(np.int32)
        columns = [self.columns[column].ordered(by_price) for column in order]
        here = [0] * len(order)

        def visit_by_position(groups: PricedGroups, costs: NDArray[np.int64]) -> bool:
            return visit(PricedGroups(by_price[groups.items], groups.group, groups.groups), costs, here)

        tree = _LevelTree(
            PricedRows(*(one[by_price] for one in priced)), columns, order, self._leaves(order), here, self.k,
            None if self.demands is None else self.demands.ordered(by_price), visit_by_position, heartbeat,
        )  # fmt: skip
        if not tree.leaves.number:
            return
        items, span = np.arange(by_price.size, dtype=np.int32), (0, tree.leaves.number)
        everything = PricedGroups(items, np.zeros_like(items), 1)
        groups, costs = tree.broken(everything, np.zeros(1, dtype=np.int64), tree.leaves.least(0, span))
        _descend(tree, 0, span, groups, costs)

    def _leaves(self, order: list[int]) -> _Leaves:
        """Return the leaves of the tree of level vectors that decides columns in some order."""
        columns = [self.columns[column] for column in order]
        if self.levels is None:
            lowest = [column.least[0] for column in columns]
            rest = np.array([sum(lowest[depth:]) for depth in range(len(lowest) + 1)])
            return _Leaves(1, None, rest[:, None])
        levels = np.unique(self.levels[:, order], axis=0)
        rest = np.zeros((len(order) + 1, levels.shape[0]), dtype=np.int64)
        for depth, column in reversed(list(enumerate(columns))):
            levels[:, depth] -= column.lowest
            rest[depth] = rest[depth + 1] + np.array(column.least)[levels[:, depth]]
        return _Leaves(levels.shape[0], np.ascontiguousarray(levels.T), rest)


_Span = tuple[int, int]


class _Leaves(NamedTuple):
    """The leaves of the tree; without a list of them one stands for all."""

    number: int
    levels: NDArray[np.int64] | None
    """Shape (m, p). Their levels above the lowest ones, in the order of decision and ascending."""
    rest: NDArray[np.int64]
    """Shape (m + 1, p). What the columns from some depth on cost at least."""

    def divide(self, depth: int, span: _Span, level: int) -> tuple[_Span | None, _Span | None]:
        """Return the leaves of a span below its highest level in a column, and those at it; None if none are.

        Parameters
        ----------
        depth : int
            Place of the column; the span agrees on those before it.
        """
        if self.levels is None:
            return (span if level else None), span
        first, last = span
        begin = first + int(np.searchsorted(self.levels[depth, first:last], level))
        return ((first, begin) if first < begin else None), ((begin, last) if begin < last else None)

    def least(self, depth: int, span: _Span) -> int:
        """Return what the columns from a depth on cost at least in the leaves of a span."""
        return int(self.rest[depth, span[0] : span[1]].min())


class _LevelTree(NamedTuple):
    """Row types, costliest first; columns in the order of decision, and the level of each that is tried."""

    counts: PricedRows
    columns: list[ColumnLevels]
    order: list[int]
    leaves: _Leaves
    here: list[int]
    k: int
    demands: ClassDemands | None
    visit: Callable[[PricedGroups, NDArray[np.int64]], bool]
    heartbeat: Callable[[], None]

    def broken(
        self, groups: PricedGroups, costs: NDArray[np.int64], rest: int
    ) -> tuple[PricedGroups, NDArray[np.int64]]:
        """Keep the groups in which a class gains at these costs per row and the rest."""
        return broken_groups(groups, costs, rest, self.counts, self.k, self.demands)


def _descend(
    tree: _LevelTree, depth: int, span: _Span, groups: PricedGroups, costs: NDArray[np.int64]
) -> bool:
    """Search the leaves of a span; return whether to stop.

    Groups agree on the columns before `depth`, which cost `costs`, and break prices at the least cost of the
    leaves.
    """
    tree.heartbeat()
    if not groups.groups:
        return False
    if depth == len(tree.columns):
        return tree.visit(groups, costs)
    column, leaves = tree.columns[depth], tree.leaves
    for level in range(len(column.nodes), -1, -1):
        if level < len(column.nodes):
            groups, parent = _split(groups, column.nodes[level], column.counts[level])
            costs = costs[parent]
        lower, own = leaves.divide(depth, span, level)
        if level < len(column.nodes) and lower is not None and own is not None:
            groups, costs = tree.broken(groups, costs, leaves.least(depth, span))
            if not groups.groups:
                return False
        if own is not None:
            tree.here[tree.order[depth]] = level + column.lowest
            left, paid = tree.broken(
                groups, costs + _cost_of_cells(groups, column.costs[level]), leaves.least(depth + 1, own)
            )
            if left.groups and _descend(tree, depth + 1, own, left, paid):
                return True
        if lower is None:
            return False
        span = lower
    return False


def _cost_of_cells(groups: PricedGroups, cost: int | NDArray[np.int64]) -> int | NDArray[np.int64]:
    """Return what a cell of each group costs."""
    return cost if isinstance(cost, int) else _costs_of_groups(groups, cost)


@kernel
def _costs_of_groups(groups: PricedGroups, costs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cost of a cell of each group: that of any member, because they share a node."""
    found = np.zeros(groups.groups, dtype=np.int64)
    for position in range(groups.items.size):
        found[groups.group[position]] = costs[groups.items[position]]
    return found


def _split(
    groups: PricedGroups, nodes: NDArray[np.int32], count: int
) -> tuple[PricedGroups, NDArray[np.int32]]:
    """Return the groups divided by node, and which group each is a part of."""
    numbers, parent = _number_pairs(groups, nodes, count)
    return PricedGroups(groups.items, numbers, parent.size), parent


@kernel
def _number_pairs(
    groups: PricedGroups, nodes: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the pairs of group and node from 0 in order of occurrence; return the group of each, too.

    A hash table with open addressing: slots hold numbers of pairs, and pairs are compared in full, so that
    two of one hash stay two.
    """
    size = 16
    while size < 2 * groups.items.size:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    pairs = np.empty(groups.items.size, dtype=np.int64)
    parent = np.empty(groups.items.size, dtype=np.int32)
    numbers = np.empty(groups.items.size, dtype=np.int32)
    mask = np.uint64(size - 1)
    known = 0
    for position in range(groups.items.size):
        pair = np.int64(groups.group[position]) * count + nodes[groups.items[position]]
        mixed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[slot] >= 0 and pairs[table[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = known
            pairs[known] = pair
            parent[known] = groups.group[position]
            known += 1
        numbers[position] = table[slot]
    return numbers, parent[:known].copy()


def broken_groups(
    groups: PricedGroups,
    costs: NDArray[np.int64],
    rest: int,
    counts: PricedRows,
    k: int,
    demands: ClassDemands | None,
) -> tuple[PricedGroups, NDArray[np.int64]]:
    """Keep the groups in which a class is cheaper than the prices of its rows, and their costs.

    Parameters
    ----------
    groups : PricedGroups
        Their row types most expensive first.
    costs : ndarray of int64
        Cost of a row of each group.
    rest : int
        What a row of a class costs beyond that.
    demands : ClassDemands or None
        What classes satisfy besides k.
    """
    items, group, count, costs = _broken_by_k(groups, costs, rest, counts, k)
    left = PricedGroups(items, group, count)
    if demands is None or not count:
        return left, costs
    begin, members = list_members(left)
    is_broken = with_gain(demands, counts, begin, members, costs + rest, k)
    return PricedGroups(*keep_groups(left, is_broken)), costs[is_broken]


@kernel
def _broken_by_k(
    groups: PricedGroups, costs: NDArray[np.int64], rest: int, counts: PricedRows, k: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int, NDArray[np.int64]]:
    """Keep the groups in which a class of at least k people is cheaper than the prices of its rows."""
    rows, people, prices = counts
    gain = np.zeros(groups.groups, dtype=np.int64)
    taken = np.zeros(groups.groups, dtype=np.int64)
    for position in range(groups.items.size):
        item, group = groups.items[position], groups.group[position]
        cost = costs[group] + rest
        if prices[item] > cost:
            gain[group] += rows[item] * (prices[item] - cost)
            taken[group] += people[item]
        elif taken[group] < k:
            more = min(people[item], k - taken[group])
            gain[group] -= more * (cost - prices[item])
            taken[group] += more
    is_broken = (taken >= k) & (gain > 0)
    items, group_of, count = keep_groups(groups, is_broken)
    return items, group_of, count, costs[is_broken]


@kernel
def list_members(groups: PricedGroups) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each group begins, and the members group by group, in the order in which they were."""
    begin = np.zeros(groups.groups + 1, dtype=np.int64)
    for position in range(groups.items.size):
        begin[groups.group[position] + 1] += 1
    for group in range(groups.groups):
        begin[group + 1] += begin[group]
    place = begin[:-1].copy()
    members = np.empty(groups.items.size, dtype=np.int32)
    for position in range(groups.items.size):
        group = groups.group[position]
        members[place[group]] = groups.items[position]
        place[group] += 1
    return begin, members


@kernel
def keep_groups(
    groups: PricedGroups, is_kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return the members of some groups, numbered anew."""
    number = np.full(groups.groups, -1, dtype=np.int32)
    count = 0
    for group in range(groups.groups):
        if is_kept[group]:
            number[group] = count
            count += 1
    items = np.empty(groups.items.size, dtype=np.int32)
    group_of = np.empty(groups.items.size, dtype=np.int32)
    length = 0
    for position in range(groups.items.size):
        # Written first and counted afterwards: a branch here would be mispredicted half of the time.
        items[length] = groups.items[position]
        group_of[length] = number[groups.group[position]]
        length += int(group_of[length] >= 0)
    return items[:length].copy(), group_of[:length].copy(), count
