"""The hierarchies of all columns as flat arrays, what classes publish and cost under them, and level vectors.

A class publishes in each column the lowest node that all its cells share (the most specific common
generalization, Bredereck, Nichterlein, Niedermeier and Philip 2014, section 4.4). It is known by a cell of
any member and a level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import LevelFields, PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.errors import InputError
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import floats, integers
from kanon_pg.worker.row_types import RowTypeTable, mix, native

_EQUAL = 1e-9
_SALT = np.uint64(0x9E3779B97F4A7C15)


class Forest(NamedTuple):
    """One tree per column.

    What is known of the cell with code ``a`` at level ``l`` of column ``c`` stands at
    ``begin[c] + l * values[c] + a`` in `nodes` (number of its node at that level), `loss` (weighted cost
    of one cell) and `keys` (a 64-bit hash of column, level and node).
    """

    nodes: NDArray[np.int32]
    loss: NDArray[np.float64]
    keys: NDArray[np.uint64]
    begin: NDArray[np.int64]
    values: NDArray[np.int64]
    height: NDArray[np.int64]
    lowest: NDArray[np.int64]


def forest_of(packed: PackedRowTypes, table: RowTypeTable) -> Forest:
    """Return the hierarchies over the codes of a table.

    Raises
    ------
    InputError
        A hierarchy does not know a value, is no tree, or has losses that fall on the way up, leave
        0 to 1 or differ within a node; or the levels need more bits than a pattern vector has.
    """
    packed.level_fields.require_room()
    return _forest(packed.hierarchies or (None,) * table.width, table)


def suppression_forest(table: RowTypeTable) -> Forest:
    """Return hierarchies that say no more than that a cell may be suppressed."""
    return _forest((None,) * table.width, table)


def _forest(hierarchies: Sequence[PackedHierarchy | None], table: RowTypeTable) -> Forest:
    nodes, losses, keys = [], [], []
    for number, (column, hierarchy) in enumerate(zip(table.columns, hierarchies, strict=True)):
        _, first = number_values(table.codes[number].astype(np.int64))
        cells = native(table.cells[number][first])
        identity, loss = _suppression(cells) if hierarchy is None else _levels(column.name, hierarchy, cells)
        numbers = np.stack([np.unique(level, return_inverse=True)[1] for level in identity])
        _require_tree(column.name, numbers, loss)
        level = np.arange(numbers.shape[0], dtype=np.uint64)[:, None]
        salt = mix((level * np.uint64(64) + np.uint64(number + 1)) * _SALT)
        nodes.append(numbers.astype(np.int32).ravel())
        losses.append((column.weight * loss).ravel())
        keys.append(mix(identity.view(np.uint64) + salt).ravel())
        table.heartbeat()
    sizes = np.array([one.size for one in nodes], dtype=np.int64)
    return Forest(
        np.concatenate(nodes), np.concatenate(losses), np.concatenate(keys), np.cumsum(sizes) - sizes,
        table.cardinalities.astype(np.int64),
        np.array([1 if one is None else one.height for one in hierarchies], dtype=np.int64),
        np.array([0 if one is None else one.lowest for one in hierarchies], dtype=np.int64),
    )  # fmt: skip


def _suppression(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return node identities and losses per level of a column that is only suppressed."""
    return np.stack([cells, np.zeros_like(cells)]), np.repeat([[0.0], [1.0]], cells.size, axis=1)


