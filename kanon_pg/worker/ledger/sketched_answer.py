"""The sets of an answer with their sketches, and which of them nearly equal each other or earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import DisjointSets, PackedForms, Population
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, SketchedSet, sketch_of
from kanon_pg.worker.ledger.field import Matrix, PrimeField, Vector
from kanon_pg.worker.ledger.linear_code import word_fingerprint

_MAX_VECTORS = 256
"""At most some 6 MB under default rules."""


class VectorCache:
    """The vectors of the most recently sketched sets, by their digests.

    What a set is compared by needs time linear in its size; most sets come twice in one answer, and again
    with later ones. The person of a unit never changes, so neither does a vector.
    """

    def __init__(self, field: PrimeField) -> None:
        self.field = field
        self._vectors: dict[bytes, Vector] = {}

    def vector(self, units: BitMap, digest: bytes, population: Population) -> Vector:
        """Return the vector of a set (see `PrimeField.vector`)."""
        found = self._vectors.pop(digest, None)
        self.remember(digest, self.field.vector(units, population.owners) if found is None else found)
        return self._vectors[digest]

    def remember(self, digest: bytes, vector: Vector) -> None:
        """Remember a vector; drop the least recently used one if there are too many."""
        self._vectors[digest] = vector
        if len(self._vectors) > _MAX_VECTORS:
            del self._vectors[next(iter(self._vectors))]


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
        cls,
        levels: Sequence[DisjointSets],
        population: Population,
        cache: VectorCache,
        width: int,
        forms: PackedForms | None = None,
    ) -> SketchedAnswer:
        """Sketch the sets of some levels; their forms may be known."""
        forms = PackedForms() if forms is None else forms
        modulus = cache.field.modulus
        rows: list[Vector] = []
        found = []
        for level in levels:
            packed_sets = [forms.of(units) for units in level]
            own = [
                cache.vector(units, digest, population)
                for units, (_, digest) in zip(level, packed_sets, strict=True)
            ]
            rows += own
            sets = [
                SketchedSet(units, blob, digest, sketch_of(vector, width, modulus))
                for units, (blob, digest), vector in zip(level, packed_sets, own, strict=True)
            ]
            if len(level) > 1:
                units = BitMap.union(*level)
                blob, digest = forms.of(units)
                total = cache.field.reduced(np.sum(own, axis=0))
                sets.append(SketchedSet(units, blob, digest, sketch_of(total, width, modulus)))
                # the people that known columns choose are often those of all groups
                cache.remember(sets[-1].digest, total)
            found.append(tuple(sets))
        vectors = np.stack(rows) if rows else np.zeros((0, cache.field.width))
        return cls(tuple(found), vectors, width)

    def excused(self, population: Population, k: int, field: PrimeField) -> frozenset[bytes]:
        """Return the fingerprints of sets of `k` people whose vectors look like fewer."""
        weights = iter(np.count_nonzero(self.vectors, axis=1).tolist())
        found = []
        for level in self.levels:
            own = level[:-1] if len(level) > 1 else level
            found += [one.units for one, weight in zip(own, weights, strict=False) if 0 < weight < k]
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
            if limit > self.k or not earlier.has(one.digest)
        )

    def differ_little(self, answer: SketchedAnswer) -> bool:
        """Whether sets of different levels of one answer differ in too few people."""
        earlier = DisclosedSets(answer.width)
        for level in answer.levels:
            if any(self._is_near(earlier, one, self.k) for one in level):
                return True
            for one in level if len(answer.levels) > 1 else ():
                earlier.add(one)
        return False

    def _is_near(self, earlier: DisclosedSets, new: SketchedSet, limit: int) -> bool:
        units = new.units
        if self.one_sided and limit == self.k:
            return any(
                self.population.is_few(units - other, limit) or self.population.is_few(other - units, limit)
                for other in earlier
            )
        near = earlier.near(new, limit, by_size=self.population.owners is None)
        return any(self.population.is_few(units ^ other, limit) for other in near)
