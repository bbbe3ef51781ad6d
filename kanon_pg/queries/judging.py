"""Which rows of a block are shown: E1 and E2 of `docs/exact.md`, and what has to be left out with them."""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from kanon_pg.queries.guarded import Guarded
from kanon_pg.queries.sketches import FigureSet, conflict

MOST_KEYS = 8
"""Keys of a block: an answer is rolled up over every subset of them."""

_MASK = 2**31 - 1

Keys: TypeAlias = "tuple[str | None, ...]"
Sketches: TypeAlias = "tuple[int, ...]"
"""One for each set and channel, of which each bucket takes 64 bits of the number, so that numbers can be added."""


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A row of a block as it was counted.

    Parameters
    ----------
    people : int
        With a row in it.
    counts : tuple of int
        People of each figure, in the order of `Guarded.measures`.
    sketch : bytes
        Entries of bucket (2 bytes) and sums (4 bytes for each set and channel), big-endian.
    """

    keys: Keys
    people: int
    counts: tuple[int, ...]
    sketch: bytes


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which rows are shown.

    Parameters
    ----------
    shown : frozenset of int
        Positions.
    left_out_secretly : bool
        Whether a row was left out for what secret columns say.
    sets : tuple of FigureSet
        What is disclosed by showing these rows: to be recorded.
    """

    shown: frozenset[int]
    left_out_secretly: bool
    sets: tuple[FigureSet, ...]


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

    Returns
    -------
    Judgement
        Takes about 1 ms for ten rows.
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
        self.figures: dict[Sketches, FigureSet] = {}
        for position, row in enumerate(rows):
            keys = self.known_keys(row)
            self.groups[keys].append(position)
            if keys not in self.sketches:
                self.sketches[keys] = self.unpacked(row.sketch)

    def known_keys(self, row: BlockRow) -> Keys:
        return tuple(key for number, key in enumerate(row.keys) if number not in self.form.secret_keys)

    def judgement(self) -> Judgement:
        enough = {position for position, row in enumerate(self.rows) if self.has_enough(row)}
        lacks_secretly = self.form.chooses_secretly and len(enough) < len(self.rows)
        by_people = {
            keys: frozenset(self.without_complement(positions, enough)) for keys, positions in self.groups.items()
        }
        shown = {keys for keys, positions in by_people.items() if positions}
        shown, sets = self.different_enough(shown)
        return Judgement(
            frozenset(position for keys in shown for position in by_people[keys]), lacks_secretly, tuple(sets)
        )

    def has_enough(self, row: BlockRow) -> bool:
        """Return whether a row has enough people (E1)."""
        counts = [row.people, *row.counts]
        needed = [self.k, *(measure.needed for measure in self.form.measures)]
        if not row.keys and not self.form.chooses_secretly:
            # nobody is chosen by what is known
            return all(count >= least or count == 0 for count, least in zip(counts, needed, strict=True))
        return all(
            count >= least or (count == 0 and place > 0 and not self.form.chooses_secretly)
            for place, (count, least) in enumerate(zip(counts, needed, strict=True))
        )

    def without_complement(self, positions: Sequence[int], enough: set[int]) -> list[int]:
        """Leave out one row more where a known group has rows of too few people."""
        shown = sorted((one for one in positions if one in enough), key=lambda one: self.rows[one].people)
        if len(shown) < len(positions) and self.form.secret_keys:
            return shown[1:]
        return shown

    # --- E2 ------------------------------------------------------------------------------------------------

    def different_enough(self, shown: set[Keys]) -> tuple[set[Keys], list[FigureSet]]:
        """Return the known groups that are shown, and the sets of them and of their roll-ups."""
        width = max(map(len, self.groups), default=0)
        subsets = [one for size in range(width, -1, -1) for one in combinations(range(width), size)]
        allowed: dict[tuple[int, ...], bool] = {}
        while True:
            found: dict[tuple[int, ...], tuple[tuple[int, ...], Keys]] = {}
            bad: set[Keys] = set()
            for subset in subsets:
                totals, parts = self.rolled_up(self.groups, subset), self.rolled_up(shown, subset)
                for keys, sketches in parts.items():
                    for own, whole in zip(self.by_set(sketches), self.by_set(totals[keys]), strict=True):
                        if own != whole and conflict(self.figure_set(own), self.figure_set(whole), self.k):
                            bad.add(self.smallest(shown, subset, keys))
                        if any(own):
                            found.setdefault(own, (subset, keys))
            new = [one for one in found if one not in allowed]
            against = set(self.conflicting([self.figure_set(one) for one in new])) if new else set()
            for place, one in enumerate(new):
                allowed[one] = place not in against
            for one, (subset, keys) in found.items():
                if not allowed[one]:
                    bad.add(self.smallest(shown, subset, keys))
            if not bad:
                return shown, [self.figure_set(one) for one in found]
            shown = shown - bad

    def rolled_up(self, groups: Iterable[Keys], subset: tuple[int, ...]) -> dict[Keys, Sketches]:
        found: dict[Keys, Sketches] = {}
        for keys in groups:
            part = tuple(keys[place] for place in subset)
            own = self.sketches[keys]
            before = found.get(part)
            found[part] = own if before is None else tuple(map(int.__add__, before, own))
        return found

    def smallest(self, shown: set[Keys], subset: tuple[int, ...], keys: Keys) -> Keys:
        """Return the group of a roll-up that has the fewest people."""
        inside = [one for one in shown if tuple(one[place] for place in subset) == keys]
        return min(
            inside, key=lambda one: (max(self.rows[place].people for place in self.groups[one]), repr(one))
        )

    # --- sketches ------------------------------------------------------------------------------------------

    def unpacked(self, sketch: bytes) -> Sketches:
        """Return the numbers of a sketch."""
        count = self.form.sets * len(self.form.channels)
        lanes = [array("Q", bytes(8 * self.buckets)) for _ in range(count)]
        for bucket, *sums in struct.iter_unpack(f">h{count}i", sketch):
            for lane, value in zip(lanes, sums, strict=True):
                lane[bucket] = value
        return tuple(int.from_bytes(lane.tobytes(), "little") for lane in lanes)

    def by_set(self, sketches: Sketches) -> list[Sketches]:
        """Return the numbers of each set of known rows."""
        width = len(self.form.channels)
        return [sketches[place : place + width] for place in range(0, len(sketches), width)]

    def figure_set(self, sketches: Sketches) -> FigureSet:
        """Return the sketches of one set, by channel."""
        found = self.figures.get(sketches)
        if found is None:
            named = dict(zip(self.form.channels, map(self.packed, sketches), strict=True))
            found = FigureSet(
                people=named["people"],
                tables={name: one for name, one in named.items() if name.startswith("table:")},
                contents={name: one for name, one in named.items() if name.startswith("content:")},
            )
            self.figures[sketches] = found
        return found

    def packed(self, sketch: int) -> bytes:
        """Return the buckets of a sketch, 4 bytes each."""
        lanes = array("Q", sketch.to_bytes(8 * self.buckets, "little"))
        return array("I", [lane & _MASK for lane in lanes]).tobytes()
