"""The costliest class that k and the privacy models allow among row types that agree, in whole numbers.

Prices prove a bound if no class that could be formed costs less than the prices of its rows. Privacy models
allow fewer classes, so that higher prices are valid. For a group of row types and a cost per row, the kernels
here find the most by which the prices of the rows of a class exceed its cost, the *gain*:

k
    All rows whose prices exceed the cost; if these are too few people, the costliest of the others.
At least p different values
    The same with, before others are added, the costliest row of each of the values that lack. The sets of
    rows that can be added are the bases of the union of a partition matroid and a uniform one, in which the
    greedy choice is the best (Edmonds 1968, "Matroid partition").
No value in more than 1/l of the class
    If no value has more than m rows and the class has at least l m, it satisfies the model, and every class
    that does is such a one. The best class for one m is the greedy choice, because the limits are nested. The
    greatest gain for m is that of a linear program with whole vertices whose right-hand side is linear in m,
    but for the greater of l m and k, which is convex: it is concave in m, so that bisection finds the best m.
k people, where an entity tells them apart
    Row types are published in one piece then, and somebody may have rows of several. Let a row cost c, and
    let a class consist of row types S. Those priced above c gain; each other type i of S loses
    ``L_i = rows_i (c - price_i)``. Choose k people of the class, and for each of them one type of S in which
    they have a row. A type i was chosen at most ``m_i = min(people_i, k)`` times, so the types of S lose at
    least the sum of ``L_i / m_i`` over the k choices, where those that gain count as 0. That is at least the
    sum, over these people, of the least ``L_i / m_i`` of any type of theirs in the group, and at least the
    sum of the k smallest of these numbers in the group, which are rounded down. So no class gains more than
    the costly types less these k shares. Where each cheap type is of one person, some class gains as much. As
    the greatest gain does, this limit never falls when prices rise, and never rises when members are left out
    or rows cost more, on which searches rely.

The other models imply these: entropy of log l at least l different values; the equal distance t to the shares
q of the whole table as many as are needed to have values of shares 1 - t together, because the shares of
values that a class lacks add up to no more than its distance, and no value in more than the greatest share
and t together. That they demand more is left out, which allows more classes.

Where several demands are made, or one of several columns, the gain is at most the least of those under each
of them. What models demand of people, where an entity tells them apart, is left out, too: they have at least
k people, and therefore k rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.verification.class_demands import NO_CLASS, ClassDemands, PricedRows, empty_values

_TOO_FEW, _TOO_MANY = np.int64(NO_CLASS - 1), np.int64(NO_CLASS - 2)

_NO_LIMIT = np.int64(1 << 62)


@kernel
def greatest_gain(
    demands: ClassDemands, priced: PricedRows, members: NDArray[np.int32], cost: np.int64, k: int
) -> np.int64:
    """Return the most by which the prices of the rows of a class exceed its cost; `taken` has its rows.

    Parameters
    ----------
    members : ndarray of int32
        Row types that agree, costliest first.
    cost : int
        Cost of a row in the unit of the prices.

    Returns
    -------
    int
        `NO_CLASS` if no class is allowed.

    Notes
    -----
    O(n) per column for n members, with a limit of shares O(n log r) for r rows of a value.
    """
    least, at, last = np.int64(0), -1, -1
    columns = demands.codes.shape[0]
    for number in range(2 * columns + 1):
        column, has_limit = number // 2, number % 2 == 1
        if column == columns:
            if not demands.has_entity:
                continue
        elif has_limit:
            if demands.share <= 1:
                continue
        elif demands.share >= max(2, demands.least[column]) and not demands.has_entity:
            continue  # the limit of shares demands as many values, and k rows are k people
        gain = _gain_under(demands, number, priced, members, cost, k)
        last = number
        if at < 0 or gain < least:
            least, at = gain, number
        if least == NO_CLASS:
            return least
    if at != last:
        _gain_under(demands, at, priced, members, cost, k)
    return least


@kernel
def _gain_under(
    demands: ClassDemands,
    number: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain under one of the demands: two for each column, and one on people."""
    column = number // 2
    if column == demands.codes.shape[0]:
        return _gain_with_people(demands, priced, members, cost, k)
    codes = demands.codes[column]
    if number % 2 == 0:
        return _gain_with_values(demands, codes, demands.least[column], priced, members, cost, k)
    return _gain_with_shares(demands, codes, priced, members, cost, k)


@kernel
def _gain_with_people(
    demands: ClassDemands, priced: PricedRows, members: NDArray[np.int32], cost: np.int64, k: int
) -> np.int64:
    """Return the most that row types in one piece can gain where k people have rows of them."""
    taken, seen = demands.taken, demands.seen
    taken[: members.size] = 0.0
    costly, known, chosen = seen[-1] + 1, seen[-1] + 2, seen[-1] + 3
    seen[-1] = chosen
    gain, together, end = np.int64(0), np.int64(0), 0
    while end < members.size and priced.prices[members[end]] > cost:
        item = members[end]
        taken[end] = priced.rows[item]
        gain += priced.rows[item] * (priced.prices[item] - cost)
        together += _people_met(demands, priced, item, costly, costly)
        end += 1
    if together >= k:
        return gain
    # No share is below what a row of its type loses, so the smallest are those of types up to some price.
    cheap, reached, greatest = end, together, np.int64(0)
    while end < members.size and (reached < k or cost - priced.prices[members[end]] < greatest):
        met = _people_met(demands, priced, members[end], costly, known)
        if reached < k and met > 0:
            greatest = max(greatest, _share_of_person(priced, members[end], cost, k))
        reached += met
        end += 1
    if reached < k:
        return NO_CLASS
    shares = np.empty(end - cheap, dtype=np.int64)
    for place in range(cheap, end):
        shares[place - cheap] = _share_of_person(priced, members[place], cost, k)
    for least in np.argsort(shares, kind="mergesort"):
        item = members[cheap + least]
        more = min(_people_met(demands, priced, item, costly, chosen), k - together)
        if more > 0:
            together += more
            gain -= more * shares[least]
            taken[cheap + least] = priced.rows[item] * more / min(priced.people[item], k)
        if together >= k:
            break
    return gain


