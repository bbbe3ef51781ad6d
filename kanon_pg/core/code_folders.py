"""Where compiled kernels are: in the account's own folder, which is filled from a store beside the package.

Compiled code is kept as pickles, and loading a pickle runs code. So a store beside the package is trusted
exactly if nobody can write to it but root and the owner of the package, who could as well change the package
itself. An account's own folder must be one that nobody else can write to, nor exchange by renaming: below the
operating system user's own home, checked at every start. Where there is no such home, a private temporary
folder serves one process.

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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import kanon_pg

STORE = "_compiled"
"""Folder in the package that holds the stores."""

CODE_FOLDER = "KANON_PG_CODE"
"""Environment variable that names a worker's own folder."""

_COMPILERS = ("numba", "llvmlite", "numpy")
_SOURCES = ("core", "worker")
"""Subpackages with kernels; these take constants from each other alone."""

_IMPORTED = re.compile(rf"^from (kanon_pg\.(?:{'|'.join(_SOURCES)})[.\w]*) import".encode(), re.MULTILINE)
_MADE_OF = re.compile(r"-(kanon_pg[\w.]*)-([0-9a-f]{16})\.")
_MARK = "compiled-"
_FILLED = "filled"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_PACKAGE = Path(kanon_pg.__file__).resolve().parent

_INSTRUCTIONS = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64": set[str](),
}
"""What Linux calls the instructions that each level of x86-64 adds to the one before, highest level first."""


@dataclass(frozen=True, slots=True)
class CodeFolder:
    """A folder for compiled code.

    Parameters
    ----------
    folder : Path
        Owned by this user, closed to all others.
    temporary : bool
        Whether the folder must be removed when its process ends.
    """

    folder: Path
    temporary: bool


def own_folder() -> CodeFolder:
    """Return this account's own folder; it exists afterwards.

    The home is the one in the user database: in a PostgreSQL backend ``HOME`` may be unset, or that of
    whoever started the server.
    """
    try:
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
        return CodeFolder(_private_folder_below(home), temporary=False)
    except (OSError, KeyError):
        return CodeFolder(Path(tempfile.mkdtemp(prefix="kanon_pg-")), temporary=True)


def store_of(package: Path = _PACKAGE) -> Path:
    """Return the place of the store of this package or of a copy; it need not exist."""
    return package / STORE / environment()


def is_trusted(store: Path) -> bool:
    """Return whether whoever can write to a store could change the package, too."""
    package = store.parents[1]
    try:
        owners = {0, (package / "__init__.py").stat().st_uid}
        return all(_is_closed(folder, owners) for folder in (store, store.parent))
    except OSError:
        return False


def fill(own: Path, store: Path) -> None:
    """Copy into an own folder what a trusted store has of later date."""
    if not is_trusted(store):
        return
    state = f"{store} {store.stat().st_mtime_ns}"
    if _text(own / _FILLED) != state:
        _copy(store, own, mode=0o600)
        _put(own / _FILLED, state.encode(), 0o600)


def share(own: Path, store: Path) -> None:
    """Copy what an own folder has of these sources into a store that every account may read.

    Raises
    ------
    OSError
        This account may not write there.
    """
    for folder in (store.parent, store):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    _copy(own, store, mode=0o644)
    for name in os.listdir(store):
        if not _is_of_these_sources(name):
            (store / name).unlink(missing_ok=True)


def mark(own: Path, kernels: str) -> None:
    """Note that a set of kernels is compiled from the sources as they are."""
    _put(own / f"{_MARK}{kernels}", sources().encode(), 0o600)


def is_complete(kernels: str, own: Path) -> bool:
    """Return whether a set of kernels is compiled, in the own folder or in a trusted store."""
    store = store_of()
    folders = (own, store) if is_trusted(store) else (own,)
    return any(_text(folder / f"{_MARK}{kernels}") == sources() for folder in folders)


@functools.cache
def processor() -> str:
    """Return the processor to compile for, in LLVM's words.

    A level in place of the very processor: the code of an image or a package runs on other machines, too.
    """
    if os.uname().machine != "x86_64":
        return "generic"
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "x86-64"
    there = next((set(line.split()) for line in text.splitlines() if line.startswith("flags")), set[str]())
    levels = list(_INSTRUCTIONS)
    return next(
        level for level in levels if all(_INSTRUCTIONS[low] <= there for low in levels[levels.index(level) :])
    )


@functools.cache
def environment() -> str:
    """Return what compiled code depends on besides its sources, as the name of a folder."""
    # a tenth of what a backend loads, which most never need
    from importlib import metadata  # noqa: PLC0415

    versions = [f"{name}{metadata.version(name)}" for name in _COMPILERS]
    return "-".join([str(sys.implementation.cache_tag), *versions, processor()])


def name_of(module: str) -> str:
    """Return by what the files of a module's kernels are known; it changes with what `sources` covers.

    Numba compares a stamp inside its files, but not before it has loaded types that other sources may lack.
    """
    return f"{module}-{sources(module)[:16]}"


def _is_of_these_sources(name: str) -> bool:
    made_of = _MADE_OF.search(name)
    return made_of is None or made_of[0][1:-1] == name_of(made_of[1])


@functools.cache
def sources(module: str | None = None) -> str:
    """Return what changes with a module and all that it imports, or with any module unless one is named."""
    files = _files()
    waiting = list(files) if module is None else [module]
    reached = set[str]()
    while waiting:
        name = waiting.pop()
        if name not in reached and name in files:
            reached.add(name)
            waiting += [one.decode() for one in _IMPORTED.findall(files[name])]
    digest = hashlib.sha256()
    for name in sorted(reached):
        digest.update(f"{name}\n".encode() + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()


@functools.cache
def _files() -> dict[str, bytes]:
    """Return the modules that kernels are in or take constants from."""
    found = (file for part in _SOURCES for file in (_PACKAGE / part).rglob("*.py"))
    return {
        ".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts): file.read_bytes() for file in found
    }


def _text(file: Path) -> str | None:
    try:
        return file.read_text()
    except OSError:
        return None


def _copy(source: Path, target: Path, mode: int) -> None:
    """Copy the files that nobody else can write to and that are of later date; marks come last."""
    for name in sorted(os.listdir(source), key=lambda name: (name.startswith(_MARK), name)):
        with suppress(FileNotFoundError), (source / name).open("rb") as file:
            status = os.fstat(file.fileno())
            copy = target / name
            is_later = not copy.exists() or copy.stat().st_mtime_ns < status.st_mtime_ns
            is_wanted = name != _FILLED and _is_of_these_sources(name)
            if is_later and is_wanted and not status.st_mode & _OTHERS_WRITE:
                _put(copy, file.read(), mode, status.st_mtime_ns)


def _put(target: Path, content: bytes, mode: int, time: int | None = None) -> None:
    number, part = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        if time is not None:
            os.utime(part, ns=(time, time))
        os.replace(part, target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


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
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionError("the folder is not this user's own")
    # The user's own group may write where the umask is 002; it has no other member.
    own_group = status.st_gid == pwd.getpwuid(os.geteuid()).pw_gid
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not own_group):
        raise PermissionError("others can exchange what is in the folder")


def _is_closed(folder: Path, owners: set[int]) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid in owners and not status.st_mode & _OTHERS_WRITE
