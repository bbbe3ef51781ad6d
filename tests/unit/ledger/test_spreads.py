"""Sums of squares are compared with each other by a number of people that leaves their values open."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyroaring import BitMap

from kanon_pg.queries.check.plan.spreads import people_of_spreads
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import Decision, Reason
from kanon_pg.worker.ledger.journal import create_journal
from kanon_pg.worker.ledger.rules import LedgerRules, Mode
from kanon_pg.worker.ledger.session import LedgerSession, LoggedQuery, RelationPart, decide

K = 5
KEY = bytes(range(16))
PEOPLE = Population(BitMap(range(400)))
NEEDED = people_of_spreads(K)


def rules(mode: Mode = "linear", share: float = 1.0) -> LedgerRules:
    return LedgerRules(K, mode, share=share, spread_k=NEEDED)


def people(start: int, end: int, *, squares: bool) -> AnswerSets:
    """Return an answer about people of these numbers."""
    return AnswerSets(((BitMap(range(start, end)),),), spreads=(0,) if squares else ())


def ask(session: LedgerSession, answer: AnswerSets, login: str = "ann") -> Decision:
    return decide(LoggedQuery(1.0, login, "SELECT"), [RelationPart(session, PEOPLE, answer)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_journal(tmp_path / "journal")
    return tmp_path / "journal"


@pytest.mark.parametrize("mode", ["pairwise", "linear"])
@pytest.mark.parametrize(
    ("end", "reason"),
    [(100 + K, "difference"), (100 + NEEDED - 1, "difference"), (100 + NEEDED, None)],
)
def test_sets_behind_spreads_differ_in_more_people(
    path: Path, mode: Mode, end: int, reason: Reason | None
) -> None:
    session = LedgerSession(path, rules(mode), KEY)
    assert ask(session, people(0, 100, squares=True)).allowed
    # of sums alone k people are enough, and they do not make the squares known
    assert ask(session, people(0, end, squares=False)).allowed
    assert ask(session, people(0, end, squares=True)).reason == reason
    assert ask(session, people(0, 100, squares=True)).allowed
    session.close()


def test_sums_do_not_stand_in_the_way_of_spreads(path: Path) -> None:
    session = LedgerSession(path, rules(), KEY)
    assert ask(session, people(0, 100, squares=False)).allowed
    assert ask(session, people(0, 100 + K, squares=True)).allowed
    session.close()


def test_few_people_are_left_out_of_a_spread(path: Path) -> None:
    session = LedgerSession(path, rules(), KEY)
    assert ask(session, people(0, 400 - NEEDED + 1, squares=True)).reason == "complement"
    assert ask(session, people(0, NEEDED - 1, squares=True)).reason == "size"
    assert ask(session, people(0, NEEDED, squares=True)).allowed
    session.close()


def test_combinations_of_spreads_are_checked(path: Path) -> None:
    """The union of two sets, less both, is their intersection: 11 people."""
    session = LedgerSession(path, rules(), KEY)
    assert ask(session, people(0, 100, squares=True)).allowed
    assert ask(session, people(89, 200, squares=True)).allowed
    assert ask(session, people(0, 200, squares=False)).allowed
    assert ask(session, people(0, 200, squares=True)).reason == "combination"
    session.close()


def test_spreads_are_known_to_other_processes_and_after_a_checkpoint(path: Path) -> None:
    here, there = (LedgerSession(path, rules(), KEY) for _ in range(2))
    assert ask(here, people(0, 100, squares=True)).allowed
    assert ask(here, people(0, 110, squares=False)).allowed
    restored = LedgerSession(path, rules(), KEY, checkpoint=here.to_bytes())
    for session in (there, restored):
        assert ask(session, people(0, 110, squares=True)).reason == "difference"
        session.close()
    here.close()


def test_one_login_leaves_the_others_a_share_of_spreads(path: Path) -> None:
    session = LedgerSession(path, rules(share=0.5), KEY)
    capacity = session._spreads.history.capacity(PEOPLE)
    assert capacity > 4
    sets = [people(0, 40 + NEEDED * number, squares=True) for number in range(capacity)]
    found = [ask(session, one).reason for one in sets]
    assert found == [None] * (capacity // 2) + ["share"] * (capacity - capacity // 2)
    assert ask(session, sets[-1], "bob").allowed
    session.close()
