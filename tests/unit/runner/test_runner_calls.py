"""What a caller sees of the worker: answers, errors, progress, one process for many calls."""

import json
import os
import struct
import sys
from dataclasses import replace

import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError, MemoryExceeded, SolverError, SolverUnavailable
from kanon_pg.runner import launch, messages, parent

SECRET = "Smith"


def test_everything_arrives_and_comes_back(call):
    outcome = call("echo", seed=3)
    header, sums, k = outcome.notes
    assert outcome.patterns == call.table.keys
    assert json.loads(header) == call.table.header()
    assert json.loads(sums) == [6, 11 - 2**40]
    assert k == "k=5"
    assert (outcome.weighted_cost, outcome.lower_bound, outcome.usefulness) == (3.5, 1.0, None)


def test_row_types_that_were_handed_over_are_kept_by_nobody(call):
    rows = struct.pack(">3q", 1, 2, 3)
    table, kept = replace(call.table, rows=rows), sys.getrefcount(rows)
    with parent.handed_over(table, SolveRequest(k=5, method="echo"), call.caller()) as solve:
        del table
        assert sys.getrefcount(rows) == kept - 1
        outcome = solve()
    assert outcome.patterns == call.table.keys


def test_data_longer_than_one_write(call, monkeypatch):
    monkeypatch.setattr(messages, "CHUNK_BYTES", 5)
    assert call("echo").patterns == call.table.keys
    assert call.checkpoints > sum(map(len, call.table.buffers())) / 5


def test_many_patterns_do_not_fill_the_channel(call):
    wish = [["a column with a long name"] * 40] * 2000
    assert call("echo", patterns=wish).patterns == call.table.keys


def test_no_row_types(call):
    call.table = PackedRowTypes(call.table.columns, b"", b"", b"", (b"", b""), (None, b""))
    assert call("echo").patterns == b""


def test_one_worker_serves_many_calls(call):
    pids = {call("say_pid").notes for _ in range(3)}
    assert pids == {(str(parent.solver_session.pid()), str(os.getpid()))}


def test_a_worker_started_ahead_is_used(call):
    parent.solver_session.start()
    pid = parent.solver_session.pid()
    parent.solver_session.start()
    assert call("say_pid").notes[0] == str(pid)


def test_stop_leaves_no_process(call):
    call("echo")
    pid = parent.solver_session.pid()
    parent.solver_session.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert parent.solver_session.pid() is None


def test_progress_is_forwarded_in_order(call):
    call("report")
    assert call.progress == [("read", None), ("search", 0.5), ("improve", 1)]


def test_progress_too_frequent_to_be_read_is_thinned_out(call):
    call("chatter")
    assert call.progress[0] == ("loop", 0.0)
    assert call.progress[-1] == ("end", None)
    assert len(call.progress) < 5_000


def test_a_refusal_keeps_its_class_and_the_worker(call):
    pid = call("say_pid").notes[0]
    with pytest.raises(InfeasibleError) as caught:
        call("refuse")
    error = caught.value
    assert (error.message, error.detail, error.hint) == (
        "Fewer than k people.", "3 people", "Choose a smaller k."
    )  # fmt: skip
    assert call("say_pid").notes[0] == pid


def test_an_internal_error_tells_its_type_and_no_value(call):
    with pytest.raises(SolverError) as caught:
        call("fail")
    assert type(caught.value) is SolverError
    assert "ValueError" in caught.value.message
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    call("echo")


def test_a_solver_that_cannot_be_imported(call, monkeypatch):
    monkeypatch.setattr(launch, "SOLVER", "no_such_solver")
    with pytest.raises(SolverUnavailable, match="cannot be loaded") as caught:
        call("echo")
    assert caught.value.detail == "Importing no_such_solver failed."
    monkeypatch.setattr(launch, "SOLVER", "stub_solver")
    call("echo")


def test_a_package_that_cannot_be_read(call, monkeypatch):
    monkeypatch.setattr(launch, "python_path", list)
    with pytest.raises(SolverUnavailable, match="could not load this package"):
        call("echo")


def message(kind, sizes=(), **fields):
    return {"kind": kind, "fields": fields, "sizes": sizes}


@pytest.mark.parametrize(
    ("sent", "with_file"),
    [
        (None, False),
        (None, True),
        ([], False),
        (message("solved"), False),
        (message("solved", [8, 8]), True),
        (message("solved", [-1]), True),
        (message("solved", [0, 2**60]), True),
        (message("solved", [8]), False),
        (message("progress"), False),
        (message("progress", phase="x" * 100_000), False),
        (message("ready", [0]), True),
        (message("ready"), True),
        (message("refused", sqlstate="KA200"), False),
        (message("surprise"), False),
    ],
    ids=lambda case: json.dumps(case)[:40],
)
def test_an_answer_outside_the_protocol(call, sent, with_file):
    with pytest.raises(SolverError, match="cannot be understood"):
        call("garbage", patterns=None if sent is None else [sent], seed=int(with_file))
    assert parent.solver_session.pid() is None
    call("echo")


@pytest.mark.parametrize("behaviour", ["short", "close"])
def test_an_answer_that_does_not_fit(call, behaviour):
    with pytest.raises(SolverError, match="cannot be understood"):
        call(behaviour)
    assert parent.solver_session.pid() is None


@pytest.mark.parametrize("status", [1, 7])
def test_an_end_without_answer(call, status):
    with pytest.raises(SolverError, match="ended without an answer") as caught:
        call("vanish", seed=status)
    assert f"status {status}" in caught.value.detail
    call("echo")


def test_a_worker_that_ends_itself_again_and_again(call):
    with pytest.raises(SolverError, match="ended without an answer"):
        call("vanish", seed=0)


def test_an_idle_worker_ends_itself_and_the_next_call_has_another(call, monkeypatch):
    monkeypatch.setattr(launch, "IDLE_SECONDS", 0.01)
    call("echo")
    first = parent.solver_session.worker.process
    assert first.wait(20) == 0
    assert call("say_pid").notes[0] != str(first.pid)


def test_a_worker_that_retires_just_when_it_is_asked(call, monkeypatch):
    monkeypatch.setattr(launch, "IDLE_SECONDS", 0.01)
    call("echo")
    parent.solver_session.worker.process.wait(20)
    monkeypatch.setattr(launch, "IDLE_SECONDS", 300.0)
    seen_before_it_ended = iter([True])
    is_usable = launch.Worker.is_usable
    monkeypatch.setattr(
        launch.Worker, "is_usable", lambda worker: next(seen_before_it_ended, False) or is_usable(worker)
    )
    assert call("echo").patterns == call.table.keys


def test_numbers_survive(call):
    """Doubles, NaN included, reach the worker bit by bit: they travel as bytes."""
    outcome = call("echo")
    assert struct.unpack(">3q", outcome.patterns) == (11, -12, 2**63 - 1)


def test_too_large_for_the_budget_is_seen_before_anything_is_copied(call):
    with pytest.raises(MemoryExceeded, match="row types alone"):
        call("echo", memory_bytes=100)
    assert parent.solver_session.pid() is None
