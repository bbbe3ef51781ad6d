"""What is asked of a suppression curve, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kanon_pg.db.operation import Argument, Operation
from kanon_pg.errors import InputError
from kanon_pg.release.request import (
    DEFAULT_SECONDS,
    AnyRelation,
    QuasiIdentifiers,
    Seed,
    check_k,
    check_search,
)

DEFAULT_KS = (2, 3, 5, 10, 25, 50, 100)
"""Values of k unless others are given."""

MOST_KS = 100
"""Most values of k in one call."""

_EXAMPLE = "Give the values of k, for example 2, 5 and 10."


@dataclass(frozen=True, slots=True)
class CurveRequest:
    """The arguments of ``kanon_curve``.

    Parameters
    ----------
    ks : sequence of int
        All different, at most `MOST_KS`.
    patterns : list or dict, optional
        Allowed pattern vectors or wishes, see `kanon_pg.worker.patterns`.
    method : str
        One of `kanon_pg.core.request.METHODS`.
    """

    relation: AnyRelation
    ks: Annotated[Sequence[int], Argument("integer[]", "Values of k, each at least 2.")] = DEFAULT_KS
    quasi_identifiers: QuasiIdentifiers = None
    patterns: Annotated[list[Any] | dict[str, Any] | None, Argument("jsonb", "As in kanon_anonymize.")] = None
    method: Annotated[str, Argument("text", "As in kanon_anonymize.")] = "auto"
    time_limit: Annotated[float, Argument("interval", "For all k together: how long to search.")] = (
        DEFAULT_SECONDS
    )
    seed: Seed = None

    def check(self) -> None:
        """Refuse arguments that are wrong whatever the database holds.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        _check_ks(self.ks)
        check_search(self.method, self.time_limit, self.seed)


CURVE = Operation(CurveRequest)


def _check_ks(ks: Any) -> None:
    if ks is None:
        raise InputError("ks is NULL.", hint=_EXAMPLE)
    if not isinstance(ks, Sequence) or isinstance(ks, str) or any(isinstance(k, Sequence) for k in ks):
        raise InputError("ks must be a plain list of integers.", hint=_EXAMPLE)
    if not ks:
        raise InputError("ks is empty.", hint=_EXAMPLE)
    if len(ks) > MOST_KS:
        raise InputError(
            f"{len(ks)} values of k are more than the {MOST_KS} that one call can have.",
            hint="Choose fewer; a curve is smooth enough with ten.",
        )
    if any(k is None for k in ks):
        raise InputError("ks contains NULL.", hint=_EXAMPLE)
    for k in ks:
        check_k(k)
        if list(ks).count(k) > 1:
            raise InputError(f"k = {k} is given twice.", hint="Give each value of k once.")
