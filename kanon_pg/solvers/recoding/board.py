"""Classes as linked lists of row types, with what each publishes and costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import inner_kernel
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.solvers.local_search.partition import NOBODY
from kanon_pg.solvers.recoding.forest import Forest, levels_of_classes, row_cost


class Items(NamedTuple):
    """Row types: codes, rows, people (sums of them count who is in several row types twice)."""

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]


class Board(NamedTuple):
    """Who is in which class; all arrays change in place.

    The first six arrays are per class: levels, some member, cost of a row, rows, people, first member.
    `free` lists unused numbers of classes, ``state[0]`` says how many.
    """

    level: NDArray[np.int16]
    member: NDArray[np.int32]
    cost: NDArray[np.float64]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    head: NDArray[np.int32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    class_of: NDArray[np.int32]
    free: NDArray[np.int32]
    state: NDArray[np.int64]


def board_of(forest: Forest, items: Items, class_of: NDArray[np.int64]) -> Board:
    """Return the board of some classes, numbered from 0 without gaps."""
    count, width = items.codes.shape
    classes = int(class_of.max()) + 1
    level = np.zeros((count, width), dtype=np.int16)
    level[:classes] = levels_of_classes(forest, items.codes, class_of)
    board = Board(
        level, np.zeros(count, dtype=np.int32), np.zeros(count), np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.full(count, NOBODY, dtype=np.int32),
        np.full(count, NOBODY, dtype=np.int32), np.full(count, NOBODY, dtype=np.int32),
        np.empty(count, dtype=np.int32), np.arange(count - 1, -1, -1, dtype=np.int32),
        np.array([count - classes], dtype=np.int64),
    )  # fmt: skip
    _fill(board, forest, items, class_of)
    return board


@inner_kernel
def _fill(board: Board, forest: Forest, items: Items, class_of: NDArray[np.int64]) -> None:
    for item in range(class_of.size):
        seat(board, items, item, class_of[item])
        board.member[class_of[item]] = item
    for number in range(board.cost.size - board.state[0]):
        board.cost[number] = row_cost(forest, items.codes, board.level[number], board.member[number])


@inner_kernel
def seat(board: Board, items: Items, item: int, number: int) -> None:
    """Put a row type into a class, whose levels must fit already."""
    first = board.head[number]
    board.following[item] = first
    board.previous[item] = NOBODY
    if first != NOBODY:
        board.previous[first] = item
    board.head[number] = item
    board.class_of[item] = number
    board.rows[number] += items.rows[item]
    board.people[number] += items.people[item]


@inner_kernel
def lift(board: Board, items: Items, item: int) -> None:
    """Take a row type out of its class, whose levels stay as they are."""
    number = board.class_of[item]
    before, after = board.previous[item], board.following[item]
    if before == NOBODY:
        board.head[number] = after
    else:
        board.following[before] = after
    if after != NOBODY:
        board.previous[after] = before
    if board.member[number] == item:
        board.member[number] = board.head[number]
    board.rows[number] -= items.rows[item]
    board.people[number] -= items.people[item]


@inner_kernel
def covers(board: Board, forest: Forest, items: Items, number: int, item: int) -> bool:
    """Return whether a row type shares all nodes that a class publishes."""
    member = board.member[number]
    for column in range(board.level.shape[1]):
        place = forest.begin[column] + board.level[number, column] * forest.values[column]
        if (
            forest.nodes[place + items.codes[member, column]]
            != forest.nodes[place + items.codes[item, column]]
        ):
            return False
    return True


def items_of(table: RowTypeTable, codes: NDArray[np.int32]) -> Items:
    """Return the row types of a table as kernels see them."""
    return Items(codes, table.rows, table.people)


def cost_of(board: Board) -> float:
    """Return the cost of all rows."""
    return float((board.cost * board.rows).sum())
