"""Sets of values on one scale, described by the places between values at which they begin and end."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Final, TypeAlias

from kanon_pg.queries.check.plan.typed import Bound, TypedConstant, constant_value
from kanon_pg.queries.check.types import INTEGERS, NUMBERS

Cut: TypeAlias = tuple[Decimal, bool]
"""A place on the scale: directly before a value, or (True) directly behind it."""

_FIRST: Final[Cut] = (Decimal("-Infinity"), False)
_LAST: Final[Cut] = (Decimal("Infinity"), True)
_STEPS: Final = frozenset({*INTEGERS, "date", "timestamp"})
"""Types with a next value: whole numbers, days, microseconds."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """A set of values.

    Parameters
    ----------
    pieces : tuple of tuple
        Where each piece begins and ends, in order; between two of them there are other values.
    """

    pieces: tuple[tuple[Cut, Cut], ...]

    def __and__(self, other: Cuts) -> Cuts:
        """Return the values that are in both."""
        met = ((max(a, c), min(b, d)) for a, b in self.pieces for c, d in other.pieces)
        return Cuts(tuple((start, end) for start, end in met if start < end))

    def __invert__(self) -> Cuts:
        """Return all other values."""
        starts = (_FIRST, *(end for _, end in self.pieces))
        ends = (*(start for start, _ in self.pieces), _LAST)
        return Cuts(tuple((a, b) for a, b in zip(starts, ends, strict=True) if a < b))

    def __or__(self, other: Cuts) -> Cuts:
        """Return the values that are in one of them."""
        return ~(~self & ~other)

    @property
    def is_one_range(self) -> bool:
        """Whether no other values are between two of these."""
        return len(self.pieces) < 2


NOTHING: Final = Cuts(())


def compared(operator: str, constant: Bound, kind: str) -> Cuts | None:
    """Return the values to which a constant compares so.

    Parameters
    ----------
    operator : {'=', '<>', '<', '<=', '>', '>='}
        Its left side is the value.
    kind : str
        Type of the values.

    Returns
    -------
    Cuts or None
        None if the constant's place on the scale is not known.
    """
    place = _place(constant)
    if place is None:
        return None
    before, behind = _cut(place, kind, behind=False), _cut(place, kind, behind=True)
    below, above = Cuts(((_FIRST, before),)), Cuts(((behind, _LAST),))
    found = {"<": below, ">=": ~below, ">": above, "<=": ~above, "=": ~below & ~above, "<>": below | above}
    return found[operator]


def union(sets: Iterable[Cuts]) -> Cuts:
    """Return the values that are in one of the sets."""
    found = NOTHING
    for item in sets:
        found |= item
    return found


def _cut(place: Decimal, kind: str, *, behind: bool) -> Cut:
    """Return a cut, the same one for behind a whole number and before the next."""
    if kind not in _STEPS:
        return place, behind
    following = place.to_integral_value(rounding=ROUND_CEILING)
    return (following + 1 if behind and following == place else following), False


def _place(constant: Bound) -> Decimal | None:
    value = constant_value(constant)
    if value is not None or constant.type in NUMBERS:
        return value
    if not isinstance(constant, TypedConstant) or constant.text is None:
        return None
    if constant.type == "date":
        return Decimal(datetime.date.fromisoformat(constant.text).toordinal())
    if constant.type == "timestamp":
        passed = datetime.datetime.fromisoformat(constant.text) - datetime.datetime.min
        return Decimal(passed // datetime.timedelta(microseconds=1))
    return None
