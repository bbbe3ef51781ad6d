"""What a solver is asked, and what it answers: the contract between the doors and the solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

METHODS = ("auto", "greedy", "mondrian")
"""Names a request may give as method; `kanon_pg.solvers.registry` has the solver of each."""


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """A request to anonymize row types by suppressing cells.

    Parameters
    ----------
    k : int
        Fewest people per class, >= 2.
    method : str
        A name of `kanon_pg.solvers.registry`.
    patterns : list or mapping, optional
        A list of pattern vectors, each given by the columns it suppresses, or an object of wishes
        (``max_suppressed``, ``never``, ``together``, ``at_most_one``). None allows every pattern.
    seed : int, optional
        Breaks ties at random, reproducibly. None breaks them to suppress least.
    seconds : float, optional
        Time for searching; a valid solution is returned when it has passed.
    rest_may_be_small : bool
        Paper rule: fewer than k people may remain in the fully suppressed class. Never used for a
        release; only to compare with published tables.
    """

    k: int
    method: str = "auto"
    patterns: list[Any] | dict[str, Any] | None = None
    seed: int | None = None
    seconds: float | None = None
    rest_may_be_small: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SolveRequest:
        """Rebuild a request from `to_json`'s values."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class SolveOutcome:
    """A solution, counted by the solver, and what is proven about it.

    Parameters
    ----------
    patterns : bytes
        Per row type one signed 64-bit big-endian mask: bit ``j`` is set if column ``j`` is suppressed.
    suppressed_cells : int
        Suppressed cells over all rows.
    weighted_cost : float
        The same with column weights.
    lower_bound : float or None
        A proven lower bound on the weighted cost of every solution, or None.
    optimal : bool
        Whether `weighted_cost` is proven to be the least possible.
    method : str
        What found the solution, in words (``greedy, improved``).
    bound_method : str or None
        What proved the bound.
    classes : int
        Equivalence classes.
    usefulness : float or None
        Mean tuple diversity of the classes (Loukides and Shao 2007), smaller is better.
    notes : tuple of str
        What the caller must know (for example: the pattern mask was bounded).
    """

    patterns: bytes
    suppressed_cells: int
    weighted_cost: float
    lower_bound: float | None
    optimal: bool
    method: str
    bound_method: str | None
    classes: int
    usefulness: float | None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything but the patterns as plain JSON values."""
        data = asdict(self)
        del data["patterns"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any], patterns: bytes) -> SolveOutcome:
        """Rebuild an outcome from `to_json`'s values and the packed patterns."""
        return cls(patterns=patterns, **{**data, "notes": tuple(data["notes"])})
