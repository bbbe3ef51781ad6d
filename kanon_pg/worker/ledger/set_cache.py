"""The sets of people that a session keeps of one state of a relation, so that they are not read again."""

from __future__ import annotations

from collections.abc import Iterable

from pyroaring import BitMap

from kanon_pg.errors import LedgerError

Parts = tuple[tuple[BitMap, ...], ...]
ByMask = tuple[Parts, ...]
"""The parts of the groups, then those of each filter."""

_MAX_SETS = 32
_MAX_UNITS = 30_000_000
"""That all sets together may have; at most some 60 MB."""


class SetCache:
    """The most recently used sets of one state of a relation.

    How many are kept depends on how many units there are and how many conditions the statements have,
    never on the sets: what is kept shows in what the next query reads.
    """

    def __init__(self) -> None:
        self._parts: dict[str, ByMask] = {}
        self._units: dict[str, int] = {}

    def keys(self) -> list[str]:
        """Return the keys that `get` knows."""
        return list(self._parts)

    def get(self, key: str) -> ByMask:
        """Return what was remembered.

        Raises
        ------
        LedgerError
            Nothing was.
        """
        parts = self._parts.pop(key, None)
        if parts is None:
            raise LedgerError("The rows behind an answer are not known any more.", hint="Ask again.")
        self._parts[key] = parts
        return parts

    def remember(self, key: str, parts: ByMask, units: int) -> None:
        """Remember sets of up to so many units; drop the least recently used ones if there are too many."""
        self._parts[key] = parts
        self._units[key] = len(parts) * units
        while len(self._parts) > _MAX_SETS or sum(self._units.values()) > _MAX_UNITS:
            oldest = next(iter(self._parts))
            del self._parts[oldest], self._units[oldest]

    def clear(self) -> None:
        """Drop everything: the relation is in another state."""
        self._parts.clear()
        self._units.clear()


def distinct(parts: Iterable[tuple[BitMap, ...]]) -> Parts:
    """Return parts in order, equal and empty ones left out."""
    found: list[tuple[BitMap, ...]] = []
    for part in parts:
        if part and part not in found:
            found.append(part)
    return tuple(found)
