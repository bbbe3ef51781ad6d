"""What counts for the search path is what the server says it has done."""

from __future__ import annotations

import pytest

from kanon_pg.gateway.protocol import ProtocolViolation, WireMessage, query_message
from kanon_pg.gateway.scanned_text import scan_text
from kanon_pg.gateway.search_path import START, PathState, Schemas, SearchPathTracker, paths_before
from tests.fixtures.raw_protocol import SYNC, bind, execute, parse

A, B = ("a",), ("b",)
DONE, ERROR, SUSPENDED = WireMessage(b"C", b"DONE\0"), WireMessage(b"E", b"CXX000\0\0"), WireMessage(b"s")
PARSED, BOUND = WireMessage(b"1"), WireMessage(b"2")
IDLE, IN_BLOCK, FAILED = (WireMessage(b"Z", status) for status in (b"I", b"T", b"E"))


def ask(tracker: SearchPathTracker, text: str, *answers: WireMessage) -> None:
    tracker.sent(query_message(text), scan_text(text).effects)
    for answer in answers:
        tracker.answered(answer)


def prepare(tracker: SearchPathTracker, text: str, name: bytes = b"") -> None:
    tracker.sent(parse(text, name), scan_text(text).effects)


def paths(text: str) -> list[Schemas]:
    return paths_before(scan_text(text).effects, PathState())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set search_path to a; set local search_path to b; commit", [START, A, B, A]),
        ("set local search_path to a; set search_path to b; commit", [START, A, B, B]),
        ("set search_path to a; commit; set search_path to b; rollback", [START, A, A, B, A]),
        ("savepoint s; set search_path to a; release s; rollback", [START, START, A, A, START]),
        ("savepoint S; set search_path to a; rollback work to savepoint s", [START, START, A, START]),
        ("savepoint s; set search_path to a; savepoint s; set search_path to b; release s; rollback to s",
            [START, START, A, A, B, B, START]),
        ("set search_path to a; set local search_path to default; reset all; commit",
            [START, A, START, START, A]),
        ("set search_path to a; reset search_path; set search_path = b; discard all",
            [START, A, START, B, START]),
        ("set session search_path to a; discard plans; reset jit; discard temp", [START, A, A, A, A]),
    ],
)  # fmt: skip
def test_the_path_of_statements_that_succeed(text: str, expected: list[Schemas]) -> None:
    assert paths(text) == expected


def test_an_error_takes_back_what_its_transaction_did() -> None:
    tracker = SearchPathTracker()
    ask(tracker, "set search_path to a; select 1", DONE)
    assert tracker.expected().path == A
    assert not tracker.settled
    tracker.answered(ERROR)
    tracker.answered(IDLE)
    assert tracker.settled
    assert tracker.expected().path == START


def test_the_end_of_a_failed_transaction_takes_it_back() -> None:
    tracker = SearchPathTracker()
    ask(tracker, "begin; set search_path to a", DONE, DONE, IN_BLOCK)
    ask(tracker, "select 1", ERROR, FAILED)
    ask(tracker, "commit", DONE, IDLE)
    assert tracker.expected().path == START


def test_what_the_server_skips_does_not_count() -> None:
    tracker = SearchPathTracker()
    prepare(tracker, "select 1")
    tracker.answered(ERROR)
    ask(tracker, "set search_path to a")
    tracker.sent(SYNC)
    tracker.answered(IDLE)
    assert tracker.expected().path == START
    ask(tracker, "set search_path to a", DONE, IDLE)
    assert tracker.expected().path == A


def test_a_prepared_statement_counts_when_it_is_executed() -> None:
    tracker = SearchPathTracker()
    prepare(tracker, "set search_path to a", b"p")
    tracker.sent(bind(name=b"p"))
    assert tracker.expected().path == START
    tracker.sent(execute())
    assert tracker.expected().path == A
    tracker.sent(SYNC)
    for answer in (PARSED, BOUND, DONE, IDLE):
        tracker.answered(answer)
    ask(tracker, "set search_path to b", DONE, IDLE)
    for message in (bind(name=b"p"), execute(), SYNC):
        tracker.sent(message)
    for answer in (BOUND, DONE, IDLE):
        tracker.answered(answer)
    assert tracker.expected().path == A


def test_a_name_that_the_server_did_not_take_keeps_its_statement() -> None:
    tracker = SearchPathTracker()
    prepare(tracker, "set search_path to a", b"p")
    prepare(tracker, "select 1", b"p")
    tracker.sent(SYNC)
    for answer in (PARSED, ERROR, IDLE):
        tracker.answered(answer)
    for message in (bind(name=b"p"), execute()):
        tracker.sent(message)
    assert tracker.expected().path == A


def test_a_session_that_never_sets_a_path_waits_for_nothing() -> None:
    tracker = SearchPathTracker()
    ask(tracker, "begin; savepoint s; select 1; reset all")
    assert tracker.settled


@pytest.mark.parametrize("answer", [DONE, IDLE])
def test_an_answer_to_nothing_ends_the_session(answer: WireMessage) -> None:
    with pytest.raises(ProtocolViolation):
        SearchPathTracker().answered(answer)


def test_more_answers_than_statements_end_the_session() -> None:
    tracker = SearchPathTracker()
    ask(tracker, "select 1", DONE)
    with pytest.raises(ProtocolViolation):
        tracker.answered(DONE)


def test_rows_that_are_fetched_in_parts_are_one_execution_each() -> None:
    tracker = SearchPathTracker()
    prepare(tracker, "select 1")
    for message in (bind(), execute(rows=1), execute(rows=1), SYNC):
        tracker.sent(message)
    for answer in (PARSED, BOUND, SUSPENDED, DONE, IDLE):
        tracker.answered(answer)
    assert tracker.expected().path == START
