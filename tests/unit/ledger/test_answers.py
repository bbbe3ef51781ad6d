"""Answers, entries, populations and rules."""

from __future__ import annotations

from array import array

import pytest
from pyroaring import BitMap

from kanon_pg.errors import InputError, LedgerError
from kanon_pg.worker.ledger.answers import AnswerSets, Population, packed, sets_of
from kanon_pg.worker.ledger.rules import LedgerRules
from kanon_pg.worker.ledger.session import LedgerEntry

ANSWER = AnswerSets(((BitMap([1, 2]), BitMap([70_000])), (BitMap(range(10_000)),), ()))


def test_an_answer_comes_back_from_its_bytes() -> None:
    assert AnswerSets.from_bytes(ANSWER.to_bytes()) == ANSWER
    assert AnswerSets.from_bytes(AnswerSets(()).to_bytes()) == AnswerSets(())


def test_bytes_depend_on_the_set_not_on_its_history() -> None:
    grown = BitMap()
    for unit in reversed(range(20_000)):
        grown.add(unit)
    shrunk = BitMap(range(40_000)) & BitMap(range(20_000))
    assert packed(grown) == packed(shrunk) == packed(BitMap(range(20_000)))
    sparse = BitMap(range(0, 60_000, 2))
    for unit in range(200, 60_000, 2):
        sparse.discard(unit)
    assert packed(sparse) == packed(BitMap(range(0, 200, 2)))


@pytest.mark.parametrize("cut", [0, 3, 9, -1])
def test_cut_bytes_are_no_answer(cut: int) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        AnswerSets.from_bytes(ANSWER.to_bytes()[:cut])


def test_further_bytes_are_no_answer() -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        AnswerSets.from_bytes(ANSWER.to_bytes() + b"\0")


def test_groups_of_one_level_are_disjoint() -> None:
    with pytest.raises(InputError, match="share rows"):
        AnswerSets(((BitMap([1, 2]), BitMap([2, 3])),))


def test_totals_are_disclosed_with_the_groups() -> None:
    assert sets_of(ANSWER.levels) == [BitMap([1, 2]), BitMap([70_000]), BitMap(range(10_000))]
    assert list(ANSWER.with_totals())[2] == BitMap([1, 2, 70_000])
    assert len(list(ANSWER.with_totals())) == 4


def test_an_entry_comes_back_from_its_bytes() -> None:
    disclosed = LedgerEntry(1.5, "änn", "SELECT 'ü'", "answered", "", ANSWER)
    withheld = LedgerEntry(2.5, "bob", "SELECT 1", "withheld", "size")
    for entry in (disclosed, withheld):
        assert LedgerEntry.from_bytes(entry.to_bytes()) == entry


@pytest.mark.parametrize(
    "entry",
    [
        LedgerEntry(1.0, "ann", "", "answered"),
        LedgerEntry(1.0, "ann", "", "withheld", "size", ANSWER),
        LedgerEntry(1.0, "ann", "", "perhaps", "size"),  # type: ignore[arg-type]
    ],
)
def test_entries_that_contradict_themselves_are_refused(entry: LedgerEntry) -> None:
    with pytest.raises(LedgerError, match="contradicts itself"):
        LedgerEntry.from_bytes(entry.to_bytes())


@pytest.mark.parametrize("data", [b"", b"\0\0\0\4[1,2", b"\0\0\0\3{}}"])
def test_other_bytes_are_no_entry(data: bytes) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        LedgerEntry.from_bytes(data)


def test_people_are_counted_by_their_owners() -> None:
    population = Population(BitMap(range(6)), array("I", [0, 0, 0, 1, 1, 2]))
    assert population.people(BitMap([0, 1, 2])) == 1
    assert population.people(BitMap([0, 3, 5])) == 3
    for units in (BitMap(), BitMap([0, 1, 2]), BitMap([2, 3]), BitMap(range(6))):
        for k in (1, 2, 3, 4):
            assert population.is_backed(units, k) == (population.people(units) >= k)
    rows = Population(BitMap(range(6)))
    assert rows.people(BitMap([0, 1, 2])) == 3
    assert rows.is_backed(BitMap([0, 1]), 2)
    assert not rows.is_backed(BitMap([0]), 2)


@pytest.mark.parametrize(
    "settings", [{"k": 1}, {"k": 129}, {"k": 5, "spread_k": 4}, {"k": 5, "rank": 7}, {"k": 5, "mode": "on"}]
)
def test_rules_out_of_range(settings: dict[str, object]) -> None:
    with pytest.raises(InputError):
        LedgerRules(**settings)  # type: ignore[arg-type]
