import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kanon_pg
from kanon_pg.admin.install import python_path, run_in_server
from kanon_pg.admin.install.python_path import SERVER_MODULES, own_folders, settle_python_path

_OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


class FakeServer:
    """A server of which a test decides what its Python answers; keeps the folders that were looked at."""

    def __init__(self, **answer: Any) -> None:
        self.answer = answer
        self.folders: list[list[str]] = []

    def __call__(self, question: str) -> str:
        request = json.loads(question)
        self.folders.append(request["folders"])
        works = {name: [True, kanon_pg.__version__] for name in request["modules"]}
        plain = {
            "python": _OWN,
            "user": 1,
            "interpreter": "/usr/bin/python",
            "blocked": {},
            "open_to_all": [],
        }
        return json.dumps({**plain, "imports": works, "same_machine": False, **self.answer})


def test_a_server_that_can_read_this_environment_uses_it() -> None:
    settled = settle_python_path(FakeServer(), None, None)
    assert settled.folders == tuple(own_folders())
    assert (settled.problems, settled.note) == ((), None)


def test_given_folders_are_used_as_they_are() -> None:
    ask = FakeServer()
    assert settle_python_path(ask, ["/srv/kanon"], None).folders == ("/srv/kanon",)
    assert ask.folders == [["/srv/kanon"]]


def test_given_folders_are_never_replaced_by_a_copy(tmp_path: Path) -> None:
    settled = settle_python_path(FakeServer(blocked={"/srv/kanon": "/srv"}), ["/srv/kanon"], tmp_path)
    assert "/srv is missing or closed" in settled.problems[0].what
    assert list(tmp_path.iterdir()) == []


def test_a_server_elsewhere_needs_folders_of_its_own_machine(tmp_path: Path) -> None:
    settled = settle_python_path(FakeServer(blocked={"/x": "/x"}), None, tmp_path)
    assert "--python-path" in settled.problems[-1].fix
    assert list(tmp_path.iterdir()) == [], "neither a copy nor the marker stays"


def test_an_ordinary_user_is_asked_for_a_folder_to_copy_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_path.os, "geteuid", lambda: 1000)
    settled = settle_python_path(FakeServer(blocked={"/x": "/x"}), None, None)
    assert "--runtime-dir" in settled.problems[-1].fix


def test_another_python_version_is_explained_once_instead_of_every_module() -> None:
    imports = {name: [False, "ImportError"] for name in SERVER_MODULES} | {
        "kanon_pg": [True, kanon_pg.__version__]
    }
    (problem,) = settle_python_path(FakeServer(python="3.8", imports=imports), None, None).problems
    assert "PL/Python is Python 3.8" in problem.what
    assert "python3.8" in problem.fix


def test_another_version_of_the_package_is_a_problem() -> None:
    imports = {"kanon_pg": [True, "0.0.1"]}
    (problem,) = settle_python_path(FakeServer(imports=imports), None, None).problems
    assert "kanon_pg 0.0.1" in problem.what


def test_a_missing_interpreter_is_named() -> None:
    (problem,) = settle_python_path(FakeServer(interpreter=None, imports={}), None, None).problems
    assert f"apt install python{_OWN}" in problem.fix


def test_the_probe_tells_the_truth_about_this_machine(tmp_path: Path) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    marker = tmp_path / "marker"
    marker.write_text("content", encoding="ascii")
    question = {
        "folders": [*own_folders(), str(open_folder), str(tmp_path / "gone" / "deeper")],
        "modules": ["kanon_pg", "jinja2", "no_such_module"],
        "marker": {"file": str(marker), "content": "content"},
    }
    answer = json.loads(run_in_server.probe(json.dumps(question)))
    assert answer["python"] == _OWN
    assert answer["blocked"] == {str(tmp_path / "gone" / "deeper"): str(tmp_path / "gone")}
    assert answer["open_to_all"] == [str(open_folder)]
    assert answer["imports"]["kanon_pg"] == [True, kanon_pg.__version__]
    assert answer["imports"]["jinja2"][0]
    assert not answer["imports"]["no_such_module"][0]
    assert answer["same_machine"]


