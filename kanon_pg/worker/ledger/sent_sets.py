"""What the parent sends of the people behind an answer: sets of a statement, or what they follow from.

The database packs rows; which units they are, `kanon_pg.worker.ledger.relation_ledger` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import DisjointSets


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The rows of some pieces, one after the other.

    Parameters
    ----------
    lengths : bytes
        Bytes of each piece, 8 bytes each.
    row_ids : bytes
        TIDs of 6 bytes, or hashes of contents of 8 bytes.
    """

    lengths: bytes | memoryview
    row_ids: bytes | memoryview


@dataclass(frozen=True, slots=True)
class PackedSets:
    """The sets of one level as the database sent them (see `kanon_pg.queries.check.verdict.EntitySet`).

    Parameters
    ----------
    disjoint : bool
        Whether a row stands in one group at most, and once.
    by_content : bool
        Whether rows are given by hashes of their contents instead of TIDs.
    groups, leaves : bytes
        Number of the group, and OID of the table, of each piece.
    filters : tuple of PackedRows
        What each filter leaves out of them, or, unless `disjoint`, lets in.
    key : str or None
        Names the statement for `RelationLedger.cached_keys`, None if its sets may change while the relation
        does not.
    """

    disjoint: bool
    by_content: bool
    groups: bytes | memoryview
    leaves: bytes | memoryview
    rows: PackedRows
    filters: tuple[PackedRows, ...] = ()
    key: str | None = None


class DerivedSets(Enum):
    """Sets that need not be sent."""

    EVERYBODY = "all rows of the relation"
    GROUPS = "the rows of all groups of the level"


@dataclass(frozen=True, slots=True)
class SentPartition:
    """All rows of the relation, in groups that are numbered from 1, with a key.

    Parameters
    ----------
    is_truth : bool
        Whether only the rows were sent for which a condition is not true: the second group.
    statement : str or None
        As in `StoredPartition`; None if other sessions should not have it.
    """

    sets: PackedSets
    is_truth: bool
    statement: str | None = None


Choice = tuple[str, tuple[int, ...]]
"""Key of a partition, and the places of some of its groups, counted from 1."""


@dataclass(frozen=True, slots=True)
class ComposedSets:
    """Sets of a level that follow from partitions of the relation.

    Parameters
    ----------
    groups : str or None
        Partition by the group key; None if there is none.
    where : tuple of Choice
        What holds for all rows of the groups; all of them do.
    filters : tuple of tuple of Choice
        What holds for the rows that each filter lets in.
    key : str
        As in `PackedSets`.
    """

    groups: str | None
    where: tuple[Choice, ...]
    filters: tuple[tuple[Choice, ...], ...]
    key: str

    def partitions(self) -> Iterator[str]:
        """Yield the keys of all partitions."""
        if self.groups is not None:
            yield self.groups
        for choices in (self.where, *self.filters):
            yield from (key for key, _ in choices)

    def levels(self, partitions: Mapping[str, DisjointSets], everybody: BitMap) -> Iterator[DisjointSets]:
        """Yield the groups, then what each filter lets in of them.

        Time of one union per choice, and of one intersection for each value of the group key.
        """
        chosen = _chosen(self.where, partitions, everybody)
        parts = (everybody,) if self.groups is None else partitions[self.groups]
        groups = [both for part in parts if (both := chosen & part)]
        yield tuple(groups)
        for choices in self.filters:
            let_in = _chosen(choices, partitions, everybody)
            yield tuple(both for units in groups if (both := units & let_in))


def _chosen(choices: Iterable[Choice], partitions: Mapping[str, DisjointSets], everybody: BitMap) -> BitMap:
    found = everybody
    for key, places in choices:
        parts = partitions[key]
        if not all(0 < place <= len(parts) for place in places):
            raise LedgerError("A condition names a value that a partition does not have.")
        found = found & BitMap.union(*(parts[place - 1] for place in places)) if places else BitMap()
    return found


@dataclass(frozen=True, slots=True)
class SentSets:
    """The sets of a statement, and what they stand for.

    Parameters
    ----------
    level : int
        Number of the SELECT of the query that groups them.
    kind, narrowed, is_whole, spreads
        As in `kanon_pg.queries.check.verdict.EntitySet`.
    sets : PackedSets, str, DerivedSets or ComposedSets
        As they were sent, the key of cached ones, or what they follow from.
    """

    level: int
    kind: Literal["groups", "windows", "known", "secret"]
    narrowed: bool
    is_whole: bool
    sets: PackedSets | str | DerivedSets | ComposedSets
    spreads: tuple[int, ...] = ()
