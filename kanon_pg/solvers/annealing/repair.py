"""Kernels that give items that were taken out a new place: open classes for them, largest gains first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.core.row_types import mix
from kanon_pg.solvers.annealing.board import Board, Standing, limit_of
from kanon_pg.solvers.annealing.draw import below, share
from kanon_pg.solvers.annealing.ruin import Taken
from kanon_pg.solvers.local_search.partition import NOBODY

_TINY = 1e-9
_MOST_PAIRS = 1 << 20
_TABLE = 1 << 16
_CLOSE = 0.02
_WAYS = 12


class Bench(NamedTuple):
    """Working arrays of a repair.

    Per item taken: the open class it would go to (`fallback`) and what it pays there (`worth`), its turn,
    whether it is free, and a random mark. Per instance: a stamp, and people, marks and number of the
    items that could join (later its slot). Per pair of item and closed instance: both. Per slot, which is
    an instance that the items could fill: the instance, and where its items begin. `table` finds slots.
    """

    fallback: NDArray[np.int32]
    worth: NDArray[np.float64]
    order: NDArray[np.int64]
    free: NDArray[np.bool_]
    mark: NDArray[np.int64]
    people: NDArray[np.int64]
    sign: NDArray[np.uint64]
    pairs: NDArray[np.int32]
    marks: NDArray[np.uint64]
    table: NDArray[np.int64]
    pair_item: NDArray[np.int32]
    pair_instance: NDArray[np.int32]
    slot_instance: NDArray[np.int32]
    slot_begin: NDArray[np.int64]
    slot_item: NDArray[np.int32]
    last_stamp: NDArray[np.int64]


def bench_for(board: Board, most: int) -> Bench:
    """Return working arrays for repairs of up to `most` items."""
    instances = board.cost.size
    return Bench(
        np.empty(most, dtype=np.int32), np.empty(most, dtype=np.float64), np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.bool_), np.zeros(instances, dtype=np.int64),
        np.empty(instances, dtype=np.int64), np.empty(instances, dtype=np.uint64),
        np.empty(instances, dtype=np.int32), mix(np.arange(1, most + 1, dtype=np.uint64)),
        np.zeros(_TABLE, dtype=np.int64), np.empty(_MOST_PAIRS, dtype=np.int32),
        np.empty(_MOST_PAIRS, dtype=np.int32), np.empty(_MOST_PAIRS, dtype=np.int32),
        np.empty(_MOST_PAIRS + 1, dtype=np.int64),
        np.empty(_MOST_PAIRS, dtype=np.int32), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def _find_fallbacks(board: Board, standing: Standing, taken: Taken, bench: Bench, unit: float) -> int:
    """Find the cheapest open class for each item; return how many instances were looked at."""
    looked = 0
    for place in range(taken.length[0]):
        row_type = board.type_of[taken.item[place]]
        bench.fallback[place] = NOBODY
        bench.worth[place] = board.cost[board.cost.size - 1] + unit
        for position in range(board.start[row_type], board.start[row_type + 1]):
            number = board.instance[position]
            looked += 1
            if standing.head[number] != NOBODY:
                bench.fallback[place] = number
                bench.worth[place] = board.cost[number]
                break
    return looked


@kernel
def _list_pairs(board: Board, standing: Standing, taken: Taken, bench: Bench, margin: float) -> int:
    """List the closed instances that each item could join, dearest items first."""
    count = taken.length[0]
    bench.order[:count] = np.argsort(-bench.worth[:count], kind="mergesort")
    bench.last_stamp[0] += 1
    stamp = bench.last_stamp[0]
    pairs = 0
    for turn in range(count):
        place = bench.order[turn]
        bench.free[place] = True
        item = taken.item[place]
        highest = bench.worth[place] + margin
        for position in range(board.start[board.type_of[item]], board.start[board.type_of[item] + 1]):
            number = board.instance[position]
            if board.cost[number] > highest or pairs == bench.pair_item.size:
                break
            if standing.head[number] != NOBODY:
                continue
            if bench.mark[number] != stamp:
                bench.mark[number] = stamp
                bench.people[number] = 0
                bench.sign[number] = 0
                bench.pairs[number] = 0
            bench.people[number] += board.people[item]
            bench.sign[number] += bench.marks[place]
            bench.pairs[number] += 1
            bench.pair_item[pairs] = place
            bench.pair_instance[pairs] = number
            pairs += 1
    return pairs


@kernel
def _slot_of(board: Board, bench: Bench, number: int, slots: int) -> int:
    """Return the slot of the instances that the same items could join, or `slots` if there is none."""
    sign = bench.sign[number]
    place = np.int64(sign >> np.uint64(48))
    while bench.table[place] >> 32 == bench.last_stamp[0]:
        slot = bench.table[place] & 0xFFFFFFFF
        if bench.sign[bench.slot_instance[slot]] == sign:
            return int(slot)
        place = (place + 1) % bench.table.size
    bench.table[place] = (bench.last_stamp[0] << 32) | slots
    return slots


@kernel
def _list_slots(board: Board, bench: Bench, pairs: int) -> int:
    """List the instances that the items can fill, of those with the same items the cheapest."""
    slots, room = 0, 0
    for pair in range(pairs):
        number = bench.pair_instance[pair]
        if bench.pairs[number] <= 0:
            continue
        if bench.people[number] >= limit_of(board, number) and slots < bench.table.size // 2:
            slot = _slot_of(board, bench, number, slots)
            if slot == slots:
                bench.slot_instance[slots] = number
                bench.slot_begin[slots] = room
                room += bench.pairs[number]
                slots += 1
            elif board.cost[number] < board.cost[bench.slot_instance[slot]]:
                bench.slot_instance[slot] = number
        bench.pairs[number] = 0
    for slot in range(slots):
        bench.pairs[bench.slot_instance[slot]] = -1 - slot
    bench.slot_begin[slots] = room
    for pair in range(pairs):
        slot = -1 - bench.pairs[bench.pair_instance[pair]]
        if slot >= 0:
            bench.slot_item[bench.slot_begin[slot]] = bench.pair_item[pair]
            bench.slot_begin[slot] += 1
    for slot in range(slots, 0, -1):
        bench.slot_begin[slot] = bench.slot_begin[slot - 1]
    bench.slot_begin[0] = 0
    return slots


@kernel
def _value(board: Board, taken: Taken, bench: Bench, slot: int) -> tuple[float, int, float]:
    """Return what opening an instance gains, its people, and what they pay in excess of their prices.

    Nothing is gained if the people would be too few.
    """
    number = bench.slot_instance[slot]
    cost, limit = board.cost[number], limit_of(board, number)
    value, people, excess = 0.0, 0, 0.0
    for position in range(bench.slot_begin[slot], bench.slot_begin[slot + 1]):
        place = bench.slot_item[position]
        if not bench.free[place]:
            continue
        gain = bench.worth[place] - cost
        if gain <= _TINY and people >= limit:
            break
        item = taken.item[place]
        value += gain * board.rows[item]
        people += board.people[item]
        if board.price.size > 0:
            excess += (cost - board.price[board.type_of[item]]) * board.rows[item]
    return (value, people, excess) if people >= limit else (-np.inf, 1, 0.0)


@kernel
def _open(board: Board, taken: Taken, bench: Bench, slot: int) -> None:
    """Send the items of a slot to its instance."""
    number = bench.slot_instance[slot]
    cost, limit = board.cost[number], limit_of(board, number)
    people = 0
    for position in range(bench.slot_begin[slot], bench.slot_begin[slot + 1]):
        place = bench.slot_item[position]
        if not bench.free[place]:
            continue
        if bench.worth[place] - cost <= _TINY and people >= limit:
            break
        people += board.people[taken.item[place]]
        bench.free[place] = False
        bench.fallback[place] = number
        bench.worth[place] = cost


@kernel
def _score(value: float, people: int, excess: float, way: int) -> float:
    """Return how good it is to open an instance: by gain, gain per person, or little excess per person."""
    if way == 0:
        return value
    return value / people if way == 1 else people / (_CLOSE * people + max(excess, 0.0))


@kernel
def repair(
    board: Board, standing: Standing, taken: Taken, bench: Bench, random: NDArray[np.uint64], unit: float
) -> int:
    """Decide where the items go: `bench.fallback` names an instance for each, or `NOBODY`.

    Returns
    -------
    int
        How many pairs were looked at.
    """
    work = _find_fallbacks(board, standing, taken, bench, unit)
    margin = unit * below(random, 3) + _TINY
    pairs = _list_pairs(board, standing, taken, bench, margin)
    slots = _list_slots(board, bench, pairs)
    way = below(random, 2) if board.price.size == 0 else below(random, _WAYS)
    while slots > 0:
        best, highest = NOBODY, 0.0
        for slot in range(slots):
            value, people, excess = _value(board, taken, bench, slot)
            if value <= _TINY:
                continue
            score = _score(value, people, excess, way) * (1.0 - 0.2 * share(random))
            if score > highest:
                best, highest = slot, score
        work += bench.slot_begin[slots]
        if best == NOBODY:
            break
        _open(board, taken, bench, best)
    return work + pairs
