"""Requests to choose who waits for the next version of a release over time.

Imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FUTURES = 6
"""Futures that are drawn from earlier rows."""


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """Rules by which some may wait; the rows come as row types.

    The last column of the row types says for how many versions rows have waited, 0 for those that came just
    now and -1 for earlier ones, of which futures are drawn.

    Parameters
    ----------
    most : int
        Rows that may wait.
    longest : int
        Versions for which a row may wait, >= 1.
    patterns : list or mapping, optional
        The patterns that are allowed, as in `kanon_pg.core.solving.SolveRequest`.
    seed : int, optional
        Seed of the random choices.
    seconds : float
        Time for the search.
    """

    k: int
    most: int
    longest: int
    patterns: list[Any] | dict[str, Any] | None
    seed: int | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WaitingTask:
        """Rebuild a request from `to_json`'s values."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Who waits: the row types of whom some do, as two buffers of signed 64-bit big-endian numbers.

    Parameters
    ----------
    keys, rows : bytes
        Hash of each row type, and how many of its rows wait, >= 1.
    """

    keys: bytes
    rows: bytes

    @property
    def total(self) -> int:
        """Number of rows that wait."""
        return sum(rows for (rows,) in struct.iter_unpack(">q", self.rows))
