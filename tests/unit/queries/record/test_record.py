"""Queries in a record: written down, recorded, counted, forgotten."""

from contextlib import suppress
from pathlib import Path

import pytest

from kanon_pg.errors import InputError, LedgerError, LedgerUnavailable
from kanon_pg.queries.record.log import QueryBudget
from kanon_pg.queries.record.record import Record
from tests.fixtures.records import K, answer, conflicts, figure


def withhold(record: Record, now: float, login: str = "ann", cost: int = 1) -> None:
    entry = record.ask(login, "q", now).entry
    with record.begin(entry, now) as recording:
        recording.withheld("people", cost)


def test_a_query_is_interrupted_until_it_is_recorded(path: Path, record: Record) -> None:
    entry = record.ask("ann", "SELECT count(*)", 7.0).entry
    other = Record.open(path)
    assert [(one.entry, one.time, one.query, one.outcome, one.cost) for one in other.log()] == [
        (entry, 7.0, "SELECT count(*)", "interrupted", 1)
    ]
    with record.begin(entry, 8.0) as recording:
        recording.record([figure(range(20))], K)
        recording.answered("left out", 1)
    (found,) = other.log()
    assert (found.outcome, found.reason, found.cost, found.sets) == ("answered", "left out", 1, 2)
    other.close()


def test_what_fails_while_it_is_recorded_is_not_recorded(record: Record) -> None:
    entry = record.ask("ann", "q", 0.0).entry
    with suppress(ZeroDivisionError), record.begin(entry, 0.0) as recording:
        recording.record([figure(range(20))], K)
        raise ZeroDivisionError
    assert record.log()[0].outcome == "interrupted"
    assert not conflicts(record, figure(range(21)))
    record.verify()


def test_a_query_is_recorded_once_and_must_be(record: Record) -> None:
    entry = answer(record, figure(range(20)))
    with pytest.raises(InputError), record.begin(entry, 0.0) as recording:
        recording.answered()
    with pytest.raises(InputError), record.begin(99, 0.0) as recording:
        recording.answered()
    with pytest.raises(InputError), record.begin(record.ask("ann", "q", 0.0).entry, 0.0):
        pass
    with record.begin(record.ask("ann", "q", 0.0).entry, 0.0) as recording:
        recording.answered()
        with pytest.raises(InputError):
            recording.record([figure(range(20))], K)


def test_queries_are_counted_within_a_period(record: Record) -> None:
    budget = QueryBudget(queries=2, period=100.0)
    assert record.ask("ann", "q", 0.0, budget).budget.queries_left == 2
    assert record.ask("ann", "q", 10.0, budget).budget.queries_left == 1
    refused = record.ask("ann", "q", 20.0, budget)
    assert not refused.budget.allows
    with pytest.raises(InputError), record.begin(refused.entry, 20.0):
        pass
    assert record.ask("bob", "q", 20.0, budget).budget.allows
    # what was refused for the budget itself does not count
    assert record.ask("ann", "q", 100.0, budget).budget.queries_left == 1


def test_refusals_within_a_period_lock_a_login_out(record: Record) -> None:
    budget = QueryBudget(refusals=3, period=100.0, lockout=50.0)
    withhold(record, 0.0)
    withhold(record, 60.0)
    # the first one no longer counts
    withhold(record, 100.0)
    assert record.ask("ann", "q", 101.0, budget).budget.allows  # itself interrupted, the third refusal
    status = record.ask("ann", "q", 102.0, budget).budget
    assert (status.allows, status.locked_until) == (False, 151.0)
    assert record.ask("bob", "q", 102.0, budget).budget.allows
    assert record.ask("ann", "q", 151.0, budget).budget.allows


def test_costs_decide_how_much_a_refusal_counts(record: Record) -> None:
    budget = QueryBudget(refusals=2)
    withhold(record, 0.0, cost=0)
    answer(record, figure(range(20)))
    assert record.ask("ann", "q", 1.0, budget).budget.allows
    withhold(record, 2.0, "bob", cost=2)
    assert not record.ask("bob", "q", 3.0, budget).budget.allows


def test_a_lockout_ends_after_a_long_time_although_old_refusals_are_many(record: Record) -> None:
    budget = QueryBudget(refusals=1, period=10.0, lockout=1000.0)
    withhold(record, 0.0)
    assert not record.ask("ann", "q", 999.0, budget).budget.allows
    assert record.ask("ann", "q", 1000.0, budget).budget.allows


