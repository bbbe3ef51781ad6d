"""The sets of rows that are known in one state of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import AnswerSets, DisjointSets, LevelSelection
from kanon_pg.worker.ledger.partition_files import StoredPartition
from kanon_pg.worker.ledger.row_numbers import Numbers
from kanon_pg.worker.ledger.sent_sets import (
    ComposedSets,
    DerivedSets,
    PackedRows,
    PackedSets,
    SentPartition,
    SentSets,
)
from kanon_pg.worker.ledger.table_snapshot import TableSnapshot, bitmap_of

Parts = tuple[tuple[BitMap, ...], ...]
ByMask = tuple[Parts, ...]
"""The parts of the groups, then those of each filter."""

_GROUP = np.dtype(">i8")
_OID = np.dtype(">u4")

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


def distinct(parts: Iterable[tuple[BitMap, ...]]) -> Parts:
    """Return parts in order, equal and empty ones left out."""
    found: list[tuple[BitMap, ...]] = []
    for part in parts:
        if part and part not in found:
            found.append(part)
    return tuple(found)


def _each_once(found: Iterable[Parts]) -> Parts:
    return distinct(part for parts in found for part in parts)


class StateSets:
    """The rows of a relation in one state, and sets of them that queries have asked for.

    Parameters
    ----------
    table_snapshot : TableSnapshot or None
        None if the relation has not been read yet; then it has no rows.
    """

    def __init__(self, table_snapshot: TableSnapshot | None) -> None:
        self.table_snapshot = table_snapshot
        self.units = BitMap() if table_snapshot is None else table_snapshot.units
        self._cache = SetCache()
        # apart, because what is made of partitions would push them out
        self._partition_cache = SetCache()
        # apart until they are used, so that they push out nothing that the same query needs
        self._loaded_partitions: dict[str, DisjointSets] = {}
        self._new_partitions: list[StoredPartition] = []

    def keys(self) -> list[str]:
        """Return the keys of statements whose sets are cached, and of partitions."""
        return [*self._cache.keys(), *self._partition_cache.keys()]

    def load_partition(self, partition: StoredPartition) -> bool:
        """Take a partition that was stored for the next answer; return False if it is none of these rows."""
        if not self._is_whole(partition.groups):
            return False
        self._loaded_partitions[partition.key] = partition.groups
        return True

    def take_new_partitions(self) -> list[StoredPartition]:
        """Return the partitions that came since the last call, and that other sessions should have."""
        found, self._new_partitions = self._new_partitions, []
        return found

    def answer(self, sent: Sequence[SentSets], partitions: Sequence[SentPartition] = ()) -> AnswerSets:
        """Return the sets behind an answer.

        Parameters
        ----------
        partitions : sequence of SentPartition
            New ones.

        Raises
        ------
        LedgerError
            They do not fit the table snapshot.
        InputError
            Groups that should not share rows do.
        """
        # fetched first: new sets may push them out of the cache
        cached = {item.sets: self._cache.get(item.sets) for item in sent if isinstance(item.sets, str)}
        used = self._partitions(sent, partitions)
        groups: dict[int, Parts] = {}
        pairs: list[tuple[SentSets, Parts]] = []
        spreads: list[Parts] = []
        for item in sent:
            by_mask = cached[item.sets] if isinstance(item.sets, str) else self._read(item, groups, used)
            found = _each_once(by_mask)
            pairs.append((item, found))
            if item.kind == "groups":
                groups[item.level] = found
                spreads += (by_mask[place] for place in item.spreads)
        figures = _each_once(part for item, part in pairs if item.kind in {"groups", "windows"})
        with_known = {item.level for item in sent if item.kind == "known"}
        known = [
            part
            for item, part in pairs
            if item.kind == "known" or (item.kind != "secret" and item.level not in with_known)
        ]
        narrowed = [part for item, part in pairs if item.narrowed]
        return AnswerSets(
            figures,
            _each_once(known) if with_known else None,
            _each_once(narrowed),
            tuple(self._selections(pairs)),
            tuple(sorted(figures.index(part) for part in _each_once(spreads))),
        )

    @staticmethod
    def _selections(pairs: Sequence[tuple[SentSets, Parts]]) -> Iterator[LevelSelection]:
        """Yield what known and sensitive columns choose in each level in which both do."""
        for level, whole in dict.fromkeys(
            (item.level, item.is_whole) for item, _ in pairs if item.kind == "secret"
        ):
            yield LevelSelection(
                _each_once(part for item, part in pairs if item.level == level and item.narrowed),
                _each_once(part for item, part in pairs if item.level == level and item.kind == "secret"),
                None
                if whole
                else _each_once(
                    part for item, part in pairs if item.level == level and item.kind == "groups"
                ),
            )

    def _partitions(
        self, sent: Sequence[SentSets], packed: Sequence[SentPartition]
    ) -> Mapping[str, DisjointSets]:
        """Return the partitions that composed sets are made of, by their keys; the new ones are cached."""
        new = {item.sets.key: self._partition(item) for item in packed if item.sets.key is not None}
        self._new_partitions += (
            StoredPartition(item.statement, item.sets.key, new[item.sets.key])
            for item in packed
            if item.sets.key is not None and item.statement is not None
        )
        keys = {key for item in sent if isinstance(item.sets, ComposedSets) for key in item.sets.partitions()}
        # the order in which they are used last must not depend on hashes of this process
        wanted = sorted(keys - new.keys())
        loaded = {key: self._loaded_partitions[key] for key in wanted if key in self._loaded_partitions}
        found = {key: self._partition_cache.get(key)[0][0] for key in wanted if key not in loaded}
        self._loaded_partitions.clear()
        for key, parts in (loaded | new).items():
            self._partition_cache.remember(key, ((parts,),), len(self.units))
        return found | loaded | new

    def _partition(self, partition: SentPartition) -> DisjointSets:
        groups = self._sets(partition.sets, partition.sets.rows)
        if partition.is_truth:
            others = BitMap().union(*groups.values())
            groups = {1: self.units - others, 2: others}
        found = tuple(groups[number] for number in sorted(groups))
        if not self._is_whole(found) or sorted(groups) != list(range(1, len(groups) + 1)):
            raise LedgerError("A partition of a relation does not have every row once.")
        return found

    def _is_whole(self, groups: DisjointSets) -> bool:
        """Return whether some groups have every row of the relation once."""
        return sum(map(len, groups)) == len(self.units) and BitMap().union(*groups) == self.units

    def _read(
        self, item: SentSets, groups: Mapping[int, Parts], partitions: Mapping[str, DisjointSets]
    ) -> ByMask:
        if isinstance(item.sets, PackedSets):
            return self._parts(item.sets)
        if isinstance(item.sets, ComposedSets):
            levels = item.sets.levels(partitions, self.units)
            composed = tuple(distinct([sets]) for sets in levels)
            self._cache.remember(item.sets.key, composed, len(self.units))
            return composed
        if item.sets is DerivedSets.EVERYBODY:
            units = self.units
        else:
            # without any row there is no group
            units = BitMap.union(*groups[item.level][0]) if groups[item.level] else BitMap()
        return (((units,),),) if units else ((),)

    def _parts(self, packed: PackedSets) -> ByMask:
        # sets that overlap cannot be added up by anybody, each is a figure of its own
        parts = tuple(
            distinct([sets] if packed.disjoint else [(units,) for units in sets])
            for sets in self._levels(packed)
        )
        if packed.key is not None:
            self._cache.remember(packed.key, parts, len(self.units))
        return parts

    def _levels(self, packed: PackedSets) -> Iterator[tuple[BitMap, ...]]:
        groups = self._sets(packed, packed.rows)
        yield tuple(groups.values())
        for rows in packed.filters:
            named = self._sets(packed, rows)
            if packed.disjoint:
                named = {
                    group: units - named[group] if group in named else units
                    for group, units in groups.items()
                }
            yield tuple(units for units in named.values() if units)

    def _sets(self, packed: PackedSets, rows: PackedRows) -> dict[int, BitMap]:
        by_group: dict[int, list[Numbers]] = {}
        for group, numbers in self._pieces(packed, rows):
            by_group.setdefault(group, []).append(numbers)
        sets = {}
        for group, parts in by_group.items():
            numbers = np.concatenate(parts)
            sets[group] = bitmap_of(numbers)
            if packed.disjoint and len(sets[group]) != len(numbers):
                raise LedgerError("A row stands twice in a group that a join should not repeat.")
        return sets

    def _pieces(self, packed: PackedSets, rows: PackedRows) -> Iterator[tuple[int, Numbers]]:
        if self.table_snapshot is None:
            raise LedgerError("The rows behind an answer came before the relation was read.")
        groups = np.frombuffer(packed.groups, dtype=_GROUP).tolist()
        leaves = np.frombuffer(packed.leaves, dtype=_OID).tolist()
        lengths = np.frombuffer(rows.lengths, dtype=_GROUP).tolist()
        position = 0
        for group, leaf, length in zip(groups, leaves, lengths, strict=True):
            data = rows.row_ids[position : position + length]
            position += length
            if length:
                yield (
                    group,
                    self.table_snapshot.numbers_of_contents(data)
                    if packed.by_content
                    else self.table_snapshot.numbers_at(leaf, data),
                )
        if position != len(rows.row_ids):
            raise LedgerError("The rows behind an answer did not arrive as a whole.")
