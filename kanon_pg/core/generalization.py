"""Generalization as the solvers see it: packed hierarchies, and levels packed into a pattern vector.

A cell may be published at one of the levels 0 (its own value), 1, ... up to the height of its column's
hierarchy, the top, where it is suppressed. Suppression alone is a hierarchy of height 1: a bit per column.
This module imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.errors import InputError

PATTERN_BITS = 62
"""Bits of all level fields together: a pattern vector is a non-negative ``bigint``."""


@dataclass(frozen=True, slots=True)
class PackedHierarchy:
    """The generalization hierarchy of one quasi-identifier, as packed buffers over its `v` values.

    All buffers hold `v` items of 8 bytes, big-endian, in the same order.
    """

    height: int
    """The top level, >= 1, at which a cell is suppressed."""
    cells: bytes
    """Identities of the values, unique, as in `kanon_pg.core.packed.PackedRowTypes`; every value of the row
    types is among them."""
    nodes: tuple[bytes, ...]
    """Per level 1 to ``height - 1`` the identity of each value's node; values with the same node at one level
    share their nodes at all levels above."""
    losses: tuple[bytes, ...]
    """Per level 0 to `height` the loss of a cell of this value published at that level, as doubles: 0 at the
    least, never less than at the level below, 1 at the top; times the column's weight it is a cost."""
    lowest: int = 0
    """Lowest level at which a cell may be published, 0 to `height`."""

    @property
    def is_suppression(self) -> bool:
        """Whether it says no more than that a cell may be suppressed, at a cost of 1."""
        if self.height != 1 or self.lowest != 0:
            return False
        free, full = (struct.unpack(f">{len(one) // 8}d", one) for one in self.losses)
        return not any(free) and all(loss == 1.0 for loss in full)

    def buffers(self) -> Iterator[bytes]:
        """Yield all buffers in the order that `from_buffers` expects."""
        yield self.cells
        yield from self.nodes
        yield from self.losses

    def header(self) -> dict[str, Any]:
        """Return what `from_buffers` needs besides the buffers, ready for JSON."""
        return {"height": self.height, "lowest": self.lowest}

    @classmethod
    def from_buffers(cls, header: Mapping[str, Any], buffers: Iterator[Any]) -> PackedHierarchy:
        """Take the buffers of one hierarchy from an iterator that `buffers` may have begun."""
        height = header["height"]
        return cls(
            height=height,
            cells=next(buffers),
            nodes=tuple(next(buffers) for _ in range(height - 1)),
            losses=tuple(next(buffers) for _ in range(height + 1)),
            lowest=header["lowest"],
        )


@dataclass(frozen=True, slots=True)
class LevelFields:
    """Where the level of each column stands in a pattern vector: column 0 in the lowest bits."""

    heights: tuple[int, ...]
    """Per column the height of its hierarchy, 1 for a column whose cells are only suppressed."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of each column's field."""
        return tuple(height.bit_length() for height in self.heights)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Lowest bit of each column's field."""
        widths = self.widths
        return tuple(sum(widths[:column]) for column in range(len(widths)))

    @property
    def top(self) -> int:
        """The pattern vector that suppresses every cell."""
        return self.pattern_of(self.heights)

    def require_room(self) -> None:
        """Refuse hierarchies whose levels need more bits than a pattern vector has.

        Raises
        ------
        InputError
            With the number of bits.
        """
        if sum(self.widths) > PATTERN_BITS:
            raise InputError(
                f"The levels of all hierarchies need {sum(self.widths)} bits; a release has {PATTERN_BITS}.",
                hint="Use fewer quasi-identifiers, or hierarchies with fewer levels.",
            )

    def pattern_of(self, levels: Iterable[int]) -> int:
        """Return the pattern vector with these levels, one per column.

        Parameters
        ----------
        levels : iterable of int
            Each between 0 and the column's height.
        """
        return sum(level << offset for level, offset in zip(levels, self.offsets, strict=True))

    def levels_of(self, pattern: int) -> tuple[int, ...]:
        """Return the level of each column in a pattern vector."""
        fields: Sequence[tuple[int, int]] = tuple(zip(self.offsets, self.widths, strict=True))
        return tuple(pattern >> offset & (1 << width) - 1 for offset, width in fields)
