"""Sketches and their keys: what is compared, and that no conflict is missed."""

from array import array
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_pg.errors import InputError
from kanon_pg.queries.record.sketches import FigureSet, Shape, conflict, differ

SHAPES = [(8, 2), (12, 3), (16, 4), (24, 4), (40, 3), (128, 5), (128, 25), (512, 100)]


def sketch(cells: Sequence[int]) -> bytes:
    return array("I", cells).tobytes()


@st.composite
def close_pairs(draw: st.DrawFn) -> tuple[Shape, bytes, bytes]:
    """Two sketches that differ in 1 to k - 1 buckets, of any number of people."""
    buckets, k = draw(st.sampled_from(SHAPES))
    filled = draw(st.sampled_from([0, 1, k - 1, k, k + 1, k + 2, 2 * k, buckets // 2, buckets - 1, buckets]))
    places = draw(st.permutations(range(buckets)))
    cells = [0] * buckets
    for place in places[:filled]:
        cells[place] = draw(st.integers(1, 3))
    others, changed = list(cells), draw(st.integers(1, k - 1))
    # in few bands, at the first places, or anywhere
    where = draw(st.sampled_from([sorted(places), sorted(places[:filled]) or places, places]))
    for place in where[:changed]:
        others[place] = draw(
            st.sampled_from([0, 1, 2, 3, 4]).filter(lambda new, old=cells[place]: new != old)
        )
    return Shape(buckets, k), sketch(cells), sketch(others)


def are_brought_together(shape: Shape, wanted: bytes, recorded: bytes) -> bool:
    one, other = shape.keys(1, wanted), shape.keys(1, recorded)
    pairs = sum(near <= key < near + shape.span for near in one.near for key in other.stored)
    singles = sum(near <= key < near + shape.span for near in one.near_single for key in other.single)
    return pairs > 1 or singles > 0 or (one.is_tiny and other.is_tiny)


@given(close_pairs())
@example((Shape(8, 2), sketch([1] + 7 * [0]), sketch(8 * [0])))
@example((Shape(12, 3), sketch([1, 1, 1] + 9 * [0]), sketch([1, 2, 2] + 9 * [0])))
def test_sets_that_conflict_are_brought_together(pair: tuple[Shape, bytes, bytes]) -> None:
    shape, one, other = pair
    assert 0 < differ(one, other) < shape.k
    assert are_brought_together(shape, one, other)
    assert are_brought_together(shape, other, one)


@pytest.mark.parametrize(("buckets", "k"), [(8, 2)])
def test_all_pairs_of_a_small_shape_that_conflict_are_brought_together(buckets: int, k: int) -> None:
    shape = Shape(buckets, k)
    sketches = [[number >> place & 1 for place in range(buckets)] for number in range(2**buckets)]
    for cells in sketches:
        for place in range(buckets):
            for value in (0, 1, 2):
                other = [*cells[:place], value, *cells[place + 1 :]]
                if other != cells:
                    assert are_brought_together(shape, sketch(cells), sketch(other))


@given(close_pairs())
def test_a_packed_sketch_is_unpacked(pair: tuple[Shape, bytes, bytes]) -> None:
    shape, *sketches = pair
    for one in sketches:
        assert shape.unpacked(shape.packed(one)) == one
        assert len(shape.packed(one)) <= len(one)


def test_sketches_of_few_people_take_few_bytes() -> None:
    assert len(Shape(128, 5).packed(sketch([7] * 20 + [0] * 108))) == 100


@given(
    st.lists(st.integers(0, 3), min_size=8, max_size=8), st.lists(st.integers(0, 3), min_size=8, max_size=8)
)
def test_differences_are_counted_by_buckets(one: list[int], other: list[int]) -> None:
    assert differ(sketch(one), sketch(other)) == sum(a != b for a, b in zip(one, other, strict=True))


A, NEAR, FAR = sketch([1, 1, 1, 1, 0, 0, 0, 0]), sketch([1, 1, 1, 2, 0, 0, 0, 0]), sketch([2] * 8)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (FigureSet(A), FigureSet(NEAR), True),
        (FigureSet(A), FigureSet(FAR), False),
        (FigureSet(A), FigureSet(A), False),
        # people are compared only where no table is shared
        (FigureSet(A, {"t": A}), FigureSet(NEAR, {"t": FAR}), False),
        (FigureSet(A, {"t": A}), FigureSet(NEAR, {"u": FAR}), True),
        (FigureSet(A, {"t": A}), FigureSet(FAR, {"t": NEAR}), True),
        (FigureSet(A, {"t": A, "u": A}), FigureSet(FAR, {"t": FAR, "u": NEAR}), True),
        # the same rows with another value of one person
        (FigureSet(A, {"t": A}, {"c": A}), FigureSet(A, {"t": A}, {"c": NEAR}), True),
        (FigureSet(A, {"t": A}, {"c": A}), FigureSet(A, {"t": A}, {"d": NEAR}), False),
    ],
)
def test_figures_are_compared_in_what_they_share(one: FigureSet, other: FigureSet, expected: bool) -> None:
    assert conflict(one, other, 3) is expected
    assert conflict(other, one, 3) is expected


@pytest.mark.parametrize(("buckets", "k"), [(128, 1), (128, 33), (16, 5)])
def test_a_k_that_has_too_few_buckets_is_refused(buckets: int, k: int) -> None:
    with pytest.raises(InputError):
        Shape(buckets, k)


def test_a_sketch_of_another_length_is_refused() -> None:
    with pytest.raises(InputError):
        Shape(128, 5).keys(1, bytes(508))
