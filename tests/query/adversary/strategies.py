"""The strategies: each tries to learn one victim's secret, and says what it believes, or nothing.

A strategy knows everybody's number, street and sex, chooses its sets among people who are no victims, and may
use everything it was answered. What it returns is compared with the truth by `tests.query.adversary.figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from tests.query.adversary.town import ILLNESS, PEOPLE, VICTIMS, Oracle, Rows

_STRANGERS = range(max(VICTIMS) + 1, PEOPLE + 1)


@dataclass
class Attacker:
    """What one attacker remembers over all attempts.

    Parameters
    ----------
    draw : Random
        The attacker's own choices.
    spent : set of int
        Strangers that were in an earlier attempt.
    """

    oracle: Oracle
    draw: Random
    spent: set[int] = field(default_factory=set)

    def strangers(self, count: int, *, fresh: bool = True) -> list[int]:
        """Return people who are no victims; those of no earlier attempt, as long as there are some."""
        left = [number for number in _STRANGERS if number not in self.spent]
        chosen = self.draw.sample(left if fresh and len(left) >= count else list(_STRANGERS), count)
        if fresh:
            self.spent.update(chosen)
        return chosen

    def ill(self, numbers: Iterable[int]) -> Rows | None:
        """Ask how many of some people are ill."""
        return self.oracle.ask(
            f"select count(*) from town.people where {among(numbers)} and illness = '{ILLNESS}'"
        )

    def answered(self, template: str, count: int, tries: int = 4) -> list[int] | None:
        """Return strangers about whom a query is answered."""
        for _ in range(tries):
            chosen = self.strangers(count)
            if self.oracle.ask(template.format(among(chosen))) is not None:
                return chosen
        return None


def among(numbers: Iterable[int]) -> str:
    return f"id in ({', '.join(map(str, sorted(numbers)))})"


_GROUPS = "select illness, count(*) from town.people where {} group by illness"
_COUNT = f"select count(*) from town.people where {{}} and illness = '{ILLNESS}'"


def groups_then_one_more(attacker: Attacker, victim: int) -> bool | None:
    """A breakdown of S, then one group of S and the victim: refused if the victim is in it."""
    base = attacker.answered(_GROUPS, 70)
    return None if base is None else attacker.ill([*base, victim]) is None


def one_more_then_without(attacker: Attacker, victim: int) -> bool | None:
    """The same two sets in the other order."""
    base = attacker.strangers(70)
    if attacker.ill([*base, victim]) is None:
        return None
    return attacker.oracle.ask(_GROUPS.format(among(base))) is None


def one_more_in_a_filter(attacker: Attacker, victim: int) -> bool | None:
    """The set with the victim as a FILTER over everybody."""
    base = attacker.answered(_COUNT, 70)
    if base is None:
        return None
    text = "select count(*) filter (where {} and illness = '{}') from town.people"
    return attacker.oracle.ask(text.format(among([*base, victim]), ILLNESS)) is None


def one_more_in_a_sum(attacker: Attacker, victim: int) -> bool | None:
    """Averages of costs instead of counts, the illness as a group."""
    base = attacker.answered("select illness, avg(cost) from town.people where {} group by illness", 70)
    if base is None:
        return None
    text = "select sum(cost) from town.people where {} and illness in ('{}', 'nothing')"
    return attacker.oracle.ask(text.format(among([*base, victim]), ILLNESS)) is None


def union_of_two(attacker: Attacker, victim: int) -> bool | None:
    """Two disjoint sets, then their union and the victim: nothing but a combination shows it."""
    parts = [attacker.answered(_COUNT, 60) for _ in range(2)]
    if parts[0] is None or parts[1] is None:
        return None
    return attacker.ill([*parts[0], *parts[1], victim]) is None


def with_fillers(attacker: Attacker, victim: int) -> bool | None:
    """The victim among K strangers more, so that known people differ enough: refused if anybody is ill."""
    base = attacker.answered(_COUNT, 70)
    return None if base is None else attacker.ill([*base, victim, *attacker.strangers(5)]) is None


def ladder(attacker: Attacker, victim: int) -> bool | None:
    """Grow a set of strangers until one more answers it, so that it holds K - 1 who are ill; then the victim.

    The first rung that is answered may have the victim in place of the stranger whom it took.
    """
    rungs = attacker.strangers(40, fresh=False)
    for size in range(8, len(rungs)):
        if attacker.ill(rungs[:size]) is not None:
            return attacker.ill([*rungs[: size - 1], victim]) is not None
    return None


def near_k(attacker: Attacker, victim: int) -> bool | None:
    """A set so chosen that about K of it are ill and cheap: one more may decide whether it is answered."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    text = "select count(*) from town.people where {} and illness = '{}' and cost < 30000"
    return attacker.oracle.ask(text.format(among(known), ILLNESS)) is not None


