"""Attacks of the literature on inference from answered sums, by name."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace

import pytest
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import DisclosureHistory, Reason
from kanon_pg.worker.ledger.rules import LedgerRules, Mode

K = 5
SIZE = 200
KEY = b"0123456789abcdef"
VICTIM = 7
EVERYBODY = frozenset(range(SIZE))
OLD = frozenset(range(100))
WOMEN = frozenset(range(0, SIZE, 2))
WARD = frozenset(unit for unit in range(SIZE) if unit % 7 == 0) | {VICTIM}

COMPARING: list[Mode] = ["pairwise", "linear"]
both = pytest.mark.parametrize("mode", COMPARING)


class Analyst:
    """Somebody who asks for sums over sets of units."""

    def __init__(self, mode: Mode, *, units: frozenset[int] = EVERYBODY, k: int = K, **rules: int) -> None:
        self.population = Population(BitMap(units))
        self.ledger = DisclosureHistory(LedgerRules(k, mode, **rules), KEY)

    def ask(self, *groups: frozenset[int]) -> Reason | None:
        return self.ask_levels(groups)

    def ask_levels(self, *levels: tuple[frozenset[int], ...]) -> Reason | None:
        answer = AnswerSets(tuple(tuple(BitMap(group) for group in level) for level in levels))
        decision = self.ledger.check(answer, self.population)
        if decision.allowed:
            self.ledger.disclose(decision)
        return decision.reason

    def enter(self, *units: int) -> None:
        self.population = Population(self.population.units | BitMap(units))

    def leave(self, *units: int) -> None:
        self.population = Population(self.population.units - BitMap(units))


@pytest.mark.parametrize("mode", ["off", *COMPARING])
def test_fewer_than_k_people(mode: Mode) -> None:
    analyst = Analyst(mode)
    assert analyst.ask(frozenset(range(4))) == "size"
    assert analyst.ask(OLD, frozenset(range(100, 104))) == "size"
    assert analyst.ask(frozenset(range(5))) is None


def test_mode_off_compares_nothing() -> None:
    analyst = Analyst("off")
    assert analyst.ask(EVERYBODY) is None
    assert analyst.ask(EVERYBODY - {VICTIM}) is None


@both
def test_all_but_a_few(mode: Mode) -> None:
    analyst = Analyst(mode)
    assert analyst.ask(EVERYBODY - {VICTIM}) == "complement"
    assert analyst.ask(EVERYBODY - frozenset(range(4))) == "complement"
    assert analyst.ask(EVERYBODY - frozenset(range(5))) is None
    assert analyst.ask(EVERYBODY) is None


@both
def test_all_but_a_few_in_several_rows(mode: Mode) -> None:
    assert Analyst(mode).ask(OLD, EVERYBODY - OLD - {VICTIM + 100}) == "complement"


@both
def test_difference_of_two_answers(mode: Mode) -> None:
    analyst = Analyst(mode)
    assert analyst.ask(WARD) is None
    assert analyst.ask(WARD - {VICTIM}) == "difference"
    assert analyst.ask(WARD | {1, 2, 3, 4}) == "difference"
    assert analyst.ask(WARD ^ {VICTIM, 1, 2, 3, 4}) is None


@both
def test_difference_within_one_answer(mode: Mode) -> None:
    assert Analyst(mode).ask_levels((WARD,), (WARD - {VICTIM},)) == "difference"


@both
def test_the_same_query_again_tells_nothing_new(mode: Mode) -> None:
    analyst = Analyst(mode)
    for _ in range(3):
        assert analyst.ask(OLD, EVERYBODY - OLD) is None
        assert analyst.ask(EVERYBODY) is None


@both
def test_individual_tracker(mode: Mode) -> None:
    """The victim alone is in A and B; T = A and not B: q(A and B and D) = q(T or A and D) - q(T).

    Schloerer, "Identification and retrieval of personal records from a statistical data bank", 1975.
    """
    with_property = frozenset(range(SIZE - 50)) | {VICTIM}
    tracker = WARD - {VICTIM}
    analyst = Analyst(mode)
    assert analyst.ask(tracker & with_property) is None
    assert analyst.ask(tracker) is None
    assert analyst.ask(tracker | (WARD & with_property)) == "difference"


@both
def test_difference_against_the_sum_of_rows(mode: Mode) -> None:
    """The rows of one answer can be added in any choice."""
    wards = [frozenset(range(start, start + 20)) for start in range(0, SIZE, 20)]
    analyst = Analyst(mode)
    assert analyst.ask(*wards) is None
    assert analyst.ask((wards[0] | wards[3] | wards[6]) - {VICTIM}) == "combination"


@both
def test_general_tracker(mode: Mode) -> None:
    """q(C) = q(C or T) + q(C or not T) - q(all) (Denning, Denning and Schwartz 1979)."""
    analyst = Analyst(mode)
    victim = frozenset({VICTIM + 100})
    tracker = OLD
    assert analyst.ask(tracker) is None
    assert analyst.ask(EVERYBODY - tracker) is None
    # padded so that no single difference is small, only the sum of both
    padded = tracker | victim | frozenset(range(110, 120))
    assert analyst.ask(padded) is None
    assert analyst.ask((EVERYBODY - tracker) - frozenset(range(110, 120))) == "combination"


@both
def test_double_tracker(mode: Mode) -> None:
    """Sums over C or T, T, U, and U without C and T (Denning, Denning and Schwartz 1979)."""
    analyst = Analyst(mode)
    narrow, wide = frozenset(range(60)), frozenset(range(120))
    assert analyst.ask(wide) is None
    assert analyst.ask(narrow) is None
    inside = frozenset(range(30, 90))
    assert analyst.ask(wide - inside) is None
    # inside is known now; this differs from every disclosed set, but not from their sum
    assert analyst.ask(inside - {50}) == "combination"


@both
def test_three_sets_of_which_two_by_two_differ_enough(mode: Mode) -> None:
    """q(x) = (q(A) + q(B) - q(A xor B)) / 2 - ..., here with an intersection of one person."""
    analyst = Analyst(mode)
    first, second = frozenset(range(40)), frozenset(range(39, 80))
    assert analyst.ask(first) is None
    assert analyst.ask(second) is None
    assert analyst.ask(first ^ second) == "combination"


@both
def test_weighted_sums(mode: Mode) -> None:
    """A combination with coefficients other than 1 and -1: three pairs of blocks, then all three and one."""
    analyst = Analyst(mode)
    blocks = [frozenset(range(start, start + 30)) for start in (0, 30, 60)]
    for left, right in ((0, 1), (1, 2), (0, 2)):
        assert analyst.ask(blocks[left] | blocks[right]) is None
    # block 0 is half of the first plus the third less the second
    assert analyst.ask(blocks[0] - {VICTIM}) == "combination"


@both
def test_inserted_and_deleted_people(mode: Mode) -> None:
    analyst = Analyst(mode)
    assert analyst.ask(EVERYBODY) is None
    analyst.enter(SIZE)
    assert analyst.ask(EVERYBODY | {SIZE}) == "difference"
    analyst.leave(SIZE, 0)
    assert analyst.ask(EVERYBODY - {0}) == "difference"
    analyst.enter(*range(SIZE, SIZE + 4))
    assert analyst.ask(analyst_units(analyst)) is None


def analyst_units(analyst: Analyst) -> frozenset[int]:
    return frozenset(analyst.population.units)


@both
def test_a_changed_row_is_a_new_unit_of_the_same_person(mode: Mode) -> None:
    ledger = DisclosureHistory(LedgerRules(K, mode), KEY)
    before = Population(BitMap(range(SIZE)), array("I", range(SIZE)))
    decision = ledger.check(AnswerSets(((BitMap(range(SIZE)),),)), before)
    ledger.disclose(decision)
    units = BitMap(range(SIZE + 1)) - BitMap([VICTIM])
    after = Population(units, array("I", [*range(SIZE), VICTIM]))
    assert ledger.check(AnswerSets(((units,),)), after).reason == "difference"


@both
def test_equal_people_behind_different_rows(mode: Mode) -> None:
    """Everybody has two rows. Both sums are backed by all, their difference by one person's old row."""
    owners = array("I", [*range(50), *range(50)])
    population = Population(BitMap(range(100)), owners)
    ledger = DisclosureHistory(LedgerRules(K, mode), KEY)
    ledger.disclose(ledger.check(AnswerSets(((BitMap(range(100)),),)), population))
    without_old_row = BitMap(range(100)) - BitMap([VICTIM])
    assert population.people(without_old_row) == 50
    assert ledger.check(AnswerSets(((without_old_row,),)), population).reason == "complement"
    fewer = Population(without_old_row, owners)
    assert ledger.check(AnswerSets(((without_old_row,),)), fewer).reason == "difference"


