"""Kernels that group row types under one pattern vector after another.

The key of a row type under a vector is the sum of the 64-bit hashes of its kept cells. Consecutive
vectors differ in few columns, so keys are updated, not recomputed; and before row types are grouped by
key, a small table of counters that saturate at the limit (Park, Chen and Yu 1995, "An effective
hash-based algorithm for mining association rules") discards those whose class is too small for sure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel

MOST_COUNTED = 60_000
"""Counters of the filter are 16 bits wide; larger limits are filtered as if they were this one."""


@kernel
def filter_bits(items: int) -> int:
    """Return how many bits number the counters of the filter for some items."""
    bits = 10
    while (1 << bits) < 2 * items and bits < 22:
        bits += 1
    return bits


@kernel
def update_keys(
    keys: NDArray[np.uint64], hashes: NDArray[np.uint64], length: int, before: int, after: int
) -> None:
    """Change the first `length` keys from vector `before` to vector `after`."""
    for column in range(hashes.shape[0]):
        was = (before >> column) & 1
        now = (after >> column) & 1
        if was == 0 and now == 1:
            for item in range(length):
                keys[item] -= hashes[column, item]
        elif was == 1 and now == 0:
            for item in range(length):
                keys[item] += hashes[column, item]


class Living(NamedTuple):
    """Items that are still to be assigned: keys, people, numbers, whether alive."""

    keys: NDArray[np.uint64]
    people: NDArray[np.int64]
    numbers: NDArray[np.int32]
    alive: NDArray[np.bool_]


def counters_for(count: int) -> NDArray[np.uint16]:
    """Return enough counters for the filter of `count` items."""
    return np.zeros(1 << int(filter_bits(count)), dtype=np.uint16)


@kernel
def filter_living(
    living: Living, length: int, limit: int, counters: NDArray[np.uint16], candidates: NDArray[np.int32]
) -> int:
    """List the living items whose class may reach `limit` people; return how many there are."""
    keys, people, alive = living.keys, living.people, living.alive
    bits = filter_bits(length)
    shift = np.uint64(64 - bits)
    enough = np.int64(min(limit, MOST_COUNTED))
    counters[: 1 << bits] = 0
    for item in range(length):
        place = np.int64(keys[item] >> shift)
        more = min(people[item], enough) * alive[item]
        counters[place] = np.uint16(min(np.int64(counters[place]) + more, enough))
    found = 0
    for item in range(length):
        # Written first and counted afterwards: a branch here would be mispredicted half of the time.
        candidates[found] = item
        may_reach = np.int64(counters[np.int64(keys[item] >> shift)]) >= enough
        found += int(may_reach & alive[item])
    return found


class KeyFilter(NamedTuple):
    """Marked places of keys, and counters of the people there."""

    marked: NDArray[np.uint8]
    counters: NDArray[np.uint16]


def key_filter_for(count: int) -> KeyFilter:
    """Return a filter for `count` keys, all places unmarked."""
    return KeyFilter(np.zeros(1 << int(filter_bits(count)), dtype=np.uint8), counters_for(count))


@kernel
def filter_around(
    keys: NDArray[np.uint64],
    people: NDArray[np.int64],
    limit: int,
    key_filter: KeyFilter,
    wanted: NDArray[np.int32],
    among: NDArray[np.int32],
    candidates: NDArray[np.int32],
) -> int:
    """List the items that may agree with a wanted one and whose class may reach `limit` people.

    Returns how many there are, taken from `among` in its order. Keys that begin alike are taken to be equal.
    `wanted` may be the first `candidates`.
    """
    bits = filter_bits(wanted.size)
    shift = np.uint64(64 - bits)
    key_filter.marked[: 1 << bits] = 0
    for item in wanted:
        key_filter.marked[np.int64(keys[item] >> shift)] = 1
    listed = 0
    for item in among:
        candidates[listed] = item
        listed += int(key_filter.marked[np.int64(keys[item] >> shift)])
    counters = key_filter.counters
    bits = filter_bits(listed)
    shift = np.uint64(64 - bits)
    enough = np.int64(min(limit, MOST_COUNTED))
    counters[: 1 << bits] = 0
    for item in candidates[:listed]:
        place = np.int64(keys[item] >> shift)
        counters[place] = np.uint16(min(np.int64(counters[place]) + min(people[item], enough), enough))
    found = 0
    for position in range(listed):
        item = candidates[position]
        candidates[found] = item
        found += int(np.int64(counters[np.int64(keys[item] >> shift)]) >= enough)
    return found


class GroupingBuffers(NamedTuple):
    """Working arrays that group items by key.

    `group_of` numbers the group of each candidate; `table_keys` and `table_groups` are an open
    addressing hash table; `members` lists the candidates group by group.
    """

    candidates: NDArray[np.int32]
    group_of: NDArray[np.int32]
    table_keys: NDArray[np.uint64]
    table_groups: NDArray[np.int32]
    members: NDArray[np.int32]


def grouping_for(count: int) -> GroupingBuffers:
    """Return working arrays for up to `count` items."""
    size = 1 << max(4, (2 * count - 1).bit_length())
    return GroupingBuffers(
        np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32), np.empty(size, dtype=np.uint64),
        np.empty(size, dtype=np.int32), np.empty(count, dtype=np.int32),
    )  # fmt: skip


@kernel
def group_candidates(keys: NDArray[np.uint64], found: int, grouping: GroupingBuffers) -> int:
    """Number the groups of the first `found` candidates from 0; return how many groups there are."""
    candidates, group_of = grouping.candidates, grouping.group_of
    table_keys, table_groups = grouping.table_keys, grouping.table_groups
    size = 16
    while size < 2 * found:
        size *= 2
    table_groups[:size] = -1
    mask = np.uint64(size - 1)
    groups = 0
    for position in range(found):
        key = keys[candidates[position]]
        place = np.int64(key & mask)
        while table_groups[place] >= 0 and table_keys[place] != key:
            place = np.int64((np.uint64(place) + np.uint64(1)) & mask)
        if table_groups[place] < 0:
            table_keys[place] = key
            table_groups[place] = groups
            groups += 1
        group_of[position] = table_groups[place]
    return groups


@kernel
def list_groups(grouping: GroupingBuffers, found: int, groups: int) -> NDArray[np.int64]:
    """List the candidates group by group, in their order; return where each group begins."""
    first = np.zeros(groups + 1, dtype=np.int64)
    for position in range(found):
        first[grouping.group_of[position] + 1] += 1
    for group in range(groups):
        first[group + 1] += first[group]
    place = first[:-1].copy()
    for position in range(found):
        group = grouping.group_of[position]
        grouping.members[place[group]] = grouping.candidates[position]
        place[group] += 1
    return first


@kernel
def count_shared(
    items: NDArray[np.int32],
    length: int,
    start: NDArray[np.int64],
    shared: NDArray[np.int64],
    stamps: NDArray[np.int64],
    stamp: int,
) -> int:
    """Return how many distinct shared people some row types have together."""
    distinct = 0
    for position in range(length):
        item = items[position]
        for place in range(start[item], start[item + 1]):
            if stamps[shared[place]] != stamp:
                stamps[shared[place]] = stamp
                distinct += 1
    return distinct