def _levels(
    name: str, hierarchy: PackedHierarchy, cells: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return node identities and losses per level, shapes (height + 1, v)."""
    known = integers(hierarchy.cells)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], cells), known.size - 1)
    value = order[place] if known.size else place
    if not known.size or not np.array_equal(known[value], cells):
        raise InputError(
            f'The hierarchy of column "{name}" does not know all values of the column.',
            hint="Add the missing values to the hierarchy, or give them to its top.",
        )
    if not 0 <= hierarchy.lowest <= hierarchy.height:
        raise InputError(
            f'The lowest level of column "{name}" is not one of 0 to {hierarchy.height}.',
            hint="Level 0 is the value itself.",
        )
    inner = [integers(one)[value] for one in hierarchy.nodes]
    losses = [floats(one)[value] for one in hierarchy.losses]
    return np.stack([cells, *inner, np.zeros_like(cells)]), np.stack(losses)


def _require_tree(name: str, numbers: NDArray[np.int64], loss: NDArray[np.float64]) -> None:
    for level in range(numbers.shape[0]):
        _, first = np.unique(numbers[level], return_index=True)
        representative = first[numbers[level]]
        if not np.array_equal(numbers[level:], numbers[level:, representative]):
            raise InputError(
                f'The hierarchy of column "{name}" is no tree: a node of level {level} has several parents.',
                hint="Give each node one parent.",
            )
        if (np.abs(loss[level] - loss[level, representative]) > _EQUAL).any():
            raise InputError(
                f'The losses of column "{name}" differ within a node of level {level}.',
                hint="A loss belongs to a node, not to a value below it.",
            )
    is_monotone = bool((np.diff(loss, axis=0) >= 0).all())
    if not (is_monotone and (loss[0] >= 0).all() and (np.abs(loss[-1] - 1) <= _EQUAL).all()):
        raise InputError(
            f'The losses of column "{name}" are not from 0 to 1, or fall from a level to the next.',
            hint="Give one number per level, none less than the one before, the last one 1.",
        )


def codes_of(table: RowTypeTable) -> NDArray[np.int32]:
    """Return the codes of a table, row type by row type, shape (n, m)."""
    return np.ascontiguousarray(table.codes.T)


@inner_kernel
def join_levels(
    forest: Forest,
    codes: NDArray[np.int32],
    level: NDArray[np.int16],
    member: int,
    item: int,
    joined: NDArray[np.int16],
) -> None:
    """Fill `joined` with the levels that a class of some levels needs with one more row type."""
    for column in range(level.size):
        height = level[column]
        first, second = codes[member, column], codes[item, column]
        place = forest.begin[column] + height * forest.values[column]
        while forest.nodes[place + first] != forest.nodes[place + second]:
            place += forest.values[column]
            height += 1
        joined[column] = height


@inner_kernel
def row_cost(forest: Forest, codes: NDArray[np.int32], level: NDArray[np.int16], member: int) -> float:
    """Return the weighted cost of one row of a class."""
    cost = 0.0
    for column in range(level.size):
        place = forest.begin[column] + level[column] * forest.values[column]
        cost += forest.loss[place + codes[member, column]]
    return cost


@kernel
def common_levels(
    forest: Forest, codes: NDArray[np.int32], class_of: NDArray[np.int64], level: NDArray[np.int16]
) -> None:
    """Fill the levels of each class, shape (c, m), with the lowest ones that all its members share."""
    member = np.full(level.shape[0], -1, dtype=np.int64)
    for number in range(level.shape[0]):
        for column in range(level.shape[1]):
            level[number, column] = forest.lowest[column]
    for item in range(class_of.size):
        number = class_of[item]
        if member[number] < 0:
            member[number] = item
        join_levels(forest, codes, level[number], member[number], item, level[number])


@kernel
def row_costs(
    forest: Forest, codes: NDArray[np.int32], level: NDArray[np.int16], class_of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the cost of one row of each row type when its class has some levels, shape (n,)."""
    costs = np.empty(class_of.size, dtype=np.float64)
    for item in range(class_of.size):
        costs[item] = row_cost(forest, codes, level[class_of[item]], item)
    return costs


def levels_of_classes(
    forest: Forest, codes: NDArray[np.int32], class_of: NDArray[np.int64]
) -> NDArray[np.int16]:
    """Return the lowest levels that the members of each class share, shape (c, m).

    Notes
    -----
    O(n m + c m h) for hierarchies of height h.
    """
    level = np.zeros((int(class_of.max()) + 1, codes.shape[1]), dtype=np.int16)
    common_levels(forest, codes, class_of, level)
    return level


def vectors_of_levels(fields: LevelFields, level: NDArray[np.int16]) -> NDArray[np.int64]:
    """Pack levels into pattern vectors.

    Parameters
    ----------
    level : ndarray of int16, shape (c, m)
    """
    vectors = np.zeros(level.shape[0], dtype=np.int64)
    for column, offset in enumerate(fields.offsets):
        vectors |= level[:, column].astype(np.int64) << offset
    return vectors


def levels_of_vectors(fields: LevelFields, vectors: NDArray[np.int64]) -> NDArray[np.int16]:
    """Unpack pattern vectors into levels, shape (c, m)."""
    parts = [
        (vectors >> offset) & ((1 << width) - 1)
        for offset, width in zip(fields.offsets, fields.widths, strict=True)
    ]
    return np.stack(parts, axis=1).astype(np.int16)


def levels_of_bits(vectors: NDArray[np.int64], width: int) -> NDArray[np.int16]:
    """Unpack pattern vectors of suppression alone, a bit per column, into levels, shape (p, m)."""
    return ((vectors[:, None] >> np.arange(width)) & 1).astype(np.int16)


def published_classes(
    forest: Forest, codes: NDArray[np.int32], fields: LevelFields, vectors: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number the classes that pattern vectors make: equal levels and equal nodes, shape (n,).

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)
    vectors : ndarray of int64, shape (n,)
    """
    level = levels_of_vectors(fields, vectors)
    keys = mix(vectors.view(np.uint64))
    for column in range(codes.shape[1]):
        place = forest.begin[column] + level[:, column] * forest.values[column] + codes[:, column]
        keys += forest.keys[place]
    return number_values(keys.view(np.int64))[0]


MOST_VECTORS = 1 << 16
"""Most level vectors that are listed."""


def number_of_vectors(forest: Forest) -> int:
    """Return how many level vectors there are."""
    return math.prod((forest.height - forest.lowest + 1).tolist())


def marginal_costs(forest: Forest, table: RowTypeTable) -> list[NDArray[np.float64]]:
    """Return per column and level what all rows of the table cost there, each of shape (height + 1,)."""
    found = []
    for column in range(table.width):
        rows = np.bincount(table.codes[column], weights=table.rows, minlength=int(forest.values[column]))
        begin, count = int(forest.begin[column]), int(forest.values[column])
        end = begin + (int(forest.height[column]) + 1) * count
        found.append(forest.loss[begin:end].reshape(-1, count) @ rows)
    return found


def all_levels(forest: Forest) -> NDArray[np.int16]:
    """Return all allowed level vectors, at most `MOST_VECTORS`, shape (p, m)."""
    ranges = [
        np.arange(low, high + 1, dtype=np.int16)
        for low, high in zip(forest.lowest.tolist(), forest.height.tolist(), strict=True)
    ]
    return np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)


def keys_at(forest: Forest, codes: NDArray[np.int32], level: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a 64-bit key of what each row type shows at a level vector, shape (n,).

    Parameters
    ----------
    codes : ndarray of int32, shape (m, n)
    """
    keys = np.zeros(codes.shape[1], dtype=np.uint64)
    for column in range(codes.shape[0]):
        start = int(forest.begin[column] + level[column] * forest.values[column])
        keys += forest.keys[start + codes[column]]
    return keys


@kernel
def move_keys(
    forest: Forest,
    codes: NDArray[np.int32],
    keys: NDArray[np.uint64],
    length: int,
    before: NDArray[np.int16],
    after: NDArray[np.int16],
) -> None:
    """Change the first `length` keys from one level vector, which becomes the other one, to another.

    Parameters
    ----------
    codes : ndarray of int32, shape (m, n)
    """
    for column in range(after.size):
        if after[column] == before[column]:
            continue
        values = forest.values[column]
        was = forest.begin[column] + before[column] * values
        now = forest.begin[column] + after[column] * values
        change = forest.keys[now : now + values] - forest.keys[was : was + values]
        own = codes[column]
        for item in range(length):
            keys[item] += change[own[item]]
        before[column] = after[column]


def cheapest_levels_first(forest: Forest, table: RowTypeTable) -> NDArray[np.int16]:
    """Return all allowed level vectors by their cost for the whole table, shape (p, m).

    Parameters
    ----------
    forest : Forest
        With at most `MOST_VECTORS` level vectors.

    Notes
    -----
    Of two vectors one of which generalizes the other, the more specific comes first.
    """
    marginal = marginal_costs(forest, table)
    levels = all_levels(forest)
    costs = sum(marginal[column][levels[:, column]] for column in range(table.width))
    order = np.lexsort((*levels.T[::-1], levels.sum(axis=1), np.round(np.asarray(costs), 6)))
    in_order: NDArray[np.int16] = levels[order]
    return in_order
