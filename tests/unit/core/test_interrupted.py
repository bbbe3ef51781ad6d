"""Interrupted queries: they are found when nobody runs them any longer, once, and lock their login out."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.interrupted import FILE, collect, interruptions, is_locked_out, running
from kanon_pg.core.unrecorded import UnrecordedQuery, noted
from kanon_pg.worker.ledger.rules import BudgetCounter, PastQuery, QueryBudget


def query(number: int, text: str = "SELECT") -> UnrecordedQuery:
    return UnrecordedQuery(float(number), "ann", json.dumps([text, None, "ann"]), "interrupted")


def interrupt(folder: Path, asked: UnrecordedQuery) -> None:
    with pytest.raises(KeyboardInterrupt), running(folder, asked):
        raise KeyboardInterrupt


def test_a_query_that_ends_leaves_nothing(tmp_path: Path) -> None:
    with running(tmp_path, query(1)):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_query_that_runs_is_not_taken_for_interrupted(tmp_path: Path) -> None:
    with running(tmp_path, query(1)):
        collect(tmp_path)
        assert noted(tmp_path) == []
    collect(tmp_path)
    assert noted(tmp_path) == []


def test_an_interrupted_query_is_handed_on_once(tmp_path: Path) -> None:
    interrupt(tmp_path, query(2, "x" * 100_000))
    interrupt(tmp_path, query(1))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(collect, [tmp_path] * 8))
    assert sorted(noted(tmp_path), key=lambda one: one.time) == [query(1), query(2, "x" * 100_000)]
    assert interruptions(tmp_path) == [(1.0, "ann"), (2.0, "ann")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["interrupted", "unrecorded"]


def test_a_process_that_is_killed_leaves_its_query(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with running(tmp_path, query(1)):
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    collect(tmp_path)
    assert noted(tmp_path) == [query(1)]


def test_what_cannot_be_written_down_does_not_run(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), running(tmp_path / "gone", query(1)):
        raise AssertionError("It ran.")


def test_a_line_that_is_none_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'[1.0, "ann\n\n[2.0]\n{}\n\xff\n[3.0, "bob"]\n')
    assert interruptions(tmp_path) == [(3.0, "bob")]


def test_the_older_half_is_forgotten(tmp_path: Path) -> None:
    lines = [json.dumps([float(number), "ann"]) for number in range(80_000)]
    (tmp_path / FILE).write_text("\n".join(lines))
    interrupt(tmp_path, query(80_000))
    collect(tmp_path)
    found = [time for time, _ in interruptions(tmp_path)]
    assert found[-1] == 80_000.0
    assert found == list(map(float, range(80_001)))[-len(found) :]
    assert 30_000 < len(found) < 50_000


@given(
    st.lists(st.integers(0, 60), max_size=12).map(sorted),
    st.integers(1, 4),
    st.integers(1, 30),
    st.integers(0, 30),
    st.integers(0, 100),
)
def test_lockouts_are_those_of_refusals(
    times: list[int], most: int, period: int, lockout: int, now: int
) -> None:
    counter = BudgetCounter(QueryBudget(period=period, refusals=most, lockout=lockout))
    for time in times:
        counter.add(PastQuery(time, answered=False, reason="interrupted"))
    now += times[-1] if times else 0
    expected = counter.status(now).locked_until is not None
    assert is_locked_out(times, now, most=most, period=period, lockout=lockout) == expected
