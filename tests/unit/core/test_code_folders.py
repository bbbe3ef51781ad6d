"""Compiled code is loaded only from where nobody could put it who could not change the package itself."""

import os
import pickle
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import kanon_pg
from kanon_pg.core import code_folders


@pytest.fixture
def own(tmp_path):
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    (own / "one").write_bytes(b"1")
    (own / "two").write_bytes(b"2")
    return own


@pytest.fixture
def store(tmp_path, own, monkeypatch):
    """Return a store beside a package of its own, to which an own folder was copied."""
    package = tmp_path / "package"
    package.mkdir(mode=0o755)
    (package / "__init__.py").touch()
    code_folders.mark(own, "plain")
    store = code_folders.store_of(package)
    monkeypatch.setattr(code_folders, "store_of", lambda: store)
    code_folders.share(own, store)
    return store


@pytest.fixture
def other(tmp_path):
    """Return the empty folder of another account."""
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    return other


def names(folder):
    return {file.name for file in folder.iterdir()}


def test_what_is_shared_is_for_everybody(store, other):
    assert code_folders.is_trusted(store)
    assert {file.stat().st_mode & 0o777 for file in store.iterdir()} == {0o644}
    assert {folder.stat().st_mode & 0o777 for folder in (store, store.parent)} == {0o755}
    code_folders.fill(other, store)
    assert names(other) == {"one", "two", "compiled-plain", "filled"}
    assert {file.stat().st_mode & 0o777 for file in other.iterdir()} == {0o600}
    assert code_folders.is_complete("plain", other)
    assert not code_folders.is_complete("models", other)


def test_the_later_file_stays(store, own, other):
    code_folders.fill(other, store)
    (other / "one").write_bytes(b"compiled here")
    (own / "two").write_bytes(b"compiled there")
    code_folders.share(own, store)
    code_folders.fill(other, store)
    assert ((other / "one").read_bytes(), (other / "two").read_bytes()) == (
        b"compiled here",
        b"compiled there",
    )


def test_a_set_of_other_sources_is_not_complete(own, monkeypatch):
    code_folders.mark(own, "plain")
    assert code_folders.is_complete("plain", own)
    monkeypatch.setattr(code_folders, "sources", lambda: "others")
    assert not code_folders.is_complete("plain", own)


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        ("worker.numbering", True),
        ("worker.compiled", True),
        ("core.packed", True),
        ("worker.main", False),
    ],
)
def test_code_is_known_by_all_that_it_can_contain(monkeypatch, changed, is_other):
    """The kernels of row types: their own module, those that it imports, and one that it does not."""
    module, files = "kanon_pg.worker.row_types", dict(code_folders._files())
    before = code_folders.sources(module)
    files[f"kanon_pg.{changed}"] += b"# changed"
    monkeypatch.setattr(code_folders, "_files", lambda: files)
    assert (code_folders.sources.__wrapped__(module) != before) == is_other


def test_code_of_other_sources_is_neither_shared_nor_kept(own, store):
    now = f"double-{code_folders.name_of('kanon_pg.worker.numbering')}.py311.nbi"
    before = "double-kanon_pg.worker.numbering-0123456789abcdef.py311.nbi"
    for folder in (own, store):
        (folder / now).touch()
        (folder / before).touch()
    code_folders.share(own, store)
    assert names(store) >= {now, "one"}
    assert before not in names(store)


@pytest.mark.parametrize("mode", [0o775, 0o757])
@pytest.mark.parametrize("above", [False, True])
def test_a_store_that_others_can_write_to_is_not_used(store, other, mode, above):
    (store.parent if above else store).chmod(mode)
    assert not code_folders.is_trusted(store)
    code_folders.fill(other, store)
    assert names(other) == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("above", [False, True])
def test_a_store_of_another_account_than_the_package_is_not_used(store, above):
    os.chown(store.parent if above else store, 65534, 65534)
    assert not code_folders.is_trusted(store)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_roots_store_serves_a_package_of_any_account(store):
    os.chown(store.parents[1] / "__init__.py", 65534, 65534)
    assert code_folders.is_trusted(store)
    for folder in (store, store.parent):
        os.chown(folder, 65534, 65534)
    assert code_folders.is_trusted(store)


def test_a_store_behind_a_link_is_not_used(store, tmp_path):
    store.rename(tmp_path / "elsewhere")
    store.symlink_to(tmp_path / "elsewhere")
    assert not code_folders.is_trusted(store)


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_can_write_to_is_not_used(store, other, mode):
    (store / "one").chmod(mode)
    code_folders.fill(other, store)
    assert names(other) == {"two", "compiled-plain", "filled"}


def test_no_store(tmp_path, other):
    code_folders.fill(other, tmp_path / "package" / "_compiled" / "none")
    assert names(other) == set()


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("avx avx2 bmi1 bmi2 f16c fma abm movbe xsave cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3", "x86-64-v3"),
        ("avx avx2 bmi1 bmi2 f16c fma abm movbe xsave", "x86-64"),
        ("cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 avx", "x86-64-v2"),
        ("sse2", "x86-64"),
    ],
)
def test_code_is_compiled_for_a_level_that_the_processor_has(monkeypatch, flags, level):
    monkeypatch.setattr(os, "uname", lambda: type("", (), {"machine": "x86_64"}))
    monkeypatch.setattr(Path, "read_text", lambda path: f"processor : 0\nflags : fpu {flags}\n")
    assert code_folders.processor.__wrapped__() == level


def test_other_processors_get_code_that_all_of_them_run(monkeypatch):
    monkeypatch.setattr(os, "uname", lambda: type("", (), {"machine": "aarch64"}))
    assert code_folders.processor.__wrapped__() == "generic"


class _Trap:
    """A pickle of it writes a file when it is loaded."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)

    def __reduce__(self):
        return os.mkdir, (self.file,)


_PROGRAM = """
import numpy as np
from numba.core import event
from kanon_pg.worker.numbering import number_values
with event.install_recorder("numba:compile") as recorder:
    number_values(np.arange(5))
print(len(recorder.buffer))
"""


def compiled_with(own):
    """Return how much a process compiles whose own folder is this one."""
    environment = os.environ | {code_folders.CODE_FOLDER: str(own)}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env=environment, cwd="/", capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.fixture
def without_store(tmp_path, monkeypatch):
    """Have the package without what is compiled for this checkout."""
    package = tmp_path / "elsewhere" / "kanon_pg"
    ignored = shutil.ignore_patterns(code_folders.STORE, "__pycache__")
    shutil.copytree(Path(kanon_pg.__file__).parent, package, ignore=ignored)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package


def test_copies_of_the_package_share_what_is_compiled(without_store, own, tmp_path, monkeypatch):
    assert compiled_with(own) > 0
    assert compiled_with(own) == 0
    without_store.parent.rename(tmp_path / "moved")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "moved"))
    assert compiled_with(own) == 0


@pytest.mark.parametrize("is_trusted", [True, False])
def test_only_a_trusted_store_is_loaded(without_store, own, other, tmp_path, is_trusted):
    compiled_with(own)
    store, sprung = code_folders.store_of(without_store), tmp_path / "sprung"
    code_folders.share(own, store)
    for file in store.glob("*.nb?"):
        file.write_bytes(pickle.dumps(_Trap(sprung)))
    if not is_trusted:
        store.chmod(0o777)
    with suppress(subprocess.CalledProcessError):  # what is loaded is no code
        compiled_with(other)
    assert sprung.exists() == is_trusted
