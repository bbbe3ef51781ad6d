"""Whether enough people with a secret are to be expected among those that known columns choose.

The number of people with a secret among people whom an attacker chose is refused below k. If it is k - 1
but for one person, the refusal says whether that person has the secret, and an attacker can choose people
and secret so that this happens often: of n people with a chance of c / n each, near c = k - 1, in one attempt
of five. So before anybody is counted it is decided by what is no secret of a few: the number of people that
known columns choose, and the share of everybody that sensitive ones choose. Fewer than k + 3 sqrt(k) to be
expected are refused whatever the truth is. If the secret does not depend on what is known, the truth is
hypergeometric, which varies less than a sum of independent trials (Hoeffding, "Probability inequalities for
sums of bounded random variables", 1963, theorem 4); that it is exactly k - 1 is rarer than one in a hundred
(`test_one_person_seldom_decides_where_enough_are_expected`).

Where it does depend, an attacker who knows how can choose people of whom fewer have the secret than
everybody's share says. What is then refused was *surprising*, and counts against a small budget
(`QueryBudget.near_refusals`).
"""

from __future__ import annotations

from hashlib import blake2b
from math import isqrt

from kanon_pg.worker.ledger.answers import AnswerSets, LevelSelection, Population, digest_of, packed, sets_of

_MOST_PAIRS = 10_000
"""Most pairs of sets that are looked at for one answer; chosen, not measured: a pair takes microseconds."""


def least_expected(k: int) -> int:
    """Return how many people have to be expected: k and three standard deviations of k, rounded up."""
    return k + isqrt(9 * k - 1) + 1


def are_few_expected(answer: AnswerSets, population: Population, k: int) -> bool:
    """Whether somewhere fewer people than `least_expected` are to be expected. Linear time in the sets."""
    return any(_has_low_expectation(selection, population, k) for selection in answer.selections)


def _has_low_expectation(selection: LevelSelection, population: Population, k: int) -> bool:
    known = [units for units in sets_of(selection.known) if units != population.units]
    secret = sets_of(selection.sensitive)
    if not known or not secret:
        return False
    everybody = population.people(population.units)
    fewest = min(map(population.people, known)) * min(map(population.people, secret))
    return fewest < least_expected(k) * everybody


def may_be_few_where_mixed(answer: AnswerSets, population: Population, k: int, key: bytes) -> bool:
    """Whether few people are behind an answer of which it cannot be said how many are to be expected.

    That is so where a part reads known and sensitive columns together. The limit is between one and three
    times `least_expected`, drawn for the people that known columns choose, so that none is worth aiming at.

    Parameters
    ----------
    key : bytes
        The relation's secret.
    """
    for selection in answer.selections:
        if selection.mixed is not None:
            people = b"".join(sorted(digest_of(packed(units)) for units in sets_of(selection.known)))
            draw = int.from_bytes(blake2b(people, key=key, digest_size=8).digest())
            least = least_expected(k)
            limit = least + draw % (2 * least)
            if not all(population.is_backed(units, limit) for units in sets_of(selection.mixed)):
                return True
    return False


def is_surprising(answer: AnswerSets, population: Population, k: int) -> bool:
    """Whether 1 to k-1 of some known people have a secret; too many to look at count as such."""
    for selection in answer.selections:
        known, secret = sets_of(selection.known), sets_of(selection.sensitive)
        if len(known) * len(secret) > _MOST_PAIRS:
            return True
        both = (one & other for one in known for other in secret)
        if any(units and not population.is_backed(units, k) for units in both):
            return True
    return False
