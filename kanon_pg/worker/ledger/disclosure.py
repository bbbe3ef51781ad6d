"""Decides whether something may be disclosed, after everything that was disclosed.

For one protected relation, in this order:

1. *size*: every disclosed set, and each level's total, is backed by at least k people;
2. *complement*: nobody, or at least k people, are left out of each of them alone, as if the total of
   everybody were known (Denning, Denning and Schwartz, "The tracker: a threat to statistical database
   security", 1979); in combinations everybody counts once it was disclosed;
3. *difference*: each of them equals, or differs in at least k people from, every set that was ever disclosed,
   totals of levels included (and with ``one_sided``, each side of the difference alone);
4. *combination*: no sum of multiples of the disclosed sets of this answer and of the covered history (mode
   ``linear``: everything; mode ``pairwise``: the recent part, see `LedgerRules.rank`) depends on fewer than k
   people. That includes adding any rows of one answer, unions, intersections and differences that can be
   computed from answered sets, hence individual, general and double trackers of any depth.

Mode ``off`` stops after 1. What is not covered: statistics that are no sums (percentiles), values known from
elsewhere, sets chosen by a secret (what a count says about those who are not in it), and what refusals
disclose.

Units are snapshots. Whoever was inserted, deleted or (if rows are numbered by version) changed between two
queries is exactly in the difference of the two sets, and counts there like anybody else.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, SetSketch, sketch_of, sketch_width
from kanon_pg.worker.ledger.field import Matrix, PrimeField
from kanon_pg.worker.ledger.linear_code import LinearCode, SystematicForm, forms_needed
from kanon_pg.worker.ledger.rules import LedgerRules

SpanFinding = Literal["safe", "unsafe", "undecided", "full"]

_LEAST_WIDTH = 1024
_ALIGNMENT = 256


def field_for_rules(rules: LedgerRules, key: bytes) -> PrimeField:
    """Return the field for some rules: room for the pivots of all forms, and for choosing them.

    Parameters
    ----------
    key : bytes
        The relation's secret.
    """
    width = max(_LEAST_WIDTH, (forms_needed(rules.k) + 1) * rules.rank)
    return PrimeField(key, -(-width // _ALIGNMENT) * _ALIGNMENT)


@dataclass(frozen=True, slots=True)
class DisclosedSpan:
    """All linear combinations of the sets of recorded answers.

    Parameters
    ----------
    older : LinearCode
        The code that queries are checked against.
    younger : LinearCode or None
        In mode ``pairwise`` a code that began when the older one was half full, and takes over when that is
        full; then everything before its beginning is forgotten. None in mode ``linear``: all is kept.
    rank : int
        Dimension at which a code is full.
    """

    older: LinearCode
    younger: LinearCode | None
    rank: int

    @classmethod
    def empty(cls, rules: LedgerRules, field: PrimeField) -> DisclosedSpan:
        """Return the span of a relation about which nothing was disclosed."""
        empty = LinearCode.empty(field, rules.k)
        return cls(empty, empty if rules.mode == "pairwise" else None, rules.rank)

    def try_add(self, vectors: Matrix) -> tuple[SpanFinding, DisclosedSpan]:
        """Decide whether the sets may be disclosed, and return the span with them added.

        Parameters
        ----------
        vectors : matrix, shape (any, width)
            Vectors of all sets of one answer.

        Returns
        -------
        finding : {'safe', 'unsafe', 'undecided', 'full'}
            Only ``safe`` is leave to answer. What follows from recorded answers is always safe to repeat.
        span : DisclosedSpan
            To be kept if the answer is disclosed; unchanged unless ``safe``.
        """
        independent = self.older.independent_part(vectors)
        if not len(independent):
            return "safe", self._after(self.older, vectors)
        if len(independent) > self.rank or (self.younger is None and self.older.rank >= self.rank):
            return "full", self
        older = self.older.extended(independent)
        if self.younger is None and older.rank > self.rank:
            return "full", self
        finding = older.proof()
        return finding, self._after(older, vectors) if finding == "safe" else self

    def with_added(self, vectors: Matrix) -> DisclosedSpan:
        """Return the span after another process disclosed these sets, without a check."""
        return self._after(self.older.extended(self.older.independent_part(vectors)), vectors)

    def _after(self, older: LinearCode, vectors: Matrix) -> DisclosedSpan:
        if self.younger is None:
            return replace(self, older=older)
        younger = self.younger
        if older.rank >= self.rank // 2:
            younger = younger.extended(younger.independent_part(vectors))
        if older.rank > self.rank and younger.rank:
            return replace(self, older=younger, younger=LinearCode.empty(older.field, older.k))
        return replace(self, older=older, younger=younger)


Reason = Literal[
    "budget",
    "size",
    "complement",
    "difference",
    "combination",
    "undecided",
    "full",
    "rows",
    "time",
    "error",
    "record",
]
"""Why an answer is withheld; the caller gives the last four. For the owner's record only, never for the
analyst."""

_FINDINGS: dict[str, Reason] = {"unsafe": "combination", "undecided": "undecided", "full": "full"}


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an answer may be disclosed.

    Parameters
    ----------
    reason : Reason or None
        The first check that failed; None if allowed.
    """

    allowed: bool
    reason: Reason | None = None
    _disclosure: _Disclosure | None = None


