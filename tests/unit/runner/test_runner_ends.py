"""Every way a worker must end: cancel, memory, signals, the death of its parent."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from kanon_pg.core.code_folders import CodeFolder
from kanon_pg.errors import MemoryExceeded, SolverError
from kanon_pg.runner import launch, parent
from tests.unit.runner.stub_caller import PACKAGE_FOLDER, STUB_FOLDER, wait_for_end


class Cancelled(BaseException):
    """Like an interrupt: no subclass of Exception."""


def test_a_checkpoint_that_raises_ends_a_solver_that_cannot_be_stopped(call):
    def cancel():
        if call.progress:
            raise Cancelled

    call.checkpoint = cancel
    pids = []
    original = launch.start_process
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "start_process", lambda: pids.append(original()) or pids[-1])
        with pytest.raises(Cancelled):
            call("hang")
    assert pids[0].process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0].process.pid, 0)
    call.checkpoint = lambda: None
    call("echo")


def test_a_checkpoint_that_raises_while_data_is_copied(call):
    def cancel():
        raise Cancelled

    call("echo")
    pid = parent.solver_session.pid()
    call.checkpoint = cancel
    with pytest.raises(Cancelled):
        call("echo")
    assert wait_for_end(pid)


def test_progress_that_raises_ends_the_worker(call):
    class Broken(list):
        def append(self, item):
            raise Cancelled

    call.progress = Broken()
    with pytest.raises(Cancelled):
        call("hang")
    assert parent.solver_session.pid() is None


def test_the_caller_is_asked_while_the_solver_is_silent(call):
    def count():
        call.checkpoints += bool(call.progress)
        if call.checkpoints > 3:
            raise Cancelled

    call.checkpoint = count
    with pytest.raises(Cancelled):
        call("hang")


def test_memory_budget_holds_and_the_next_call_works(call):
    with pytest.raises(MemoryExceeded) as caught:
        call("allocate", seconds=2**29, memory_bytes=2**27)
    assert "kanon.memory_budget" in caught.value.hint
    assert "128 MB" in caught.value.hint
    call("echo", memory_bytes=2**27)


def test_the_limit_is_lifted_after_each_call(call):
    """Else the address space of one call would count against the budget of the next."""
    for _ in range(3):
        with pytest.raises(SolverError, match="cannot be understood"):  # an answer of the wrong length
            call("allocate", seconds=2**26, memory_bytes=2**27)
    call("echo", memory_bytes=2**22)
    call("echo", memory_bytes=2**27)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGABRT"])
def test_ends_that_mean_lack_of_memory(call, name):
    with pytest.raises(MemoryExceeded) as caught:
        call("signalled", patterns=[name])
    assert name in caught.value.detail
    assert "kanon.memory_budget" in caught.value.hint
    call("echo")


def test_other_signals(call):
    with pytest.raises(SolverError) as caught:
        call("signalled", patterns=["SIGSEGV"])
    assert type(caught.value) is SolverError
    assert "SIGSEGV" in caught.value.detail
    call("echo")


def test_interrupts_of_the_terminal_do_not_reach_the_worker(call):
    """Only the caller decides; it sees the interrupt itself."""
    parent.solver_session.start()
    call("echo")
    os.kill(parent.solver_session.pid(), signal.SIGINT)
    pid = parent.solver_session.pid()
    assert call("say_pid").notes[0] == str(pid)


def test_the_worker_inherits_nothing(call):
    secret = os.open("/dev/zero", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        facts = json.loads(call("state").notes[0])
    finally:
        os.close(secret)
    # LC_CTYPE is set by Python itself, in the C locale
    given = {"MALLOC_ARENA_MAX", "OPENBLAS_NUM_THREADS", "KANON_PG_CODE"}
    assert set(facts["environment"]) - {"LC_CTYPE"} == given
    assert facts["session"]
    assert facts["sigint"]
    assert facts["oom"] == "1000"
    assert facts["folder"] == "/"
    assert not facts["site"]
    # newer versions of libffi, which ctypes uses, keep their own file open
    kinds = sorted(name.split(":")[0] for name in facts["files"] if "/libffi.so" not in name)
    assert "/dev/zero" not in kinds
    assert kinds.count("socket") == 1
    assert set(kinds) <= {"/dev/null", "socket", "/memfd"}


def test_this_process_keeps_its_signals_and_threads(call):
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    threads = threading.active_count()
    call("echo")
    assert [signal.getsignal(number) for number in signal.valid_signals()] == handlers
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    assert threading.active_count() == threads


def test_each_thread_has_its_own_worker(call):
    pids = {call("say_pid").notes[0]}

    def in_thread():
        pids.add(call("say_pid").notes[0])

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert len(pids) == 2
    other = int(next(pid for pid in pids if pid != str(parent.solver_session.pid())))
    assert wait_for_end(other)  # with its thread


PARENT = f"""
import sys
sys.path[:0] = [{PACKAGE_FOLDER!r}, {STUB_FOLDER!r}]
from stub_caller import Call
from kanon_pg.runner import launch, parent
launch.SOLVER = "stub_solver"
launch.python_path = lambda: [{PACKAGE_FOLDER!r}, {STUB_FOLDER!r}]
call = Call()
call("echo")
class Teller(list):
    def append(self, item):
        print(parent.solver_session.pid(), flush=True)
call.progress = Teller()
if sys.argv[1] == "busy":
    call("hang")
print(parent.solver_session.pid(), flush=True)
if sys.argv[1] == "idle":
    sys.stdin.read()
"""


@pytest.fixture
def adopts_orphans():
    """Let this process inherit the worker of a killed parent, as process 1 of a container would."""
    libc = ctypes.CDLL(None)
    set_child_subreaper = 36
    assert libc.prctl(set_child_subreaper, ctypes.c_ulong(1)) == 0
    yield
    libc.prctl(set_child_subreaper, ctypes.c_ulong(0))


@pytest.mark.parametrize(("phase", "status"), [("busy", 1), ("idle", 0)])
def test_a_killed_parent_takes_the_worker_along(adopts_orphans, phase, status):
    """The status matters: a postmaster that is process 1 restarts all sessions upon any but 0 and 1."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, phase], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        pid = int(process.stdout.readline())
        process.kill()
        process.wait()
        assert wait_for_end(pid)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status


def test_an_interpreter_that_exits_takes_the_worker_along():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PARENT, "exit"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_a_fork_of_this_process_leaves_the_worker_alone(call):
    call("echo")
    pid = parent.solver_session.pid()
    forked = os.fork()
    if forked == 0:  # pragma: no cover - another process
        try:
            usable = parent.solver_session.pid()
            parent.solver_session.stop()
            os._exit(0 if usable is None else 1)
        finally:
            os._exit(2)
    assert os.waitpid(forked, 0)[1] == 0
    assert call("say_pid").notes[0] == str(pid)


def test_a_temporary_folder_goes_with_its_worker(call, monkeypatch, tmp_path):
    for way in (parent.solver_session.stop, lambda: parent.solver_session.worker.channel.shutdown(2)):
        folder = tmp_path / "compiled"
        folder.mkdir()
        monkeypatch.setattr(launch, "own_folder", lambda: CodeFolder(tmp_path / "compiled", temporary=True))
        assert json.loads(call("state").notes[0])["cache"] == str(folder)
        process = parent.solver_session.worker.process
        way()
        process.wait(20)
        assert not folder.exists()
        parent.solver_session.stop()
