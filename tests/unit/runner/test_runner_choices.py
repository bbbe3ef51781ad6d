"""Who waits is asked of a worker: what it may answer, and what is no answer."""

from __future__ import annotations

import pytest

from kanon_pg.core.waiting import WaitingTask
from kanon_pg.errors import SolverError
from kanon_pg.runner import launch, parent
from kanon_pg.runner.session import Caller
from tests.fixtures.packing import pack

ROWS = pack([("a", 0), ("a", 0), ("b", 0), ("c", -1)], ["name", "waited"], numeric=["waited"])


def choose(answer):
    task = WaitingTask(k=2, most=1, longest=1, patterns=None, seed=answer, seconds=1.0)
    return parent.choose_in_worker(ROWS, task, Caller(2**30, lambda: None))


@pytest.fixture(autouse=True)
def stub(monkeypatch, call):
    monkeypatch.setattr(launch, "CHOOSER", "stub_solver")


def test_nothing_is_chosen():
    assert choose(0) is None


def test_it_is_chosen_that_nobody_waits():
    found = choose(1)
    assert found is not None
    assert (found.keys, found.total) == (b"", 0)


def test_some_wait():
    found = choose(2)
    assert found is not None
    assert (found.keys, found.total) == (ROWS.keys, 3)


def test_numbers_without_row_types_are_no_answer():
    with pytest.raises(SolverError, match="cannot be understood"):
        choose(3)
