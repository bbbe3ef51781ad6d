"""Row types as they travel: one packed buffer per column, never an object per cell.

PostgreSQL sends every column as one ``bytea`` of 8-byte big-endian numbers; these buffers pass
unopened through the backend into the solver's process, where NumPy reads them in place. This module
imports the standard library alone, so that a PostgreSQL backend can load it at no cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kanon_pg.core.generalization import LevelFields, PackedHierarchy

ITEM_BYTES = 8
"""Bytes of every packed number (``bigint`` or ``double precision``, big-endian)."""

MAX_COLUMNS = 62
"""Most quasi-identifiers of one release: a pattern vector is a bit mask in a non-negative ``bigint``."""

ColumnKind = Literal["categorical", "numeric"]


@dataclass(frozen=True, slots=True)
class QuasiIdentifier:
    """A quasi-identifier as a solver sees it."""

    name: str
    """Name of the column, for reports and pattern constraints."""
    kind: ColumnKind = "categorical"
    """Whether the values have a distance (numbers, dates) or only names."""
    weight: float = 1.0
    """Cost of one suppressed cell, > 0."""


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column that a privacy model speaks of."""

    name: str
    """Name of the column, for error messages."""
    kind: ColumnKind = "categorical"
    """Whether the values have an order (numbers, dates) or only names."""


@dataclass(frozen=True, slots=True)
class PackedRowTypes:
    """Distinct quasi-identifier tuples with their multiplicities, as packed buffers.

    Where a privacy model looks at sensitive columns, rows are of one type only if they agree on these
    too; then several row types may have equal cells. All buffers but the pairs hold `n` items of
    8 bytes, big-endian, in the same order.
    """

    columns: tuple[QuasiIdentifier, ...]
    """The `m` quasi-identifiers; column ``j`` is bit ``j`` of a pattern vector."""
    keys: bytes
    """Identity of each row type (signed 64-bit hash, unique)."""
    rows: bytes
    """Rows of each row type, >= 1."""
    people: bytes
    """Distinct people of each row type, >= 0 (0: only rows whose entity is NULL). Equal to `rows` if no
    entity is declared. Empty if pairs repeat: the worker that receives them finds both."""
    cells: tuple[bytes, ...]
    """Per column, a 64-bit identity of each cell: equal exactly if ``GROUP BY`` holds the values equal; NULL
    is a value of its own."""
    values: tuple[bytes | None, ...]
    """Per numeric column the values as doubles (NaN for NULL); None for categorical columns."""
    pair_keys: bytes = b""
    pair_people: bytes = b""
    """`pair_keys`, `pair_people`: with an entity: the (row type key, person identity) pairs, distinct unless
    `people` is empty; else empty."""
    sensitive_columns: tuple[SensitiveColumn, ...] = ()
    """The sensitive columns of the privacy model, none without one."""
    sensitive_cells: tuple[bytes, ...] = ()
    """Per sensitive column a 64-bit identity of each row type's value, as in `cells`."""
    sensitive_values: tuple[bytes | None, ...] = ()
    """Per sensitive column, if it is numeric, the places of its values in the server's order as doubles (NaN
    for NULL), else None."""
    hierarchies: tuple[PackedHierarchy | None, ...] = ()
    """Per quasi-identifier the hierarchy of its values, None if its cells are only suppressed; empty if no
    column has one."""

    def __len__(self) -> int:
        return len(self.keys) // ITEM_BYTES

    @property
    def has_entity(self) -> bool:
        """Whether people are counted by an entity column instead of by rows."""
        return bool(self.pair_keys)

    @property
    def level_fields(self) -> LevelFields:
        """Where the level of each column stands in a pattern vector."""
        hierarchies = self.hierarchies or (None,) * len(self.columns)
        return LevelFields(tuple(1 if h is None else h.height for h in hierarchies))

    def without_cells(self) -> PackedRowTypes:
        """Return the row types with their keys and counts alone, which no solver can use."""
        return PackedRowTypes((), self.keys, self.rows, self.people, (), ())

    def buffers(self) -> Iterator[bytes]:
        """Yield all buffers in the order that `from_buffers` expects."""
        yield self.keys
        yield self.rows
        yield self.people
        yield from self.cells
        yield from (values for values in self.values if values is not None)
        yield self.pair_keys
        yield self.pair_people
        yield from self.sensitive_cells
        yield from (values for values in self.sensitive_values if values is not None)
        for hierarchy in self.hierarchies:
            if hierarchy is not None:
                yield from hierarchy.buffers()

    def header(self) -> dict[str, Any]:
        """Return what `from_buffers` needs besides the buffers, ready for JSON."""
        return {
            "columns": [{"name": c.name, "kind": c.kind, "weight": c.weight} for c in self.columns],
            "values": [values is not None for values in self.values],
            "sensitive": [{"name": c.name, "kind": c.kind} for c in self.sensitive_columns],
            "sensitive_values": [values is not None for values in self.sensitive_values],
            "hierarchies": [None if h is None else h.header() for h in self.hierarchies],
        }

    @classmethod
    def from_buffers(cls, header: Mapping[str, Any], buffers: Sequence[Any]) -> PackedRowTypes:
        """Rebuild row types from `header` and the buffers in the order of `buffers`.

        Parameters
        ----------
        header : mapping
            What `header` returned.
        buffers : sequence of bytes-like
            What `buffers` yielded; memory views are kept as they are.
        """
        columns = tuple(QuasiIdentifier(**column) for column in header["columns"])
        rest = iter(buffers)
        keys, rows, people = next(rest), next(rest), next(rest)
        cells = tuple(next(rest) for _ in columns)
        values = tuple(next(rest) if present else None for present in header["values"])
        pair_keys, pair_people = next(rest), next(rest)
        sensitive = tuple(SensitiveColumn(**column) for column in header["sensitive"])
        sensitive_cells = tuple(next(rest) for _ in sensitive)
        sensitive_values = tuple(next(rest) if present else None for present in header["sensitive_values"])
        hierarchies = tuple(
            None if h is None else PackedHierarchy.from_buffers(h, rest) for h in header["hierarchies"]
        )
        return cls(
            columns, keys, rows, people, cells, values, pair_keys, pair_people,
            sensitive, sensitive_cells, sensitive_values, hierarchies,
        )  # fmt: skip
