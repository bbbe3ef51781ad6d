"""What a ledger remembers, and the same as bytes, so that its journal need not be replayed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, SketchedSet, sketch_width
from kanon_pg.worker.ledger.disclosed_span import DisclosedSpan
from kanon_pg.worker.ledger.field import PrimeField
from kanon_pg.worker.ledger.rules import LedgerRules

_SETS, _KNOWN = "", "known_"


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
