"""Solvers are compiled once per installation and user, ahead and in parallel or at a first call."""

import os
from pathlib import Path

import pytest

from kanon_pg.cli.install import Solvers
from kanon_pg.core import code_folders
from kanon_pg.core.code_folders import CodeFolder
from kanon_pg.core.solving import KERNELS
from kanon_pg.errors import SolverError
from kanon_pg.runner import compilation, launch, parent
from kanon_pg.runner.parent import COMPILED
from kanon_pg.runner.session import Caller


@pytest.fixture
def own(tmp_path, monkeypatch, call):
    """Return this account's own folder; the package is another folder, and a stub compiles."""
    package = tmp_path / "package"
    package.mkdir(mode=0o755)
    (package / "__init__.py").touch()
    store = code_folders.store_of(package)
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setattr(launch, "WARM_UP", "stub_warm_up")
    for module in (code_folders, compilation):
        monkeypatch.setattr(module, "own_store", lambda: store)
    monkeypatch.setattr(compilation, "own_folder", lambda: CodeFolder(own, temporary=False))
    return own


def compile_ahead(sets=KERNELS):
    shares = []
    report = compilation.compile_ahead(lambda phase, share: shares.append((phase, share)), sets)
    return report, shares


def test_every_set_is_compiled_once_and_shared(own):
    report, shares = compile_ahead()
    assert report.compiled == KERNELS
    assert report.shared
    store = Path(report.store)
    assert all(code_folders.is_complete(one, (store,)) for one in KERNELS)
    assert {phase for phase, _ in shares} == {"compiling"}
    again, nothing = compile_ahead()
    assert (again.compiled, again.shared, nothing) == ((), True, [])
    assert {(own / f"runs-{one}").read_text() for one in KERNELS} == {"x"}


def test_the_command_names_every_set():
    assert {one.value for one in Solvers} == set(KERNELS)


def test_some_sets_now_and_the_others_later(own):
    report, _ = compile_ahead(("plain", "audit"))
    assert (report.compiled, report.shared) == (("plain", "audit"), True)
    assert not code_folders.is_complete("models", (own, Path(report.store)))
    later, _ = compile_ahead()
    assert set(later.compiled) == set(KERNELS) - {"plain", "audit"}
    assert all(code_folders.is_complete(one, (Path(report.store),)) for one in KERNELS)


@pytest.mark.parametrize("sets", [("audit",), ("plain", "audit"), KERNELS], ids=len)
def test_the_bar_fills(own, sets):
    _, shares = compile_ahead(sets)
    reached = [share for _, share in shares]
    assert reached == sorted(reached)
    assert reached[0] < reached[-1] == 1.0


def test_what_this_account_has_compiled_is_only_copied(own):
    report, _ = compile_ahead()
    store = Path(report.store)
    for file in store.iterdir():
        file.unlink()
    again, _ = compile_ahead()
    assert (again.compiled, again.shared) == ((), True)
    assert (store / "runs-plain").read_text() == "x"


def test_a_lost_file_is_compiled_again(own):
    report, _ = compile_ahead()
    for folder in (own, Path(report.store)):
        (folder / "runs-audit").unlink()
    again, _ = compile_ahead()
    assert (again.compiled, again.shared) == (("audit",), True)


def test_a_package_that_cannot_be_written_to(own, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(compilation, "copy_to_store", refuse)
    report, _ = compile_ahead()
    assert (report.store, report.shared) == (str(own), False)
    assert all(code_folders.is_complete(one, (own,)) for one in KERNELS)


def test_a_failure_is_told_and_publishes_nothing(own):
    (own / "broken").touch()
    with pytest.raises(SolverError, match="internal error"):
        compile_ahead()
    assert not code_folders.own_store().exists()


def test_an_account_without_a_home_compiles_for_all(own, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(compilation, "own_folder", lambda: CodeFolder(temporary, temporary=True))
    report, _ = compile_ahead()
    assert report.shared
    assert not temporary.exists()


def test_a_copy_of_the_package_gets_what_is_compiled(own, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "__init__.py").touch()
    compilation.share_compiled(copy)
    assert os.listdir(copy) == ["__init__.py"]
    compile_ahead()
    compilation.share_compiled(copy)
    store = code_folders.store_of(copy)
    assert code_folders.is_trusted(store)
    assert all(code_folders.is_complete(one, (store,)) for one in KERNELS)


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


def test_the_notice_about_compiling_says_for_each_set_what_it_is_for() -> None:
    assert set(COMPILED) == set(KERNELS)
    assert len(set(COMPILED.values())) == len(KERNELS)
