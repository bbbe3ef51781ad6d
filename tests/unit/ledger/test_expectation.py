"""How many people with a secret are to be expected among known ones, against exact probabilities."""

from __future__ import annotations

from array import array
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import AnswerSets, LevelSelection, Population
from kanon_pg.worker.ledger.disclosure import DisclosureHistory, Reason
from kanon_pg.worker.ledger.expectation import (
    are_few_expected,
    is_surprising,
    least_expected,
    may_be_few_where_mixed,
)
from kanon_pg.worker.ledger.rules import LedgerRules
from tests.fixtures.examples import examples

PEOPLE = Population(BitMap(range(1000)))
KEY = bytes(range(16))


def chance(people: int, ill: int, chosen: int, found: int) -> Fraction:
    """Return the chance that so many of some chosen people are ill, hypergeometric."""
    return Fraction(comb(ill, found) * comb(people - ill, chosen - found), comb(people, chosen))


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20, 50, 100])
@pytest.mark.parametrize("people", [1000, 4000, 100_000])
def test_one_person_seldom_decides_where_enough_are_expected(k: int, people: int) -> None:
    for chosen in (10 * k, 20 * k, people // 4, people // 2):
        # the rarest secret that is not refused, and one person whose secret decides
        ill = -(-least_expected(k) * people // chosen)
        if ill < people and chosen < people:
            assert chance(people - 1, ill - 1, chosen - 1, k - 1) < Fraction(1, 100)


def choice(known: range, secret: range) -> AnswerSets:
    both = ((BitMap(known) & BitMap(secret),),)
    chosen = ((BitMap(known),),)
    return AnswerSets(both, chosen, chosen, (LevelSelection(chosen, ((BitMap(secret),),)),))


@given(st.integers(1, 999), st.integers(1, 1000), st.integers(0, 1000))
@settings(max_examples=examples(200))
def test_it_is_decided_by_two_numbers_whoever_has_the_secret(known: int, secret: int, start: int) -> None:
    ill = BitMap((start + number) % 1000 for number in range(secret))
    answer = AnswerSets((), ((),), (), (LevelSelection(((BitMap(range(known)),),), ((ill,),)),))
    assert are_few_expected(answer, PEOPLE, 5) == (known * secret < 12 * 1000)


def test_people_count_not_their_rows() -> None:
    owners = Population(BitMap(range(1000)), array("I", [unit // 10 for unit in range(1000)]))
    # 50 people of 100, of whom 20 % have it: 10
    assert are_few_expected(choice(range(500), range(200)), owners, 5)
    assert not are_few_expected(choice(range(500), range(240)), owners, 5)


def test_among_everybody_nothing_has_to_be_expected() -> None:
    assert not are_few_expected(choice(range(1000), range(6)), PEOPLE, 5)


def test_a_few_where_enough_were_expected_are_surprising_and_nobody_is_not() -> None:
    assert is_surprising(choice(range(100), range(97, 600)), PEOPLE, 5)
    assert not is_surprising(choice(range(100), range(100, 600)), PEOPLE, 5)
    assert not is_surprising(choice(range(100), range(50, 600)), PEOPLE, 5)


def test_the_limit_of_a_mixture_is_between_one_and_three_times_what_is_expected_and_stays() -> None:
    limits = set()
    for start in range(40):
        known = ((BitMap(range(start, start + 100)),),)
        few = [
            number
            for number in range(1, 100)
            if may_be_few_where_mixed(
                AnswerSets((), ((),), (), (LevelSelection(known, (), ((BitMap(range(number)),),)),)),
                PEOPLE,
                5,
                KEY,
            )
        ]
        limits.add(few[-1] + 1)
    assert 12 <= min(limits) < 18
    assert 30 < max(limits) < 36
    assert len(limits) > 10


@pytest.mark.parametrize(
    ("known", "secret", "reason"),
    [
        (range(100), range(50, 160), "expected"),
        (range(100), range(96, 300), "surprising"),
        (range(100), range(100, 300), "size"),
        (range(100), range(80, 300), None),
    ],
)
def test_a_ledger_refuses_what_is_unlikely_to_be_answered(
    known: range, secret: range, reason: Reason | None
) -> None:
    history = DisclosureHistory(LedgerRules(5, margin=10), KEY)
    answer = choice(known, secret)
    failure: Reason | None = None if answer.levels[0][0] and len(answer.levels[0][0]) >= 5 else "size"
    assert history.check(answer, PEOPLE, failure).reason == reason
    # with a margin of one, and where small groups are left out, k alone counts
    for rules in (LedgerRules(5), LedgerRules(5, margin=10, suppresses=True)):
        found = DisclosureHistory(rules, KEY).check(answer, PEOPLE, failure).reason
        assert found == failure
