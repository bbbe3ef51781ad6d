"""Sums of squares are compared with each other by a number of people that leaves their values open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.queries.check.plan.aggregates import people_of_spreads
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import Decision, Reason
from kanon_pg.worker.ledger.journal import Journal, create_journal
from kanon_pg.worker.ledger.rules import LedgerRules, Mode
from kanon_pg.worker.ledger.session import LedgerEntry, LedgerSession, LoggedQuery, RelationPart, decide

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


@pytest.mark.parametrize("items", [5, 6], ids=["0.1.0", "with known columns"])
def test_answers_of_versions_that_did_not_mark_spreads_may_have_been_spreads(path: Path, items: int) -> None:
    entry = LedgerEntry(1.0, "ann", "SELECT", "answered", "", people(0, 100, squares=False)).to_bytes()
    end = 4 + int.from_bytes(entry[:4])
    head = json.dumps(json.loads(entry[4:end])[:items]).encode()
    journal = Journal(path)
    with journal.exclusive() as writer:
        writer.new_records()
        writer.append(len(head).to_bytes(4) + head + entry[end:])
    journal.close()
    session = LedgerSession(path, rules(), KEY)
    assert ask(session, people(0, 100 + K, squares=True)).reason == "difference"
    assert ask(session, people(0, 100 + K, squares=False)).allowed
    assert ask(session, people(0, 100 + NEEDED, squares=True)).allowed
    session.close()


def test_a_checkpoint_that_took_no_old_answer_for_a_spread_is_not_used(path: Path) -> None:
    session = LedgerSession(path, rules(), KEY)
    assert ask(session, people(0, 100, squares=False)).allowed
    checkpoint = session.to_bytes()
    session.close()
    end = 8 + int.from_bytes(checkpoint[:8])
    head = json.dumps(json.loads(checkpoint[8:end])[1:]).encode()
    with pytest.raises(LedgerError):
        LedgerSession(path, rules(), KEY, checkpoint=len(head).to_bytes(8) + head + checkpoint[end:])
