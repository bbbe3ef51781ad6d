"""Decides whether something may be disclosed, after everything that was disclosed.

For one protected relation, in this order, after the people that known columns choose were compared in the
same way and enough were found to be expected (`kanon_pg.worker.ledger.expectation`):

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import AnswerSets, DisjointSets, Population, sets_of
from kanon_pg.worker.ledger.disclosed_sets import SketchedSet, sketch_width
from kanon_pg.worker.ledger.disclosed_state import DisclosedSpan, DisclosedState, field_for_rules
from kanon_pg.worker.ledger.expectation import are_few_expected, is_surprising, may_be_few_where_mixed
from kanon_pg.worker.ledger.linear_code import forms_needed
from kanon_pg.worker.ledger.rules import LedgerRules
from kanon_pg.worker.ledger.sketched_answer import SetComparison, SketchedAnswer, VectorCache

Reason = Literal[
    "budget",
    "share",
    "people",
    "expected",
    "surprising",
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
    "fault",
    "interrupted",
]
"""Why an answer is withheld; the caller gives those from ``rows`` on, and ``budget`` for a login that
interrupted too many queries. Curators read it in the ledger; the analyst never learns it."""

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


@dataclass(frozen=True, slots=True)
class _Disclosure:
    """What `DisclosureHistory.disclose` adds to the history, prepared by `DisclosureHistory.check`."""

    sets: tuple[SketchedSet, ...]
    known_sets: tuple[SketchedSet, ...]
    span: DisclosedSpan
    known_span: DisclosedSpan
    span_before: DisclosedSpan


class DisclosureHistory:
    """What was disclosed about one protected relation.

    Parameters
    ----------
    key : bytes
        The relation's secret, the same for all processes that share a journal.
    """

    def __init__(self, rules: LedgerRules, key: bytes) -> None:
        self.rules = rules
        self._key = key
        self._field = field_for_rules(rules, key)
        self._vectors = VectorCache(self._field)
        self._sketch_width = sketch_width(rules.k)
        self._known_width = sketch_width(min(100, rules.k * rules.margin))
        self._state = DisclosedState.empty(rules, self._field)

    @property
    def rank(self) -> int:
        """Linearly independent sets that sums and differences are checked against."""
        return self._state.span.older.rank

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
        return self._state.sets.has(digest) or self._state.known.has(digest)

    def find(self, digest: bytes) -> BitMap | None:
        """Return the remembered set of a digest; in mode ``off``, which remembers nothing, an empty set."""
        if self.rules.mode == "off":
            return BitMap()
        found = self._state.sets.find(digest)
        return found if found is not None else self._state.known.find(digest)

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
        figures = self._sketched(answer, answer.levels, population, self._sketch_width)
        known = self._sketched(answer, answer.known_levels, population, self._known_width)
        if failure is None and self._compares and self._is_repeated(figures, known):
            return self._allowed(figures, known, *self._extended(figures, known, population))
        if answer.known is not None:
            problem = self._problem_of_known(answer, known, population) or self._problem_of_expectation(
                answer, population
            )
            if problem is not None:
                return Decision(allowed=False, reason=problem)
        remembered = answer.without_figures() if answer.known is not None and self._compares else None
        problem = failure or self._problem_of_figures(answer, figures, population)
        if problem is None and answer.known is None:
            problem = self._problem_of_known(answer, known, population)
        if problem == "size" and self._expects and is_surprising(answer, population, self._k_of(answer)):
            problem = "surprising"
        if problem is not None:
            return Decision(allowed=False, reason=problem, known=remembered)
        return self._spanned(figures, known, remembered, population)

    def _sketched(
        self, answer: AnswerSets, levels: Sequence[DisjointSets], population: Population, width: int
    ) -> SketchedAnswer:
        return SketchedAnswer.of(levels, population, self._vectors, width, answer.forms)

    @property
    def _compares(self) -> bool:
        return self.rules.mode != "off"

    @property
    def _expects(self) -> bool:
        """Whether enough people have to be expected; a margin of 1 is no more than k itself asks for."""
        return self._compares and self.rules.margin > 1 and not self.rules.suppresses

    def _problem_of_expectation(self, answer: AnswerSets, population: Population) -> Reason | None:
        """Return what is wrong with a choice by sensitive columns among known people, not yet counted."""
        if not self._expects:
            return None
        k = self._k_of(answer)
        if are_few_expected(answer, population, k):
            return "expected"
        return "surprising" if may_be_few_where_mixed(answer, population, k, self._key) else None

    def _k_of(self, answer: AnswerSets) -> int:
        return self.rules.of_spreads().k if answer.spreads else self.rules.k

    def _problem_of_known(
        self, answer: AnswerSets, known: SketchedAnswer, population: Population
    ) -> Reason | None:
        """Return what is wrong with the people that known columns choose, whatever sensitive ones say."""
        k = self.rules.k
        wide = k * self.rules.margin if self._compares else k
        has_sizes = self._compares and not self.rules.suppresses
        if has_sizes and any(population.is_few(units, wide) for units in sets_of(answer.narrowed)):
            return "size"
        narrowed = {answer.forms.of(units)[1] for units in sets_of(answer.narrowed)}
        limits = [wide if any(one.digest in narrowed for one in level) else k for level in known.levels]
        comparison = self._comparison(population)
        if self._compares and any(
            comparison.is_near_earlier(self._state.known, level, limit)
            for level, limit in zip(known.levels, limits, strict=True)
        ):
            return "people"
        return "people" if comparison.differ_little(known) else None

    def _comparison(self, population: Population) -> SetComparison:
        return SetComparison(population, self.rules.k, self.rules.one_sided)

    def _problem_of_figures(
        self, answer: AnswerSets, figures: SketchedAnswer, population: Population
    ) -> Reason | None:
        k = self.rules.k
        totals = list(answer.with_totals())
        if not all(population.is_backed(units, k) for units in totals):
            return "size"
        if self._compares and any(population.is_few(population.units - units, k) for units in totals):
            return "complement"
        comparison = self._comparison(population)
        is_near = self._compares and any(
            comparison.is_near_earlier(self._state.sets, level, k) for level in figures.levels
        )
        if is_near or comparison.differ_little(figures):
            return "difference"
        return None

    def _spanned(
        self,
        figures: SketchedAnswer,
        known: SketchedAnswer,
        remembered: AnswerSets | None,
        population: Population,
    ) -> Decision:
        """Decide about combinations, the last of all checks."""
        empty = DisclosedSpan.empty(self.rules, self._field)
        if not self._compares:
            finding, _ = self._excusing(empty, figures, population).try_add(figures.vectors)
            if finding == "unsafe":
                return Decision(allowed=False, reason="combination")
            unchanged = _Disclosure((), (), self._state.span, self._state.known_span, self._state.span)
            return Decision(allowed=True, _disclosure=unchanged)
        finding, span = self._excusing(self._state.span, figures, population).try_add(figures.vectors)
        known_finding, known_span = finding, span
        if not self._is_one_span(figures, known):
            known_before = self._excusing(self._state.known_span, known, population)
            known_finding, known_span = known_before.try_add(known.vectors)
        if known_finding != "safe" and (remembered is not None or finding == "safe"):
            reason: Reason = NEAR if known_finding == "unsafe" else _FINDINGS[known_finding]
            return Decision(allowed=False, reason=reason)
        if finding != "safe":
            return Decision(allowed=False, reason=_FINDINGS[finding], known=remembered)
        return self._allowed(figures, known, span, known_span)

    def _is_one_span(self, figures: SketchedAnswer, known: SketchedAnswer) -> bool:
        """Whether what known columns choose is all that was ever disclosed, so that it is decided once."""
        return self._state.known_span is self._state.span and np.array_equal(figures.vectors, known.vectors)

    def _extended(
        self, figures: SketchedAnswer, known: SketchedAnswer, population: Population
    ) -> tuple[DisclosedSpan, DisclosedSpan]:
        """Return both spans with an answer added, without a check."""
        span = self._excusing(self._state.span, figures, population).with_added(figures.vectors)
        if self._is_one_span(figures, known):
            return span, span
        before = self._excusing(self._state.known_span, known, population)
        return span, before.with_added(known.vectors)

    def _excusing(self, span: DisclosedSpan, answer: SketchedAnswer, population: Population) -> DisclosedSpan:
        return span.excusing(answer.excused(population, self.rules.k, self._field))

    def _is_repeated(self, figures: SketchedAnswer, known: SketchedAnswer) -> bool:
        """Whether every set was disclosed before, and chosen by known columns as it is now."""
        return all(self._state.sets.has(one.digest) for one in figures.sets()) and all(
            self._state.known.has(one.digest) for one in known.sets()
        )

    def _allowed(
        self, figures: SketchedAnswer, known: SketchedAnswer, span: DisclosedSpan, known_span: DisclosedSpan
    ) -> Decision:
        disclosure = _Disclosure(figures.sets(), known.sets(), span, known_span, self._state.span)
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
        if disclosure.span_before is not self._state.span:
            raise LedgerError("The ledger changed since the answer was checked.")
        self._state.remember(disclosure.sets, disclosure.known_sets)
        self._state.span, self._state.known_span = disclosure.span, disclosure.known_span

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
        known = self._sketched(answer, answer.known_levels, population, self._known_width)
        self._state.remember((), known.sets())
        if answer.levels:
            figures = self._sketched(answer, answer.levels, population, self._sketch_width)
            self._state.remember(figures.sets(), ())
            self._state.span, self._state.known_span = self._extended(figures, known, population)

    def to_bytes(self) -> bytes:
        """Return a checkpoint, so that the journal need not be replayed. It contains the secret."""
        return self._state.to_bytes(self.rules, self._key)

    @classmethod
    def from_bytes(cls, data: bytes, rules: LedgerRules, key: bytes) -> DisclosureHistory:
        """Rebuild a checkpoint.

        Raises
        ------
        LedgerError
            As `DisclosedState.from_bytes`.
        """
        history = cls(rules, key)
        history._state = DisclosedState.from_bytes(data, rules, key, history._field)
        return history


NEAR: Reason = "people"
"""Reason of a query whose people, as known columns choose them, differ little from those of another one."""


def _require_owners(answer: AnswerSets, population: Population) -> None:
    if not all(population.knows(units) for units in answer.every_set()):
        raise LedgerError("Rows were numbered after the list of their owners was read.", hint="Ask again.")