@kernel
def _people_met(
    demands: ClassDemands, priced: PricedRows, item: int, costly: np.int64, now: np.int64
) -> np.int64:
    """Return how many people of a row type have not been met since `costly` at this time, which is noted."""
    seen, begin = demands.seen, demands.begin
    met = np.int64(priced.people[item] - (begin[item + 1] - begin[item]))
    for place in range(begin[item], begin[item + 1]):
        person = demands.shared[place]
        if seen[person] < costly or (seen[person] > costly and seen[person] < now):
            seen[person] = now
            met += 1
    return met


@kernel
def _share_of_person(priced: PricedRows, item: int, cost: np.int64, k: int) -> np.int64:
    """Return what a row type that costs more than its prices loses per person, of at most k, rounded down."""
    if priced.people[item] == 0:
        return np.int64(1) << 62
    return np.int64(priced.rows[item] * (cost - priced.prices[item]) // min(priced.people[item], k))


@kernel
def _gain_with_values(
    demands: ClassDemands,
    codes: NDArray[np.int32],
    least: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain of a class with enough different values."""
    held, taken = demands.held, demands.taken
    gain, together, different = np.int64(0), np.int64(0), 0
    empty_values(held, codes, members)
    cheap = members.size
    for place in range(members.size):
        item = members[place]
        if priced.prices[item] <= cost:
            cheap = place
            break
        taken[place] = priced.rows[item]
        gain += priced.rows[item] * (priced.prices[item] - cost)
        together += priced.people[item]
        different += 1 - held[codes[item]]
        held[codes[item]] = 1
    taken[cheap : members.size] = 0
    place = cheap
    while place < members.size and different < least:
        item = members[place]
        if held[codes[item]] == 0:
            held[codes[item]], taken[place] = 1, 1
            different += 1
            together += 1
            gain -= cost - priced.prices[item]
        place += 1
    if different < least:
        return NO_CLASS
    place = cheap
    while place < members.size and together < k:
        item = members[place]
        more = min(max(0, priced.people[item] - np.int64(taken[place])), k - together)
        taken[place] += more
        together += more
        gain -= more * (cost - priced.prices[item])
        place += 1
    return gain if together >= k else NO_CLASS


@kernel
def _gain_with_shares(
    demands: ClassDemands,
    codes: NDArray[np.int32],
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain of a class in which no value has more than its share."""
    # Most costliest classes are small, and a limit is tried in as little time as it is low.
    low, high, step = np.int64(1), _NO_LIMIT, np.int64(1)
    while low < high:
        middle = low + step - 1 if high == _NO_LIMIT else (low + high) // 2
        here = _gain_with_limit(demands, codes, middle, priced, members, cost, k)
        if here == _TOO_MANY:
            high = middle - 1
            continue
        above = (
            here
            if here == _TOO_FEW
            else _gain_with_limit(demands, codes, middle + 1, priced, members, cost, k)
        )
        if here == _TOO_FEW or above > here:
            low, step = middle + 1, 2 * step
        else:
            high = middle
    if low > high:
        return NO_CLASS
    return max(NO_CLASS, _gain_with_limit(demands, codes, low, priced, members, cost, k))


@kernel
def _gain_with_limit(
    demands: ClassDemands,
    codes: NDArray[np.int32],
    limit: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain of a class with at most so many rows of each value, and enough for that.

    Where there is none: whether the limit is too low for k rows, or too high for the rows it asks for.
    """
    held, taken = demands.held, demands.taken
    empty_values(held, codes, members)
    needed = np.int64(max(k, int(limit) * demands.share))
    gain, together = np.int64(0), np.int64(0)
    end = members.size
    for place in range(members.size):
        item = members[place]
        more = min(priced.rows[item], limit - held[codes[item]])
        if priced.prices[item] <= cost:
            if together >= needed:
                end = place
                break
            more = min(more, needed - together)
        taken[place] = more
        held[codes[item]] += more
        together += more
        gain += more * (priced.prices[item] - cost)
    taken[end : members.size] = 0
    if together >= needed:
        return gain
    return _TOO_MANY if together < limit * demands.share else _TOO_FEW


@kernel
def with_gain(
    demands: ClassDemands,
    priced: PricedRows,
    begin: NDArray[np.int64],
    members: NDArray[np.int32],
    costs: NDArray[np.int64],
    k: int,
) -> NDArray[np.bool_]:
    """Return for each group of members, listed costliest first, whether some class gains."""
    gains = np.empty(begin.size - 1, dtype=np.bool_)
    for group in range(gains.size):
        listed = members[begin[group] : begin[group + 1]]
        gains[group] = greatest_gain(demands, priced, listed, costs[group], k) > 0
    return gains
