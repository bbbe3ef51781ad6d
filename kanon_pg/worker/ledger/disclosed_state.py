"""What a ledger remembers: sets, their linear combinations, and both as bytes.

With these bytes, a checkpoint, the journal need not be replayed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, SketchedSet, sketch_width
from kanon_pg.worker.ledger.field import Matrix, PrimeField
from kanon_pg.worker.ledger.linear_code import LinearCode, SystematicForm, forms_needed
from kanon_pg.worker.ledger.rules import LedgerRules

SpanFinding = Literal["safe", "unsafe", "undecided", "full"]

_SETS, _KNOWN = "", "known_"

_LEAST_WIDTH = 1024
_ALIGNMENT = 256
"""Fewest columns of a field, and what their number is a multiple of: the widest sketch, of `sketch_width`."""


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
    excused : frozenset of bytes
        Of sets of k people that look like fewer, because people share columns (`word_fingerprint`).
    """

    older: LinearCode
    younger: LinearCode | None
    rank: int
    excused: frozenset[bytes] = frozenset()

    @classmethod
    def empty(cls, rules: LedgerRules, field: PrimeField) -> DisclosedSpan:
        """Return the span of a relation about which nothing was disclosed."""
        empty = LinearCode.empty(field, rules.k)
        return cls(empty, empty if rules.mode == "pairwise" else None, rules.rank)

    def excusing(self, words: frozenset[bytes]) -> DisclosedSpan:
        """Return the span with more excused sets; they are of no meaning until they are added."""
        return replace(self, excused=self.excused | words) if words - self.excused else self

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
        finding = older.proof(self.excused)
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

    def arrays(self, name: str) -> dict[str, npt.NDArray[np.generic]]:
        """Return the forms of both codes as arrays that `from_arrays` understands."""
        codes = [code for code in (self.older, self.younger) if code is not None]
        forms = [form for code in codes for form in code.forms]
        found: dict[str, npt.NDArray[np.generic]] = {
            f"{name}forms": np.array([len(code.forms) for code in codes], dtype=np.int64),
            f"{name}excused": np.frombuffer(b"".join(sorted(self.excused)), dtype=np.uint8),
        }
        for number, form in enumerate(forms):
            found[f"{name}rows{number}"] = form.rows.astype(np.int32)
            found[f"{name}pivots{number}"] = form.pivots
        return found

    def from_arrays(self, arrays: dict[str, npt.NDArray[np.generic]], name: str) -> DisclosedSpan:
        """Rebuild what `arrays` returned, under the rules and over the field of an empty span."""
        codes = []
        number = 0
        for count in arrays[f"{name}forms"].tolist():
            forms = [
                SystematicForm(
                    arrays[f"{name}rows{place}"].astype(np.float64),
                    arrays[f"{name}pivots{place}"].astype(np.intp),
                )
                for place in range(number, number + count)
            ]
            codes.append(LinearCode(self.older.field, self.older.k, tuple(forms)))
            number += count
        words = arrays[f"{name}excused"].tobytes()
        excused = frozenset(words[start : start + 16] for start in range(0, len(words), 16))
        return replace(self, older=codes[0], younger=codes[1] if len(codes) > 1 else None, excused=excused)


@dataclass(slots=True)
class DisclosedState:
    """What was disclosed about one relation.

    Parameters
    ----------
    sets, known : DisclosedSets
        The sets of answers, and those that known columns chose, of withheld answers, too.
    span, known_span : DisclosedSpan
        Their combinations, without those of withheld answers.
    """

    sets: DisclosedSets
    known: DisclosedSets
    span: DisclosedSpan
    known_span: DisclosedSpan

    @classmethod
    def empty(cls, rules: LedgerRules, field: PrimeField) -> DisclosedState:
        """Return the state of a relation about which nothing was disclosed."""
        span = DisclosedSpan.empty(rules, field)
        wide = sketch_width(min(100, rules.k * rules.margin))
        return cls(DisclosedSets(sketch_width(rules.k)), DisclosedSets(wide), span, span)

    def remember(self, sets: Iterable[SketchedSet], known: Iterable[SketchedSet]) -> None:
        """Add sets for comparison, pair by pair."""
        for disclosed, new in ((self.sets, sets), (self.known, known)):
            for one in new:
                disclosed.add(one)

    def to_bytes(self, rules: LedgerRules, key: bytes) -> bytes:
        """Return a checkpoint. It contains the secret."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "rules": np.frombuffer(json.dumps(asdict(rules)).encode(), dtype=np.uint8),
            "key": np.frombuffer(key, dtype=np.uint8),
        }
        for name, sets, span in ((_SETS, self.sets, self.span), (_KNOWN, self.known, self.known_span)):
            arrays |= {f"{name}{part}": array for part, array in sets.arrays().items()}
            arrays |= span.arrays(name)
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, rules: LedgerRules, key: bytes, field: PrimeField) -> DisclosedState:
        """Rebuild a checkpoint.

        Raises
        ------
        LedgerError
            It belongs to other rules or another secret, or cannot be read; replay the journal instead.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
                arrays = {name: loaded[name] for name in loaded.files}
            if json.loads(arrays["rules"].tobytes()) != asdict(rules) or arrays["key"].tobytes() != key:
                raise LedgerError("The ledger's checkpoint belongs to other rules.")
            known = {name.removeprefix(_KNOWN): arrays[name] for name in arrays if name.startswith(_KNOWN)}
            empty = DisclosedSpan.empty(rules, field)
            span = empty.from_arrays(arrays, _SETS)
            known_span = empty.from_arrays(arrays, _KNOWN)
            # one object as long as they are equal, so that the history decides once
            one, other = span.arrays(""), known_span.arrays("")
            is_one = one.keys() == other.keys() and all(
                np.array_equal(array, other[name]) for name, array in one.items()
            )
            return cls(
                DisclosedSets.from_arrays(arrays),
                DisclosedSets.from_arrays(known),
                span,
                span if is_one else known_span,
            )
        except LedgerError:
            raise
        except Exception as error:  # whatever a damaged archive makes its reader raise
            raise LedgerError("The ledger's checkpoint cannot be read.") from error
