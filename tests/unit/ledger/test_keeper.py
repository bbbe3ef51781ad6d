"""Deciding across sessions, roles, relations and restarts."""

from __future__ import annotations

import subprocess
import sys
from array import array
from pathlib import Path

import pytest
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import Answer, Population
from kanon_pg.worker.ledger.disclosure import Decision, Ledger
from kanon_pg.worker.ledger.journal import Journal, create_journal
from kanon_pg.worker.ledger.rules import Budget, Rules
from kanon_pg.worker.ledger.session import Entry, Keeper, Part, Question, decide

ROOT = Path(__file__).parents[3]
KEY = bytes(16)
RULES = Rules(5, "linear")
PEOPLE = Population(BitMap(range(100)))
ALL = Answer(((BitMap(range(100)),),))
HALF = Answer(((BitMap(range(50)),),))
HALF_BUT_ONE = Answer(((BitMap(range(49)),),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = tmp_path / "16384.journal"
    create_journal(journal)
    return journal


def ask(keeper: Keeper, answer: Answer | None, *, asker: str = "ann", time: float = 1.0) -> Decision:
    return decide(Question(time, asker, "SELECT"), [Part(keeper, PEOPLE, answer)])


def entries(path: Path) -> list[Entry]:
    journal = Journal(path)
    with journal.turn() as turn:
        read = [Entry.from_bytes(payload) for payload in turn.news()]
    journal.close()
    return read


def test_roles_and_sessions_share_one_history(path: Path) -> None:
    ann, bob = Keeper(path, RULES, KEY), Keeper(path, RULES, KEY)
    assert ask(ann, HALF, asker="ann").allowed
    assert ask(bob, HALF_BUT_ONE, asker="bob").reason == "difference"
    assert [(entry.asker, entry.verdict, entry.reason) for entry in entries(path)] == [
        ("ann", "answered", ""),
        ("bob", "withheld", "difference"),
    ]
    ann.close()
    bob.close()


def test_what_is_withheld_leaves_no_trace_in_later_decisions(path: Path) -> None:
    keeper = Keeper(path, RULES, KEY)
    assert ask(keeper, Answer(((BitMap(range(4)),),))).reason == "size"
    assert ask(keeper, None).reason == "size"
    assert ask(keeper, HALF_BUT_ONE).allowed
    assert [entry.answer for entry in entries(path)] == [None, None, HALF_BUT_ONE]
    keeper.close()


def test_history_outlives_the_process(path: Path) -> None:
    keeper = Keeper(path, RULES, KEY)
    assert ask(keeper, HALF).allowed
    saved = keeper.to_bytes()
    assert ask(keeper, ALL).allowed
    keeper.close()
    for checkpoint in (None, saved):
        again = Keeper(path, RULES, KEY, checkpoint=checkpoint)
        assert ask(again, HALF_BUT_ONE).reason == "difference"
        assert again.ledger.distinct_sets == 2
        again.close()


@pytest.mark.parametrize("rules", [Rules(6, "linear"), Rules(5, "pairwise")])
def test_a_checkpoint_of_other_rules_is_not_used(path: Path, rules: Rules) -> None:
    keeper = Keeper(path, RULES, KEY)
    saved = keeper.to_bytes()
    keeper.close()
    with pytest.raises(LedgerError, match="other rules"):
        Keeper(path, rules, KEY, checkpoint=saved)
    with pytest.raises(LedgerError, match="other rules"):
        Keeper(path, RULES, bytes(15) + b"x", checkpoint=saved)


@pytest.mark.parametrize("keep", [0, 7, 40, -1])
def test_a_damaged_checkpoint_is_not_used(path: Path, keep: int) -> None:
    keeper = Keeper(path, RULES, KEY)
    saved = keeper.to_bytes()
    keeper.close()
    with pytest.raises(LedgerError, match="checkpoint cannot be read"):
        Keeper(path, RULES, KEY, checkpoint=saved[:keep])


def test_stricter_rules_judge_new_questions_by_all_history(path: Path) -> None:
    lax = Keeper(path, Rules(2, "off"), KEY)
    assert ask(lax, HALF).allowed
    assert ask(lax, HALF_BUT_ONE).allowed
    lax.close()
    strict = Keeper(path, RULES, KEY)
    # the harm is done; what follows from it may be repeated, anything new is withheld
    assert ask(strict, HALF).allowed
    assert ask(strict, ALL).reason == "combination"
    strict.close()


def test_a_lockout_holds_for_the_asker_and_ends(path: Path) -> None:
    keeper = Keeper(path, RULES, KEY, per_asker=Budget(refusals=2, period=100, lockout=50))
    for time in (1.0, 2.0):
        assert ask(keeper, None, time=time).reason == "size"
    assert ask(keeper, ALL, time=3.0).reason == "budget"
    assert ask(keeper, ALL, asker="bob", time=3.0).allowed
    assert ask(keeper, ALL, time=52.0).allowed
    keeper.close()


def test_an_overall_budget_counts_every_asker(path: Path) -> None:
    keeper = Keeper(path, RULES, KEY, overall=Budget(questions=2, period=100))
    assert ask(keeper, ALL, asker="ann").allowed
    assert ask(keeper, ALL, asker="bob").allowed
    assert ask(keeper, ALL, asker="cid").reason == "budget"
    assert ask(keeper, ALL, asker="cid", time=101.5).allowed
    keeper.close()


def test_a_question_about_two_relations_is_answered_by_both_or_not(tmp_path: Path) -> None:
    paths = [tmp_path / "1.journal", tmp_path / "2.journal"]
    for path in paths:
        create_journal(path)
    one, two = (Keeper(path, RULES, KEY) for path in paths)
    assert ask(two, HALF).allowed
    both = [Part(two, PEOPLE, HALF_BUT_ONE), Part(one, PEOPLE, HALF_BUT_ONE)]
    assert decide(Question(2.0, "ann", "SELECT"), both).reason == "difference"
    assert one.ledger.distinct_sets == 0
    assert entries(paths[0])[0].reason == entries(paths[1])[1].reason == "difference"
    with pytest.raises(LedgerError, match="stands twice"):
        decide(Question(2.0, "ann", "SELECT"), [both[0], both[0]])
    one.close()
    two.close()


def test_an_unreadable_history_answers_nothing(path: Path) -> None:
    journal = Journal(path)
    with journal.turn() as turn:
        turn.news()
        turn.append(b"\0\0\0\2[]")
    journal.close()
    keeper = Keeper(path, RULES, KEY)
    with pytest.raises(LedgerError):
        ask(keeper, ALL)
    with pytest.raises(LedgerError, match="was closed"):
        ask(keeper, ALL)


def test_owners_older_than_the_history_answer_nothing(path: Path) -> None:
    """Another session numbered and told new rows after this one had read whose rows there are."""
    owners = array("I", range(101))
    newer = Population(BitMap(range(101)), owners)
    older = Population(BitMap(range(100)), owners[:100])
    here, there = Keeper(path, RULES, KEY), Keeper(path, RULES, KEY)
    everybody = Answer(((newer.units,),))
    assert decide(Question(1.0, "ann", "SELECT"), [Part(there, newer, everybody)]).allowed
    for _ in range(2):
        with pytest.raises(LedgerError):
            decide(Question(2.0, "bob", "SELECT"), [Part(here, older, ALL)])
    fresh = Keeper(path, RULES, KEY)
    assert decide(Question(3.0, "bob", "SELECT"), [Part(fresh, newer, ALL)]).reason == "complement"
    with pytest.raises(LedgerError, match="numbered after"):
        fresh.ledger.check(everybody, older)
    fresh.close()
    there.close()


def test_a_decision_is_told_before_anything_else_is() -> None:
    ledger = Ledger(RULES, KEY)
    first, second = ledger.check(HALF, PEOPLE), ledger.check(HALF_BUT_ONE, PEOPLE)
    ledger.tell(first)
    with pytest.raises(LedgerError, match="changed since"):
        ledger.tell(second)
    with pytest.raises(LedgerError, match="withheld"):
        ledger.tell(ledger.check(HALF_BUT_ONE, PEOPLE))


RACER = """
import sys
from pathlib import Path
from pyroaring import BitMap
from kanon_pg.worker.ledger.answers import Answer
from tests.unit.ledger.test_keeper import KEY, RULES, ask
from kanon_pg.worker.ledger.session import Keeper
keeper = Keeper(Path(sys.argv[1]), RULES, KEY)
print("ready", flush=True)
sys.stdin.readline()
for step in range(10):
    units = BitMap(range(step * 2, step * 2 + 50)) - BitMap([step * 2 + int(sys.argv[2])])
    print(int(ask(keeper, Answer(((units,),)), asker=sys.argv[2]).allowed), flush=True)
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
    told = [entry.answer for entry in entries(path) if entry.answer is not None]
    assert len(told) == sum(output.count("1") for output in outputs)
    # whatever the order: replayed alone, every answer is one that may follow those before it
    ledger = Ledger(RULES, KEY)
    for answer in told:
        decision = ledger.check(answer, PEOPLE)
        assert decision.allowed
        ledger.tell(decision)
    assert len(entries(path)) == 30


def test_a_repeated_answer_takes_no_room_and_is_read_back(path: Path) -> None:
    people = Population(BitMap(range(20_000)))
    answer = Answer(
        ((BitMap(range(0, 10_000, 2)), BitMap(range(1, 10_000, 3)) - BitMap(range(0, 10_000, 2))),)
    )

    def told(keeper: Keeper, asked: Answer) -> Decision:
        return decide(Question(1.0, "ann", "SELECT"), [Part(keeper, people, asked)])

    keeper = Keeper(path, RULES, KEY)
    assert told(keeper, answer).allowed
    first = path.stat().st_size
    assert told(keeper, answer).allowed
    assert path.stat().st_size - first < first / 5
    keeper.close()
    without = Keeper(path, Rules(5, "off"), KEY)
    assert told(without, Answer(())).allowed
    without.close()
    again = Keeper(path, RULES, KEY)
    nearly = Answer(((answer.levels[0][0] - BitMap([4]),),))
    assert told(again, nearly).reason == "difference"
    assert again.ledger.distinct_sets == 3
    again.close()


def test_a_record_of_a_set_that_was_never_told_is_refused(path: Path) -> None:
    entry = Entry(1.0, "ann", "SELECT", "answered", answer=HALF)
    journal = Journal(path)
    with journal.turn() as turn:
        turn.news()
        turn.append(entry.to_bytes(lambda digest: True))
    journal.close()
    keeper = Keeper(path, RULES, KEY)
    with pytest.raises(LedgerError, match="cannot be read"):
        ask(keeper, ALL)
