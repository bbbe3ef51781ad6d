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

No further than t from the whole table, equal distance
    Let a value have the share q of the whole table. The distance of a class of n rows is the share of its
    rows beyond q n of their value, so these are at most t n. Where rows may be taken in parts, the greedy
    choice of n rows is the best: the quotas of values and the room beyond them are a polymatroid (Edmonds
    1970, "Submodular functions, matroids, and certain polyhedra"). They are linear in n, so the greatest gain
    is concave in n, and bisection finds the best n. Shares are rounded up, which allows more classes.

    Of small classes rows are whole. The rows of a value go beyond ``q n`` one after the other: the first
    ``floor(q n)`` not at all, the next one by what is left of it, all further ones wholly. With a price for
    that, the class that gains most has the n rows that gain most, the price paid, and for the best price no
    class gains more than these and the price of ``t n``: the linear program over whole rows. That is no
    longer concave in n, so each n is looked at for which parts of rows gain anything.

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

The other models imply numbers of different values: entropy of log l at least l; the equal distance t to the
shares q of the whole table as many as are needed to have values of shares 1 - t together, because the shares
of values that a class lacks add up to no more than its distance. Where several demands are made, or one of
several columns, the gain is at most the least of those under each of them. What models demand of people,
where an entity tells them apart, is left out here, which allows more classes: they have at least k people,
and therefore k rows.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import PrivacyModels
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable, shared_people

_TOLERANCE = Fraction(1, 10**8)
"""More than distances that are held for equal differ by (1e-9), and than rounding adds."""

NO_CLASS = np.int64(-(1 << 62))
"""The gain where no class is allowed."""

SHARE_UNIT = 1 << 16
"""Shares of values are whole numbers of this fraction."""

_ANY_GAIN = np.int64(1 << 61)
"""The gain where sums could leave 64 bits, so that nothing is claimed."""

_TOO_FEW, _TOO_MANY = np.int64(NO_CLASS - 1), np.int64(NO_CLASS - 2)

_NO_LIMIT = np.int64(1 << 62)


class ClassDemands(NamedTuple):
    """What is demanded of classes besides k.

    Parameters
    ----------
    codes : ndarray of int32, shape (s, n)
        Value of each row type in each sensitive column, numbered from 0.
    least : ndarray of int64, shape (s,)
        Fewest different values of each column; 1 demands nothing.
    share : int
        No value may have more than one in so many rows; 1 demands nothing.
    quotas : ndarray of int64, shape (s, v)
        Share of each value in the whole table, in units of 1 / `SHARE_UNIT`, rounded up.
    beyond : int
        Largest share of rows of a class beyond these quotas, in the same unit; negative if any will do.
    has_entity : int
        1 if people are told apart by an entity, so that people and rows differ.
    held : ndarray of int64
        Working array: rows per value.
    taken : ndarray of float64, shape (n,)
        Rows of each member of the last group that the costliest class has; may be parts of rows.
    begin : ndarray of int64, shape (n + 1,)
        Where the people of each row type begin in `shared`.
    shared : ndarray of int64
        People who have rows of several row types, numbered from 0.
    seen : ndarray of int64
        Working array: when each of them was last met; the last entry is the time.
    """

    codes: NDArray[np.int32]
    least: NDArray[np.int64]
    share: int
    quotas: NDArray[np.int64]
    beyond: int
    has_entity: int
    held: NDArray[np.int64]
    taken: NDArray[np.float64]
    begin: NDArray[np.int64]
    shared: NDArray[np.int64]
    seen: NDArray[np.int64]

    def ordered(self, order: NDArray[np.int32]) -> ClassDemands:
        """Return the demands on some row types in some order."""
        codes = np.ascontiguousarray(self.codes[:, order])
        lengths = np.diff(self.begin)[order]
        begin = np.zeros(order.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=begin[1:])
        places = np.repeat(self.begin[order] - begin[:-1], lengths) + np.arange(begin[-1])
        return self._replace(codes=codes, begin=begin, shared=self.shared[places])


