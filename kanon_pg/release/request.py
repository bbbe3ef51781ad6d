"""What a data owner asks for, checked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.request import METHODS
from kanon_pg.errors import InputError, UnknownName

DEFAULT_SECONDS = 30.0
"""Default time limit of a whole call."""


@dataclass(frozen=True, slots=True)
class AnonymizeRequest:
    """The arguments of ``kanon_anonymize``.

    Parameters
    ----------
    relation : str
        The base relation, as SQL writes it.
    k : int
        Fewest people per class, >= 2.
    quasi_identifiers, sensitive : sequence of str, optional
        Override the declaration.
    method : str
        One of `kanon_pg.core.request.METHODS`.
    patterns : list or dict, optional
        Allowed pattern vectors or wishes, see `kanon_pg.core.patterns`.
    time_limit : float
        Seconds for the whole call, > 0.
    release : str, optional
        Name of the view in schema ``safe``; the relation's name unless given.
    seed : int, optional
        Breaks ties at random, reproducibly; >= 0.
    l, p, t, hierarchies : optional
        Further privacy models and generalization: refused by this version.
    """

    relation: str
    k: int
    quasi_identifiers: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    method: str = "auto"
    patterns: list[Any] | dict[str, Any] | None = None
    time_limit: float = DEFAULT_SECONDS
    release: str | None = None
    seed: int | None = None
    l: int | None = None  # noqa: E741 - the field's standard name, fixed by the SQL surface
    p: int | None = None
    t: float | None = None
    hierarchies: Any = None

    def check(self) -> None:
        """Refuse arguments that can be judged without the database.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        _check_k(self.k)
        if self.method not in METHODS:
            raise UnknownName("There is no such method.", hint="Choose one of: " + ", ".join(METHODS) + ".")
        limit = self.time_limit
        if limit is None or not math.isfinite(limit) or limit <= 0:
            raise InputError(
                "time_limit must be a positive interval.", hint="For example: time_limit => '30 seconds'."
            )
        if self.seed is not None and self.seed < 0:
            raise InputError("seed must not be negative.", hint="Any other integer does, for example 1.")
        for name in ("l", "p", "t", "hierarchies"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"Argument {name} is not available in this version, which suppresses cells only.",
                    hint=f"Leave {name} out.",
                )


def _check_k(k: Any) -> None:
    if k is None:
        raise InputError("k is NULL.", hint="Give the fewest people a class may have, for example 5.")
    if not isinstance(k, int) or isinstance(k, bool):
        raise InputError(
            "k must be an integer.", hint="Give the fewest people a class may have, for example 5."
        )
    if k < 2:
        raise InputError(
            f"k must be at least 2, not {k}.",
            hint="With k = 1 every row could be published as it is; 5 is a common choice.",
        )
