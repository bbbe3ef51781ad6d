"""Which rows of a block are shown: E1 and E2 of `docs/exact.md`, and what has to be left out with them."""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias
from zlib import crc32

from kanon_pg.queries.counting.guarded import NOBODY, Guarded
from kanon_pg.queries.record.sketches import FigureSet, Shape, conflict
from kanon_pg.queries.record.sketches import Keys as SketchKeys

MOST_KEYS = 8
"""Keys of a block: an answer is rolled up over every subset of them."""

_MASK = 2**31 - 1

_TINY = -1
"""In place of a key: sets of few people, which are compared with each other."""

Keys: TypeAlias = "tuple[str | None, ...]"
Sketches: TypeAlias = "tuple[int, ...]"
"""One for each set and channel; each bucket takes 64 bits of the number, so that numbers can be added."""

_Set: TypeAlias = "tuple[str | None, int, Sketches]"
"""The column of which a rounded mean is shown, the number of the set, and a sketch for each channel."""


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A row of a block as it was counted."""

    keys: Keys
    people: int
    """With a row in it; 0 if known values let expect it, and secret ones leave it empty."""
    counts: tuple[int, ...]
    """People of each figure, in the order of `Guarded.measures`; NOBODY if it has no rows."""
    by_bucket: bytes
    """Entries of bucket (2 bytes) and people of each figure in it (2 bytes each), big-endian."""
    sketch: bytes
    """Entries of bucket (2 bytes) and sums (4 bytes for each set and channel), big-endian."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which rows are shown."""

    shown: frozenset[int]
    """Positions."""
    left_out_secretly: bool
    """Whether a row was left out for what secret columns say."""
    sets: tuple[FigureSet, ...]
    """What is disclosed by showing these rows: to be recorded."""


def judge(
    rows: Sequence[BlockRow],
    form: Guarded,
    conflicting: Callable[[Sequence[FigureSet]], Iterable[int]],
    *,
    k: int,
    buckets: int,
) -> Judgement:
    """Decide which rows of a block are shown.

    Parameters
    ----------
    conflicting : callable
        Takes sets, and returns the positions of those that conflict with what was disclosed before.
    """
    return _Judge(rows, form, conflicting, k, buckets).judgement()


