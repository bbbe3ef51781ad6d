"""The solvers are compiled once per installation and user, apart from any time limit."""

import pytest

from kanon_pg.core import code_folders
from kanon_pg.core.code_folders import CodeFolder
from kanon_pg.runner import launch, parent
from kanon_pg.runner.session import Caller

MEMORY = 1 << 30


class Cancelled(Exception):
    pass


def cancel() -> None:
    raise Cancelled


def nothing() -> None:
    pass


@pytest.fixture
def folder(tmp_path, call, monkeypatch):
    monkeypatch.setattr(launch, "WARM_UP", "stub_warm_up")
    monkeypatch.setattr(launch, "own_folder", lambda: CodeFolder(tmp_path, temporary=False))
    monkeypatch.setattr(code_folders, "own_store", lambda: tmp_path / "no store")
    return tmp_path


def compile_solvers(checkpoint=nothing) -> None:
    parent.compile_solvers("plain", Caller(MEMORY, checkpoint))


def test_a_later_session_finds_the_solvers_compiled(folder):
    assert not parent.solvers_are_compiled("plain")
    compile_solvers()
    parent.solver_session.stop()
    assert parent.solvers_are_compiled("plain")
    compile_solvers()
    assert (folder / "runs-plain").read_text() == "x"


def test_each_set_of_kernels_is_compiled_at_its_first_use(folder):
    compile_solvers()
    assert not parent.solvers_are_compiled("models")


def test_the_worker_that_compiled_also_solves(folder, call):
    compile_solvers()
    before = parent.solver_session.pid()
    assert call("echo").patterns == call.table.keys
    assert parent.solver_session.pid() == before


def test_a_cancelled_compilation_is_begun_again(folder):
    with pytest.raises(Cancelled):
        compile_solvers(checkpoint=cancel)
    assert parent.solver_session.pid() is None
    for mark in folder.glob("compiled-*"):
        mark.unlink()
    compile_solvers()
    assert parent.solvers_are_compiled("plain")
