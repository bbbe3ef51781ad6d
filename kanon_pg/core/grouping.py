"""What a worker is asked when values of one attribute are grouped, and what it answers.

Imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kanon_pg.core.termination import Termination

Kind = Literal["<i8", "<f8"]
"""Whole numbers or doubles of 8 bytes, little-endian, as NumPy names them."""

_CODES: dict[Kind, str] = {"<i8": "q", "<f8": "d"}
ITEM_BYTES = 8


def packed(kind: Kind, numbers: Sequence[float]) -> bytes:
    """Return numbers as a buffer.

    Raises
    ------
    OverflowError
        If a whole number needs more than 64 bits.
    """
    buffer = array(_CODES[kind], numbers)
    if sys.byteorder == "big":
        buffer.byteswap()
    return buffer.tobytes()


def unpacked(kind: Kind, data: bytes) -> list[Any]:
    """Return the numbers of a buffer.

    Raises
    ------
    ValueError
        If its length is not that of whole numbers.
    """
    buffer = array(_CODES[kind])
    buffer.frombytes(data)
    if sys.byteorder == "big":
        buffer.byteswap()
    return buffer.tolist()


@dataclass(frozen=True, slots=True)
class GroupingQuestion:
    """What to group.

    Parameters
    ----------
    task : str
        A task of `kanon_pg.worker.grouping.grouper`.
    options : mapping
        Plain JSON values: k, cost, seconds and what the task takes.
    arrays : mapping
        Buffers by name, each with the kind of its numbers.
    """

    task: str
    options: Mapping[str, Any]
    arrays: Mapping[str, tuple[Kind, bytes]]

    def header(self) -> dict[str, Any]:
        """Return everything but the buffers, ready for JSON."""
        kinds = [[name, kind] for name, (kind, _) in self.arrays.items()]
        return {"task": self.task, "options": dict(self.options), "arrays": kinds}

    def buffers(self) -> list[bytes]:
        """Return the buffers in the order of the header."""
        return [data for _, data in self.arrays.values()]

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], buffers: Sequence[bytes]) -> GroupingQuestion:
        """Rebuild a question from `header` and `buffers`."""
        arrays = {name: (kind, data) for (name, kind), data in zip(header["arrays"], buffers, strict=True)}
        return cls(header["task"], header["options"], arrays)


@dataclass(frozen=True, slots=True)
class GroupingAnswer:
    """How values were grouped, see `kanon_pg.worker.grouping.result.SingleAttribute`.

    Parameters
    ----------
    class_of : bytes
        Class of each value, whole numbers.
    boxes : bytes
        Of rectangles: four doubles per class; else empty.
    cost, lower_bound : int
    method, bound_method : str
    other, degree : int or None
    termination : Termination
        How the search ended.
    """

    class_of: bytes
    boxes: bytes
    cost: int
    lower_bound: int
    method: str
    bound_method: str
    other: int | None
    degree: int | None
    termination: Termination

    def header(self) -> dict[str, Any]:
        """Return everything but the buffers, ready for JSON."""
        return {name: one for name, one in asdict(self).items() if not isinstance(one, bytes)}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], class_of: bytes, boxes: bytes) -> GroupingAnswer:
        """Rebuild an answer from `header` and its two buffers."""
        termination = Termination(header["termination"])
        return cls(class_of=class_of, boxes=boxes, **{**header, "termination": termination})
