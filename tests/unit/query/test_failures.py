"""What a query that failed counts as: whatever may be the doing of the query and its data is a refusal."""

from __future__ import annotations

import pytest

from kanon_pg.errors import (
    DatabaseError,
    KanonError,
    LedgerError,
    LedgerUnavailable,
    LimitExceeded,
    MemoryExceeded,
    SolverError,
)
from kanon_pg.queries.recording import failure_of
from kanon_pg.queries.request import Failure


@pytest.mark.parametrize("state", ["53100", "53200", "58030", "57P01", "XX000", "22003"])
def test_attack_by_what_makes_the_server_fail(state: str) -> None:
    """A sort that fills the disk, memory, a crash, a defect."""
    error = DatabaseError("failed", server_state=state)
    assert error.server_state == state
    assert failure_of(error) == "error"


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (MemoryExceeded("killed"), "error"),
        (LimitExceeded("late"), "time"),
        (LedgerError("damaged"), "record"),
        (LedgerUnavailable("no room for the journal"), "fault"),
        (SolverError("no answer"), "error"),
    ],
)
def test_faults_are_those_of_files_and_of_starting_processes(error: KanonError, failure: Failure) -> None:
    assert failure_of(error) == failure
