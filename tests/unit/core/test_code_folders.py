"""Compiled code is loaded only from where nobody could put it who could not change the package itself."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import kanon_pg
from kanon_pg.core import code_folders
from kanon_pg.worker import compiled
from kanon_pg.worker.compiled import kernel


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return a store beside a package of its own, published from a folder with one set."""
    package = tmp_path / "kanon_pg"
    for folder in ("core", "worker"):
        shutil.copytree(Path(kanon_pg.__file__).parent / folder, package / folder)
    (package / "__init__.py").touch()
    monkeypatch.setattr(kanon_pg, "__file__", str(package / "__init__.py"))
    own = tmp_path / "own"
    own.mkdir()
    (own / "one").write_bytes(b"1")
    (own / "two").write_bytes(b"2")
    code_folders._sources.cache_clear()
    code_folders.mark(own, "plain").write_text("one\ntwo")
    store = code_folders.own_store()
    code_folders.copy_to_store(["plain"], (own,), store)
    yield store
    code_folders._sources.cache_clear()


def test_what_was_published_is_complete_and_for_everybody(store):
    assert code_folders.is_trusted(store)
    assert code_folders.folders(Path("own")) == (store, Path("own"))
    assert code_folders.is_complete("plain", (store,))
    assert not code_folders.is_complete("models", (store,))
    assert code_folders.code_in(store, "two") == b"2"
    assert {file.stat().st_mode & 0o777 for file in store.iterdir()} == {0o644}
    assert {folder.stat().st_mode & 0o777 for folder in (store, store.parent)} == {0o755}


def test_a_set_without_all_of_its_files_is_not_complete(store, tmp_path):
    (store / "one").unlink()
    assert not code_folders.is_complete("plain", (store,))
    assert code_folders.is_complete("plain", (store, tmp_path / "own"))


@pytest.mark.parametrize(
    ("source", "is_known"),
    [
        ("worker/numbering.py", True),
        ("worker/compiled.py", True),
        ("core/packed.py", True),
        ("worker/main.py", False),
    ],
)
def test_other_sources_are_not_compiled(store, monkeypatch, source, is_known):
    """A file with kernels, two that they import, and one that no kernel uses."""
    file = store.parents[1] / source
    file.write_text(file.read_text() + "# changed")
    code_folders._sources.cache_clear()
    assert code_folders.is_complete("plain", (store,)) != is_known


def test_publishing_anew_removes_what_is_outdated(store, tmp_path):
    own = tmp_path / "own"
    code_folders.mark(own, "plain").write_text("one")
    code_folders.copy_to_store(["plain"], (own,), store)
    assert {file.name for file in store.iterdir()} == {"one", code_folders.mark(store, "plain").name}


@pytest.mark.parametrize("mode", [0o775, 0o757])
@pytest.mark.parametrize("above", [False, True])
def test_a_store_that_others_can_write_to_is_not_used(store, mode, above):
    (store.parent if above else store).chmod(mode)
    assert not code_folders.is_trusted(store)
    assert code_folders.folders(Path("own")) == (Path("own"),)


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
def test_a_file_that_others_can_write_to_is_not_loaded(store, mode):
    (store / "one").chmod(mode)
    assert code_folders.code_in(store, "one") is None


@pytest.mark.parametrize("is_theirs", [True, False])
def test_a_group_that_may_write_the_package_may_write_the_store(store, is_theirs):
    """As where the umask is 002, whatever installed the package; a group with the store alone is refused."""
    code = store.parents[1] / "__init__.py"
    code.chmod(0o664 if is_theirs else 0o644)
    for folder in (store, store.parent):
        folder.chmod(0o775)
    (store / "one").chmod(0o664)
    assert code_folders.is_trusted(store) == is_theirs
    assert code_folders.code_in(store, "one") == b"1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_group_than_the_package_s_is_refused(store):
    (store.parents[1] / "__init__.py").chmod(0o664)
    store.chmod(0o775)
    os.chown(store, -1, 65534)
    assert not code_folders.is_trusted(store)
    (store / "one").chmod(0o664)
    assert code_folders.code_in(store, "one") is None


