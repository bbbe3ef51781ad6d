"""Which interpreter, libraries and cache folder a worker gets."""

import json
import os
import pwd
import stat
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import kanon_pg
from kanon_pg.core import code_folders
from kanon_pg.errors import SolverUnavailable
from kanon_pg.runner import launch, parent

NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def home(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    user = SimpleNamespace(pw_dir=str(tmp_path), pw_gid=os.getegid())
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: user)
    return tmp_path


def is_private_and_temporary(found: code_folders.CodeFolder) -> bool:
    mode = found.folder.stat().st_mode
    found.folder.rmdir()
    return found.temporary and stat.S_IMODE(mode) == 0o700


def test_the_cache_is_kept_in_the_own_home(home):
    old = os.umask(0)
    try:
        found = code_folders.own_folder()
    finally:
        os.umask(old)
    assert not found.temporary
    assert found.folder.is_relative_to(home)
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in home.rglob("*")} == {0o700}
    assert f"numba{metadata.version('numba')}" in found.folder.name
    assert sys.implementation.cache_tag in found.folder.name
    assert code_folders.own_folder() == found


def test_the_environment_does_not_choose_the_cache(home, monkeypatch):
    monkeypatch.setenv("HOME", "/tmp/elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/elsewhere")
    assert code_folders.own_folder().folder.is_relative_to(home)


@pytest.mark.parametrize("below", ["", ".cache", ".cache/kanon_pg"])
def test_a_folder_that_others_can_exchange_is_not_used(home, below):
    code_folders.own_folder()
    (home / below).chmod(0o777)
    assert is_private_and_temporary(code_folders.own_folder())


def test_a_folder_that_others_can_read_is_not_used(home):
    code_folders.own_folder().folder.chmod(0o755)
    assert is_private_and_temporary(code_folders.own_folder())


def test_a_link_is_not_followed(home, tmp_path_factory):
    (home / ".cache").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    assert is_private_and_temporary(code_folders.own_folder())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("below", ["", ".cache/kanon_pg"])
def test_a_folder_of_another_user_is_not_used(home, below):
    code_folders.own_folder()
    os.chown(home / below, 65534, 65534)
    assert is_private_and_temporary(code_folders.own_folder())


@pytest.mark.parametrize("place", ["/nonexistent", "", "relative", "/dev/null"])
def test_no_home(home, monkeypatch, place):
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_dir=place, pw_gid=0))
    assert is_private_and_temporary(code_folders.own_folder())


def test_a_user_without_entry(monkeypatch):
    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert is_private_and_temporary(code_folders.own_folder())


def test_the_own_interpreter_is_chosen():
    assert launch.interpreter() == sys.executable


@pytest.mark.parametrize("executable", ["", None, "/usr/lib/postgresql/15/bin/postgres"])
def test_inside_a_backend_the_one_beside_the_library_is_chosen(monkeypatch, tmp_path, executable):
    beside = tmp_path / "bin" / NAME
    beside.parent.mkdir()
    beside.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    assert launch.interpreter() == str(beside)


def test_no_interpreter_of_this_version(monkeypatch, tmp_path):
    other = tmp_path / "python3.99"
    other.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(other))
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    with pytest.raises(launch.LaunchError, match=rf"no {NAME}") as caught:
        launch.interpreter()
    assert NAME in caught.value.hint


def test_the_libraries_are_found_without_being_imported():
    code = (
        "import sys; from kanon_pg.runner import launch, parent; path = launch.python_path();"
        "assert not {'numpy', 'numba', 'llvmlite'} & set(sys.modules); print(*path, sep='\\n')"
    )
    folder = Path(kanon_pg.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True
    )
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert (paths[0] / "kanon_pg").samefile(folder / "kanon_pg")
    assert any((path / "numba").is_dir() for path in paths)
    assert len(set(paths)) == len(paths)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(launch, "SOLVER_LIBRARIES", ("no_such_library",))
    with pytest.raises(launch.LaunchError, match="no_such_library"):
        launch.python_path()


def test_a_program_that_cannot_be_run(monkeypatch, call):
    monkeypatch.setattr(launch, "interpreter", lambda: "/dev/null")
    with pytest.raises(SolverUnavailable, match="could not be started") as caught:
        parent.solver_session.start()
    assert "/dev/null" in caught.value.detail


def test_a_package_in_a_namespace_of_many_is_found_where_its_namespace_is():
    folder = launch.folder_of("google.protobuf")
    assert folder is not None
    assert Path(folder, "google", "protobuf", "__init__.py").is_file()
    assert launch.folder_of("google.no_such_library") is None
    assert launch.folder_of("no_such_library.at_all") is None


def test_a_worker_can_load_the_solver_library_from_its_path_and_nothing_else():
    program = (
        "import json, sys; sys.path.extend(json.loads(sys.argv[1]));"
        "from ortools.math_opt import model_pb2;"
        "from ortools.math_opt.core.python import solver; print('loaded')"
    )
    command = [launch.interpreter(), "-I", "-S", "-c", program, json.dumps(launch.python_path())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.stdout == "loaded\n", done.stderr