def class_demands(row_types: PackedRowTypes | RowTypeTable, models: PrivacyModels) -> ClassDemands | None:
    """Return what models and people who have several rows demand of classes, None if that is nothing."""
    columns, rows = _sensitive(row_types)
    if not models:
        columns = []
    if not columns and not row_types.has_entity:
        return None
    codes = [number_values(cells)[0] for cells in columns]
    share = models.l if models.l is not None and models.diversity == "frequency" else 1
    asked = [models.p or 1, models.l or 1]
    least = [max(*asked, _needed(code, rows, models)) for code in codes]
    values = max((int(code.max()) for code in codes), default=-1) + 1
    quotas = np.zeros((len(codes), values), dtype=np.int64)
    for column, code in enumerate(codes):
        np.add.at(quotas[column], code, rows)
    beyond = -1
    if models.t is not None and models.distance == "equal":
        beyond = int(-(-(Fraction(models.t) + _TOLERANCE) * SHARE_UNIT // 1))
    begin, shared = _shared(row_types)
    seen = np.zeros(int(shared.max(initial=-1)) + 2, dtype=np.int64)
    return ClassDemands(
        np.array(codes, dtype=np.int32).reshape(len(codes), rows.size), np.array(least, dtype=np.int64),
        share, -(-quotas * SHARE_UNIT // rows.sum()), beyond, int(row_types.has_entity),
        np.zeros(values, dtype=np.int64), np.zeros(rows.size), begin, shared, seen,
    )  # fmt: skip


def _shared(row_types: PackedRowTypes | RowTypeTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(row_types, RowTypeTable):
        return row_types.shared_start, row_types.shared_people
    return shared_people(row_types)


def _sensitive(
    row_types: PackedRowTypes | RowTypeTable,
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the values of each sensitive column, and the rows, of each row type."""
    if isinstance(row_types, RowTypeTable):
        return list(row_types.sensitive), row_types.rows
    buffers = [*row_types.sensitive_cells, row_types.rows]
    *columns, rows = [np.frombuffer(one, dtype=">i8").astype(np.int64) for one in buffers]
    return columns, rows


def _needed(code: NDArray[np.int64], rows: NDArray[np.int64], models: PrivacyModels) -> int:
    """Return how many different values a class has at least that is near enough to the whole table."""
    if models.t is None or models.distance != "equal":
        return 1
    held = np.zeros(int(code.max()) + 1, dtype=np.int64)
    np.add.at(held, code, rows)
    covered = np.cumsum(np.sort(held)[::-1])
    wanted = (1 - Fraction(models.t) - _TOLERANCE) * int(covered[-1])
    return max(1, sum(int(together) < wanted for together in covered) + 1)


class PricedRows(NamedTuple):
    """Rows, people and price per row of row types."""

    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    prices: NDArray[np.int64]


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
    for number in range(3 * columns + 1):
        column, limit = number // 3, number % 3
        if column == columns:
            if not demands.has_entity:
                continue
        elif limit == 0:
            if demands.share >= max(2, demands.least[column]) and not demands.has_entity:
                continue  # the limit of shares demands as many values, and k rows are k people
        elif (limit == 1 and demands.share <= 1) or (limit == 2 and demands.beyond < 0):
            continue
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
    """Return the greatest gain under one of the demands: three for each column, and one on people."""
    column = number // 3
    if column == demands.codes.shape[0]:
        return _gain_with_people(demands, priced, members, cost, k)
    codes = demands.codes[column]
    if number % 3 == 0:
        return _gain_with_values(demands, codes, demands.least[column], priced, members, cost, k)
    if number % 3 == 2:
        return _gain_within_distance(demands, column, priced, members, cost, k)
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
    for place in np.argsort(shares, kind="mergesort"):
        item = members[cheap + place]
        more = min(_people_met(demands, priced, item, costly, chosen), k - together)
        if more > 0:
            together += more
            gain -= more * shares[place]
            taken[cheap + place] = priced.rows[item] * more / min(priced.people[item], k)
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
    _empty(held, codes, members)
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


@inner_kernel
def _empty(held: NDArray[np.int64], codes: NDArray[np.int32], members: NDArray[np.int32]) -> None:
    """Set the rows of all values of some members to 0."""
    if held.size <= members.size:
        held[:] = 0
        return
    for item in members:
        held[codes[item]] = 0


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
    _empty(held, codes, members)
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
def _gain_within_distance(
    demands: ClassDemands,
    column: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain of rows, whole ones in small classes, that are near enough to the table."""
    together, most = np.int64(0), cost
    for item in members:
        together += priced.rows[item]
        most = max(most, abs(priced.prices[item]))
    if np.float64(most) * np.float64(together) * SHARE_UNIT >= 2.0**61:
        demands.taken[: members.size] = priced.rows[members]
        return _ANY_GAIN
    low, high = np.int64(k), together
    while low < high:
        middle = (low + high) // 2
        above = _gain_of_size(demands, column, middle + 1, priced, members, cost)
        if above == _TOO_MANY or above <= _gain_of_size(demands, column, middle, priced, members, cost):
            high = middle
        else:
            low = middle + 1
    if low > high:
        return NO_CLASS
    gain = _gain_of_size(demands, column, low, priced, members, cost)
    if gain == _TOO_MANY:
        return NO_CLASS
    if gain > 0 and low <= MOST_WHOLE and np.float64(most) * MOST_WHOLE * SHARE_UNIT < 2.0**60:
        return _gain_of_whole_rows(demands, column, low, priced, members, cost, k)
    return np.int64(-(-gain // SHARE_UNIT))


MOST_WHOLE = np.int64(64)
"""Classes of at most so many rows are held to whole rows; in larger ones parts of rows say nearly as much."""

_STEEPEST = np.int64(1 << 30)
"""Most that a row beyond its quota is priced at."""


@kernel
def _gain_of_whole_rows(
    demands: ClassDemands,
    column: int,
    start: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain where small classes have whole rows; parts of rows gain most at `start`."""
    units = units_of(members.size, demands.held.size)
    best, best_size, beyond, price = NO_CLASS, start, NO_CLASS, np.int64(0)
    for step in (1, -1):
        size = start if step > 0 else start - 1
        while size >= k:
            parts = _gain_of_size(demands, column, size, priced, members, cost)
            if parts == _TOO_MANY:
                break
            parts = np.int64(-(-parts // SHARE_UNIT))
            if parts <= best or parts <= 0 or size > MOST_WHOLE:
                # Gains of parts are concave in the size: further ones gain no more.
                if parts > max(best, beyond):
                    beyond = parts
                    if parts > 0:
                        best_size = size
                break
            list_units(demands, column, size, priced, members, units)
            _, price, gain = multipliers(demands, size, priced, members, cost, units, price, best)
            gain = min(parts, gain)
            if gain > best:
                best = gain
                best_size = size if gain > beyond else best_size
            size += step
    if best_size > MOST_WHOLE or best == NO_CLASS:
        _gain_of_size(demands, column, best_size, priced, members, cost)
    else:
        list_units(demands, column, best_size, priced, members, units)
        _take_mixed(demands, best_size, priced, members, cost, units)
    return max(best, beyond)


class Units(NamedTuple):
    """Rows of a class of some size, one by one, by how far they go beyond the quota of their value.

    Parameters
    ----------
    free, near, far : ndarray of int64, shape (2, m)
        Members, and how many rows of each are within the quota, or wholly beyond it. Each value has one row
        `near`, partly beyond: there it is by how much, in the unit of shares.
    length : ndarray of int64, shape (3,)
        How many of each there are.
    order : ndarray of int64
        Working array: order of `near`.
    """

    free: NDArray[np.int64]
    near: NDArray[np.int64]
    far: NDArray[np.int64]
    length: NDArray[np.int64]
    order: NDArray[np.int64]


@kernel
def units_of(members: int, values: int) -> Units:
    """Return room for the units of a class."""
    least = min(members, values)
    return Units(
        np.empty((2, members), dtype=np.int64), np.empty((2, least), dtype=np.int64),
        np.empty((2, members), dtype=np.int64), np.zeros(3, dtype=np.int64), np.empty(least, dtype=np.int64),
    )  # fmt: skip


@kernel
def list_units(
    demands: ClassDemands,
    column: int,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    units: Units,
) -> None:
    """List the rows that a class of some size may have of members, listed dearest first."""
    held, codes, quotas = demands.held, demands.codes[column], demands.quotas[column]
    _empty(held, codes, members)
    free, near, far, closed, left = 0, 0, 0, 0, size
    for place in range(members.size):
        if closed == held.size and left == 0:
            break
        item = members[place]
        code, rows = codes[item], priced.rows[item]
        quota = quotas[code] * size
        within = min(rows, max(np.int64(0), quota // SHARE_UNIT - held[code]))
        if within > 0:
            units.free[0, free], units.free[1, free] = place, within
            free += 1
            rows -= within
        held[code] += within
        if rows > 0 and held[code] == quota // SHARE_UNIT:
            units.near[0, near], units.near[1, near] = place, SHARE_UNIT - quota % SHARE_UNIT
            near += 1
            closed += 1
            rows -= 1
            held[code] += 1
        more = min(rows, left)
        if more > 0:
            units.far[0, far], units.far[1, far] = place, more
            far += 1
            left -= more
        held[code] += rows
    units.length[0], units.length[1], units.length[2] = free, near, far


@kernel
def multipliers(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
    start: np.int64,
    least: np.int64,
) -> tuple[np.int64, np.int64, np.int64]:
    """Return the prices of a row beyond its quota between which the limit is met, and the greatest gain.

    Parameters
    ----------
    start : int
        The first price that is tried.
    least : int
        Gains up to this one need not be told apart.

    Notes
    -----
    The gain for a price, ``price * limit`` more than the sum of the rows that are worth most, is convex in
    it; where two of its tangents meet is the next one that is tried (Kelley 1960, "The cutting-plane method
    for solving convex programs"). It is an upper bound whatever the price.
    """
    allowed = demands.beyond * size
    if _least_beyond(units, size) > allowed:
        return start, start, NO_CLASS
    low, high, step = np.int64(-1), _STEEPEST + 1, max(np.int64(1), start // 8)
    low_worth, low_beyond, high_worth, high_beyond = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    gain, middle = np.int64(1 << 62), start
    while high - low > 1:
        worth, beyond, _ = choose(demands, size, priced, members, cost, units, middle, 0.0)
        gain = min(gain, (worth + middle * allowed) // SHARE_UNIT)
        if gain <= least:
            return middle, middle, gain
        if beyond > allowed:
            low, low_worth, low_beyond = middle, worth, beyond
        else:
            high, high_worth, high_beyond = middle, worth, beyond
        if low < 0:
            middle = max(np.int64(0), high - step)
            step *= 4
        elif high > _STEEPEST:
            if low == _STEEPEST:
                return low, low, gain
            step = max(step, (priced.prices[members[0]] - cost) // 8)
            middle = min(_STEEPEST, low + step)
            step *= 4
        else:
            # Tangents: what the rows gain without the price, less what they are beyond, times the price.
            rise = (low_worth + low * low_beyond) - (high_worth + high * high_beyond)
            middle = min(high - 1, max(low + 1, rise // (low_beyond - high_beyond)))
    return max(low, np.int64(0)), high, gain


@kernel
def _least_beyond(units: Units, size: np.int64) -> np.int64:
    """Return the least by which so many rows are beyond the quotas of their values together."""
    free, near, _ = units.length
    left, beyond = size - units.free[1, :free].sum(), np.int64(0)
    for part in np.sort(units.near[1, :near]):
        if left <= 0:
            break
        beyond += part
        left -= 1
    return np.int64(beyond + max(np.int64(0), left) * SHARE_UNIT)


@kernel
def choose(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
    price: np.int64,
    weight: float,
) -> tuple[np.int64, np.int64, np.int64]:
    """Choose the rows that gain most where rows beyond their quotas have a price; add them to `taken`.

    Returns what they gain less that price, by how much they are beyond their quotas, and what the last one
    gains. There are enough.
    """
    free, near, far = units.length
    worth, beyond, left, last = np.int64(0), np.int64(0), size, np.int64(0)
    for number in range(near):
        place, part = units.near[0, number], units.near[1, number]
        here = SHARE_UNIT * (priced.prices[members[place]] - cost) - price * part
        spot = number
        while spot > 0 and _near_worth(priced, members, cost, units, price, spot - 1) < here:
            units.order[spot] = units.order[spot - 1]
            spot -= 1
        units.order[spot] = number
    of_free, of_near, of_far = 0, 0, 0
    while left > 0:
        a, b, c = NO_CLASS, NO_CLASS, NO_CLASS
        if of_free < free:
            a = SHARE_UNIT * (priced.prices[members[units.free[0, of_free]]] - cost)
        if of_near < near:
            b = _near_worth(priced, members, cost, units, price, of_near)
        if of_far < far:
            c = SHARE_UNIT * (priced.prices[members[units.far[0, of_far]]] - cost - price)
        if a >= b and a >= c:
            place, more, last, part = (
                units.free[0, of_free],
                min(left, units.free[1, of_free]),
                a,
                np.int64(0),
            )
            of_free += 1
        elif b >= c:
            number = units.order[of_near]
            place, more, last, part = units.near[0, number], np.int64(1), b, units.near[1, number]
            of_near += 1
        else:
            place, more, last, part = (
                units.far[0, of_far],
                min(left, units.far[1, of_far]),
                c,
                np.int64(SHARE_UNIT),
            )
            of_far += 1
        worth += more * last
        beyond += more * part
        left -= more
        if weight > 0.0:
            demands.taken[place] += weight * more
    return worth, beyond, last


@inner_kernel
def _near_worth(
    priced: PricedRows, members: NDArray[np.int32], cost: np.int64, units: Units, price: np.int64, spot: int
) -> np.int64:
    """Return what a row partly beyond the quota of its value gains, in the order of `near`."""
    number = units.order[spot]
    gain = priced.prices[members[units.near[0, number]]] - cost
    return np.int64(SHARE_UNIT * gain - price * units.near[1, number])


@kernel
def _take_mixed(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
) -> None:
    """Take the rows of the class that gains most, in parts where that is what meets the limit."""
    low, high, _ = multipliers(demands, size, priced, members, cost, units, np.int64(0), NO_CLASS)
    allowed = np.float64(demands.beyond * size)
    demands.taken[: members.size] = 0.0
    _, more, _ = choose(demands, size, priced, members, cost, units, low, 0.0)
    _, less, _ = choose(demands, size, priced, members, cost, units, high, 0.0)
    share = 1.0 if more == less else min(1.0, max(0.0, (allowed - less) / (more - less)))
    choose(demands, size, priced, members, cost, units, low, share)
    choose(demands, size, priced, members, cost, units, high, 1.0 - share)


@kernel
def _gain_of_size(
    demands: ClassDemands,
    column: int,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
) -> np.int64:
    """Return `SHARE_UNIT` times the greatest gain of so many rows, `_TOO_MANY` if there are too few."""
    held, taken, codes, quotas = demands.held, demands.taken, demands.codes[column], demands.quotas[column]
    _empty(held, codes, members)
    left, others, gain = size * SHARE_UNIT, size * demands.beyond, np.int64(0)
    taken[: members.size] = 0.0
    for place in range(members.size):
        item = members[place]
        whole, code = priced.rows[item] * SHARE_UNIT, codes[item]
        more = min(whole, quotas[code] * size - held[code], left)
        held[code] += more
        further = min(whole - more, others, left - more)
        others -= further
        left -= more + further
        gain += (more + further) * (priced.prices[item] - cost)
        taken[place] = (more + further) / SHARE_UNIT
        if left == 0:
            return np.int64(gain)
    return _TOO_MANY


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
