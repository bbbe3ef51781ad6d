"""Where compiled solvers are kept: beside the package for every account, else in the account's own folder.

Compiled code is stored with pickles, and loading a pickle runs code. So a store beside the package is trusted
exactly if nobody can write to it but root and who could as well change the package itself: its owner, and its
group if that may write there. An account's own folder must be one that nobody else can write to, nor exchange
by renaming: below the operating system user's own home, checked at every start. Where there is no such home,
a private temporary folder serves one process.

This module imports the standard library alone: a PostgreSQL backend finds the folders, its worker loads the
code.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pwd
import re
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import kanon_pg

STORE = "_compiled"
"""Folder in the package that holds the stores."""

CODE_FOLDER = "KANON_PG_CODE"
"""Environment variable that names a worker's own folder."""

KERNEL = re.compile(rb"^@(?:inner_)?kernel$", re.MULTILINE)
"""Stands before every function of a source that is compiled."""

_COMPILERS = ("numba", "llvmlite", "numpy")
_INSTALLED = ".dist-info"
_SOURCES = ("core", "worker")
"""Subpackages with kernels; these take constants from each other alone."""

_RUNNER = "warm_up.py"
_IMPORTED = re.compile(rf"^from (kanon_pg\.(?:{'|'.join(_SOURCES)})[.\w]*) import".encode(), re.MULTILINE)

_MARK = "compiled-"
_INSTRUCTIONS = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64": set[str](),
}
"""What Linux calls the instructions that each level of x86-64 adds to the one before, highest level first."""


@dataclass(frozen=True, slots=True)
class CodeFolder:
    """A folder for compiled code."""

    folder: Path
    """Owned by this user, closed to all others."""
    temporary: bool
    """Whether the folder must be removed when its process ends."""


def own_folder() -> CodeFolder:
    """Return this account's own folder; it exists afterwards.

    The home is the one in the user database: in a PostgreSQL backend ``HOME`` may be unset, or that of
    whoever started the server.
    """
    lasting = lasting_folder()
    if lasting is not None:
        return CodeFolder(lasting, temporary=False)
    return CodeFolder(Path(tempfile.mkdtemp(prefix="kanon_pg-")), temporary=True)


def lasting_folder() -> Path | None:
    """Return this account's own folder unless it cannot have one that lasts; it exists afterwards."""
    try:
        return _private_folder_below(Path(pwd.getpwuid(os.geteuid()).pw_dir))
    except (OSError, KeyError):
        return None


def store_of(package: Path) -> Path:
    """Return the place of the store of a copy of this package, which need not exist."""
    return package / STORE / environment()


def own_store() -> Path:
    """Return the place of the store of this very package."""
    return store_of(Path(kanon_pg.__file__).resolve().parent)


def is_trusted(store: Path) -> bool:
    """Return whether whoever can write to a store could change the package, too."""
    package = store.parents[1]
    try:
        code = (package / "__init__.py").stat()
        return all(_is_closed(folder, code) for folder in (store, store.parent))
    except OSError:
        return False


def code_in(store: Path, name: str) -> bytes | None:
    """Return a file of a folder for compiled code, None if it is not there or others can write to it."""
    try:
        with (store / name).open("rb") as file:
            return None if _others_write(os.fstat(file.fileno()), store.stat()) else file.read()
    except OSError:
        return None


def folders(own: Path | None) -> tuple[Path, ...]:
    """Return where compiled code is looked for, in this order.

    Parameters
    ----------
    own : Path or None
        This account's own folder, if it has one.
    """
    store = own_store()
    return tuple(one for one in (store, own) if one is not None and (one is own or is_trusted(store)))


def mark(folder: Path, kernels: str) -> Path:
    """Return the file that says that a set of kernels is compiled, for the sources as they are.

    Its lines are the names of the set's files.
    """
    return folder / f"{_MARK}{kernels}-{_sources()}"


def is_complete(kernels: str, among: tuple[Path, ...]) -> bool:
    """Return whether a set of kernels is compiled, its files in any of some folders."""
    names = _files_of(kernels, among)
    return bool(names) and names <= {name for folder in among for name in _listed(folder)}


