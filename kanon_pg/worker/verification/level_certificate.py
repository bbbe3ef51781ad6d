"""Prices as a certificate for tables with hierarchies.

What `kanon_pg.worker.verification.certificate` says of pattern vectors holds of level vectors, too: a
class of a solution publishes each column at some level, and all its rows share their nodes there. So it
lies within a group of the whole table that shares these nodes, and a row of it costs what the nodes lose.
If in every such group the prices of the rows of no k people exceed that cost, no solution costs less than
the sum of all prices.

Losses times weights are rounded down to millionths for each node, row types are grouped by comparing
nodes, and all sums are of integers. The hierarchies are read anew from what the solvers were given.

The level vectors are leaves of a tree that goes through the columns, in each from the top down. One step
down splits groups of row types, so a group that breaks nothing at the least cost of all leaves below a
node of the tree contains no group that breaks anything there, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import floats, integers
from kanon_pg.worker.verification.certificate import (
    NO_CAP,
    NO_MODELS,
    PRICE_UNIT,
    GroupVisit,
    Priced,
    PricedGroups,
    broken_groups,
    rounded_down,
    split_groups,
)
from kanon_pg.worker.verification.class_demands import ClassDemands, PricedRows, class_demands


class ColumnLevels(NamedTuple):
    """What one column of row types shows and costs, from its lowest level to the top.

    Parameters
    ----------
    nodes : list of ndarray of int32, shape (n,)
        Per level the node of each row type, numbered from 0.
    counts : list of int
        Per level how many nodes there are.
    costs : list of ndarray of int64, shape (n,)
        Per level what a cell costs in price units, at most its true cost; the same within a node.
    """

    nodes: list[NDArray[np.int32]]
    counts: list[int]
    costs: list[NDArray[np.int64]]

    def ordered(self, order: NDArray[np.int32]) -> ColumnLevels:
        """Return the column with its row types in some order."""
        nodes = [np.ascontiguousarray(one[order]) for one in self.nodes]
        return ColumnLevels(nodes, self.counts, [one[order] for one in self.costs])


def read_levels(
    columns: tuple[QuasiIdentifier, ...],
    hierarchies: tuple[PackedHierarchy | None, ...],
    cells: list[NDArray[np.int64]],
) -> list[ColumnLevels]:
    """Return what row types show and cost at the levels at which they may be published.

    Parameters
    ----------
    hierarchies : tuple of (PackedHierarchy or None)
        Per column.
    cells : list of ndarray of int64, shape (n,)
        Identities of the cells per column.
    """
    return [
        _column_levels(Fraction(column.weight), hierarchy, own)
        for column, hierarchy, own in zip(columns, hierarchies, cells, strict=True)
    ]


def _column_levels(
    weight: Fraction, hierarchy: PackedHierarchy | None, cells: NDArray[np.int64]
) -> ColumnLevels:
    code, first = number_values(cells)
    values = cells[first].astype(np.int64)  # packed cells are big-endian
    levels, losses, lowest = (
        [values, np.zeros_like(values)],
        np.repeat([[0.0], [1.0]], values.size, axis=1),
        0,
    )
    if hierarchy is not None:
        place = _places(integers(hierarchy.cells), values)
        inner = [integers(nodes)[place] for nodes in hierarchy.nodes]
        levels, lowest = [values, *inner, np.zeros_like(values)], hierarchy.lowest
        losses = np.stack([floats(one)[place] for one in hierarchy.losses])
    found = ColumnLevels([], [], [])
    for level in range(lowest, len(levels)):
        nodes, one_of = number_values(levels[level])
        least = np.full(one_of.size, NO_CAP, dtype=np.int64)
        np.minimum.at(least, nodes, _units(weight, losses[level]))
        found.nodes.append(nodes.astype(np.int32)[code])
        found.counts.append(int(one_of.size))
        found.costs.append(least[nodes][code])
    return found


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


@dataclass(frozen=True)
class LevelClasses:
    """Which classes may be formed under hierarchies; for a search of prices and for their check."""

    columns: list[ColumnLevels]
    k: int
    demands: ClassDemands | None = None

    def visit_broken(self, priced: Priced, visit: GroupVisit, heartbeat: Callable[[], None]) -> None:
        """Call `visit` with the groups of each level vector in which a class is cheaper than its prices."""
        by_price = np.argsort(-priced.prices, kind="stable").astype(np.int32)
        order = sorted(range(len(self.columns)), key=lambda column: -self.columns[column].counts[0])
        columns = [self.columns[column].ordered(by_price) for column in order]
        least = [int(column.costs[0].min()) for column in columns]

        def visit_by_position(groups: PricedGroups, costs: NDArray[np.int64]) -> bool:
            return visit(PricedGroups(by_price[groups.items], groups.group, groups.groups), costs)

        counts = PricedRows(priced.rows[by_price], priced.people[by_price], priced.prices[by_price])
        tree = _LevelTree(
            counts, columns, [sum(least[column:]) for column in range(len(least) + 1)], self.k,
            None if self.demands is None else self.demands.ordered(by_price), visit_by_position, heartbeat,
        )  # fmt: skip
        items = np.arange(by_price.size, dtype=np.int32)
        everything = PricedGroups(items, np.zeros(items.size, dtype=np.int32), 1)
        _descend(tree, 0, len(columns[0].nodes) - 1, everything, np.zeros(1, dtype=np.int64))


class _LevelTree(NamedTuple):
    """Row types, costliest first; columns in the order of decision.

    `rest` has for each column what it and all later ones cost at least.
    """

    counts: PricedRows
    columns: list[ColumnLevels]
    rest: list[int]
    k: int
    demands: ClassDemands | None
    visit: GroupVisit
    heartbeat: Callable[[], None]


def _descend(
    tree: _LevelTree, depth: int, level: int, groups: PricedGroups, costs: NDArray[np.int64]
) -> bool:
    """Search the level vectors with at most this level in the column at `depth`; return whether to stop.

    Groups agree at this level; `costs` is what the columns before cost.
    """
    tree.heartbeat()
    left, costs = broken_groups(groups, costs, tree.rest[depth], tree.counts, tree.k, tree.demands)
    if not left.groups:
        return False
    column = tree.columns[depth]
    paid = costs + _costs_of_groups(left, column.costs[level])
    if depth + 1 < len(tree.columns):
        if _descend(tree, depth + 1, len(tree.columns[depth + 1].nodes) - 1, left, paid):
            return True
    else:
        published, paid = broken_groups(left, paid, 0, tree.counts, tree.k, tree.demands)
        if published.groups and tree.visit(published, paid):
            return True
    if level == 0:
        return False
    group, number = split_groups(left, column.nodes[level - 1], column.counts[level - 1])
    finer = PricedGroups(left.items, group, number)
    return _descend(tree, depth, level - 1, finer, _costs_of_parts(left, finer, costs))


@kernel
def _costs_of_groups(groups: PricedGroups, costs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cost of a cell of each group, whose row types share a node."""
    found = np.zeros(groups.groups, dtype=np.int64)
    for position in range(groups.items.size):
        found[groups.group[position]] = costs[groups.items[position]]
    return found


