"""What a strategy learns: how often it is right about a victim in both worlds, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.query.adversary.strategies import VALUES, Attacker, Strategy
from tests.query.adversary.town import ILLNESS, VICTIMS, Person, Town


@dataclass(frozen=True)
class Figures:
    """The result of attempts on all victims, in two worlds.

    Parameters
    ----------
    right, wrong, silent : int
        Attempts of both worlds whose belief is true, is not, or that believe nothing.
    learned : float
        Attempts that tell more than guessing, in one world: those that are right less those that are wrong. A
        belief that does not depend on the truth is right in one world and wrong in the other, so that is 0
        without any chance in it. Of beliefs about values those that are right.
    asked, withheld : int
        Queries, and those not answered, in both worlds.
    reasons : dict
        Why, as the ledger says.
    lockouts : tuple of (int or None)
        Attempts in each world before the login was first locked out.
    explained : tuple of str
        Queries that were refused for their text; there should be none.
    """

    right: int
    wrong: int
    silent: int
    learned: float
    asked: int
    withheld: int
    reasons: dict[str, int]
    lockouts: tuple[int | None, ...]
    explained: tuple[str, ...]

    def line(self) -> str:
        """Return the figures in one line."""
        lockouts = ", ".join("never" if one is None else str(one) for one in self.lockouts)
        why = ", ".join(f"{name} {number}" for name, number in sorted(self.reasons.items()))
        each = self.learned * 2 / self.withheld if self.withheld else 0.0
        return (
            f"learned {self.learned:4.1f} of {len(VICTIMS)}, {each:5.2f} a refusal"
            f"  right {self.right:2} wrong {self.wrong:2} silent {self.silent:3}"
            f"  queries {self.asked:4} withheld {self.withheld:3}  lockout after {lockouts}  ({why})"
        )


def attack(
    worlds: Sequence[Town],
    strategy: Strategy,
    rules: dict[str, Any],
    *,
    victims: tuple[int, ...] = VICTIMS,
) -> Figures:
    """Let a strategy try every victim in each world under some rules, with a ledger of its own."""
    found = [_attempts(town, strategy, rules, victims) for town in worlds]
    right, wrong = (sum(beliefs.count(kind) for beliefs, *_ in found) for kind in (True, False))
    score = right if strategy in VALUES else right - wrong
    reasons = sum((Counter(town.reasons()) for town in worlds), Counter[str]())
    return Figures(
        right,
        wrong,
        len(worlds) * len(victims) - right - wrong,
        score / len(worlds),
        sum(asked for _, asked, *_ in found),
        sum(withheld for *_, withheld, _, _ in found),
        dict(reasons),
        tuple(lockout for *_, lockout, _ in found),
        tuple(text for *_, texts in found for text in texts[:3]),
    )


def _attempts(
    town: Town, strategy: Strategy, rules: dict[str, Any], victims: tuple[int, ...]
) -> tuple[list[bool], int, int, int | None, list[str]]:
    town.begin(rules)
    beliefs: list[bool] = []
    lockout = None
    with town.oracle() as oracle:
        attacker = Attacker(oracle, Random(1))
        for attempt, victim in enumerate(victims):
            # the same choices in both worlds, whatever the attempts before came to
            attacker.draw = Random(victim)
            belief = strategy(attacker, victim)
            if oracle.withheld and "budget" in town.reasons():
                # nothing more comes before the lockout ends, which an administrator sees
                lockout = attempt
                break
            if belief is not None:
                beliefs.append(_is_true(belief, town.people[victim - 1], strategy))
        return beliefs, oracle.asked, oracle.withheld, lockout, oracle.explained


def _is_true(belief: bool | int, person: Person, strategy: Strategy) -> bool:
    return belief == (person.cost if strategy in VALUES else person.illness == ILLNESS)
