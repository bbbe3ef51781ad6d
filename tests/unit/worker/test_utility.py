"""Measures of what a solution keeps of the columns, against their definitions cell by cell."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.worker.measures import utility
from kanon_pg.worker.row_types import RowTypeTable
from tests.fixtures.examples import examples
from tests.fixtures.packing import identity, integers, masks, pack

LETTERS = ("aa", "ab", "ba", "bb", "bc", None)
"""The values of a hierarchy of height 2; None stays itself below the top."""

Cell = tuple[str | None, int]
"""A value and the level at which it is published."""


def node(value: str | None, level: int) -> str | None:
    return ("NULL" if value is None else value[: 2 - level]) if level < 2 else None


def hierarchy() -> PackedHierarchy:
    losses = np.ones((3, len(LETTERS)), dtype=">f8").cumsum(axis=0) / 3
    return PackedHierarchy(
        height=2,
        cells=integers([identity(value) for value in LETTERS]),
        nodes=(integers([identity(node(value, 1)) for value in LETTERS]),),
        losses=tuple(loss.astype(">f8").tobytes() for loss in losses),
    )


def by_hand(cells: list[Cell], domain: tuple[str | None, ...]) -> tuple[float, float, float]:
    """Return bits lost, most bits to lose, and divergence in bits of one column."""
    n = len(cells)
    rows = Counter(value for value, _ in cells)
    inferred: Counter[str | None] = Counter()
    lost = most = 0.0
    for value, level in cells:
        below = [other for other in domain if node(other, level) == node(value, level)]
        lost -= math.log2(rows[value] / sum(rows[other] for other in below))
        most -= math.log2(rows[value] / n)
        for other in below:
            inferred[other] += 1 / len(below)  # type: ignore[assignment]
    divergence = sum(count / n * math.log2(count / inferred[value]) for value, count in rows.items())
    return lost, most, divergence


rows = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(["x", "y", "z"]), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=12,
)


@given(rows)
@settings(max_examples=examples(200))
def test_measures_are_their_definitions(given_rows: list[tuple[str | None, str, int, bool]]) -> None:
    packed = pack([(letters, other) for letters, other, _, _ in given_rows])
    packed = replace(packed, hierarchies=(hierarchy(), None))
    table = RowTypeTable.from_packed(packed)
    levels: dict[int, tuple[int, int]] = {}
    for letters, other, level, hidden in given_rows:
        levels.setdefault(identity((letters, other)), (level, int(hidden)))
    vectors = [packed.level_fields.pattern_of(levels[int(key)]) for key in masks(packed.keys)]
    found = utility(packed, table, np.array(vectors, dtype=np.int64))
    whole = [(a, b, *levels[identity((a, b))]) for a, b, _, _ in given_rows]
    first = by_hand([(a, level) for a, _, level, _ in whole], LETTERS)
    # A column without a hierarchy has the values that occur, and two levels.
    seen = tuple({b for _, b, _, _ in whole})
    second = by_hand([(b, 2 * hidden) for _, b, _, hidden in whole], seen)
    most = first[1] + second[1]
    assert found.entropy_loss == pytest.approx((first[0] + second[0]) / most if most else 0.0, abs=1e-9)
    assert found.marginal_divergence == pytest.approx((first[2] + second[2]) / 2, abs=1e-9)
    assert -1e-12 <= found.entropy_loss <= 1 + 1e-12


def test_the_extremes() -> None:
    packed = pack([("aa", "x"), ("ab", "y"), ("ba", "x"), ("ba", "x")])
    table = RowTypeTable.from_packed(packed)
    kept = utility(packed, table, np.zeros(len(table), dtype=np.int64))
    lost = utility(packed, table, np.full(len(table), 3, dtype=np.int64))
    assert (kept.entropy_loss, kept.marginal_divergence) == (0, 0)
    assert lost.entropy_loss == pytest.approx(1)
    assert lost.marginal_divergence > 0