def test_an_answer_is_kept_for_whoever_asks_again(record: Record) -> None:
    assert record.stored(b"k") is None
    for now, payload in ((1.0, b"[1]"), (2.0, b"[2]")):
        entry = record.ask("ann", "q", now).entry
        with record.begin(entry, now) as recording:
            recording.answered(key=b"k", payload=payload)
    found = record.stored(b"k")
    assert found is not None
    assert (found.entry, found.time, found.payload) == (entry, 2.0, b"[2]")
    record.verify()


def test_a_curator_sees_what_answers_block(record: Record) -> None:
    first = answer(record, figure(range(20)))
    answer(record, figure(range(100, 120)))
    entry = record.ask("bob", "q", 0.0).entry
    with record.begin(entry, 0.0) as recording:
        assert recording.conflicting([figure(range(21)), figure(range(22)), figure(range(50, 80))], K) == {
            0,
            1,
        }
        recording.withheld("people")
    assert record.log()[-1].blocked_by == {first: 2}


def test_a_curator_forgets_one_answer(record: Record) -> None:
    first = answer(record, figure(range(20)))
    answer(record, figure(range(100, 120)))
    assert record.forget(first, "eve", 9.0, "asked by mistake") == 2
    assert record.log()[0].forgotten == (9.0, "eve", "asked by mistake")
    assert conflicts(record, figure(range(21)), figure(range(101, 120))) == {1}
    record.verify()
    record.raise_k(10)
    assert conflicts(record, figure(range(21)), figure(range(101, 120)), k=10) == {1}
    record.verify()
    with pytest.raises(InputError):
        record.forget(first, "eve", 10.0, "again")
    answer(record, figure(range(20)))
    assert conflicts(record, figure(range(21))) == {0}
    record.verify()


def test_what_another_answer_disclosed_too_is_not_forgotten(record: Record) -> None:
    first, second = (
        answer(record, figure(range(20))),
        answer(record, figure(range(20)), figure(range(50, 90))),
    )
    assert record.forget(first, "eve", 9.0, "") == 0
    assert conflicts(record, figure(range(21))) == {0}
    assert list(record.log()[-1].blocked_by) == [second]


def test_tiny_sets_are_forgotten(record: Record) -> None:
    entry = answer(record, figure(range(3)))
    assert conflicts(record, figure(range(2))) == {0}
    record.forget(entry, "eve", 9.0, "")
    assert not conflicts(record, figure(range(2)))
    record.verify()


def test_a_forgotten_answer_is_not_given_again(record: Record) -> None:
    entry = record.ask("ann", "q", 0.0).entry
    with record.begin(entry, 0.0) as recording:
        recording.record([figure(range(20))], K)
        recording.answered(key=b"k", payload=b"[1]")
    record.forget(entry, "eve", 9.0, "")
    assert record.stored(b"k") is None


def test_waiting_for_another_session_ends(path: Path, record: Record) -> None:
    checks: list[int] = []
    other = Record.open(path, checkpoint=lambda: checks.append(1), seconds=0.2)
    entry = record.ask("ann", "q", 0.0).entry
    with record.begin(entry, 0.0) as recording:
        with pytest.raises(LedgerUnavailable, match="too long"):
            other.ask("bob", "q", 0.0)
        recording.withheld("people")
    assert len(checks) > 2
    assert other.ask("bob", "q", 0.0).entry
    other.close()


def test_a_checkpoint_ends_waiting(path: Path, record: Record) -> None:
    def cancel() -> None:
        raise KeyboardInterrupt

    other = Record.open(path, checkpoint=cancel)
    with record.begin(record.ask("ann", "q", 0.0).entry, 0.0) as recording:
        with pytest.raises(KeyboardInterrupt):
            other.ask("bob", "q", 0.0)
        recording.withheld("people")
    other.close()


def test_a_record_is_not_replaced(path: Path) -> None:
    with pytest.raises(LedgerUnavailable):
        Record.create(path, K)
    assert list(path.parent.iterdir()) == [path]


def test_a_record_has_more_buckets_for_a_larger_k(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    Record.create(tmp_path / "large", 60)
    record = Record.open(tmp_path / "large")
    assert (record.k, record.buckets) == (60, 512)
    record.close()


def test_a_full_record_says_so(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_pg.queries.record.sets._MOST_SETS", 1)
    with pytest.raises(LedgerError, match="full"):
        answer(record, figure(range(20)))
