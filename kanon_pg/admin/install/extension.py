"""The extension: its files are written from the scripts below ``sql/`` that `kanon install` runs."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import kanon_pg
from kanon_pg.admin.install.facts import MissingPart, own_relations, own_tables
from kanon_pg.admin.install.python_path import DEFAULT_RUNTIME, copy_runtime, own_folders
from kanon_pg.admin.install.scripts import INSTALL_LOCK, script_names, script_text
from kanon_pg.db.identifiers import Fragment, Literal
from kanon_pg.db.readers import READERS, READERS_LOCK
from kanon_pg.errors import InstallError

NAME = "kanon_pg"

UNPACKAGED = "unpackaged"
"""Stands for the objects that `kanon install` made, or those of an extension, of whichever version. An update
from it applies all scripts, so that updating to it and from it repeats them."""

EARLIER: tuple[str, ...] = ()
"""Versions of the extension from which an update is offered: every one that was published, from 0.2.0 on.

The update from each applies all scripts, which bring whatever an earlier version made up to date.
"""

_NOT_DUMPED = {"request", "version"}
"""Tables whose rows the installation or a single call made."""

_CONTROL = f"""# kanon_pg: k-anonymity enforced inside PostgreSQL
comment = 'k-anonymity: guarded anonymous views, audits, and queries about tables of people'
default_version = '{kanon_pg.__version__}'
requires = 'plpython3u'
superuser = true
relocatable = false
encoding = 'UTF8'
"""

_HEAD = f"""-- Written by `kanon extension install` from the files in sql/.
\\echo Use "CREATE EXTENSION {NAME} CASCADE" to load this file. \\quit
"""

_LIBPYTHON = re.compile(rb"libpython(3\.\d+)")


@dataclass(frozen=True, slots=True)
class ServerFolders:
    """Where a server has its extensions."""

    major: int
    shared: Path
    """What ``pg_config --sharedir`` prints."""
    libraries: Path
    """What ``pg_config --pkglibdir`` prints."""


def folders_of(pg_config: Path) -> ServerFolders:
    """Ask a server's ``pg_config``; refuse one that cannot be run, or does not answer like one.

    Raises
    ------
    InstallError
        It cannot be run, or does not answer like one.
    """
    try:
        printed = subprocess.run(  # noqa: S603 - a program that the administrator named, or of an installed server
            [pg_config, "--version", "--sharedir", "--pkglibdir"], capture_output=True, text=True, check=True
        ).stdout
        version, shared, libraries = printed.splitlines()
        major = re.search(r"\d+", version)
        if major is None:
            raise ValueError(version)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise InstallError(
            f"{pg_config} cannot be run, or is no pg_config.",
            hint="Name the server's own: "
            "kanon extension install --pg-config /usr/lib/postgresql/15/bin/pg_config",
        ) from error
    return ServerFolders(int(major.group()), Path(shared), Path(libraries))


def write_extension(
    server: ServerFolders,
    *,
    python_path: list[str] | None = None,
    runtime_folder: Path | None = None,
    root: Path = Path("/"),
) -> list[Path]:
    """Write the extension's files into a server's folder.

    Parameters
    ----------
    python_path : list of str, optional
        Folders that the server's Python is to search; by default those of this process, or a copy of them if
        not everybody can read these.
    root : Path
        Put in front of the server's folder, for packagers.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InstallError
        The server has no PL/Python, or one of another version than this process; it could not use the
        package; or the folder cannot be written.
    """
    _require_python(server)
    folders = python_path or _readable_folders(runtime_folder)
    target = root / (server.shared / "extension").relative_to("/")
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in scripts(folders).items():
            path = target / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)
            written.append(path)
    except OSError as error:
        raise InstallError(
            f"The files of the extension cannot be written to {target} ({error.strerror}).",
            hint="Run it as the user who may write there, mostly root: sudo kanon extension install. Without "
            "that, `kanon install` works in a single database.",
        ) from error
    return written


def scripts(folders: list[str], earlier: tuple[str, ...] = EARLIER) -> dict[str, str]:
    """Return the texts of all files by their names.

    Parameters
    ----------
    folders : list of str
        What the server's Python is to search.
    earlier : tuple of str
        Versions from which an update is offered.
    """
    version = kanon_pg.__version__
    parts = {
        "api": Fragment("@extschema@"),
        "plpython": True,
        "python_path": Literal(json.dumps(folders, ensure_ascii=False)),
        "version": Literal(version),
        "schema": None,
        "in_server": 1,
        "created_extension": 0,
        "created_schema": 0,
        "lock": INSTALL_LOCK,
        "readers_lock": READERS_LOCK,
        "readers": READERS,
        "own": [Literal(name) for name in own_relations()],
        "dumped": [Literal(f"kanon.{name}") for name in own_tables() if name not in _NOT_DUMPED],
    }
    body = [
        *script_names(True),
        *script_names(True, last=True),
        "readers",
        "extension/later",
        "settle",
        "extension/settle",
    ]

    def text(*names: str) -> str:
        rendered = (script_text(name, **parts).rstrip().removesuffix(";") for name in names)
        return _HEAD + "".join(f"\n{one};\n" for one in rendered)

    update = text("extension/session", "extension/adopt", *body)
    return {
        f"{NAME}.control": _CONTROL,
        f"{NAME}--{version}.sql": text("extension/session", "extension/fresh", *body),
        f"{NAME}--{UNPACKAGED}.sql": text("extension/unpackaged"),
        f"{NAME}--{version}--{UNPACKAGED}.sql": _HEAD,
        **{f"{NAME}--{before}--{version}.sql": update for before in (UNPACKAGED, *earlier)},
    }


def _require_python(server: ServerFolders) -> None:
    library = server.libraries / "plpython3.so"
    if not library.exists():
        raise InstallError(
            f"PostgreSQL {server.major} has no PL/Python.",
            hint=f"Debian and Ubuntu: apt install postgresql-plpython3-{server.major}.",
        )
    found = _LIBPYTHON.search(library.read_bytes())
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if found is not None and found.group(1).decode() != own:
        python = found.group(1).decode()
        raise InstallError(
            f"PL/Python of PostgreSQL {server.major} is Python {python}, this package runs on Python {own}.",
            hint=f"Make a virtual environment with python{python}, install kanon_pg there, and run its "
            "`kanon extension install`.",
        )


def _readable_folders(runtime_folder: Path | None) -> list[str]:
    folders = own_folders()
    problems = [problem for folder in folders for problem in _problems(Path(folder))]
    if not problems:
        return folders
    target = runtime_folder or (DEFAULT_RUNTIME if os.geteuid() == 0 else None)
    if target is None:
        raise InstallError(
            "The server could not use this package where it is.",
            detail="\n".join(f"{problem.what} -> {problem.fix}" for problem in problems),
            hint="Mend these, or name a folder for a copy: kanon extension install --runtime-dir FOLDER.",
        )
    return [str(copy_runtime(target))]


def _problems(folder: Path) -> list[MissingPart]:
    """Say what keeps an account that nobody knows here from using a folder, or lets everybody change it."""
    for step in reversed([folder, *folder.parents]):
        mode = step.stat().st_mode
        if not mode & stat.S_IXOTH or (step == folder and not mode & stat.S_IROTH):
            return [MissingPart(f"{step} is closed to other accounts.", f"chmod o+rx {str(step)!r}")]
    if folder.stat().st_mode & stat.S_IWOTH:
        return [MissingPart(f"Everybody can write to {folder}.", f"chmod o-w {str(folder)!r}")]
    return []
