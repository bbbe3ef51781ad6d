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

Mode ``off`` stops after 1. What is not covered: statistics that are no sums (numbers of distinct values;
percentiles are means over sets that are disclosed), values known from elsewhere, sets chosen by a secret
(what a count says about those who are not in it), and what refusals disclose.

Units are snapshots. Whoever was inserted, deleted or (if rows are numbered by version) changed between two
queries is exactly in the difference of the two sets, and counts there like anybody else.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import AnswerSets, Level, Population, digest_of, packed
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
    "share",
    "people",
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
    known : AnswerSets or None
        Of an answer that is withheld because of sensitive columns, what is remembered of it: the people
        that its known columns choose.
    """

    allowed: bool
    reason: Reason | None = None
    known: AnswerSets | None = None
    _disclosure: _Disclosure | None = None

    @property
    def added(self) -> int:
        """How many linearly independent sets the answer brings, if it is disclosed."""
        found = self._disclosure
        return 0 if found is None else max(0, found.span.older.rank - found.span_before.older.rank)


_Set: TypeAlias = tuple[BitMap, SetSketch]


@dataclass(frozen=True, slots=True)
class _Disclosure:
    """What `DisclosureHistory.disclose` adds to the history, prepared by `DisclosureHistory.check`."""

    sets: tuple[_Set, ...]
    known_sets: tuple[_Set, ...]
    span: DisclosedSpan
    known_span: DisclosedSpan
    span_before: DisclosedSpan


@dataclass(frozen=True, slots=True)
class _Sketched:
    """The levels of an answer with totals, and the vectors of its sets."""

    levels: tuple[tuple[_Set, ...], ...]
    vectors: Matrix

    def sets(self) -> tuple[_Set, ...]:
        return tuple(one for level in self.levels for one in level)


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
        self._known_width = sketch_width(min(100, rules.k * rules.margin))
        self._disclosed = DisclosedSets(self._sketch_width)
        self._known = DisclosedSets(self._known_width)
        self._span = DisclosedSpan.empty(rules, self._field)
        self._known_span = self._span

    @property
    def distinct_sets(self) -> int:
        """Number of distinct sets that were disclosed, totals included."""
        return len(self._disclosed)

    @property
    def rank(self) -> int:
        """Linearly independent sets that sums and differences are checked against."""
        return self._span.older.rank

    def capacity(self, population: Population) -> int:
        """Return how many linearly independent sets there can be at most.

        Every form of the code needs columns of its own, of which there are no more than people.
        """
        needed = forms_needed(self.rules.k)
        # most relations have so many people that the first of their rows tell
        first = population.units[: 100 * needed * self.rules.rank] if population.units else BitMap()
        if population.people(first) >= needed * self.rules.rank:
            return self.rules.rank
        return min(self.rules.rank, population.people(population.units) // needed)

    def forgets(self, capacity: int) -> bool:
        """Whether old sets are forgotten before so many are kept."""
        return self.rules.mode != "linear" and capacity >= self.rules.rank

    def has(self, digest: bytes) -> bool:
        """Whether a set of this digest is remembered."""
        return self._disclosed.has(digest) or self._known.has(digest)

    def find(self, digest: bytes) -> BitMap | None:
        """Return the remembered set of a digest; in mode ``off``, which remembers nothing, an empty set."""
        if self.rules.mode == "off":
            return BitMap()
        found = self._disclosed.find(digest)
        return found if found is not None else self._known.find(digest)

    def check(self, answer: AnswerSets, population: Population, failure: Reason | None = None) -> Decision:
        """Decide whether an answer may be disclosed now. Changes nothing.

        Parameters
        ----------
        answer : AnswerSets
            In the snapshot in which it was computed.
        failure : Reason, optional
            Why there is no answer anyway; its people are compared before that counts.

        Raises
        ------
        LedgerError
            The population does not say whose a unit is.
        """
        _require_owners(answer, population)
        figures = self._sketched(answer.levels, population, self._sketch_width)
        known = self._sketched(answer.known_levels, population, self._known_width)
        if failure is None and self._compares and self._is_repeated(figures, known):
            return self._allowed(
                figures,
                known,
                self._span.with_added(figures.vectors),
                self._known_span.with_added(known.vectors),
            )
        if answer.known is not None:
            problem = self._problem_of_known(answer, known, population)
            if problem is not None:
                return Decision(allowed=False, reason=problem)
        remembered = answer.without_figures() if answer.known is not None and self._compares else None
        problem = failure or self._problem_of_figures(answer, figures, population)
        if problem is None and answer.known is None:
            problem = self._problem_of_known(answer, known, population)
        if problem is not None:
            return Decision(allowed=False, reason=problem, known=remembered)
        return self._spanned(figures, known, remembered)

    @property
    def _compares(self) -> bool:
        return self.rules.mode != "off"

    def _problem_of_known(
        self, answer: AnswerSets, known: _Sketched, population: Population
    ) -> Reason | None:
        """Return what is wrong with the people that known columns choose, whatever sensitive ones say."""
        k = self.rules.k
        wide = k * self.rules.margin if self._compares else k
        has_sizes = self._compares and not self.rules.suppresses
        if has_sizes and any(_is_few(units, population, wide) for units in _flat(answer.chosen)):
            return "size"
        chosen = {digest_of(packed(units)) for units in _flat(answer.chosen)}
        limits = [
            wide if any(digest_of(packed(one)) in chosen for one, _ in level) else k for level in known.levels
        ]
        if self._compares and any(
            self._is_near_earlier(self._known, level, population, limit)
            for level, limit in zip(known.levels, limits, strict=True)
        ):
            return "people"
        return "people" if self._differ_little(known, population, self._known_width) else None

    def _problem_of_figures(
        self, answer: AnswerSets, figures: _Sketched, population: Population
    ) -> Reason | None:
        k = self.rules.k
        totals = list(answer.with_totals())
        if not all(population.is_backed(units, k) for units in totals):
            return "size"
        if self._compares and any(_leaves_few(units, population, k) for units in totals):
            return "complement"
        is_near = self._compares and any(
            self._is_near_earlier(self._disclosed, level, population, k) for level in figures.levels
        )
        if is_near or self._differ_little(figures, population, self._sketch_width):
            return "difference"
        return None

    def _spanned(self, figures: _Sketched, known: _Sketched, remembered: AnswerSets | None) -> Decision:
        """Decide about combinations, the last of all checks."""
        empty = DisclosedSpan.empty(self.rules, self._field)
        if not self._compares:
            finding, _ = empty.try_add(figures.vectors)
            if finding == "unsafe":
                return Decision(allowed=False, reason="combination")
            unchanged = _Disclosure((), (), self._span, self._known_span, self._span)
            return Decision(allowed=True, _disclosure=unchanged)
        known_finding, known_span = self._known_span.try_add(known.vectors)
        finding, span = self._span.try_add(figures.vectors)
        if known_finding != "safe" and (remembered is not None or finding == "safe"):
            reason: Reason = NEAR if known_finding == "unsafe" else _FINDINGS[known_finding]
            return Decision(allowed=False, reason=reason)
        if finding != "safe":
            return Decision(allowed=False, reason=_FINDINGS[finding], known=remembered)
        return self._allowed(figures, known, span, known_span)

    def _is_repeated(self, figures: _Sketched, known: _Sketched) -> bool:
        """Whether every set was disclosed before, and chosen by known columns as it is now."""
        return all(one in self._disclosed for one, _ in figures.sets()) and all(
            one in self._known for one, _ in known.sets()
        )

    def _allowed(
        self, figures: _Sketched, known: _Sketched, span: DisclosedSpan, known_span: DisclosedSpan
    ) -> Decision:
        disclosure = _Disclosure(figures.sets(), known.sets(), span, known_span, self._span)
        return Decision(allowed=True, _disclosure=disclosure)

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
        _remember(self._disclosed, disclosure.sets)
        _remember(self._known, disclosure.known_sets)
        self._span, self._known_span = disclosure.span, disclosure.known_span

    def replay(self, answer: AnswerSets, population: Population) -> None:
        """Remember an answer that was disclosed by another process or under other rules, without checking it.

        Of one that was withheld the people that its known columns choose (`AnswerSets.without_figures`)
        are compared with later ones, pair by pair; they are no part of combinations.

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
        if not self._compares:
            return
        known = self._sketched(answer.known_levels, population, self._known_width)
        _remember(self._known, known.sets())
        if answer.levels:
            figures = self._sketched(answer.levels, population, self._sketch_width)
            _remember(self._disclosed, figures.sets())
            self._span = self._span.with_added(figures.vectors)
            self._known_span = self._known_span.with_added(known.vectors)

    def to_bytes(self) -> bytes:
        """Return a checkpoint, so that the journal need not be replayed. It contains the secret."""
        spans = (self._span, self._known_span)
        codes = [code for span in spans for code in (span.older, span.younger) if code is not None]
        head = {"rules": asdict(self.rules), "forms": [len(code.forms) for code in codes]}
        arrays: dict[str, npt.NDArray[np.generic]] = dict(self._disclosed.arrays())
        arrays |= {f"{_KNOWN}{name}": array for name, array in self._known.arrays().items()}
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
            known = {name.removeprefix(_KNOWN): arrays[name] for name in arrays if name.startswith(_KNOWN)}
            ledger._known = DisclosedSets.from_arrays(known)
            codes = _codes_from_arrays(arrays, head["forms"], ledger._span.older)
            half = len(codes) // 2
            ledger._span = _span_of(ledger._span, codes[:half])
            ledger._known_span = _span_of(ledger._known_span, codes[half:])
        except LedgerError:
            raise
        except Exception as error:  # whatever a damaged archive makes its reader raise
            raise LedgerError("The ledger's checkpoint cannot be read.") from error
        return ledger

    def _sketched(self, levels: Sequence[Level], population: Population, width: int) -> _Sketched:
        vectors = self._field.vectors(list(_flat(levels)), population.owners)
        rest = iter(vectors)
        modulus = self._field.modulus
        found = []
        for level in levels:
            own = [next(rest) for _ in level]
            sets = list(level)
            if len(sets) > 1:
                sets.append(BitMap.union(*level))
                own.append(np.sum(own, axis=0))
            found.append(tuple((u, sketch_of(v, width, modulus)) for u, v in zip(sets, own, strict=True)))
        return _Sketched(tuple(found), vectors)

    def _is_near_earlier(
        self, earlier: DisclosedSets, level: tuple[_Set, ...], population: Population, limit: int
    ) -> bool:
        return any(
            self._is_near(earlier, one, population, limit)
            for one in level
            if limit > self.rules.k or one[0] not in earlier
        )

    def _differ_little(self, sketched: _Sketched, population: Population, width: int) -> bool:
        """Whether sets of different levels of the answer itself differ in too few people."""
        earlier = DisclosedSets(width)
        for level in sketched.levels:
            if any(self._is_near(earlier, one, population, self.rules.k) for one in level):
                return True
            for units, sketch in level if len(sketched.levels) > 1 else ():
                earlier.add(units, sketch)
        return False

    def _is_near(self, earlier: DisclosedSets, new: _Set, population: Population, limit: int) -> bool:
        units, sketch = new
        if self.rules.one_sided and limit == self.rules.k:
            return any(
                _is_few(units - other, population, limit) or _is_few(other - units, population, limit)
                for other in earlier
            )
        near = earlier.near(units, sketch, limit, by_size=population.owners is None)
        return any(_is_few(units ^ other, population, limit) for other in near)