def yes_or_no(attacker: Attacker, victim: int) -> bool | None:
    """A group that the text names: nobody in it is answered, somebody is refused."""
    known = [victim, *attacker.strangers(4, fresh=False)]
    text = f"select illness = '{ILLNESS}', count(*) from town.people where {among(known)} group by 1"
    seen = attacker.oracle.ask(text)
    return None if seen is not None and len(seen) == 2 else seen is None


def distinct_values(attacker: Attacker, victim: int) -> bool | None:
    """The number of different illnesses of people of whom all but the victim have another one."""
    everybody = [victim, *attacker.strangers(60, fresh=False)]
    text = "select count(distinct illness) from town.people where {} and illness in ('none', '{}')"
    seen = attacker.oracle.ask(text.format(among(everybody), ILLNESS))
    return None if seen is None else seen[0][0] == "2"


_ILL = 0.25
"""Share of strangers who are ill, which anybody can ask."""


def random_sets(attacker: Attacker, victim: int) -> bool | None:
    """Many random sets with the victim in half of them; the counts tell by regression (Dinur, Nissim)."""
    pool = attacker.strangers(600, fresh=False)
    rows, counts = [], []
    for number in range(60):
        chosen = set(attacker.draw.sample(pool, 300))
        seen = attacker.ill([*chosen, victim] if number % 2 else chosen)
        if seen is not None:
            rows.append([*(float(one in chosen) for one in pool), float(number % 2)])
            counts.append(float(seen[0][0]))
    if len(rows) < 10:
        return None
    asked, prior = np.array(rows), np.full(len(pool) + 1, _ILL)
    prior[-1] = 0.5
    variance = prior * (1 - prior)
    surprise = np.array(counts) - asked @ prior
    seen_variance = (asked * variance) @ asked.T + 1e-6 * np.eye(len(asked))
    belief = prior + variance * (asked.T @ np.linalg.solve(seen_variance, surprise))
    return bool(belief[-1] > 0.5)


Strategy = Callable[[Attacker, int], bool | None]

REFUSAL_BITS: dict[str, Strategy] = {
    "groups, then one more": groups_then_one_more,
    "one more, then without": one_more_then_without,
    "one more in a filter": one_more_in_a_filter,
    "one more in a sum": one_more_in_a_sum,
    "union of two sets": union_of_two,
    "one more among fillers": with_fillers,
    "ladder": ladder,
    "yes or no": yes_or_no,
}
OTHERS: dict[str, Strategy] = {
    "near k": near_k,
    "distinct values": distinct_values,
    "random sets": random_sets,
}

_MOST_PERCENTILES = 9


def percentiles(attacker: Attacker, victim: int) -> int | None:
    """List the middle of S, and of S with the victim and five others, three times; what is new each time.

    Enough percentiles of a set are its values in order, and a value that comes with the victim each time is
    the victim's.
    """
    base = attacker.strangers(40)
    before = _middle(attacker, base)
    if len(before) < _MOST_PERCENTILES:
        return None
    new: set[int] | None = None
    for _ in range(3):
        after = _middle(attacker, [*base, victim, *attacker.strangers(5)])
        inside = {value for value in after if before[0] < value < before[-1]} - set(before)
        new = inside if new is None else new & inside
    return new.pop() if new is not None and len(new) == 1 else None


def _middle(attacker: Attacker, numbers: list[int]) -> list[int]:
    """Return what percentiles show of the costs of some people, in order."""
    size = len(numbers)
    fractions = [f"{(rank - 0.5) / size:.4f}" for rank in range(7, size - 5)]
    found: list[int] = []
    for start in range(0, len(fractions), _MOST_PERCENTILES):
        listed = ", ".join(fractions[start : start + _MOST_PERCENTILES])
        text = f"select percentile_disc(array[{listed}]) within group (order by cost) from town.people"
        seen = attacker.oracle.ask(f"{text} where {among(numbers)}")
        if seen is not None:
            found += [round(float(value)) for value in seen[0][0].strip("{}").split(",")]
    return sorted(set(found))


def bisection(attacker: Attacker) -> int:
    """Search the largest cost of all by whether a group of larger ones is shown."""
    low, high = 0, 200_000
    while high - low > 1:
        middle = (low + high) // 2
        seen = attacker.oracle.ask(f"select cost > {middle}, count(*) from town.people group by 1")
        if seen is not None and len(seen) == 2:
            low = middle
        elif seen is not None:
            high = middle
        else:
            high = middle
    return high