def test_no_store(tmp_path):
    assert not code_folders.is_trusted(tmp_path / "package" / "_compiled" / "none")
    assert code_folders.code_in(tmp_path / "none", "one") is None


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


@pytest.fixture
def doubled():
    """Return a kernel that nothing has called before."""

    @kernel
    def double(number: int) -> int:
        return number + number

    return double


@pytest.mark.parametrize("others_write", [False, True])
def test_only_a_trusted_store_is_loaded(store, tmp_path, monkeypatch, doubled, others_write):
    own, sprung = tmp_path / "account", tmp_path / "sprung"
    own.mkdir()
    monkeypatch.setattr(compiled, "_folders", lambda: code_folders.folders(own))
    monkeypatch.setattr(compiled, "_own", lambda: own)
    assert doubled(4) == 8
    (name,) = (file.name for file in own.iterdir())
    (store / name).write_bytes(pickle.dumps(_Trap(sprung)))
    (store / name).chmod(0o644)
    if others_write:
        store.chmod(0o777)
    doubled._reset_overloads()
    assert doubled(5) == 10
    assert sprung.exists() != others_write


def test_a_file_that_was_cut_off_is_written_anew(tmp_path, monkeypatch, doubled):
    monkeypatch.setattr(compiled, "_folders", lambda: (tmp_path,))
    monkeypatch.setattr(compiled, "_own", lambda: tmp_path)
    assert doubled(4) == 8
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    doubled._reset_overloads()
    assert doubled(5) == 10
    assert len(file.read_bytes()) == len(whole)


def made(step: int, called: int = 1):
    """Return two kernels that are made anew: one that uses a constant, and one that calls it."""

    @kernel
    def inner(number: int) -> int:
        return number + step

    if called == 1:

        @kernel
        def outer(number: int) -> int:
            return inner(number)

    else:

        @kernel
        def outer(number: int) -> int:
            return inner(number) + 2

    return inner.py_func, outer.py_func


def test_code_is_known_by_what_it_is_made_of():
    digest = compiled._digest.__wrapped__
    first, same, other, changed = made(3), made(3), made(4), made(3, called=2)
    assert [digest(one) for one in first] == [digest(one) for one in same]
    assert digest(first[0]) != digest(other[0])
    assert digest(first[1]) != digest(other[1])  # compiled code contains what it calls
    assert digest(first[0]) == digest(changed[0])
    assert digest(first[1]) != digest(changed[1])


def test_two_kernels_of_one_name_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "_folders", lambda: (tmp_path,))
    monkeypatch.setattr(compiled, "_own", lambda: tmp_path)

    def adding(step: int):
        @kernel
        def add(number: int) -> int:
            return number + step

        return add

    assert adding(1)(1) == 2
    with pytest.raises(TypeError, match="two kernels have the name"):
        adding(2)(1)


def test_a_kernel_does_not_use_a_whole_module_of_the_package():
    @kernel
    def lazy(number: int) -> int:
        return number + compiled.STEP

    with pytest.raises(TypeError, match=r"kanon_pg\.worker\.compiled"):
        lazy(1)


def test_kernels_are_not_compiled_again_for_narrow_numbers_and_constants(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "_folders", lambda: (tmp_path,))
    monkeypatch.setattr(compiled, "_own", lambda: tmp_path)

    @kernel
    def inner(number: int) -> int:
        return number + 1

    @kernel
    def outer(numbers) -> int:
        return inner(numbers[0]) + inner(3) + inner(np.int64(4))

    assert outer(np.array([5], dtype=np.int32)) == 15
    assert sorted(file.name.split("-")[0] for file in tmp_path.iterdir()) == ["inner", "outer"]
