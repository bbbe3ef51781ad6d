"""Deciding across sessions, roles, relations and restarts."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from pathlib import Path

import pytest
from pyroaring import BitMap

from kanon_pg.core.unrecorded import FILE, UnrecordedQuery, note
from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import Decision, DisclosureHistory
from kanon_pg.worker.ledger.journal import Journal, create_journal
from kanon_pg.worker.ledger.rules import LedgerRules, QueryBudget
from kanon_pg.worker.ledger.session import LedgerEntry, LedgerSession, LoggedQuery, RelationPart, decide

ROOT = Path(__file__).parents[3]
KEY = bytes(16)
RULES = LedgerRules(5, "linear")
PEOPLE = Population(BitMap(range(100)))
ALL = AnswerSets(((BitMap(range(100)),),))
HALF = AnswerSets(((BitMap(range(50)),),))
HALF_BUT_ONE = AnswerSets(((BitMap(range(49)),),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = tmp_path / "16384.journal"
    create_journal(journal)
    return journal


def ask(
    session: LedgerSession, answer: AnswerSets | None, *, analyst: str = "ann", time: float = 1.0
) -> Decision:
    return decide(LoggedQuery(time, analyst, "SELECT"), [RelationPart(session, PEOPLE, answer)])


def entries(path: Path) -> list[LedgerEntry]:
    journal = Journal(path)
    with journal.exclusive() as writer:
        read = [LedgerEntry.from_bytes(payload) for payload in writer.new_records()]
    journal.close()
    return read


def test_roles_and_sessions_share_one_history(path: Path) -> None:
    ann, bob = LedgerSession(path, RULES, KEY), LedgerSession(path, RULES, KEY)
    assert ask(ann, HALF, analyst="ann").allowed
    assert ask(bob, HALF_BUT_ONE, analyst="bob").reason == "difference"
    assert [(entry.analyst, entry.outcome, entry.reason) for entry in entries(path)] == [
        ("ann", "answered", ""),
        ("bob", "withheld", "difference"),
    ]
    ann.close()
    bob.close()


def test_queries_that_could_not_be_recorded_are_recorded_later_and_count(path: Path) -> None:
    budget = QueryBudget(refusals=2, period=100.0, lockout=50.0)
    session = LedgerSession(path, RULES, KEY, per_analyst=budget)
    for time in (1.0, 2.0):
        note(path.parent, UnrecordedQuery(time, "ann", json.dumps(["SELECT", None, "ann"]), "error"))
    assert ask(session, HALF, time=3.0).reason == "budget"
    assert ask(session, HALF, analyst="bob", time=3.0).allowed
    assert ask(session, ALL, time=60.0).allowed
    assert [(entry.time, entry.analyst, entry.outcome, entry.reason) for entry in entries(path)] == [
        (1.0, "ann", "withheld", "error"),
        (2.0, "ann", "withheld", "error"),
        (3.0, "ann", "withheld", "budget"),
        (3.0, "bob", "answered", ""),
        (60.0, "ann", "answered", ""),
    ]
    session.close()


def test_without_those_that_could_not_be_recorded_nothing_is_decided(path: Path) -> None:
    (path.parent / FILE).mkdir()
    session = LedgerSession(path, RULES, KEY)
    with pytest.raises(LedgerUnavailable):
        ask(session, HALF)
    assert entries(path) == []
    session.close()


def test_what_is_withheld_leaves_no_trace_in_later_decisions(path: Path) -> None:
    session = LedgerSession(path, RULES, KEY)
    assert ask(session, AnswerSets(((BitMap(range(4)),),))).reason == "size"
    assert ask(session, None).reason == "size"
    assert ask(session, HALF_BUT_ONE).allowed
    assert [entry.answer for entry in entries(path)] == [None, None, HALF_BUT_ONE]
    session.close()


def test_history_outlives_the_process(path: Path) -> None:
    session = LedgerSession(path, RULES, KEY)
    assert ask(session, HALF).allowed
    saved = session.to_bytes()
    assert ask(session, ALL).allowed
    session.close()
    for checkpoint in (None, saved):
        again = LedgerSession(path, RULES, KEY, checkpoint=checkpoint)
        assert ask(again, HALF_BUT_ONE).reason == "difference"
        assert len(again.history._state.sets) == 2
        again.close()


@pytest.mark.parametrize("rules", [LedgerRules(6, "linear"), LedgerRules(5, "pairwise")])
def test_a_checkpoint_of_other_rules_is_not_used(path: Path, rules: LedgerRules) -> None:
    session = LedgerSession(path, RULES, KEY)
    saved = session.to_bytes()
    session.close()
    with pytest.raises(LedgerError, match="other rules"):
        LedgerSession(path, rules, KEY, checkpoint=saved)
    with pytest.raises(LedgerError, match="other rules"):
        LedgerSession(path, RULES, bytes(15) + b"x", checkpoint=saved)


@pytest.mark.parametrize("keep", [0, 7, 40, -1])
def test_a_damaged_checkpoint_is_not_used(path: Path, keep: int) -> None:
    session = LedgerSession(path, RULES, KEY)
    saved = session.to_bytes()
    session.close()
    with pytest.raises(LedgerError, match="checkpoint cannot be read"):
        LedgerSession(path, RULES, KEY, checkpoint=saved[:keep])


def test_stricter_rules_judge_new_queries_by_all_history(path: Path) -> None:
    lax = LedgerSession(path, LedgerRules(2, "off"), KEY)
    assert ask(lax, HALF).allowed
    assert ask(lax, HALF_BUT_ONE).allowed
    lax.close()
    strict = LedgerSession(path, RULES, KEY)
    # the harm is done; what follows from it may be repeated, anything new is withheld
    assert ask(strict, HALF).allowed
    assert ask(strict, ALL).reason == "combination"
    strict.close()


def test_a_lockout_holds_for_the_analyst_and_ends(path: Path) -> None:
    session = LedgerSession(path, RULES, KEY, per_analyst=QueryBudget(refusals=2, period=100, lockout=50))
    for time in (1.0, 2.0):
        assert ask(session, None, time=time).reason == "size"
    assert ask(session, ALL, time=3.0).reason == "budget"
    assert ask(session, ALL, analyst="bob", time=3.0).allowed
    assert ask(session, ALL, time=52.0).allowed
    session.close()


def test_an_overall_budget_counts_every_analyst(path: Path) -> None:
    session = LedgerSession(path, RULES, KEY, overall=QueryBudget(queries=2, period=100))
    assert ask(session, ALL, analyst="ann").allowed
    assert ask(session, ALL, analyst="bob").allowed
    assert ask(session, ALL, analyst="cid").reason == "budget"
    assert ask(session, ALL, analyst="cid", time=101.5).allowed
    session.close()


def test_a_query_about_two_relations_is_answered_by_both_or_not(tmp_path: Path) -> None:
    paths = [tmp_path / "1.journal", tmp_path / "2.journal"]
    for path in paths:
        create_journal(path)
    one, two = (LedgerSession(path, RULES, KEY) for path in paths)
    assert ask(two, HALF).allowed
    both = [RelationPart(two, PEOPLE, HALF_BUT_ONE), RelationPart(one, PEOPLE, HALF_BUT_ONE)]
    assert decide(LoggedQuery(2.0, "ann", "SELECT"), both).reason == "difference"
    assert len(one.history._state.sets) == 0
    assert entries(paths[0])[0].reason == entries(paths[1])[1].reason == "difference"
    with pytest.raises(LedgerError, match="stands twice"):
        decide(LoggedQuery(2.0, "ann", "SELECT"), [both[0], both[0]])
    one.close()
    two.close()


def test_an_unreadable_history_answers_nothing(path: Path) -> None:
    journal = Journal(path)
    with journal.exclusive() as writer:
        writer.new_records()
        writer.append(b"\0\0\0\2[]")
    journal.close()
    session = LedgerSession(path, RULES, KEY)
    with pytest.raises(LedgerError):
        ask(session, ALL)
    with pytest.raises(LedgerError, match="was closed"):
        ask(session, ALL)


def test_owners_older_than_the_history_answer_nothing(path: Path) -> None:
    """Another session numbered and disclosed new rows after this one had read whose rows there are."""
    owners = array("I", range(101))
    newer = Population(BitMap(range(101)), owners)
    older = Population(BitMap(range(100)), owners[:100])
    here, there = LedgerSession(path, RULES, KEY), LedgerSession(path, RULES, KEY)
    everybody = AnswerSets(((newer.units,),))
    assert decide(LoggedQuery(1.0, "ann", "SELECT"), [RelationPart(there, newer, everybody)]).allowed
    for _ in range(2):
        with pytest.raises(LedgerError):
            decide(LoggedQuery(2.0, "bob", "SELECT"), [RelationPart(here, older, ALL)])
    fresh = LedgerSession(path, RULES, KEY)
    assert decide(LoggedQuery(3.0, "bob", "SELECT"), [RelationPart(fresh, newer, ALL)]).reason == "complement"
    with pytest.raises(LedgerError, match="numbered after"):
        fresh.history.check(everybody, older)
    fresh.close()
    there.close()


def test_a_decision_is_disclosed_before_anything_else_is() -> None:
    ledger = DisclosureHistory(RULES, KEY)
    first, second = ledger.check(HALF, PEOPLE), ledger.check(HALF_BUT_ONE, PEOPLE)
    ledger.disclose(first)
    with pytest.raises(LedgerError, match="changed since"):
        ledger.disclose(second)
    with pytest.raises(LedgerError, match="withheld"):
        ledger.disclose(ledger.check(HALF_BUT_ONE, PEOPLE))


RACER = """
import sys
from pathlib import Path
from pyroaring import BitMap
from kanon_pg.worker.ledger.answers import AnswerSets
from tests.unit.ledger.test_ledger_session import KEY, RULES, ask
from kanon_pg.worker.ledger.session import LedgerSession
session = LedgerSession(Path(sys.argv[1]), RULES, KEY)
print("ready", flush=True)
sys.stdin.readline()
for step in range(10):
    units = BitMap(range(step * 2, step * 2 + 50)) - BitMap([step * 2 + int(sys.argv[2])])
    print(int(ask(session, AnswerSets(((units,),)), analyst=sys.argv[2]).allowed), flush=True)
