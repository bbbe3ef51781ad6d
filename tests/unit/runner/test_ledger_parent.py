"""The ledger's worker as its caller sees it: long answers, and errors that are the ledger's own."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kanon_pg.errors import KanonError, LedgerError, LedgerUnavailable, MemoryExceeded
from kanon_pg.runner import launch, ledger_parent
from kanon_pg.runner.messages import MAX_MESSAGE_BYTES
from kanon_pg.worker.ledger.relation_ledger import RelationLedger

MANY = 2000


def nothing() -> None:
    pass


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[str]:
    """Return a folder of ledgers; the worker that a test has started ends with it."""
    ledger_parent.ledger_session.stop()
    yield str(tmp_path / "ledgers")
    ledger_parent.ledger_session.stop()


@pytest.fixture
def name(parent: str) -> str:
    return ledger_parent.create_ledger(parent, [], nothing)


def test_states_of_many_relations_arrive(parent: str, name: str) -> None:
    found = ledger_parent.states(parent, "epoch", [name] * MANY, nothing)
    assert len(found) == MANY
    assert found[0].keys() == {"seed", "state", "sets", "stored"}


def test_many_ledgers_are_verified(parent: str, name: str) -> None:
    asked = [{"name": one, "mark": None} for one in [name, *(f"{one:032x}" for one in range(MANY))]]
    whole, *missing = ledger_parent.verify(parent, asked, nothing)
    assert whole == {"error": None, "description": None, "percent_used": None}
    assert len(missing) == MANY
    assert all(one["error"] for one in missing)


def test_a_ledger_of_a_wide_relation_is_verified(parent: str, name: str) -> None:
    description = [["column", "x" * MAX_MESSAGE_BYTES]]
    ledger = RelationLedger(Path(parent), name)
    with ledger.row_numbers.exclusive() as writer:
        writer.set_description(description)
    ledger.save_marks()
    ledger.close()
    (found,) = ledger_parent.verify(parent, [{"name": name, "mark": None}], nothing)
    assert found == {"error": None, "description": description, "percent_used": None}


def failure(parent: str) -> KanonError:
    with pytest.raises(KanonError) as caught:
        ledger_parent.create_ledger(parent, [], nothing)
    error = caught.value
    assert "solver" not in str(error)
    assert "kanon.memory_budget" not in str(error)
    assert ledger_parent.ledger_session.pid() is None
    return error


def test_without_an_interpreter_the_ledger_is_unavailable(
    parent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    error = failure(parent)
    assert type(error) is LedgerUnavailable
    assert error.hint is not None
    assert error.hint.startswith("Install the program python")


def test_without_a_library_the_ledger_is_unavailable(parent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LEDGER_LIBRARIES", ("no_such_library",))
    error = failure(parent)
    assert type(error) is LedgerUnavailable
    assert "no_such_library" in error.message


def test_without_a_process_the_ledger_is_unavailable(parent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "interpreter", lambda: "/dev/null")
    error = failure(parent)
    assert type(error) is LedgerUnavailable
    assert error.detail is not None
    assert "/dev/null" in error.detail


def test_without_a_file_to_share_the_ledger_fails(parent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as one that is unavailable, which would cost nothing: how much is open may depend on the data."""

    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "memfd_create", refuse)
    error = failure(parent)
    assert type(error) is LedgerError
    assert error.message == "No memory could be shared with the ledger's process."
    assert error.detail == os.strerror(errno.EMFILE)


def test_without_memory_the_hint_names_no_setting_of_the_solvers(
    parent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_parent, "_memory", SimpleNamespace(bytes=lambda: 1))
    error = failure(parent)
    assert type(error) is MemoryExceeded
    assert error.message == "The ledger needs more memory than its budget."
    assert error.hint is not None
    assert "(half was 1 B)" in error.hint


def test_killed_it_names_no_setting_of_the_solvers(parent: str) -> None:
    def kill() -> None:
        pid = ledger_parent.ledger_session.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(MemoryExceeded) as caught:
        ledger_parent.create_ledger(parent, [], kill)
    assert caught.value.message.startswith("The ledger's process was ended")
    assert caught.value.hint is not None
    assert "half of the memory that is available" in caught.value.hint
    assert "kanon.memory_budget" not in caught.value.hint
