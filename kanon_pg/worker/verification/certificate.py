"""Prices as a certificate: anyone can check in one pass that no solution costs less.

Give every row of row type i a price ``lambda_i``. If in every class that a solution could form the prices
of the rows add up to at most what the class costs, then every solution costs at least the sum of all
prices, because each row lies in one class. A price may be below 0: another row of its kind would make a
solution cheaper, as rows with rare values do under privacy models. This is a feasible solution of the dual
of the linear relaxation of Bredereck, Nichterlein and Niedermeier (2013), ILP (5)-(8), with strong linking
constraints.

A class of a pattern vector with cost ``c`` per row consists of rows that agree on the kept columns and has
at least k people. Suppose it has ``y_i`` rows of row type i. At most ``z_i = min(y_i, people_i)`` of its
people have a row of this type, so ``sum z_i >= k`` is necessary, whether people are told apart by an entity
or not, whether they have rows of several types or not, and whether row types are divided or not. The check
takes the worst ``y`` with this property for every group of row types that agree: all rows that cost more
than `c`, and, if these have fewer than k people, the next most expensive rows, one for each person that
lacks. If no such choice has prices above ``c * sum y_i``, no class has. Privacy models remove classes, and
so do people who have rows of several row types, which stay in one piece then: higher prices are valid.
`kanon_pg.worker.verification.demanded_classes` has the worst ``y`` under them.

All arithmetic is on integers. Weights are rounded down to millionths, so that a class is never held for
more expensive than it is, and prices are whole millionths. Row types are grouped by comparing cells, never
hashes.

The search for a class that costs less than the prices of its rows looks at all pattern vectors at once.
They are leaves of a binary tree that decides one column after the other: suppressed or kept. Keeping a
column splits groups of row types, so a group that breaks nothing at the cost of the cheapest leaf below a
node contains no group that breaks anything below this node, and is left out there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isinf, lcm, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import integers
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.verification.class_demands import ClassDemands, PricedRows, class_demands
from kanon_pg.worker.verification.demanded_classes import with_gain

PRICE_UNIT = 1_000_000
"""Prices are whole numbers of this fraction of a cost unit."""

NO_MODELS = PrivacyModels()

_LARGEST = NO_CAP = 1 << 62
"""A price that no row has."""


@dataclass(frozen=True, slots=True)
class ProofVerdict:
    """What a check of prices found.

    Parameters
    ----------
    bound : float or None
        Proven lower bound on the weighted cost of every solution; None if the prices prove nothing.
    broken : BrokenClass or None
        A class whose rows' prices add up to more than it costs, if there is one.
    """

    bound: float | None
    broken: BrokenClass | None = None


def certified_bound(
    row_types: PackedRowTypes | RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    prices: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
    *,
    models: PrivacyModels = NO_MODELS,
    rest_may_be_small: bool = False,
    outside: float = np.inf,
) -> float | None:
    """Return the lower bound that prices prove, None if they prove none; see `check_prices`."""
    return check_prices(
        row_types, vectors, k, prices, heartbeat,
        models=models, rest_may_be_small=rest_may_be_small, outside=outside,
    ).bound  # fmt: skip


def check_prices(
    row_types: PackedRowTypes | RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    prices: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
    *,
    models: PrivacyModels = NO_MODELS,
    rest_may_be_small: bool = False,
    outside: float = np.inf,
) -> ProofVerdict:
    """Check prices against every class that any pattern vector can form.

    Parameters
    ----------
    row_types : PackedRowTypes or RowTypeTable
        `n` row types.
    vectors : ndarray of int64, shape (p,)
        All pattern vectors that a solution may use, but for those that `outside` stands for.
    k : int
        Fewest people per class.
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
    ProofVerdict
        The bound is rounded up to the next cost that sums of weights can have; with weights of 1, to
        the next integer.

    Raises
    ------
    SolverError
        There is not one price per row type.

    Notes
    -----
    O(p n) after the column codes in the worst case. Groups in which even the cheapest vector that
    refines them breaks nothing are left at once, so real tables take a fraction of it.
    """
    columns = row_types.columns
    priced = _priced(row_types, prices)
    units = unit_weights(columns)
    costs = unit_costs(vectors, units)
    full = (1 << len(columns)) - 1
    highest = _cap(units, rest_may_be_small, outside)
    if not _fits(priced, units):
        return ProofVerdict(None)
    if highest is not None and int(prices.max()) > highest:
        return ProofVerdict(None, BrokenClass(full, int(prices.argmax())))
    if rest_may_be_small:
        keep = vectors != full
        vectors, costs = vectors[keep], costs[keep]
    broken = first_broken_class(priced, vectors, costs, k, heartbeat, class_demands(row_types, models))
    if broken is not None:
        return ProofVerdict(None, broken)
    total = sum(int(price) * int(rows) for price, rows in zip(prices, priced.rows, strict=True) if price)
    return ProofVerdict(_rounded_up(Fraction(total, PRICE_UNIT), columns))


def unit_weights(columns: tuple[QuasiIdentifier, ...]) -> list[int]:
    """Return the weight of each column in price units, rounded down exactly."""
    return [int(Fraction(column.weight) * PRICE_UNIT // 1) for column in columns]


def unit_costs(vectors: NDArray[np.int64], units: list[int]) -> NDArray[np.int64]:
    """Return what one row costs under each vector in price units, at most its true cost.

    Parameters
    ----------
    units : list of int
        What `unit_weights` returned.
    """
    costs = np.zeros(vectors.size, dtype=np.int64)
    for column, unit in enumerate(units):
        costs += ((vectors >> column) & 1) * min(unit, _LARGEST // len(units))
    return costs


def price_cap(columns: tuple[QuasiIdentifier, ...], rest_may_be_small: bool, outside: float) -> int:
    """Return a price in price units that no row may exceed, whatever class it is in.

    Parameters
    ----------
    rest_may_be_small : bool
        Whether the fully suppressed class may have any size; then its cost is the cap.
    outside : float
        Vectors that are not searched cost at least this.
    """
    cap = _cap(unit_weights(columns), rest_may_be_small, outside)
    return _LARGEST if cap is None else cap


class _Arrays(NamedTuple):
    """Row types in either form."""

    cells: list[NDArray[np.int64]]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]


def _priced(row_types: PackedRowTypes | RowTypeTable, prices: NDArray[np.int64]) -> Priced:
    arrays = _arrays(row_types)
    if prices.dtype != np.int64 or prices.shape != arrays.rows.shape:
        raise SolverError("A certificate needs one price for each row type.", hint=DEFECT)
    return Priced(arrays.cells, arrays.rows, arrays.people, prices)


def _arrays(row_types: PackedRowTypes | RowTypeTable) -> _Arrays:
    if isinstance(row_types, RowTypeTable):
        return _Arrays(list(row_types.cells), row_types.rows, row_types.people)
    return _Arrays(
        [integers(buffer) for buffer in row_types.cells],
        integers(row_types.rows),
        integers(row_types.people),
    )


def _cap(units: list[int], rest_may_be_small: bool, outside: float) -> int | None:
    caps = [sum(units)] if rest_may_be_small else []
    if not isinf(outside):
        caps.append(int(Fraction(outside) * PRICE_UNIT // 1))
    return min(caps, default=None)


def _fits(priced: Priced, units: list[int]) -> bool:
    """Whether no sum of the check can leave 64 bits."""
    highest = max(int(priced.prices.max()), -int(priced.prices.min()), sum(units))
    return highest * 2 * int(priced.rows.sum()) < _LARGEST


def _rounded_up(bound: Fraction, columns: tuple[QuasiIdentifier, ...]) -> float:
    """Round up to a multiple of what all weights are multiples of, then down to a float."""
    weights = [Fraction(column.weight) for column in columns]
    denominator = lcm(*(weight.denominator for weight in weights))
    step = Fraction(gcd(*(int(weight * denominator) for weight in weights)), denominator)
    exact = -(-bound // step) * step
    return rounded_down(exact)


def rounded_down(exact: Fraction) -> float:
    """Return the largest float that is not above a number, or the one below."""
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else nextafter(rounded, 0.0)


class Priced(NamedTuple):
    """Row types with prices: cells per column, rows, people, price per row."""

    cells: list[NDArray[np.int64]]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    prices: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BrokenClass:
    """A group of row types in which some class costs less than the prices of its rows.

    Parameters
    ----------
    vector : int
        Bit mask of suppressed columns.
    row_type : int
        Position of a row type of the group; the others agree with it on the kept columns.
    """

    vector: int
    row_type: int


class PricedGroups(NamedTuple):
    """Some row types in groups, most expensive first: positions, group of each, number of groups."""

    items: NDArray[np.int32]
    group: NDArray[np.int32]
    groups: int


GroupVisit = Callable[[PricedGroups, NDArray[np.int64]], bool]
"""Gets groups and the cost of a row in each of them; returns whether to stop."""


def first_broken_class(
    priced: Priced,
    vectors: NDArray[np.int64],
    costs: NDArray[np.int64],
    k: int,
    heartbeat: Callable[[], None],
    demands: ClassDemands | None = None,
) -> BrokenClass | None:
    """Return a class that costs less than the prices of its rows, None if there is none.

    Parameters
    ----------
    costs : ndarray of int64, shape (p,)
        Cost of one row per vector, in the unit of the prices.
    demands : ClassDemands, optional
        What classes must satisfy besides k.
    """
    found: list[BrokenClass] = []

    def stop(vector: int, _: int, groups: PricedGroups) -> bool:
        found.append(BrokenClass(vector, int(groups.items[0])))
        return True

    visit_broken_groups(priced, vectors, costs, k, stop, heartbeat, demands)
    return found[0] if found else None


def visit_broken_groups(
    priced: Priced,
    vectors: NDArray[np.int64],
    costs: NDArray[np.int64],
    k: int,
    visit: Callable[[int, int, PricedGroups], bool],
    heartbeat: Callable[[], None],
    demands: ClassDemands | None = None,
) -> None:
    """Call `visit` with each vector that has broken groups, its cost, and these groups.

    Parameters
    ----------
    visit : callable
        Returns whether to stop.
    heartbeat : callable
        Called at every node of the tree.
    demands : ClassDemands, optional
        What classes must satisfy besides k.
    """
    numbered = [number_values(cells) for cells in priced.cells]
    distinct = np.array([first.size for _, first in numbered])
    order = np.argsort(-distinct, kind="stable")
    # Row types are numbered by price, so that groups list them in the order in which memory holds them.
    by_price = np.argsort(-priced.prices, kind="stable").astype(np.int32)
    codes = [numbered[column][0].astype(np.int32)[by_price] for column in order]
    counts = PricedRows(priced.rows[by_price], priced.people[by_price], priced.prices[by_price])
    paths = np.zeros(vectors.size, dtype=np.int64)
    for column in order:
        paths = (paths << 1) | ((vectors >> column) & 1)
    _, chosen = np.unique(paths, return_index=True)

    def visit_by_position(vector: int, cost: int, groups: PricedGroups) -> bool:
        return visit(vector, cost, PricedGroups(by_price[groups.items], groups.group, groups.groups))

    tree = _PatternTree(
        counts, codes, [int(distinct[column]) for column in order],
        paths[chosen], vectors[chosen], costs[chosen], k,
        None if demands is None else demands.ordered(by_price), visit_by_position, heartbeat,
    )  # fmt: skip
    items = np.arange(by_price.size, dtype=np.int32)
    if chosen.size:
        _descend(tree, 0, chosen.size, 0, PricedGroups(items, np.zeros(items.size, dtype=np.int32), 1))


class _PatternTree(NamedTuple):
    """The tree of vectors; paths are ascending, bit by bit from the first decided column.

    Row types are in the order of their prices, most expensive first.
    """

    counts: PricedRows
    codes: list[NDArray[np.int32]]
    distinct: list[int]
    paths: NDArray[np.int64]
    vectors: NDArray[np.int64]
    costs: NDArray[np.int64]
    k: int
    demands: ClassDemands | None
    visit: Callable[[int, int, PricedGroups], bool]
    heartbeat: Callable[[], None]


def _descend(tree: _PatternTree, begin: int, end: int, depth: int, groups: PricedGroups) -> bool:
    """Search below a node whose leaves are the vectors from `begin` to `end`; return whether to stop."""
    tree.heartbeat()
    cheapest = int(tree.costs[begin:end].min())
    costs = np.full(groups.groups, cheapest, dtype=np.int64)
    left, _ = broken_groups(groups, costs, 0, tree.counts, tree.k, tree.demands)
    if not left.groups:
        return False
    width = len(tree.codes)
    if depth == width:
        return tree.visit(int(tree.vectors[begin]), cheapest, left)
    bit = np.int64(1) << (width - 1 - depth)
    middle = begin + int(np.searchsorted(tree.paths[begin:end] & bit, bit))
    if begin < middle:
        split = PricedGroups(left.items, *split_groups(left, tree.codes[depth], tree.distinct[depth]))
        if _descend(tree, begin, middle, depth + 1, split):
            return True
    return middle < end and _descend(tree, middle, end, depth + 1, left)


@kernel
def split_groups(
    groups: PricedGroups, codes: NDArray[np.int32], distinct: int
) -> tuple[NDArray[np.int32], int]:
    """Number the pairs of group and code from 0 in order of occurrence; return how many there are."""
    size = 16
    while size < 2 * groups.items.size:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    pairs = np.empty(groups.items.size, dtype=np.int64)
    numbers = np.empty(groups.items.size, dtype=np.int32)
    mask = np.uint64(size - 1)
    count = 0
    for position in range(groups.items.size):
        pair = np.int64(groups.group[position]) * distinct + codes[groups.items[position]]
        mixed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[slot] >= 0 and pairs[table[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = count
            pairs[count] = pair
            count += 1
        numbers[position] = table[slot]
    return numbers, count


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