"""


def test_sessions_that_race_get_one_answer_of_two_that_differ_in_a_person(path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), str(number)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(3)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    outputs = [racer.communicate()[0].split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    disclosed = [entry.answer for entry in entries(path) if entry.answer is not None]
    assert len(disclosed) == sum(output.count("1") for output in outputs)
    # whatever the order: replayed alone, every answer is one that may follow those before it
    ledger = DisclosureHistory(RULES, KEY)
    for answer in disclosed:
        decision = ledger.check(answer, PEOPLE)
        assert decision.allowed
        ledger.disclose(decision)
    assert len(entries(path)) == 30


def test_a_repeated_answer_takes_no_room_and_is_read_back(path: Path) -> None:
    people = Population(BitMap(range(20_000)))
    answer = AnswerSets(
        ((BitMap(range(0, 10_000, 2)), BitMap(range(1, 10_000, 3)) - BitMap(range(0, 10_000, 2))),)
    )

    def disclosed(session: LedgerSession, asked: AnswerSets) -> Decision:
        return decide(LoggedQuery(1.0, "ann", "SELECT"), [RelationPart(session, people, asked)])

    session = LedgerSession(path, RULES, KEY)
    assert disclosed(session, answer).allowed
    first = path.stat().st_size
    assert disclosed(session, answer).allowed
    assert path.stat().st_size - first < first / 5
    session.close()
    without = LedgerSession(path, LedgerRules(5, "off"), KEY)
    assert disclosed(without, AnswerSets(())).allowed
    without.close()
    again = LedgerSession(path, RULES, KEY)
    nearly = AnswerSets(((answer.levels[0][0] - BitMap([4]),),))
    assert disclosed(again, nearly).reason == "difference"
    assert len(again.history._state.sets) == 3
    again.close()


def test_a_record_of_a_set_that_was_never_disclosed_is_refused(path: Path) -> None:
    entry = LedgerEntry(1.0, "ann", "SELECT", "answered", answer=HALF)
    journal = Journal(path)
    with journal.exclusive() as writer:
        writer.new_records()
        writer.append(entry.to_bytes(lambda digest: True))
    journal.close()
    session = LedgerSession(path, RULES, KEY)
    with pytest.raises(LedgerError, match="cannot be read"):
        ask(session, ALL)
