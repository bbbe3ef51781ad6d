"""What a strategy learns: how often it is right about a victim, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.query.adversary.strategies import Attacker, Strategy, percentiles
from tests.query.adversary.town import ILLNESS, VICTIMS, Town


@dataclass(frozen=True)
class Figures:
    """The result of attempts on all victims.

    Parameters
    ----------
    right, wrong, silent : int
        Attempts whose belief is true, is not, or that believe nothing.
    tells : float
        How much more often "yes" is believed where it is true than where it is not.
    asked, withheld : int
        Queries, and those not answered.
    reasons : dict
        Why, as the record says.
    first_lockout : int or None
        Attempts before the login was first locked out.
    """

    right: int
    wrong: int
    silent: int
    tells: float
    asked: int
    withheld: int
    reasons: dict[str, int]
    first_lockout: int | None
    explained: tuple[str, ...]

    @property
    def learned(self) -> float:
        """Attempts that tell more than guessing: those made, times how much more often what is believed is
        true of those of whom it is believed than of others (Youden's index)."""
        return self.tells * (self.right + self.wrong)

    def line(self) -> str:
        """Return the figures in one line."""
        lockout = "never" if self.first_lockout is None else f"after {self.first_lockout}"
        why = ", ".join(f"{name} {number}" for name, number in sorted(self.reasons.items()))
        shares = f"learned {self.learned:4.1f}  right {self.right:2} wrong {self.wrong:2}"
        return (
            f"{shares} silent {self.silent:2}  queries {self.asked:4} withheld {self.withheld:4}"
            f"  locked out {lockout}  ({why})"
        )


def attack(
    town: Town, strategy: Strategy, rules: dict[str, Any], *, victims: tuple[int, ...] = VICTIMS
) -> Figures:
    """Let a strategy try every victim under some rules, with a record of its own."""
    town.begin(rules)
    right = wrong = silent = 0
    yes: dict[bool, list[bool]] = {True: [], False: []}
    lockout = None
    with town.oracle() as oracle:
        attacker = Attacker(oracle, Random(1))
        for attempt, victim in enumerate(victims):
            belief = strategy(attacker, victim)
            person = town.people[victim - 1]
            if oracle.withheld and "budget" in town.reasons():
                # nothing more comes before the lockout ends, which an administrator sees
                lockout, silent = attempt, silent + len(victims) - attempt
                break
            if belief is None:
                silent += 1
            elif strategy is percentiles:
                right, wrong = right + (belief == person.cost), wrong + (belief != person.cost)
            else:
                is_true = belief == (person.illness == ILLNESS)
                yes[person.illness == ILLNESS].append(bool(belief))
                right, wrong = right + is_true, wrong + (not is_true)
        return Figures(
            right,
            wrong,
            silent,
            1.0 if strategy is percentiles else _tells(yes),
            oracle.asked,
            oracle.withheld,
            town.reasons(),
            lockout,
            tuple(oracle.explained[:3]),
        )


def _tells(yes: dict[bool, list[bool]]) -> float:
    shares = [sum(found) / len(found) if found else 0.5 for found in (yes[True], yes[False])]
    return abs(shares[0] - shares[1])