def copy_to_store(sets: Sequence[str], among: tuple[Path, ...], store: Path) -> None:
    """Copy sets of kernels into a store, and remove from it what is outdated.

    Parameters
    ----------
    sets : sequence of str
        Sets that are complete.
    among : tuple of Path
        Folders that have their files.
    store : Path
        Made if missing; everybody may read it.

    Raises
    ------
    OSError
        This account may not write there.
    """
    for folder in (store.parent, store):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    files = {kernels: _files_of(kernels, among) for kernels in sets}
    for name in sorted({name for names in files.values() for name in names}):
        if not (store / name).exists():
            source = next(folder for folder in among if (folder / name).exists())
            put(store / name, (source / name).read_bytes())
    # the marks come last: they say that the rest is there
    for kernels, names in files.items():
        put(mark(store, kernels), "\n".join(sorted(names)).encode())
    kept = {name for names in files.values() for name in names} | {mark(store, one).name for one in sets}
    for name in set(_listed(store)) - kept:
        (store / name).unlink()


def _files_of(kernels: str, among: tuple[Path, ...]) -> set[str]:
    for folder in among:
        with suppress(OSError):
            return set(mark(folder, kernels).read_text().split())
    return set()


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def put(target: Path, content: bytes) -> None:
    """Write a file that everybody may read who reaches its folder, all of it or nothing."""
    part = target.with_name(f".part-{os.getpid()}")
    try:
        part.write_bytes(content)
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@functools.cache
def processor() -> str:
    """Return the processor to compile for, in LLVM's words.

    A level in place of the very processor: the code of an image or a package runs on other machines, too.
    """
    if os.uname().machine != "x86_64":
        return "generic"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "x86-64"
    there = next((set(line.split()) for line in lines if line.startswith("flags")), set[str]())
    levels = list(_INSTRUCTIONS)
    return next(
        level for level in levels if all(_INSTRUCTIONS[low] <= there for low in levels[levels.index(level) :])
    )


@functools.cache
def environment() -> str:
    """Return what compiled code depends on besides its sources, as the name of a folder."""
    versions = [f"{name}{version_of(name)}" for name in _COMPILERS]
    return "-".join([str(sys.implementation.cache_tag), *versions, processor()])


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    for folder in sys.path:
        for name in _listed(Path(folder)):
            if name.startswith(f"{package}-") and name.endswith(_INSTALLED):
                return name.removeprefix(f"{package}-").removesuffix(_INSTALLED)
    # a tenth of what a backend loads, to read the same
    from importlib import metadata  # noqa: PLC0415

    return metadata.version(package)


@functools.cache
def _sources() -> str:
    """Return what changes with files that have kernels, all that these import, and what runs them."""
    top = Path(kanon_pg.__file__).resolve().parents[1]
    package = Path(kanon_pg.__file__).resolve().parent
    files = (file for part in _SOURCES for file in (package / part).rglob("*.py"))
    waiting = [file for file in files if file.name == _RUNNER or KERNEL.search(file.read_bytes())]
    found: dict[Path, bytes] = {}
    while waiting:
        file = waiting.pop()
        if file not in found and file.is_file():
            found[file] = file.read_bytes()
            # what runs all kernels imports everything
            names = [] if file.name == _RUNNER else _IMPORTED.findall(found[file])
            waiting += [top / f"{name.decode().replace('.', '/')}.py" for name in names]
    digest = hashlib.sha256()
    for file in sorted(found):
        digest.update(f"{file.relative_to(top)}\n".encode() + hashlib.sha256(found[file]).digest())
    return digest.hexdigest()[:16]


def _private_folder_below(home: Path) -> Path:
    if not home.is_absolute():
        raise NotADirectoryError("the home is not an absolute path")
    _check_own(home)
    folder = home
    for name in (".cache", "kanon_pg", environment()):
        folder /= name
        folder.mkdir(mode=0o700, exist_ok=True)
        _check_own(folder)
    if folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) or not os.access(folder, os.W_OK):
        raise PermissionError("the folder is not private, or cannot be written to")
    return folder


def _check_own(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError("the folder is not this user's own")
    # The user's own group may write where the umask is 002; it has no other member.
    own_group = found.st_gid == pwd.getpwuid(os.geteuid()).pw_gid
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not own_group):
        raise PermissionError("others can exchange what is in the folder")


def _is_closed(folder: Path, code: os.stat_result) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid in {0, code.st_uid} and not _others_write(found, code)


def _others_write(found: os.stat_result, known: os.stat_result) -> bool:
    """Return whether somebody may write here whom the mode of something else does not let write there."""
    granted = known.st_mode & stat.S_IWGRP if known.st_gid == found.st_gid else 0
    return bool(found.st_mode & (stat.S_IWOTH | stat.S_IWGRP) & ~granted)