NEAR: Reason = "people"
"""Reason of a query whose people, as known columns choose them, differ little from those of another one."""

_KNOWN = "known_"


def _remember(disclosed: DisclosedSets, sets: Iterable[_Set]) -> None:
    for units, sketch in sets:
        disclosed.add(units, sketch)


def _flat(levels: Iterable[Level]) -> Iterator[BitMap]:
    return (units for level in levels for units in level)


def _require_owners(answer: AnswerSets, population: Population) -> None:
    if not all(population.knows(units) for units in answer.every_set()):
        raise LedgerError("Rows were numbered after the list of their owners was read.", hint="Ask again.")


def _is_few(units: BitMap, population: Population, k: int) -> bool:
    return bool(units) and not population.is_backed(units, k)


def _leaves_few(units: BitMap, population: Population, k: int) -> bool:
    return _is_few(population.units - units, population, k)


def _codes_from_arrays(
    arrays: dict[str, npt.NDArray[np.generic]], forms: list[int], empty: LinearCode
) -> list[LinearCode]:
    codes = []
    index = 0
    for count in forms:
        read = [
            SystematicForm(arrays[f"rows{i}"].astype(np.float64), arrays[f"pivots{i}"].astype(np.intp))
            for i in range(index, index + count)
        ]
        codes.append(LinearCode(empty.field, empty.k, tuple(read)))
        index += count
    return codes


def _span_of(empty: DisclosedSpan, codes: list[LinearCode]) -> DisclosedSpan:
    return replace(empty, older=codes[0], younger=codes[1] if len(codes) > 1 else None)
