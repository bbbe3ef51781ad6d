"""What the owner of a protected relation asks of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kanon_pg.errors import InputError

Mode = Literal["off", "pairwise", "linear"]
"""``off``: every set by itself. ``pairwise``: also against every earlier set, and all sums and differences of
the recent ones. ``linear``: all sums and differences of everything ever answered."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of one protected relation.

    Parameters
    ----------
    k : int
        Fewest people that anything an attacker can compute may depend on, 2 to 100.
    mode : {'off', 'pairwise', 'linear'}
        How far answers are compared with earlier ones.
    one_sided : bool
        Also refuse a set A if an earlier set B leaves 1 to k-1 people of A or contains 1 to k-1 others, even
        though the two answers alone do not tell these people's share (they do once the intersection is
        known). Refuses much more, and takes time linear in all told sets.
    rank : int
        Most linearly independent sets that are kept for sums and differences, 8 to 2048, and most new ones
        that one answer may bring. In mode ``linear`` a question that would need more is refused. In mode
        ``pairwise`` everything told since the last change of generations is covered: when `rank` is exceeded,
        what was told before half of it was reached is forgotten. Memory and time grow with the square.

    Raises
    ------
    InputError
        A number is out of range.
    """

    k: int
    mode: Mode = "pairwise"
    one_sided: bool = False
    rank: int = 256

    def __post_init__(self) -> None:
        if not 2 <= self.k <= 100:
            raise InputError("The ledger needs a k from 2 to 100.")
        if not 8 <= self.rank <= 2048:
            raise InputError("The ledger's rank must be from 8 to 2048.")
        if self.mode not in {"off", "pairwise", "linear"}:
            raise InputError("The ledger's mode is one of off, pairwise and linear.")
