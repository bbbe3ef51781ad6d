"""Requests to write a certificate: what is stored of a release, and what was said about it.

Imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kanon_pg.core.privacy_models import PrivacyModels


@dataclass(frozen=True, slots=True)
class StoredMapping:
    """The mapping behind a release, each column one buffer of signed 64-bit big-endian numbers."""

    keys: bytes
    patterns: bytes
    """`keys`, `patterns`: hash of each row type, and mask of its suppressed columns."""
    prices: bytes
    """Price of each row of a row type; empty if the bound has another proof."""
    part_keys: bytes = b""
    first_rows: bytes = b""
    part_patterns: bytes = b""
    """`part_keys`, `first_rows`, `part_patterns`: parts of divided row types, see
    `kanon_pg.release.publish.storage.Parts`, by row type and first row."""

    def buffers(self) -> list[bytes]:
        """Return all buffers in the order of the fields."""
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class CertificateTask:
    """A release whose certificate is to be written."""

    release: str
    """Its name."""
    k: int
    patterns: list[Any] | dict[str, Any] | None
    """The patterns that were allowed, as in `kanon_pg.core.solving.SolveRequest`."""
    rows: int
    """Rows that it had when it was published."""
    cost: float
    """Its weighted cost then."""
    seconds: float
    """Time for a search for prices, if none are stored."""
    mapping: StoredMapping
    models: PrivacyModels = field(default_factory=PrivacyModels)
    """What classes had to satisfy besides k."""

    def header(self) -> dict[str, Any]:
        """Return everything but the buffers, ready for JSON."""
        return {**{name: getattr(self, name) for name in _PLAIN}, "models": asdict(self.models)}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], buffers: Sequence[Any]) -> CertificateTask:
        """Rebuild a task from `header` and the buffers of its mapping, which may be memory views."""
        models = PrivacyModels(**header["models"])
        return cls(**{**header, "models": models}, mapping=StoredMapping(*buffers))


_PLAIN = ("release", "k", "patterns", "rows", "cost", "seconds")

MAPPING_BUFFERS = len(fields(StoredMapping))
"""Number of buffers of a mapping."""
