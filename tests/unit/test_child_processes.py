"""Native code that overruns its time is ended, and takes neither the solution nor a process with it."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.runner.limits import limited_memory
from kanon_pg.worker.child_processes import ChildBeside, WorkFailed, run_in_child, run_in_children
from kanon_pg.worker.solvers.exact import integer_program
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.diversity import pack_sensitive

LONG = 3600.0
PATIENCE = 120.0

Say = Callable[[bytes], None]


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def sleeping() -> bytes:
    time.sleep(LONG)
    return b""


def test_what_the_work_returns_arrives_whole() -> None:
    assert run_in_child(lambda: b"", LONG) == b""
    assert run_in_child(lambda: bytes(range(256)) * 40_000, LONG) == bytes(range(256)) * 40_000


def test_work_that_takes_too_long_is_ended() -> None:
    before = children()
    assert run_in_child(sleeping, 0.1) is None
    assert children() == before


def test_what_is_ended_has_a_status_that_no_postmaster_takes_for_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wait, statuses = os.waitpid, []

    def waiting(process: int, options: int) -> tuple[int, int]:
        ended = wait(process, options)
        statuses.append(os.waitstatus_to_exitcode(ended[1]))
        return ended

    monkeypatch.setattr(os, "waitpid", waiting)
    assert run_in_child(sleeping, 0.5) is None
    with closing(ChildBeside(lambda say: say(sleeping()), LONG, 1)) as beside:
        assert not beside.wait(0.5)
    assert statuses == [1, 1]


def failing() -> bytes:
    raise KeyError("a value")


def ending() -> bytes:
    os._exit(3)


@pytest.mark.parametrize(("work", "sentence"), [(failing, "^KeyError$"), (ending, "^no answer$")])
def test_work_that_fails_says_so_without_values(work: Callable[[], bytes], sentence: str) -> None:
    with pytest.raises(WorkFailed, match=sentence):
        run_in_child(work, LONG)


def test_nothing_stays_when_the_process_ends_that_waits() -> None:
    code = (
        "import os, time; from kanon_pg.worker.child_processes import run_in_child;"
        "run_in_child(lambda: os.write(1, b'at work\\n') and time.sleep(3600), 3600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"at work\n"
        waiting.send_signal(signal.SIGKILL)
        # the end is there once the worker, too, has closed it
        assert select.select([waiting.stdout], [], [], PATIENCE)[0]
        assert waiting.stdout.read() == b""


@pytest.mark.parametrize("models", [PrivacyModels(), PrivacyModels(l=2)], ids=["plain", "models"])
def test_a_library_that_does_not_end_leaves_the_solution_that_is_known(
    monkeypatch: pytest.MonkeyPatch, models: PrivacyModels
) -> None:
    monkeypatch.setattr(integer_program, "_LARGE", 0)
    monkeypatch.setattr(integer_program, "_solve_here", lambda *_: sleeping())
    chance = random.Random(1)
    rows = [tuple(chance.randrange(7) for _ in range(6)) for _ in range(60)]
    packed = pack_sensitive(rows, [(number % 4,) for number in range(60)])
    # the registry counts its classes anew
    outcome = solve(packed, SolveRequest(3, "exact", seconds=2.0, models=models))
    assert not outcome.optimal
    assert outcome.lower_bound is not None
    assert outcome.lower_bound <= outcome.weighted_cost


def test_answers_come_in_the_order_of_the_jobs_whoever_is_first() -> None:
    def job(number: int) -> tuple[Callable[[], bytes], float]:
        return lambda: time.sleep(0.2 * (number == 0)) or b"%d" % number, LONG

    assert run_in_children(map(job, range(5)), 2) == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_no_more_processes_work_at_once_than_may(at_once: int) -> None:
    before, most = len(children()), []

    def jobs() -> Iterator[tuple[Callable[[], bytes], float]]:
        for _ in range(5):
            most.append(len(children()) - before + 1)
            yield lambda: b"", LONG

    assert run_in_children(jobs(), at_once) == [b""] * 5
    assert max(most) == at_once
    assert len(children()) == before


def test_one_that_takes_too_long_leaves_the_answers_of_others() -> None:
    before = children()
    jobs = [(sleeping, 0.3), (lambda: b"quick", LONG), (lambda: b"later", LONG)]
    assert run_in_children(jobs, 2) == [None, b"quick", b"later"]
    assert children() == before


def test_one_that_fails_ends_the_others() -> None:
    before = children()
    with pytest.raises(WorkFailed, match=r"^KeyError$"):
        run_in_children([(sleeping, LONG), (failing, LONG)], 2)
    assert children() == before


@pytest.mark.parametrize(("at_once", "fits"), [(1, True), (2, False)])
def test_processes_at_work_share_the_memory_that_is_left(at_once: int, fits: bool) -> None:
    jobs = [(lambda: bytes(300 * 1024**2)[:1], LONG)] * at_once
    with limited_memory(400 * 1024**2):
        if fits:
            assert run_in_children(jobs, at_once) == [b"\0"]
        else:
            with pytest.raises(WorkFailed, match=r"^MemoryError$"):
                run_in_children(jobs, at_once)


def saying(*messages: bytes, then: Callable[[], bytes] = lambda: b"") -> Callable[[Say], None]:
    def work(say: Say) -> None:
        for message in messages:
            say(message)
        then()

    return work


@pytest.mark.parametrize("then", [lambda: b"", failing, ending, sleeping])
@pytest.mark.parametrize("messages", [(), (b"only",), (b"first", b"second", b"", b"last" * 100)])
def test_of_work_beside_the_last_word_is_left_however_it_ends(
    messages: tuple[bytes, ...], then: Callable[[], bytes]
) -> None:
    before = children()
    with closing(ChildBeside(saying(*messages, then=then), 0.5, 1000)) as child:
        while not child.wait(LONG if then is not sleeping else 0.01):
            pass
        assert children() == before
        assert child.latest() == (messages[-1] if messages else b"")
        child.close()


def test_work_beside_ends_with_the_block() -> None:
    before = children()
    with pytest.raises(KeyError), closing(ChildBeside(saying(then=sleeping), LONG, 1000)):
        failing()
    assert children() == before


@pytest.mark.parametrize("spoiled", range(6))
def test_a_message_that_was_not_finished_leaves_the_one_before(spoiled: int) -> None:
    with closing(ChildBeside(saying(b"first", b"second"), LONG, 16)) as child:
        assert child.wait(LONG)
        newest = child._shared.find(b"second")
        child._shared[newest + spoiled] ^= 1 << spoiled
        assert child.latest() == b"first"