class _Judge:
    def __init__(
        self,
        rows: Sequence[BlockRow],
        form: Guarded,
        conflicting: Callable[[Sequence[FigureSet]], Iterable[int]],
        k: int,
        buckets: int,
    ) -> None:
        self.rows, self.form, self.conflicting, self.k, self.buckets = rows, form, conflicting, k, buckets
        self.groups: dict[Keys, list[int]] = defaultdict(list)
        self.sketches: dict[Keys, Sketches] = {}
        self.figures: dict[_Set, FigureSet] = {}
        self.allowed: dict[_Set, bool] = {}
        """What the record said of sets."""
        self.used = sorted({measure.set for measure in form.measures}) or [0]
        self.shape = Shape(buckets, k)
        for position, row in enumerate(rows):
            keys = self.known_keys(row)
            self.groups[keys].append(position)
            if keys not in self.sketches:
                self.sketches[keys] = self.unpacked(row.sketch)
        self.rows = [*rows, *self.empty_rows()]

    def known_keys(self, row: BlockRow) -> Keys:
        return tuple(key for number, key in enumerate(row.keys) if number not in self.form.secret_keys)

    def secret_key(self, row: BlockRow) -> Keys:
        return tuple(row.keys[place] for place in self.form.secret_keys)

    def empty_rows(self) -> Iterator[BlockRow]:
        """Yield rows that groups of fewer than k people lack: their absence would tell of these few."""
        if not self.form.secret_keys or not any(self.groups):
            return
        seen = dict.fromkeys(self.secret_key(row) for row in self.rows if row.people)
        nobody = tuple(0 for _ in self.form.measures)
        for keys, positions in self.groups.items():
            people = self.sketches[keys][self.form.channels.index("people")]
            filled = sum(map(bool, array("Q", people.to_bytes(8 * self.buckets, "little"))))
            if filled >= self.k:
                continue
            here = {self.secret_key(self.rows[one]) for one in positions}
            for secret in (one for one in seen if one not in here):
                known, chosen = iter(keys), iter(secret)
                places = range(len(keys) + len(secret))
                all_keys = tuple(next(chosen if one in self.form.secret_keys else known) for one in places)
                yield BlockRow(all_keys, 0, nobody, b"", b"")

    def judgement(self) -> Judgement:
        shown = {position for position, row in enumerate(self.rows) if self.has_enough(row)}
        lacks_secretly = self.form.chooses_secretly and len(shown) < len(self.rows)
        while True:
            self.leave_out(shown)
            disclosed = self.disclosed(shown)
            bad = self.too_close(disclosed)
            if not bad:
                return Judgement(frozenset(shown), lacks_secretly, tuple(map(self.figure_set, disclosed)))
            for one in bad:
                shown -= set(self.smallest_group(shown, *disclosed[one]))

    # --- E1, and what is left out --------------------------------------------------------------------------

    def has_enough(self, row: BlockRow) -> bool:
        """Return whether a row has enough people (E1)."""
        is_seen = row.people >= self.k or (not row.keys and bool(row.counts))
        return is_seen and self.are_enough(row.counts)

    def are_enough(self, counts: Sequence[int]) -> bool:
        return all(
            count >= measure.needed or (count == NOBODY and not measure.is_chosen)
            for count, measure in zip(counts, self.form.measures, strict=True)
        )

    def leave_out(self, shown: set[int]) -> None:
        """Leave out rows until what lacks of each roll-up could be shown."""
        width = max((len(row.keys) for row in self.rows), default=0)
        subsets = [one for size in range(width - 1, -1, -1) for one in combinations(range(width), size)]
        is_stable = False
        while not is_stable:
            is_stable = True
            for subset in subsets:
                groups: dict[Keys, list[int]] = defaultdict(list)
                for position, row in enumerate(self.rows):
                    groups[tuple(row.keys[place] for place in subset)].append(position)
                for group in groups.values():
                    missing = [one for one in group if one not in shown]
                    here = sorted((one for one in group if one in shown), key=self.size)
                    while missing and here and not self.are_enough(self.together(missing)):
                        missing.append(here.pop(0))
                        shown.discard(missing[-1])
                        is_stable = False

    def size(self, position: int) -> tuple[int, str]:
        return self.rows[position].people, repr(self.rows[position].keys)

    def together(self, positions: Sequence[int]) -> list[int]:
        """Return how many people several rows have in each figure, at least."""
        totals, entry = [], struct.Struct(f">{1 + len(self.form.measures)}h")
        for place in range(len(self.form.measures)):
            counts = [self.rows[one].counts[place] for one in positions]
            if all(count == NOBODY for count in counts):
                totals.append(NOBODY)
            elif self.form.divides_people or len(counts) == 1:
                totals.append(sum(max(count, 0) for count in counts))
            else:
                # people may stand in several rows: a bucket has as many as it has in one of these, at least
                most: dict[int, int] = defaultdict(int)
                for one in positions:
                    for bucket, *people in entry.iter_unpack(self.rows[one].by_bucket):
                        most[bucket] = max(most[bucket], people[place])
                totals.append(sum(most.values()))
        return totals

    # --- E2 ------------------------------------------------------------------------------------------------

    def disclosed(self, shown: set[int]) -> dict[_Set, tuple[tuple[int, ...], Keys]]:
        """Return the sets of the known groups that are shown and of their roll-ups, and where each stands."""
        width, channels = max(map(len, self.groups), default=0), len(self.form.channels)
        groups = [keys for keys, positions in self.groups.items() if not shown.isdisjoint(positions)]
        sets: dict[_Set, tuple[tuple[int, ...], Keys]] = {}
        for size in range(width, -1, -1):
            for subset in combinations(range(width), size):
                for keys, sketches in self.rolled_up(groups, subset).items():
                    for number in self.used:
                        own = sketches[number * channels : (number + 1) * channels]
                        if any(own):
                            sets.setdefault((self.form.rounded[number], number, own), (subset, keys))
        return sets

    def too_close(self, sets: Mapping[_Set, object]) -> set[_Set]:
        """Return the sets that conflict with what was disclosed before, or with each other."""
        new = [one for one in sets if one not in self.allowed]
        against = set(self.conflicting([self.figure_set(one) for one in new])) if new else set()
        self.allowed |= {one: place not in against for place, one in enumerate(new)}
        bad = {one for one in sets if not self.allowed[one]}
        # those of one condition differ by groups as they are
        near: dict[tuple[str, int], list[_Set]] = defaultdict(list)
        for one in sets if len(self.used) > 1 else ():
            keys = {name: self.shape.keys(0, sketch) for name, sketch in self.figure_set(one).named().items()}
            candidates = {
                other
                for name, own in keys.items()
                for key in self.sought(own)
                for other in near.get((name, key), ())
                if other[1] != one[1]
            }
            if any(conflict(self.figure_set(one), self.figure_set(other), self.k) for other in candidates):
                bad.add(one)
            for name, own in keys.items():
                for key in (*own.stored, *own.single, *[_TINY] * own.is_tiny):
                    near[name, key].append(one)
        return bad

    def sought(self, keys: SketchKeys) -> Iterator[int]:
        """Yield the keys by which sets that conflict are found."""
        for key in (*keys.near, *keys.near_single):
            yield from range(key, key + self.shape.span)
        if keys.is_tiny:
            yield _TINY

    def rolled_up(self, groups: Iterable[Keys], subset: tuple[int, ...]) -> dict[Keys, Sketches]:
        sums: dict[Keys, Sketches] = {}
        for keys in groups:
            part, own = tuple(keys[place] for place in subset), self.sketches[keys]
            sums[part] = tuple(map(int.__add__, sums[part], own)) if part in sums else own
        return sums

    def smallest_group(self, shown: set[int], subset: tuple[int, ...], keys: Keys) -> Sequence[int]:
        """Return the known group of a roll-up that has the fewest people; none if all are left out."""
        inside = [
            positions
            for one, positions in self.groups.items()
            if tuple(one[place] for place in subset) == keys and not shown.isdisjoint(positions)
        ]
        return min(inside, key=lambda some: (sum(self.rows[one].people for one in some), some), default=[])

    # --- sketches ------------------------------------------------------------------------------------------

    def unpacked(self, sketch: bytes) -> Sketches:
        """Return the numbers of a sketch."""
        count = self.form.sets * len(self.form.channels)
        lanes = [array("Q", bytes(8 * self.buckets)) for _ in range(count)]
        for bucket, *sums in struct.iter_unpack(f">h{count}i", sketch):
            for lane, value in zip(lanes, sums, strict=True):
                lane[bucket] = value
        return tuple(int.from_bytes(lane.tobytes(), "little") for lane in lanes)

    def figure_set(self, one: _Set) -> FigureSet:
        """Return the sketches of one set, by channel."""
        if one not in self.figures:
            column, _, sketches = one
            named = dict(zip(self.form.channels, map(self.packed, sketches), strict=True))
            contents = {name: sketch for name, sketch in named.items() if name.startswith("content:")}
            tables = {name: sketch for name, sketch in named.items() if name.startswith("table:")}
            for name, sketch in tables.items() if column is not None else ():
                # the same rows with another column differ in one bucket, which is too little
                mark = crc32((column or "").encode()) & _MASK
                (first,) = struct.unpack("I", sketch[:4])
                contents[f"rounded:{name}"] = struct.pack("I", (first + mark) & _MASK) + sketch[4:]
            self.figures[one] = FigureSet(named["people"], tables, contents)
        return self.figures[one]

    def packed(self, sketch: int) -> bytes:
        """Return the buckets of a sketch, 4 bytes each."""
        lanes = array("Q", sketch.to_bytes(8 * self.buckets, "little"))
        return array("I", [lane & _MASK for lane in lanes]).tobytes()