@pytest.fixture
def small_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the runtime consist of one small package and jinja2's distribution; return the package's folder."""
    package = tmp_path / "source"
    package.mkdir()
    (package / "module.py").write_text("answer = 42\n", encoding="ascii")
    monkeypatch.setattr(python_path, "_package_files", lambda: [("small/module.py", package / "module.py")])
    monkeypatch.setattr(python_path, "_REQUIRED", ("jinja2",))
    monkeypatch.setattr(python_path, "share_compiled", lambda package: None)
    return package


def test_a_copy_is_complete_readable_and_importable_without_anything_else(
    small_runtime: Path, tmp_path: Path
) -> None:
    folder = python_path.copy_runtime(tmp_path / "runtime")
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); "
    program += "import jinja2, markupsafe, small.module; print(jinja2.__file__)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(folder))
    for path in folder.rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o755 if path.is_dir() else 0o644), path
    assert list(folder.rglob("small/__pycache__/*.pyc")), "the server cannot write compiled files itself"


def test_the_same_package_is_copied_once_and_a_changed_one_again(small_runtime: Path, tmp_path: Path) -> None:
    first = python_path.copy_runtime(tmp_path / "runtime")
    stamp = first.stat().st_mtime_ns
    assert python_path.copy_runtime(tmp_path / "runtime") == first
    assert first.stat().st_mtime_ns == stamp
    (small_runtime / "module.py").write_text("answer = 43\n", encoding="ascii")
    second = python_path.copy_runtime(tmp_path / "runtime")
    assert second != first
    assert sorted((tmp_path / "runtime").iterdir()) == sorted([first, second]), "no half-made copy stays"


def test_a_copy_gets_the_compiled_solvers_also_if_they_were_compiled_later(
    small_runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared: list[Path] = []
    monkeypatch.setattr(python_path, "share_compiled", shared.append)
    folder = python_path.copy_runtime(tmp_path / "runtime")
    python_path.copy_runtime(tmp_path / "runtime")
    assert shared == [folder / "kanon_pg"] * 2


def test_compiled_solvers_are_no_part_of_what_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "_compiled" / "some").mkdir(parents=True)
    (tmp_path / "_compiled" / "some" / "code").touch()
    (tmp_path / "__init__.py").touch()
    monkeypatch.setattr(kanon_pg, "__file__", str(tmp_path / "__init__.py"))
    names = [name for name, _ in python_path._package_files() if not name.startswith("kanon_pg/_sql/")]
    assert names == ["kanon_pg/__init__.py"]


def test_what_is_copied_suffices_for_every_library_that_the_server_imports() -> None:
    """Also for what a library imports of another one, as OR-Tools does of pandas."""
    copied = {
        file.parts[0].partition(".")[0]
        for distribution in python_path._distributions()
        for file in distribution.files or ()
    }
    package = Path(kanon_pg.__file__).parent
    sources = [*(package / "worker").rglob("*.py"), *(package / "queries").rglob("*.py")]
    lines = {line.split("#")[0].strip() for file in sources for line in file.read_text().splitlines()}
    imports = sorted(
        line for line in lines if re.match(r"(from|import) (ortools|networkx|numba|numpy|opendp)", line)
    )
    assert any("cp_model" in line for line in imports)
    assert any("opendp" in line for line in imports)
    program = f"""
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {installed_modules() - copied}:
            raise ImportError(f"{{name}} is not copied")
sys.meta_path.insert(0, Refused())
"""
    subprocess.run([sys.executable, "-c", "\n".join([program, *imports])], check=True)


def installed_modules() -> set[str]:
    """Return the top-level modules of the distributions that are installed here."""
    return set(importlib.metadata.packages_distributions()) - {"kanon_pg"}
