"""What a report tells of buckets is of nobody or k people, whatever there is, and leaves no row out."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.before_after.buckets import Bucket, Size, class_ranges, moment_bins, number_bins, rounded, told
from kanon_pg.before_after.tables import association, count_error
from tests.fixtures.examples import examples

KS = st.integers(2, 7)
PEOPLE = st.integers(0, 20)


@st.composite
def alike(draw: st.DrawFn) -> list[Bucket]:
    """Return buckets of rows that are people each."""
    pairs = draw(st.lists(st.tuples(PEOPLE, PEOPLE), min_size=1, max_size=8))
    return [
        Bucket(f"value {place}", Size(before, before), Size(after, after))
        for place, (before, after) in enumerate(pairs)
    ]


@given(alike(), KS, st.booleans())
@settings(max_examples=examples(200))
def test_what_is_told_is_of_nobody_or_k_people(buckets: list[Bucket], k: int, has_changed: bool) -> None:
    *some, remainder = buckets
    shown = told(some, remainder, k, has_changed=has_changed, by_person=False)
    for bucket in shown:
        assert bucket.before is not None
        numbers = [bucket.before.rows, bucket.after.rows]
        if has_changed:
            numbers.append(abs(bucket.before.rows - bucket.after.rows))
        assert all(number == 0 or number >= k for number in numbers)
        assert bucket.label in {one.label for one in buckets}
    if shown:
        for side in ("before", "after"):
            assert sum(getattr(one, side).rows for one in shown) == sum(
                getattr(one, side).rows for one in buckets
            )


@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 12), max_size=8),
            st.sets(st.integers(0, 12), max_size=8),
            st.integers(1, 3),
        ),
        min_size=1,
        max_size=6,
    ),
    KS,
    st.booleans(),
)
@settings(max_examples=examples(200))
def test_people_with_several_rows_are_not_counted_twice(
    given_people: list[tuple[set[int], set[int], int]], k: int, has_changed: bool
) -> None:
    people = {f"value {place}": one for place, one in enumerate(given_people)}
    buckets = [
        Bucket(label, Size(len(before) * n, len(before), n), Size(len(after) * n, len(after), n))
        for label, (before, after, n) in people.items()
    ]
    *some, remainder = buckets
    shown = told(some, remainder, k, has_changed=has_changed, by_person=True)
    alone = {one.label for one in shown if one.merged is None}
    for bucket in shown:
        parts = [
            one
            for label, one in people.items()
            if label == bucket.label or (bucket.merged is not None and label not in alone)
        ]
        for side in (0, 1):
            together = set[int]().union(*(part[side] for part in parts))
            assert not together or len(together) >= k
        if bucket.before is None or bucket.before == bucket.after:
            continue
        # whoever compares sees rows of k people, or fewer than k rows, which rounding hides
        differ = set[int]().union(*(part[0] ^ part[1] for part in parts))
        rows = abs(bucket.before.rows - bucket.after.rows)
        assert len(differ) >= k or (not has_changed and rows < k)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=10), KS)
@settings(max_examples=examples(200))
def test_ranges_of_class_sizes_have_everybody(sizes: list[tuple[int, int]], k: int) -> None:
    ranges = class_ranges(sizes, k)
    assert sum(ranges.values()) == sum(people for _, people in sizes)
    spans = list(ranges)
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    if len(ranges) > 1:
        (low, high), people = next(iter(ranges.items()))
        assert low >= k or people >= k or high >= k
    for size, _ in sizes:
        assert sum(low <= size <= high for low, high in spans) == 1


@given(st.integers(0, 10_000), KS)
def test_rounding_hides_less_than_k_and_tells_no_small_number(count: int, k: int) -> None:
    number = rounded(count, k)
    assert number % k == 0
    assert 2 * abs(number - count) <= k
    assert count < k or number >= k


@given(st.integers(-10_000, 10_000), st.integers(1, 10_000), st.integers(-20_000, 20_000))
@settings(max_examples=examples(300))
def test_a_whole_number_is_in_the_bin_whose_label_says_so(low: int, span: int, value: int) -> None:
    bins = number_bins(low, low + span, whole=True)
    assert list(bins.bounds) == sorted(set(bins.bounds))
    assert len(bins.labels) == len(bins.bounds) + 1
    if not bins.bounds:
        return
    label = bins.labels[bisect_right(bins.bounds, value)].replace(",", "")
    if label.startswith("below "):
        assert value < int(label.removeprefix("below "))
    elif label.endswith(" and more"):
        assert value >= int(label.removesuffix(" and more"))
    else:
        first, _, last = label.partition(" to ")
        assert int(first) <= value <= int(last or first)


MOMENTS = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1), timezones=st.just(UTC))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(MOMENTS, st.timedeltas(timedelta(minutes=1), timedelta(days=60_000)), MOMENTS)
@settings(max_examples=examples(300))
def test_a_moment_is_in_the_bin_whose_label_says_so(low: datetime, span: timedelta, value: datetime) -> None:
    bins = moment_bins((low - EPOCH).total_seconds(), (low + span - EPOCH).total_seconds())
    assert list(bins.bounds) == sorted(set(bins.bounds))
    assert len(bins.labels) == len(bins.bounds) + 1
    if not bins.bounds:
        return
    label = bins.labels[bisect_right(bins.bounds, (value - EPOCH).total_seconds())]
    text = f"{value:%Y-%m-%d}"
    if label.startswith("before "):
        assert text < label.removeprefix("before ")
    elif label.endswith(" and later"):
        assert text >= label.removesuffix(" and later")
    else:
        first, _, last = label.partition(" to ")
        assert first <= text
        assert text[: len(first)] <= (last or first)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=30))
@settings(max_examples=examples(100))
def test_equal_tables_have_no_error_and_equal_columns_are_one(pairs: list[tuple[int, int]]) -> None:
    table: Counter[tuple[int, ...]] = Counter(pairs)
    assert count_error(table, table).as_published == count_error(table, table).scaled == 0
    twins: Counter[tuple[int, ...]] = Counter((one, one) for one, _ in pairs)
    found = association(twins)
    assert found is None if len(twins) < 2 else abs(found - 1) < 1e-9
