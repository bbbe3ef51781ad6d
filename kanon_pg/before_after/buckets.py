"""Buckets of the values of a column, and which of them may be told.

A bucket is told if nobody or at least k people have it, before and after. Counts of the base relation are
rounded to multiples of k: the exact ones would say, beside those of the release, how many of the few people
whose cells are suppressed have which value. Where the base relation has changed since, whoever came or went
alone could be told by comparing: then before and after differ in nobody or k people, too. So they do where
people have several rows, and k rows or more of a value are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

OTHER, MISSING, SUPPRESSED = 0, -1, -2
"""Numbers of what is no bucket of its own: values that are not told, NULL, and suppressed cells."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows something has, and of how many different people at least, with how many each at most."""

    rows: int = 0
    people: int = 0
    most: int = 1

    def allows(self, k: int) -> bool:
        """Whether it is of nobody or at least k people."""
        return self.rows == 0 or self.people >= k

    def apart(self, other: Size) -> Size:
        """Return how many rows two sizes are apart, and of how many people these are at least."""
        rows = abs(self.rows - other.rows)
        return Size(rows, max(abs(self.people - other.people), -(-rows // max(self.most, other.most))))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket with its sizes in the base relation, None if unknown, and in the release."""

    label: str
    before: Size | None
    after: Size
    merged: Size | None = None
    """How far apart several buckets are that are one, and at least how many people differ."""

    @property
    def is_there(self) -> bool:
        """Whether any row is in it."""
        return self.after.rows > 0 or (self.before is not None and self.before.rows > 0)

    @property
    def apart(self) -> Size:
        """How far its sizes are apart."""
        if self.merged is not None or self.before is None:
            return self.merged or Size()
        return self.before.apart(self.after)

    def may_be_told(self, k: int, *, has_changed: bool) -> bool:
        """Whether neither it nor its change is about fewer than k people.

        Rounding hides fewer than k rows, unless whoever compares two states learns who came or went.

        Parameters
        ----------
        has_changed : bool
            Whether other rows than the release's may be in the base relation.
        """
        if not self.after.allows(k) or (self.before is not None and not self.before.allows(k)):
            return False
        apart = self.apart
        return apart == Size() or apart.people >= k or (not has_changed and apart.rows < k)


def told(
    buckets: Sequence[Bucket], remainder: Bucket, k: int, *, has_changed: bool, by_person: bool
) -> tuple[Bucket, ...]:
    """Return the buckets that may be told, and all others as one, with as many of the former as it takes.

    Parameters
    ----------
    remainder : Bucket
        What is in none of them.

    Returns
    -------
    tuple of Bucket
        In the given order, the others last; empty if not even all together may be told.
    """

    def may_be_told(bucket: Bucket) -> bool:
        return bucket.may_be_told(k, has_changed=has_changed)

    shown = [bucket for bucket in buckets if bucket.is_there and may_be_told(bucket)]
    others = [bucket for bucket in (*buckets, remainder) if bucket.is_there and bucket not in shown]
    while others and not may_be_told(merged := _together(remainder.label, others, by_person=by_person)):
        if not shown:
            return ()
        fewest = min(shown, key=lambda bucket: (bucket.before or bucket.after).rows)
        shown.remove(fewest)
        others.append(fewest)
    return (*shown, merged) if others else tuple(shown)


def _together(label: str, buckets: Sequence[Bucket], *, by_person: bool) -> Bucket:
    """Return several buckets as one; of people with several rows only the greatest number is certain."""
    if len(buckets) == 1:
        return replace(buckets[0], label=label)
    befores = [bucket.before for bucket in buckets if bucket.before is not None]
    before = _union(befores, by_person=by_person) if len(befores) == len(buckets) else None
    after = _union([bucket.after for bucket in buckets], by_person=by_person)
    apart = Size() if before is None else before.apart(after)
    if by_person:
        apart = Size(apart.rows, max(apart.people, *(bucket.apart.people for bucket in buckets)))
    return Bucket(label, before, after, apart)


def _union(sizes: Sequence[Size], *, by_person: bool) -> Size:
    rows, people = sum(size.rows for size in sizes), [size.people for size in sizes]
    if not by_person:
        return Size(rows, sum(people))
    return Size(rows, max(people, default=0), max(1, sum(size.most for size in sizes)))


def rounded(count: int, k: int) -> int:
    """Return a count of the base relation as it is told: the nearest multiple of k.

    Examples
    --------
    >>> [rounded(count, 5) for count in (0, 5, 7, 8, 1001)]
    [0, 5, 5, 10, 1000]
    """
    return (2 * count + k) // (2 * k) * k


@dataclass(frozen=True, slots=True)
class RoundRanges:
    """Bounds between bins of a scale, ascending, and the label of each bin: one more than bounds."""

    bounds: tuple[float, ...]
    labels: tuple[str, ...]


_WANTED = 8
"""About so many bins."""

_STEPS = (1.0, 2.0, 5.0, 10.0)


def number_bins(low: float, high: float, *, whole: bool) -> RoundRanges:
    """Return bins of round numbers for values most of which are between two others.

    Bounds are multiples of a step, no values of anybody; the first and the last bin have no end.

    Examples
    --------
    >>> number_bins(18, 83, whole=True).labels[:3]
    ('below 20', '20 to 29', '30 to 39')
    """
    raw = (high - low) / _WANTED
    if not (math.isfinite(raw) and raw > 0):
        return RoundRanges((), ("any value",))
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in _STEPS if unit * factor >= raw * (1 - 1e-9))
    step = max(1.0, step) if whole else step
    first = math.ceil(low / step)
    bounds = [place * step for place in range(first, math.floor(high / step) + 1)]
    if not bounds:
        return RoundRanges((), ("any value",))
    decimals = max(0, -math.floor(math.log10(step)))
    texts = [f"{bound:,.{decimals}f}" for bound in bounds]
    ends = [f"{bound - 1:,.0f}" for bound in bounds] if whole else texts
    between = [
        f"{start} to {end}" if whole else f"{start} to below {end}" for start, end in _pairs(texts, ends)
    ]
    between = [
        f"{start}" if whole and step == 1 else text for text, start in zip(between, texts, strict=False)
    ]
    return RoundRanges(tuple(bounds), (f"below {texts[0]}", *between, f"{texts[-1]} and more"))


def _pairs(starts: Sequence[str], ends: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(starts[:-1], ends[1:], strict=True)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400.0
_YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MONTHS = (1, 3, 6)
_DAYS = (1, 7)


def moment_bins(low: float, high: float) -> RoundRanges:
    """Return bins for moments, in seconds since 1970 in UTC, that begin with a year, a month or a day.

    Examples
    --------
    >>> moment_bins(-1.2e9, 1.1e9).labels[:2]
    ('before 1940', '1940 to 1949')
    """
    if not (high > low > -6e10 and high < 2.4e11):
        return RoundRanges((), ("any value",))
    first, last = (_EPOCH + timedelta(seconds=moment) for moment in (low, high))
    days = (high - low) / _DAY / _WANTED
    if days > 200:
        step = next((years for years in _YEARS if years * 365.25 >= days), _YEARS[-1])
        years = range(-(-first.year // step) * step, last.year + 1, step)
        starts = [datetime(year, 1, 1, tzinfo=UTC) for year in years if 1 <= year <= 9999]
        texts = [f"{start.year}" for start in starts]
        ends = [f"{start.year - 1}" for start in starts]
    elif days > 10:
        step = next((months for months in _MONTHS if months * 30.5 >= days), 6)
        numbers = range(
            -(-(first.year * 12 + first.month - 1) // step) * step, last.year * 12 + last.month, step
        )
        starts = [datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) for number in numbers]
        texts = [f"{start:%Y-%m}" for start in starts]
        ends = [f"{start - timedelta(days=1):%Y-%m}" for start in starts]
    else:
        step = next((number for number in _DAYS if number >= days), 7)
        start, starts = datetime(first.year, first.month, first.day, tzinfo=UTC), []
        while start <= last:
            starts.append(start)
            start += timedelta(days=step)
        texts = [f"{start:%Y-%m-%d}" for start in starts]
        ends = [f"{start - timedelta(days=1):%Y-%m-%d}" for start in starts]
    if not starts:
        return RoundRanges((), ("any value",))
    between = [start if start == end else f"{start} to {end}" for start, end in _pairs(texts, ends)]
    bounds = tuple((start - _EPOCH).total_seconds() for start in starts)
    return RoundRanges(bounds, (f"before {texts[0]}", *between, f"{texts[-1]} and later"))


def class_ranges(sizes: Iterable[tuple[int, int]], k: int) -> dict[tuple[int, int], int]:
    """Return how many people are in classes of each range of sizes: below k, then doubling from k on.

    Where there are people below k, but fewer than k, the first two ranges are one.

    Parameters
    ----------
    sizes : iterable of (int, int)
        Size of a class, and how many people have a class of this size as their smallest.

    Examples
    --------
    >>> class_ranges([(1, 2), (5, 10), (12, 24)], 5), class_ranges([(4, 8), (6, 12)], 5)
    ({(1, 9): 12, (10, 19): 24}, {(1, 4): 8, (5, 9): 12})
    """
    found: dict[tuple[int, int], int] = {}
    for size, people in sizes:
        start = k
        while size >= 2 * start:
            start *= 2
        key = (start, 2 * start - 1) if size >= k else (1, k - 1)
        found[key] = found.get(key, 0) + people
    ranges = dict(sorted(found.items()))
    if 0 < ranges.get((1, k - 1), 0) < k and len(ranges) > 1:
        first, second = list(ranges)[:2]
        both = ranges.pop(first) + ranges.pop(second)
        ranges = {(first[0], second[1]): both, **ranges}
    return ranges