@both
def test_many_rows_of_one_person_are_one_person(mode: Mode) -> None:
    owners = array("I", [0] * 20 + list(range(1, 60)))
    population = Population(BitMap(range(79)), owners)
    ledger = DisclosureHistory(LedgerRules(K, mode), KEY)
    assert ledger.check(AnswerSets(((BitMap(range(23)),),)), population).reason == "size"
    ledger.disclose(ledger.check(AnswerSets(((BitMap(range(60)),),)), population))
    assert ledger.check(AnswerSets(((BitMap(range(20, 60)),),)), population).reason == "difference"


@both
def test_one_sided(mode: Mode) -> None:
    first, second = OLD, frozenset(range(98, 160))
    for one_sided, reason in ((False, None), (True, "difference")):
        analyst = Analyst(mode, one_sided=one_sided)
        assert analyst.ask(first) is None
        assert analyst.ask(first - second | frozenset(range(170, 190))) == reason


def test_the_linear_ledger_is_full_after_its_rank() -> None:
    analyst = Analyst("linear", rank=8)
    sets = [frozenset(range(start, start + 20)) for start in range(0, SIZE, 20)]
    assert [analyst.ask(group) for group in sets] == [None] * 8 + ["full"] * 2
    assert analyst.ask(sets[0] | sets[5]) is None


