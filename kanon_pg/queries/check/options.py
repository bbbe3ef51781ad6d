"""What the owner of the data may choose about checking; limits on the size of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["reject", "suppress"]


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Bounds on a query before anything else looks at it.

    Parameters
    ----------
    characters, tokens, depth, nodes : int
        Longest text, most tokens, deepest nesting, most nodes of the syntax tree.
    expressions : int
        Most parts of all expressions together, after derived tables were dissolved.
    """

    characters: int = 20_000
    tokens: int = 2_000
    depth: int = 32
    nodes: int = 1_500
    expressions: int = 10_000
    rendered: int = 400_000


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of the data owner that change what a check accepts.

    Parameters
    ----------
    mode : {'reject', 'suppress'}
        Whether one output row with too few people refuses the whole answer, or is left out together
        with as much as protects it from being computed from totals.
    dominance : float or None
        Largest share, in (0, 1), of a sum or average that one person may contribute; None for no rule.
    strict : bool
        Whether nobody counts as too few where the text names a set: nobody whom a FILTER leaves out, and
        nobody in a group that a condition or a CASE in GROUP BY names. Without it, "nobody" (answered) and
        "one person" (refused) differ, which a patient analyst can use.
    simulatable : bool
        Whether refusals must not depend on sensitive columns (`kanon_pg.queries.check.rules.simulatable`);
        without the dominance rule, which looks at them.
    limits : QueryLimits
        Bounds on the text.
    """

    mode: Mode = "reject"
    strict: bool = False
    dominance: float | None = None
    simulatable: bool = False
    limits: QueryLimits = QueryLimits()

    def __post_init__(self) -> None:
        if self.dominance is not None and not 0 < self.dominance < 1:
            raise ValueError("dominance is a share between 0 and 1")
        if self.simulatable and self.dominance is not None:
            raise ValueError("the dominance rule looks at sensitive values")
        if self.mode not in {"reject", "suppress"}:
            raise ValueError("mode is 'reject' or 'suppress'")
