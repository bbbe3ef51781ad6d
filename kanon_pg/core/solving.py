"""Requests to solvers and their answers: the contract between the interfaces and the solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.termination import Termination

METHODS = ("auto", "greedy", "exact", "pairs", "row_assignment", "mondrian", "local", "full_domain")
"""Names a request may give as method.

`kanon_pg.worker.solvers.registry` has the solver of each, and with hierarchies
`kanon_pg.worker.solvers.recoding.methods`.
"""

KERNELS = ("plain", "models", "recoding", "audit", "pairs")
"""Sets of kernels that are compiled together, the longest first."""

DEMO_KERNELS = ("plain", "audit")
"""Those of `KERNELS` that ``kanon demo`` uses, so that a first look need not wait for the rest."""


def kernels_for(method: str, models: PrivacyModels, *, has_hierarchies: bool = False) -> str:
    """Return which of `KERNELS` a method needs under some privacy models and with hierarchies."""
    if has_hierarchies:
        return "recoding"
    if models:
        return "models"
    return "pairs" if method == "pairs" else "plain"


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """A request to anonymize row types by suppressing cells."""

    k: int
    method: str = "auto"
    """A name of `kanon_pg.worker.solvers.registry`."""
    patterns: list[Any] | dict[str, Any] | None = None
    """A list of pattern vectors, each given by the columns it suppresses, or an object of constraints
    (``max_suppressed``, ``never``, ``together``, ``at_most_one``). None allows every pattern."""
    seed: int | None = None
    """Breaks ties at random, reproducibly. None breaks them to suppress least."""
    seconds: float | None = None
    """Time for searching. A first solution is finished whatever it takes, under privacy models in a cheaper
    way once the time has passed; the best one known is returned then."""
    rest_may_be_small: bool = False
    """Paper rule: fewer than k people may remain in the fully suppressed class. Never used for a release;
    only to compare with published tables."""
    models: PrivacyModels = field(default_factory=PrivacyModels)
    """Demands on the sensitive columns of the row types."""
    fewest_classes: int | None = None
    most_classes: int | None = None
    """`fewest_classes`, `most_classes`: limits for the number of classes (Bredereck et al. 2014, section
    3.1), both >= 1."""
    suppressed_rows: float | None = None
    """Largest share of the rows whose cells method full_domain may all suppress, 0 to 1; None for any."""
    same_level: Sequence[str] = ()
    """Quasi-identifiers whose cells have one level of their hierarchies each, or are suppressed."""
    subsets: int | None = None
    """Of how many quasi-identifiers every combination, suppressed cells included, is to be shared by k
    people; None for all of them. Neither patterns, hierarchies, models nor limits go with it."""

    def allows_number(self, classes: int) -> bool:
        """Return whether a solution may have so many classes."""
        fewest, most = self.fewest_classes, self.most_classes
        return (fewest is None or classes >= fewest) and (most is None or classes <= most)

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SolveRequest:
        """Rebuild a request from `to_json`'s values."""
        return cls(**{**data, "models": PrivacyModels(**data["models"])})


def gap_of(cost: float, bound: float | None) -> float | None:
    """Return the share of a cost by which it may exceed the least one, None without a lower bound."""
    if bound is None:
        return None
    return (cost - bound) / cost if cost else 0.0


_BUFFERS = ("patterns", "moved_types", "moved_patterns", "moved_rows", "prices")


@dataclass(frozen=True, slots=True)
class SolveOutcome:
    """A solution, counted by the solver, and what is proven about it."""

    patterns: bytes
    """Per row type one signed 64-bit big-endian mask: bit ``j`` is set if column ``j`` is suppressed. With
    hierarchies, the levels of all columns as `kanon_pg.core.generalization.LevelFields` packs them."""
    suppressed_cells: int
    """Suppressed cells over all rows."""
    weighted_cost: float
    """Loss of all cells with column weights; a suppressed cell has loss 1."""
    lower_bound: float | None
    """A proven lower bound on the weighted cost of every solution, or None."""
    optimal: bool
    """Whether `weighted_cost` is proven to be the least possible."""
    method: str
    """What found the solution, in words (``greedy, improved``)."""
    bound_method: str | None
    """What proved the bound."""
    classes: int
    """Equivalence classes."""
    average_class: float
    """Mean number of people per class."""
    usefulness: float | None
    """Mean tuple diversity of the classes (Loukides and Shao 2007), smaller is better."""
    notes: tuple[str, ...] = ()
    """What the caller must know (for example: the pattern mask was bounded)."""
    moved_types: bytes = b""
    moved_patterns: bytes = b""
    moved_rows: bytes = b""
    """`moved_types`, `moved_patterns`, `moved_rows`: row types whose rows are divided among several patterns:
    `moved_rows` rows of the row type at position `moved_types` have the mask of `moved_patterns` instead of
    that in `patterns`. Signed 64-bit big-endian numbers, ascending by row type; fewer rows move than the row
    type has."""
    prices: bytes = b""
    """The certificate of `lower_bound`: per row type one price per row in millionths of a cost unit, signed
    64-bit big-endian (see `kanon_pg.worker.verification.certificate`); empty if the bound has another
    proof."""
    entropy_loss: float | None = None
    marginal_divergence: float | None = None
    """`entropy_loss`, `marginal_divergence`: see `kanon_pg.worker.measures.Utility`."""
    termination: Termination = Termination.EXHAUSTED
    """How the search ended."""

    def buffers(self) -> tuple[bytes, ...]:
        """Return the packed numbers in the order that `from_json` expects."""
        return tuple(getattr(self, name) for name in _BUFFERS)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the packed numbers as plain JSON values."""
        return {name: value for name, value in asdict(self).items() if name not in _BUFFERS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], buffers: Sequence[bytes]) -> SolveOutcome:
        """Rebuild an outcome from `to_json`'s values and the packed numbers."""
        packed: dict[str, Any] = dict(zip(_BUFFERS, buffers, strict=True))
        read = {"notes": tuple(data["notes"]), "termination": Termination(data["termination"])}
        return cls(**packed, **{**data, **read})