def test_an_answer_of_too_many_rows_is_withheld() -> None:
    groups = [frozenset(range(start, start + 10)) for start in range(0, SIZE, 10)]
    assert Analyst("pairwise", rank=16).ask(*groups) == "full"
    assert Analyst("pairwise", rank=32).ask(*groups) is None


def test_the_pairwise_ledger_forgets_combinations_but_no_set() -> None:
    analyst = Analyst("pairwise", rank=8)
    sets = [frozenset(range(start, start + 20)) for start in range(0, SIZE, 20)]
    for group in sets:
        assert analyst.ask(group) is None
    # the younger code began when the older one had 4 of 8 sets, and took over after the ninth
    assert analyst.ledger.rank == 7
    for first, second in zip(range(3, 9), range(4, 10), strict=True):
        union = sets[first] | sets[second]
        assert analyst.ask(union - {max(union)}) == "combination"
    assert analyst.ask(sets[0] - {VICTIM}) == "difference"
    assert analyst.ask((sets[0] | sets[1]) - {VICTIM}) is None


def test_the_pairwise_ledger_forgets_no_total() -> None:
    analyst = Analyst("pairwise", rank=8)
    sets = [frozenset(range(start, start + 10)) for start in range(0, SIZE, 10)]
    assert analyst.ask(sets[0], sets[1]) is None
    for group in sets[2:14]:
        assert analyst.ask(group) is None
    assert analyst.ask((sets[1] | sets[14]) - {19}) is None
    assert analyst.ask((sets[0] | sets[1]) - {VICTIM}) == "difference"


@both
def test_more_people_than_columns(mode: Mode) -> None:
    analyst = Analyst(mode, units=frozenset(range(20_000)))
    wards = [frozenset(range(start, 20_000, 10)) for start in range(10)]
    assert analyst.ask(*wards) is None
    assert analyst.ask(frozenset(range(10_000)), frozenset(range(10_000, 20_000))) is None
    assert analyst.ask((wards[1] | wards[2]) - {11}) == "combination"


CROWD = frozenset(range(3000))
LIGHT = frozenset({7, 7 + 1024, 100, 200, 300})
"""Five people, two of whom share a column of the code."""


@both
def test_a_group_of_exactly_k_people_is_answered_whatever_columns_they_share(mode: Mode) -> None:
    analyst = Analyst(mode, units=CROWD)
    assert analyst.ask(LIGHT) is None
    assert analyst.ask(CROWD) is None
    # nor does it stand in the way of others, or of itself after the history was read again
    assert analyst.ask(frozenset(range(400, 460))) is None
    checkpoint = analyst.ledger.to_bytes()
    analyst.ledger = DisclosureHistory.from_bytes(checkpoint, analyst.ledger.rules, KEY)
    assert analyst.ask(frozenset(range(500, 560))) is None


@both
def test_an_excused_group_hides_nobody(mode: Mode) -> None:
    analyst = Analyst(mode, units=CROWD)
    others = frozenset(range(600, 680))
    for group in (LIGHT, others, frozenset(range(700, 780))):
        assert analyst.ask(group) is None
    others |= frozenset(range(700, 780))
    # all three but for one of the five, or with one more
    assert analyst.ask((LIGHT | others) - {7}) == "combination"
    assert analyst.ask((LIGHT | others) - {100}) == "combination"
    assert analyst.ask(LIGHT | others | {1500}) == "combination"


def test_a_replayed_group_is_excused_too() -> None:
    ledger = DisclosureHistory(LedgerRules(K, "linear"), KEY)
    population = Population(BitMap(CROWD))
    ledger.replay(AnswerSets(((BitMap(LIGHT),),)), population)
    assert ledger.check(AnswerSets(((BitMap(range(400, 460)),),)), population).allowed


@pytest.mark.parametrize("mode", ["pairwise", "linear"])
def test_deciding_once_decides_as_twice(mode: Mode) -> None:
    """Known columns chose all answers at first, then not: the second history decides twice all along."""
    rules, key, everybody = LedgerRules(5, mode, rank=16), bytes(16), Population(BitMap(range(300)))
    once, twice = DisclosureHistory(rules, key), DisclosureHistory(rules, key)
    twice._state.known_span = replace(twice._state.known_span)
    draw = random.Random(3)
    for number in range(60):
        units = BitMap(draw.sample(range(300), draw.randint(20, 250)))
        known = ((units | BitMap(range(draw.randint(0, 300))),),) if number > 40 else None
        answer = AnswerSets(((units,),), known)
        decisions = [history.check(answer, everybody) for history in (once, twice)]
        assert decisions[0].reason == decisions[1].reason
        for history, decision in zip((once, twice), decisions, strict=True):
            if decision.allowed:
                history.disclose(decision)
        assert once.to_bytes() == twice.to_bytes()
        assert (once._state.known_span is once._state.span) or number > 40
        if number == 20:
            once = DisclosureHistory.from_bytes(once.to_bytes(), rules, key)
            assert once._state.known_span is once._state.span
