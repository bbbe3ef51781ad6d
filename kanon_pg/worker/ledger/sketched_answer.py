"""The sets of an answer with their sketches, and which of them nearly equal each other or earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import Level, Population
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, SetSketch, sketch_of
from kanon_pg.worker.ledger.field import Matrix, PrimeField
from kanon_pg.worker.ledger.linear_code import word_fingerprint

SketchedSet: TypeAlias = tuple[BitMap, SetSketch]


@dataclass(frozen=True, slots=True)
class SketchedAnswer:
    """The levels of an answer with totals, and the vectors of its sets.

    Parameters
    ----------
    levels : tuple of tuple of SketchedSet
        Of a level of several sets the last one is their union.
    vectors : matrix, shape (sets without unions, any)
        As `PrimeField.vectors` returns them.
    width : int
        Columns of each sketch.
    """

    levels: tuple[tuple[SketchedSet, ...], ...]
    vectors: Matrix
    width: int

    @classmethod
    def of(
        cls, levels: Sequence[Level], population: Population, field: PrimeField, width: int
    ) -> SketchedAnswer:
        """Sketch the sets of some levels."""
        vectors = field.vectors([units for level in levels for units in level], population.owners)
        rest = iter(vectors)
        found = []
        for level in levels:
            own = [next(rest) for _ in level]
            sets = list(level)
            if len(sets) > 1:
                sets.append(BitMap.union(*level))
                own.append(np.sum(own, axis=0))
            found.append(
                tuple((u, sketch_of(v, width, field.modulus)) for u, v in zip(sets, own, strict=True))
            )
        return cls(tuple(found), vectors, width)

    def excused(self, population: Population, k: int, field: PrimeField) -> frozenset[bytes]:
        """Return the fingerprints of sets of `k` people whose vectors look like fewer."""
        weights = iter(np.count_nonzero(self.vectors, axis=1).tolist())
        found = []
        for level in self.levels:
            own = level[:-1] if len(level) > 1 else level
            found += [units for (units, _), weight in zip(own, weights, strict=False) if 0 < weight < k]
        return frozenset(
            word_fingerprint(field.vector(units, population.owners), field)
            for units in found
            if population.is_backed(units, k)
        )

    def sets(self) -> tuple[SketchedSet, ...]:
        """Return the sets of all levels."""
        return tuple(one for level in self.levels for one in level)


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Compares sets pair by pair.

    Parameters
    ----------
    population : Population
        Says whose a unit is.
    k : int
        Fewest people in whom sets have to differ.
    one_sided : bool
        As in `kanon_pg.worker.ledger.rules.LedgerRules`; for differences of `k` people alone.
    """

    population: Population
    k: int
    one_sided: bool

    def is_near_earlier(self, earlier: DisclosedSets, level: Iterable[SketchedSet], limit: int) -> bool:
        """Whether a set differs from an earlier one in 1 to ``limit - 1`` people."""
        return any(
            self._is_near(earlier, one, limit)
            for one in level
            # what was disclosed was compared then, but with fewer people perhaps
            if limit > self.k or one[0] not in earlier
        )

    def differ_little(self, answer: SketchedAnswer) -> bool:
        """Whether sets of different levels of one answer differ in too few people."""
        earlier = DisclosedSets(answer.width)
        for level in answer.levels:
            if any(self._is_near(earlier, one, self.k) for one in level):
                return True
            for units, sketch in level if len(answer.levels) > 1 else ():
                earlier.add(units, sketch)
        return False

    def _is_near(self, earlier: DisclosedSets, new: SketchedSet, limit: int) -> bool:
        units, sketch = new
        if self.one_sided and limit == self.k:
            return any(
                self.population.is_few(units - other, limit) or self.population.is_few(other - units, limit)
                for other in earlier
            )
        near = earlier.near(units, sketch, limit, by_size=self.population.owners is None)
        return any(self.population.is_few(units ^ other, limit) for other in near)
