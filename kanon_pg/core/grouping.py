"""Requests to group the values of one attribute, the answers, and what classes are called.

Imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError

Kind = Literal["<i8", "<f8"]
"""Whole numbers or doubles of 8 bytes, little-endian, as NumPy names them."""

_CODES: dict[Kind, str] = {"<i8": "q", "<f8": "d"}

LABEL_METHODS = ("spread", "fold", "exact", "relaxed")
REGION_METHODS = ("moves", "tree", "exact")
RECTANGLE_METHODS = ("kd", "exact")

OnLight = Literal["other", "refuse"]
ON_LIGHT: tuple[OnLight, ...] = get_args(OnLight)
"""What becomes of parts of a map that have less than k."""

DEFAULT_EPSILON = 0.25
"""Of method ``relaxed``; below 1/2."""


def packed(kind: Kind, numbers: Sequence[float]) -> bytes:
    """Return numbers as a buffer; a whole one that needs more than 64 bits is an OverflowError.

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
    """Return the numbers of a buffer; a length that is not that of whole ones is a ValueError.

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
class GroupingTask:
    """What to group."""

    task: str
    """A task of `kanon_pg.worker.grouping.grouper`."""
    options: Mapping[str, Any]
    """Plain JSON values: k, cost, seconds and what the task takes."""
    arrays: Mapping[str, tuple[Kind, bytes]]
    """Buffers by name, each with the kind of its numbers."""

    def header(self) -> dict[str, Any]:
        """Return everything but the buffers, ready for JSON."""
        kinds = [[name, kind] for name, (kind, _) in self.arrays.items()]
        return {"task": self.task, "options": dict(self.options), "arrays": kinds}

    def buffers(self) -> list[bytes]:
        """Return the buffers in the order of the header."""
        return [data for _, data in self.arrays.values()]

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], buffers: Sequence[bytes]) -> GroupingTask:
        """Rebuild a task from `header` and `buffers`."""
        arrays = {name: (kind, data) for (name, kind), data in zip(header["arrays"], buffers, strict=True)}
        return cls(header["task"], header["options"], arrays)


@dataclass(frozen=True, slots=True)
class GroupingAnswer:
    """How values were grouped, see `kanon_pg.worker.grouping.result.SingleAttribute`."""

    class_of: bytes
    """Class of each value, whole numbers."""
    boxes: bytes
    """Of rectangles: four doubles per class; else empty."""
    cost: int
    lower_bound: int
    method: str
    bound_method: str
    other: int | None
    degree: int | None
    termination: Termination
    """How the search ended."""

    def header(self) -> dict[str, Any]:
        """Return everything but the buffers, ready for JSON."""
        return {name: one for name, one in asdict(self).items() if not isinstance(one, bytes)}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], class_of: bytes, boxes: bytes) -> GroupingAnswer:
        """Rebuild an answer from `header` and its two buffers."""
        termination = Termination(header["termination"])
        return cls(class_of=class_of, boxes=boxes, **{**header, "termination": termination})


_WIDEST = 60
_SEPARATOR = ", "
OTHER = "other"
MISSING = "(none)"

Weighed = tuple[str | None, int]
"""A label, None for a missing one, and what it weighs."""


def require_total(total: int, k: int) -> None:
    """Refuse values whose weights together are below k.

    Raises
    ------
    InfeasibleError
        With both numbers.
    """
    if total < k:
        raise InfeasibleError(
            f"All values together have {total:,}, fewer than k = {k:,}.", hint="Choose a smaller k."
        )


def class_names(
    labels: Sequence[Weighed], classes: Sequence[int], count: int, other: int | None = None
) -> list[str]:
    """Return for each class the names of its heaviest labels and how many more there are, all different.

    Parameters
    ----------
    other : int, optional
        Class of what belongs nowhere else.

    Examples
    --------
    >>> class_names([("b", 1), ("a", 2), ("c", 5)], [0, 0, 1], 2)
    ['a, b', 'c']
    """
    members: list[list[Weighed]] = [[] for _ in range(count)]
    for label, number in zip(labels, classes, strict=True):
        members[number].append(label)
    names: list[str] = []
    taken = set[str]()
    for number, inside in enumerate(members):
        name = OTHER if number == other else _listed(inside)
        while name in taken:
            name = f"{name} ({number + 1})"
        taken.add(name)
        names.append(name)
    return names


def _listed(inside: Sequence[Weighed]) -> str:
    heaviest = sorted(inside, key=lambda label: (-label[1], label[0] is None, label[0]))
    shown: list[str] = []
    width = 0
    for label, _ in heaviest:
        name = MISSING if label is None else label
        width += len(name) + len(_SEPARATOR)
        if shown and width > _WIDEST:
            return f"{_SEPARATOR.join(shown)} and {len(inside) - len(shown)} more"
        shown.append(name)
    return _SEPARATOR.join(shown)
