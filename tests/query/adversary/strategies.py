"""The strategies: each tries to learn one victim's secret, and says what it believes, or nothing.

A strategy knows everybody's number, street and sex, chooses its sets among people who are no victims, and may
use everything it was answered. What it returns is compared with the truth by `tests.query.adversary.figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

import numpy as np
from ortools.sat.python import cp_model

from tests.query.adversary.town import ILLNESS, PEOPLE, RARE_STREETS, VICTIMS, Oracle, Rows

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


_CHEAP = "select count(*) from town.people where {} and illness = '{}' and cost < {}"


def near_k(attacker: Attacker, victim: int) -> bool | None:
    """A set so chosen that about K of it are ill and cheap: one more may decide whether it is answered."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    return attacker.oracle.ask(_CHEAP.format(among(known), ILLNESS, 30_000)) is not None


def near_k_of_groups(attacker: Attacker, victim: int) -> bool | None:
    """The same by a breakdown, one of whose groups is near K."""
    known = [victim, *attacker.strangers(19, fresh=False)]
    known += attacker.strangers(45, fresh=False)
    text = f"select illness, cost < 30000, count(*) from town.people where {among(known)} group by 1, 2"
    return attacker.oracle.ask(text) is not None


def near_k_in_a_filter(attacker: Attacker, victim: int) -> bool | None:
    """The same by a FILTER over everybody."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    text = f"select count(*) filter (where {among(known)} and illness = '{ILLNESS}' and cost < 30000)"
    return attacker.oracle.ask(f"{text}, count(*) from town.people") is not None


def near_k_of_values(attacker: Attacker, victim: int) -> bool | None:
    """The same by a number of different values, each of which K people must share."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    text = f"select count(distinct illness) from town.people where {among(known)} and cost < 30000"
    return attacker.oracle.ask(text) is not None


def near_k_of_a_mixture(attacker: Attacker, victim: int) -> bool | None:
    """The same by a condition in which what is known and what is secret cannot be separated."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    part = f"{among(known)} and illness = '{ILLNESS}' and cost"
    text = f"select count(*) from town.people where ({part} < 30000) or ({part} < 20000)"
    return attacker.oracle.ask(text) is not None


def near_k_steered(attacker: Attacker, victim: int) -> bool | None:
    """A bound of costs raised until a set is answered; then the same for another with the victim."""
    known = attacker.strangers(60, fresh=False)
    for bound in range(20_000, 60_000, 4_000):
        if attacker.oracle.ask(_CHEAP.format(among(known), ILLNESS, bound)) is not None:
            others = [victim, *attacker.strangers(59, fresh=False)]
            return attacker.oracle.ask(_CHEAP.format(among(others), ILLNESS, bound)) is not None
    return None


def near_k_where_rare(attacker: Attacker, victim: int) -> bool | None:
    """A set of people who have it less often than everybody, as only the attacker knows."""
    rare = [one.id for one in attacker.oracle.known if one.street < RARE_STREETS and one.id > max(VICTIMS)]
    known = [victim, *attacker.draw.sample(rare, 50)]
    return attacker.ill(known) is not None


def rest_of_two(attacker: Attacker, victim: int) -> bool | None:
    """Two sets that sensitive columns choose among the same people: equal, or refused as a difference."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    text = "select count(*) from town.people where {} and (illness <> '{}' or cost >= {})"
    if attacker.oracle.ask(text.format(among(known), ILLNESS, 0)) is None:
        return None
    return attacker.oracle.ask(text.format(among(known), ILLNESS, 7_000)) is None


def fine_histogram(attacker: Attacker, victim: int) -> bool | None:
    """Bins of costs of the ill, as fine as they are answered: in a bin, or not."""
    known = [victim, *attacker.strangers(99, fresh=False)]
    for bins in (10, 5, 3, 2):
        text = f"select width_bucket(cost, 0, 100000, {bins}), count(*) from town.people"
        where = f" where {among(known)} and illness = '{ILLNESS}' group by 1"
        seen = attacker.oracle.ask(text + where)
        if seen is not None:
            ill = sum(int(row[1]) for row in seen)
            return ill > _ILL * len(known)
    return None