_Set: TypeAlias = tuple[BitMap, SetSketch]


@dataclass(frozen=True, slots=True)
class _Disclosure:
    """What `DisclosureHistory.disclose` adds to the history, prepared by `DisclosureHistory.check`."""

    sets: tuple[_Set, ...]
    span: DisclosedSpan
    span_before: DisclosedSpan


class DisclosureHistory:
    """What was disclosed about one protected relation.

    Parameters
    ----------
    key : bytes
        The relation's secret (`new_key`), the same for all processes that share a journal.
    """

    def __init__(self, rules: LedgerRules, key: bytes) -> None:
        self.rules = rules
        self._key = key
        self._field = field_for_rules(rules, key)
        self._sketch_width = sketch_width(rules.k)
        self._disclosed = DisclosedSets(self._sketch_width)
        self._span = DisclosedSpan.empty(rules, self._field)

    @property
    def distinct_sets(self) -> int:
        """Number of distinct sets that were disclosed, totals included."""
        return len(self._disclosed)

    @property
    def rank(self) -> int:
        """Linearly independent sets that sums and differences are checked against."""
        return self._span.older.rank

    def has(self, digest: bytes) -> bool:
        """Whether a set of this digest is remembered."""
        return self._disclosed.has(digest)

    def find(self, digest: bytes) -> BitMap | None:
        """Return the remembered set of a digest; in mode ``off``, which remembers nothing, an empty set."""
        return BitMap() if self.rules.mode == "off" else self._disclosed.find(digest)

    def check(self, answer: AnswerSets, population: Population) -> Decision:
        """Decide whether an answer may be disclosed now. Changes nothing.

        Parameters
        ----------
        answer : AnswerSets
            In the snapshot in which it was computed.

        Raises
        ------
        LedgerError
            The population does not say whose a unit is.
        """
        k = self.rules.k
        _require_owners(answer, population)
        totals = list(answer.with_totals())
        if not all(population.is_backed(units, k) for units in totals):
            return Decision(allowed=False, reason="size")
        if self.rules.mode == "off":
            return Decision(allowed=True, _disclosure=_Disclosure((), self._span, self._span))
        if any(_leaves_few(units, population, k) for units in totals):
            return Decision(allowed=False, reason="complement")
        vectors = self._field.vectors(list(answer.sets()), population.owners)
        levels = self._with_sketches(answer, vectors, population)
        if any(self._is_near_disclosed(level, population) for level in levels) or self._differ_little(
            levels, population
        ):
            return Decision(allowed=False, reason="difference")
        finding, span = self._span.try_add(vectors)
        if finding != "safe":
            return Decision(allowed=False, reason=_FINDINGS[finding])
        sets = tuple(disclosed for level in levels for disclosed in level)
        return Decision(allowed=True, _disclosure=_Disclosure(sets, span, self._span))

    def disclose(self, decision: Decision) -> None:
        """Remember an answer that `check` allowed, once its record is durable.

        Raises
        ------
        LedgerError
            The decision refuses, or the ledger changed since: it must be checked again.
        """
        disclosure = decision._disclosure
        if disclosure is None:
            raise LedgerError("An answer that is withheld cannot be disclosed.")
        if disclosure.span_before is not self._span:
            raise LedgerError("The ledger changed since the answer was checked.")
        self._remember(disclosure.sets)
        self._span = disclosure.span

    def replay(self, answer: AnswerSets, population: Population) -> None:
        """Remember an answer that was disclosed by another process or under other rules, without checking it.

        Parameters
        ----------
        population : Population
            The owners of its units; who is in the relation now does not matter.

        Raises
        ------
        LedgerError
            The population does not say whose a unit is: it is older than the answer.
        """
        _require_owners(answer, population)
        if self.rules.mode == "off":
            return
        vectors = self._field.vectors(list(answer.sets()), population.owners)
        for level in self._with_sketches(answer, vectors, population):
            self._remember(level)
        self._span = self._span.with_added(vectors)

    def to_bytes(self) -> bytes:
        """Return a checkpoint, so that the journal need not be replayed. It contains the secret."""
        codes = [self._span.older] + ([self._span.younger] if self._span.younger else [])
        head = {"rules": asdict(self.rules), "forms": [len(code.forms) for code in codes]}
        arrays: dict[str, npt.NDArray[np.generic]] = dict(self._disclosed.arrays())
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
        arrays["key"] = np.frombuffer(self._key, dtype=np.uint8)
        for index, form in enumerate(form for code in codes for form in code.forms):
            arrays[f"rows{index}"] = form.rows.astype(np.int32)
            arrays[f"pivots{index}"] = form.pivots
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, rules: LedgerRules, key: bytes) -> DisclosureHistory:
        """Rebuild a checkpoint.

        Raises
        ------
        LedgerError
            It belongs to other rules or another secret, or cannot be read; replay the journal instead.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
                arrays = {name: loaded[name] for name in loaded.files}
            head = json.loads(arrays["head"].tobytes())
            if head["rules"] != asdict(rules) or arrays["key"].tobytes() != key:
                raise LedgerError("The ledger's checkpoint belongs to other rules.")
            ledger = cls(rules, key)
            ledger._disclosed = DisclosedSets.from_arrays(arrays)
            ledger._span = _span_from_arrays(arrays, head["forms"], ledger._span)
        except LedgerError:
            raise
        except Exception as error:  # whatever a damaged archive makes its reader raise
            raise LedgerError("The ledger's checkpoint cannot be read.") from error
        return ledger

    def _remember(self, sets: tuple[_Set, ...]) -> None:
        for units, sketch in sets:
            self._disclosed.add(units, sketch)

    def _with_sketches(
        self, answer: AnswerSets, vectors: npt.NDArray[np.float64], population: Population
    ) -> list[tuple[_Set, ...]]:
        rest = iter(vectors)
        modulus, width = self._field.modulus, self._sketch_width
        levels = []
        for level in answer.levels:
            own = [next(rest) for _ in level]
            sets = list(level)
            if len(sets) > 1:
                sets.append(BitMap.union(*level))
                own.append(np.sum(own, axis=0))
            levels.append(tuple((u, sketch_of(v, width, modulus)) for u, v in zip(sets, own, strict=True)))
        return levels

    def _is_near_disclosed(self, sets: tuple[_Set, ...], population: Population) -> bool:
        return any(
            self._is_near(self._disclosed, disclosed, population)
            for disclosed in sets
            if disclosed[0] not in self._disclosed
        )

    def _differ_little(self, levels: list[tuple[_Set, ...]], population: Population) -> bool:
        """Whether sets of different levels of the answer itself differ in too few people."""
        earlier = DisclosedSets(self._sketch_width)
        for level in levels:
            if any(self._is_near(earlier, disclosed, population) for disclosed in level):
                return True
            for units, sketch in level if len(levels) > 1 else ():
                earlier.add(units, sketch)
        return False

    def _is_near(self, disclosed: DisclosedSets, new: _Set, population: Population) -> bool:
        units, sketch = new
        k = self.rules.k
        if self.rules.one_sided:
            return any(
                _is_few(units - other, population, k) or _is_few(other - units, population, k)
                for other in disclosed
            )
        near = disclosed.near(units, sketch, k, by_size=population.owners is None)
        return any(_is_few(units ^ other, population, k) for other in near)


def _require_owners(answer: AnswerSets, population: Population) -> None:
    if not all(population.knows(units) for units in answer.sets()):
        raise LedgerError("Rows were numbered after the list of their owners was read.", hint="Ask again.")


def _is_few(units: BitMap, population: Population, k: int) -> bool:
    return bool(units) and not population.is_backed(units, k)


def _leaves_few(units: BitMap, population: Population, k: int) -> bool:
    return _is_few(population.units - units, population, k)


def _span_from_arrays(
    arrays: dict[str, npt.NDArray[np.generic]], forms: list[int], empty: DisclosedSpan
) -> DisclosedSpan:
    codes = []
    index = 0
    for count in forms:
        read = [
            SystematicForm(arrays[f"rows{i}"].astype(np.float64), arrays[f"pivots{i}"].astype(np.intp))
            for i in range(index, index + count)
        ]
        codes.append(LinearCode(empty.older.field, empty.older.k, tuple(read)))
        index += count
    return replace(empty, older=codes[0], younger=codes[1] if len(codes) > 1 else None)
