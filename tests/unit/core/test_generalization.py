"""Levels in pattern vectors, and hierarchies on their way to the solver."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.generalization import LevelFields, PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.errors import InputError

HEIGHTS = st.lists(st.integers(1, 7), min_size=1, max_size=12).map(tuple)


@given(heights=HEIGHTS, data=st.data())
def test_levels_come_back_from_a_pattern(heights: tuple[int, ...], data: st.DataObject) -> None:
    levels = tuple(data.draw(st.integers(0, height)) for height in heights)
    fields = LevelFields(heights)
    assert fields.levels_of(fields.pattern_of(levels)) == levels


@given(st.integers(1, 62))
def test_suppression_alone_is_one_bit_per_column(columns: int) -> None:
    fields = LevelFields((1,) * columns)
    fields.require_room()
    assert fields.top == 2**columns - 1
    assert fields.pattern_of(int(j == 1) for j in range(columns)) == (2 if columns > 1 else 0)


def test_more_levels_than_a_pattern_has_room_for_are_refused() -> None:
    LevelFields((3,) * 31).require_room()
    with pytest.raises(InputError, match="need 63 bits; a release has 62"):
        LevelFields((3,) * 31 + (1,)).require_room()


def test_a_hierarchy_travels_with_its_row_types() -> None:
    hierarchy = PackedHierarchy(2, b"cells..1", (b"nodes..1",), (b"loss...0", b"loss...1", b"loss...2"), 1)
    columns = (QuasiIdentifier("sex"), QuasiIdentifier("age", "numeric"))
    sent = PackedRowTypes(
        columns, b"keys...1", b"rows...1", b"people.1", (b"cell_1.1", b"cell_2.1"), (None, b"value_.1"),
        hierarchies=(None, hierarchy),
    )  # fmt: skip
    assert PackedRowTypes.from_buffers(sent.header(), list(sent.buffers())) == sent
    assert sent.level_fields.heights == (1, 2)