def top_list(attacker: Attacker, victim: int) -> bool | None:
    """The most frequent illness of a set with the victim: more often it, if the victim has it."""
    known = [victim, *attacker.strangers(59, fresh=False)]
    text = "select illness from town.people where {} group by illness order by count(*) desc, 1 limit 1"
    seen = attacker.oracle.ask(text.format(among(known)))
    return None if seen is None else seen[0][0] == ILLNESS


def overlapping_counts(attacker: Attacker, victim: int) -> bool | None:
    """Counts of all illnesses of overlapping sets; constraint programming says which worlds are possible."""
    pool = attacker.strangers(110, fresh=False)
    model = cp_model.CpModel()
    ill = {number: model.new_bool_var(str(number)) for number in [victim, *pool]}
    answered = 0
    for number in range(8):
        chosen = attacker.draw.sample(pool, 55) + ([victim] if number % 2 else [])
        seen = attacker.oracle.ask(_GROUPS.format(among(chosen)))
        if seen is not None:
            answered += 1
            counts = {row[0]: int(row[1]) for row in seen}
            model.add(sum(ill[one] for one in chosen) == counts.get(ILLNESS, 0))
    if not answered:
        return None
    possible = []
    for value in (False, True):
        solver = cp_model.CpSolver()
        solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, 2.0
        case = model.clone()
        case.add(ill[victim] == value)
        if solver.solve(case) != cp_model.INFEASIBLE:
            possible.append(value)
    return possible[0] if len(possible) == 1 else None


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


def sums_and_variances(attacker: Attacker, victim: int) -> int | None:
    """Counts, sums and variances of streets, sexes and a set with the victim and without: linear equations.

    The unknowns are everybody's costs; the victim's is read where the equations fix it.
    """
    with_victim = [victim, *attacker.strangers(60)]
    rest = [one for one in with_victim if one != victim]
    half = [one.id for one in attacker.oracle.known if one.sex == "F"]
    sets = {
        among(with_victim): with_victim,
        f"({among(with_victim)} or sex = 'F')": sorted({*with_victim, *half}),
        f"not ({among(rest)}) and sex = 'F'": sorted({*half} - {*rest}),
        "sex = 'F'": half,
        among(rest): rest,
        f"({among(rest)} or sex = 'F')": sorted({*rest, *half}),
    }
    rows, totals = [], []
    for condition, members in sets.items():
        seen = attacker.oracle.ask(
            f"select count(*), sum(cost), var_pop(cost) from town.people where {condition}"
        )
        if seen is not None:
            row = np.zeros(PEOPLE + 1)
            row[members] = 1
            rows.append(row)
            totals.append(float(seen[0][1]))
    if not rows:
        return None
    equations, wanted = np.array(rows), np.zeros(PEOPLE + 1)
    wanted[victim] = 1
    weights, *_ = np.linalg.lstsq(equations.T, wanted, rcond=None)
    if np.abs(equations.T @ weights - wanted).max() > 1e-6:
        return None
    return round(float(weights @ np.array(totals)))


Strategy = Callable[[Attacker, int], bool | int | None]

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
NEAR_K: dict[str, Strategy] = {
    "near k": near_k,
    "near k, groups": near_k_of_groups,
    "near k, filter": near_k_in_a_filter,
    "near k, values": near_k_of_values,
    "near k, mixture": near_k_of_a_mixture,
    "near k, steered": near_k_steered,
    "near k, where rare": near_k_where_rare,
}
OTHERS: dict[str, Strategy] = {
    "rest of two sets": rest_of_two,
    "distinct values": distinct_values,
    "fine histogram": fine_histogram,
    "top of a list": top_list,
    "overlapping counts": overlapping_counts,
    "random sets": random_sets,
    "sums and variances": sums_and_variances,
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


def bisection(attacker: Attacker, victim: int) -> int | None:
    """Search the victim's cost by whether a group of larger ones is shown, of few known people."""
    known = among([victim, *attacker.strangers(59, fresh=False)])
    low, high = 0, 100_000
    for _ in range(17):
        middle = (low + high) // 2
        seen = attacker.oracle.ask(
            f"select cost > {middle}, count(*) from town.people where {known} group by 1"
        )
        if seen is None:
            high = middle
        else:
            low = middle
    return high


VALUES: dict[Strategy, str] = {
    percentiles: "percentiles",
    bisection: "bisection",
    sums_and_variances: "sums and variances",
}
"""Strategies whose belief is the victim's cost."""
