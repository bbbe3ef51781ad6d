"""Searches in processes of their own: their answers, their failures and their end."""

import os
import time

import numpy as np
import pytest

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers import side_by_side as module
from kanon_pg.worker.solvers.side_by_side import side_by_side

WORTH_PROCESSES = 10.0


def numbered(number):
    parts = np.arange(number + 1)
    return Solution.of_parts(parts, parts * 2, parts + 1)


@pytest.fixture(params=[1, 3])
def processors(request, monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: set(range(request.param)))
    return request.param


def test_answers_come_in_order_whatever_the_processors(processors):
    searches = [lambda _, number=number: numbered(number) for number in range(5)]
    found = side_by_side(searches, Clock(), WORTH_PROCESSES)
    assert [one.vector.tolist() for one in found] == [numbered(number).vector.tolist() for number in range(5)]


@pytest.mark.parametrize(("seconds", "own"), [(WORTH_PROCESSES, True), (0.01, False)])
def test_short_searches_begin_no_process(seconds, own, monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0, 1})
    here = os.getpid()
    found = side_by_side([lambda _: numbered(int(os.getpid() != here))] * 2, Clock(), seconds)
    assert [len(one.rows) == 2 for one in found] == [own, own]


def test_a_search_that_fails_in_its_process_is_run_again_here(monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0, 1})
    here = os.getpid()

    def failing_elsewhere(clock):
        if os.getpid() != here:
            raise MemoryError
        return numbered(3)

    found = side_by_side([failing_elsewhere, lambda _: numbered(1)], Clock(), WORTH_PROCESSES)
    assert [len(one.rows) for one in found] == [4, 2]


def test_who_overruns_the_time_is_ended_and_nobody_begins_after_it(monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(module, "_GRACE", 0.1)

    def overrunning(_):
        time.sleep(60)
        return numbered(9)

    before = time.monotonic()
    found = side_by_side([overrunning, lambda _: numbered(2)], Clock(0.5), WORTH_PROCESSES)
    assert time.monotonic() - before < 30
    assert [len(one.rows) for one in found] == [3]
    assert side_by_side([lambda _: numbered(2)] * 2, Clock(0.0), WORTH_PROCESSES) == []


def test_progress_is_reported_by_the_process_that_waits(monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0, 1})
    reporting = []

    def search(clock):
        clock.report("elsewhere", 0.5)
        return numbered(0)

    side_by_side([search] * 3, Clock(progress=lambda phase, _: reporting.append(phase)), WORTH_PROCESSES)
    assert reporting
    assert "elsewhere" not in reporting
