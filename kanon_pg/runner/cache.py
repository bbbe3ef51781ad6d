"""Where compiled solvers are kept between sessions.

Numba stores compiled code together with pickles, and loading a pickle runs code. So the folder must be one
that nobody else can write to, nor exchange by renaming: below the operating system user's own home, checked
at every start. Where there is no such home, a private temporary folder serves one worker.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import kanon_pg

_KERNEL = b"@kernel"


@dataclass(frozen=True, slots=True)
class CodeCache:
    """A folder for compiled code.

    Parameters
    ----------
    folder : Path
        Owned by this user, closed to all others.
    temporary : bool
        Whether the folder must be removed when its worker ends.
    """

    folder: Path
    temporary: bool


def code_cache() -> CodeCache:
    """Return the folder for these sources and this version of Python; it exists afterwards.

    The home is the one in the user database: in a PostgreSQL backend ``HOME`` may be unset, or that of
    whoever started the server.
    """
    try:
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
        return CodeCache(_private_folder_below(home), temporary=False)
    except (OSError, KeyError):
        return CodeCache(Path(tempfile.mkdtemp(prefix="kanon_pg-")), temporary=True)


def compiled_mark(folder: Path, kernels: str) -> Path:
    """Return the file whose existence says that a set of kernels is compiled in this folder."""
    return folder / f"compiled-{kernels}"


def _stamp() -> str:
    """Return what changes with any source file that has kernels; they take constants from each other alone.

    Numba itself notices a changed file, but not that compiled code has a changed function inlined. It keeps
    code by the place of its source, so a copy of the package elsewhere has to be compiled anew.
    """
    package = Path(kanon_pg.__file__).parent
    files = (file for part in ("core", "solvers") for file in (package / part).rglob("*.py"))
    latest = max(file.stat().st_mtime_ns for file in files if _KERNEL in file.read_bytes())
    place = hashlib.sha256(os.fsencode(package)).hexdigest()
    return f"{latest:x}-{place[:8]}"


def _private_folder_below(home: Path) -> Path:
    if not home.is_absolute():
        raise NotADirectoryError("the home is not an absolute path")
    _check_own(home)
    folder = home
    for name in (".cache", "kanon_pg", f"{kanon_pg.__version__}-{sys.implementation.cache_tag}-{_stamp()}"):
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