@kernel
def _costs_of_parts(groups: PricedGroups, parts: PricedGroups, costs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each part of a group the cost of the group; positions are the same."""
    found = np.zeros(parts.groups, dtype=np.int64)
    for position in range(groups.items.size):
        found[parts.group[position]] = costs[groups.group[position]]
    return found


def certified_bound_of_levels(
    row_types: PackedRowTypes,
    k: int,
    prices: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
    models: PrivacyModels = NO_MODELS,
) -> float | None:
    """Return the lower bound that prices prove on the cost of every recoding, None if they prove none.

    Parameters
    ----------
    row_types : PackedRowTypes
        `n` row types with hierarchies.
    prices : ndarray of int64, shape (n,)
        Price of each row of a row type in units of 1 / `PRICE_UNIT`.
    heartbeat : callable, optional
        Called every now and then; whatever it raises cancels.
    models : PrivacyModels
        What classes satisfy besides k.

    Raises
    ------
    SolverError
        There is not one price per row type, or a hierarchy lacks a value.

    Notes
    -----
    O(p n) for p level vectors in the worst case; groups in which nothing can break prices are left at once.
    """
    rows = integers(row_types.rows)
    if prices.dtype != np.int64 or prices.shape != rows.shape:
        raise SolverError("A certificate needs one price for each row type.", hint=DEFECT)
    cells = [integers(buffer) for buffer in row_types.cells]
    columns = read_levels(row_types.columns, row_types.hierarchies, cells)
    highest = max(
        int(prices.max()), -int(prices.min()), sum(int(column.costs[-1].max()) for column in columns)
    )
    if highest * 2 * int(rows.sum()) >= NO_CAP:
        return None
    broken: list[PricedGroups] = []

    def stop(groups: PricedGroups, _: NDArray[np.int64]) -> bool:
        broken.append(groups)
        return True

    priced = Priced(cells, rows, integers(row_types.people), prices)
    LevelClasses(columns, k, class_demands(row_types, models)).visit_broken(priced, stop, heartbeat)
    if broken:
        return None
    total = sum(int(price) * int(count) for price, count in zip(prices, rows, strict=True) if price)
    return rounded_down(Fraction(total, PRICE_UNIT))
