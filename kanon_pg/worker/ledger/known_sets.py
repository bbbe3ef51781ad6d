"""The sets behind recent answers, by what they were read with, so that the same need not be read again."""

from __future__ import annotations

from collections.abc import Iterable

from pyroaring import BitMap

from kanon_pg.errors import LedgerError

Parts = tuple[tuple[BitMap, ...], ...]

_MOST = 32
_MOST_UNITS = 30_000_000
"""In all sets together; at most some 60 MB."""


class KnownSets:
    """Sets of one state of a relation, those used last."""

    def __init__(self) -> None:
        self._parts: dict[str, Parts] = {}
        self._units: dict[str, int] = {}

    def keys(self) -> list[str]:
        """Return the keys that `get` knows."""
        return list(self._parts)

    def get(self, key: str) -> Parts:
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

    def remember(self, key: str, parts: Parts) -> None:
        """Remember sets, and forget those that were not used for longest if there are too many."""
        self._parts[key] = parts
        self._units[key] = sum(len(units) for part in parts for units in part)
        while len(self._parts) > _MOST or sum(self._units.values()) > _MOST_UNITS:
            oldest = next(iter(self._parts))
            del self._parts[oldest], self._units[oldest]

    def clear(self) -> None:
        """Forget everything: the relation is in another state."""
        self._parts.clear()
        self._units.clear()


def distinct(parts: Iterable[tuple[BitMap, ...]]) -> Parts:
    """Return parts in order, equal and empty ones left out."""
    found: list[tuple[BitMap, ...]] = []
    for part in parts:
        if part and part not in found:
            found.append(part)
    return tuple(found)
