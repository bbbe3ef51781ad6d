"""Where the server's Python finds this package: folders that it searches, made readable, or a copy in one.

PL/Python runs the server's own interpreter as the server's user, so it knows nothing of the environment
that this process runs in. The folders are found here, tried inside the server, and then stored once, in the
SET clause of ``kanon.boot()``.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any

import kanon_pg
from kanon_pg.admin.install.facts import MissingPart
from kanon_pg.core.code_folders import STORE
from kanon_pg.db.statements import sql_root
from kanon_pg.runner.compilation import share_compiled
from kanon_pg.runner.launch import SOLVER_LIBRARIES, folder_of

_REQUIRED = ("jinja2", "sqlglot", "numpy", "numba", "ortools", "networkx")
_USED_IF_THERE = ("opendp",)
"""Libraries of extras that the server uses, too: noise."""

_NOT_NEEDED = {"absl-py", "immutabledict", "typing-extensions"}
"""What OR-Tools requires for modules of it that the solvers never load."""

_LEFT_OUT = {"..", "tests", "__pycache__"}
"""Parts of paths: programs outside the packages' folder, tests (half of all files), bytecode as listed."""

_APART = ("_sql/", f"{STORE}/")
"""Folders of the package that are copied by themselves."""

_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def copy_runtime(parent: Path) -> Path:
    """Copy everything into a new folder below `parent`, unless the same is there already.

    Parameters
    ----------
    parent : Path
        Made if missing.

    Returns
    -------
    Path
        ``<parent>/<version>-<digest>``; complete, readable by everybody, writable by its owner only.
    """
    package, distributions = _package_files(), _distributions()
    target = parent / f"{kanon_pg.__version__}-{_digest(package, distributions)}"
    if target.is_dir():
        share_compiled(target / "kanon_pg")
        return target
    parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=parent))
    try:
        for name, source in [*package, *_distribution_files(distributions)]:
            copy = building / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)  # with its time, which tells whether compiled files are fresh
        compileall.compile_dir(building, quiet=2, stripdir=str(building), prependdir=str(target), workers=1)
        _open_for_reading(building)
        building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    share_compiled(target / "kanon_pg")
    return target


def _package_files() -> list[tuple[str, Path]]:
    package = Path(kanon_pg.__file__).resolve().parent
    found = [(f"kanon_pg/{name}", path) for name, path in _files(package) if not name.startswith(_APART)]
    return found + [(f"kanon_pg/_sql/{name}", path) for name, path in _files(sql_root())]


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path


def _distributions() -> list[metadata.Distribution]:
    """Return the required distributions and, transitively, what they require without extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [*_REQUIRED, *(name for name in _USED_IF_THERE if find_spec(name) is not None)]
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found[name] = metadata.distribution(name)
        for requirement in found[name].requires or ():
            match = _NAME.match(requirement)
            if match and ";" not in requirement and match.group() not in _NOT_NEEDED:
                waiting.append(match.group())
    return [found[name] for name in sorted(found)]


def _distribution_files(distributions: list[metadata.Distribution]) -> Iterator[tuple[str, Path]]:
    for distribution in distributions:
        for file in distribution.files or ():
            if not _LEFT_OUT.intersection(file.parts):
                path = Path(str(distribution.locate_file(file)))
                yield file.as_posix(), path
                # installers need not list the bytecode, which is fresh in the copy, too
                if path.suffix == ".py" and (bytecode := Path(cache_from_source(str(path)))).exists():
                    yield (file.parent / "__pycache__" / bytecode.name).as_posix(), bytecode


def _digest(package: list[tuple[str, Path]], distributions: list[metadata.Distribution]) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for distribution in distributions:
        digest.update(f"{distribution.name} {distribution.version}\n".encode())
    for name, path in package:
        if "__pycache__" in path.parts:
            continue
        digest.update(f"{name}\n".encode() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _open_for_reading(root: Path) -> None:
    root.chmod(0o755)
    for folder, folders, files in os.walk(root):
        for name in folders:
            Path(folder, name).chmod(0o755)
        for name in files:
            Path(folder, name).chmod(0o644)


SERVER_MODULES = ("jinja2", "markupsafe", "sqlglot", *SOLVER_LIBRARIES)
"""Modules besides this package that the server's backend or its solver process imports."""

DEFAULT_RUNTIME = Path("/var/lib/kanon_pg/runtime")
"""Where root copies the package to if the server's user cannot read it where it is."""

Answer = dict[str, Any]
Probe = Callable[[str], str]
"""Runs `kanon_pg.admin.install.run_in_server.probe` inside the server."""


@dataclass(frozen=True, slots=True)
class SettledPath:
    """The folders that the server will use."""

    folders: tuple[str, ...]
    """In search order."""
    problems: tuple[MissingPart, ...] = ()
    """Why they do not work; empty if they do."""
    note: str | None = None
    """What was copied, if anything."""


def own_folders() -> list[str]:
    """Return the folders from which this process imports the package and what the server needs besides it."""
    folders = [str(Path(kanon_pg.__file__).resolve().parents[1])]
    for module in SERVER_MODULES:
        folder = folder_of(module)
        if folder is not None:
            folders.append(folder)
    return list(dict.fromkeys(folders))


def settle_python_path(probe: Probe, given: list[str] | None, runtime_folder: Path | None) -> SettledPath:
    """Find folders that the server's Python can use; copy the package if that is what it takes.

    Parameters
    ----------
    probe : callable
        Runs the probe inside the server.
    given : list of str, optional
        Folders on the server, chosen by the administrator; nothing else is tried then.
    """
    folders = own_folders() if given is None else given
    answer = _probed(probe, folders)
    problems = _problems(answer, folders)
    unreadable = bool(answer["blocked"] or answer["open_to_all"])
    if not problems or given is not None or not unreadable or answer["python"] != _own_python():
        return SettledPath(tuple(folders), tuple(problems))
    target = runtime_folder or (DEFAULT_RUNTIME if os.geteuid() == 0 else None)
    if target is None or not _is_same_machine(probe, target):
        return SettledPath(tuple(folders), (*problems, _elsewhere(target)))
    copied = copy_runtime(target)
    folders = [str(copied)]
    problems = _problems(_probed(probe, folders), folders)
    note = f"The server's user cannot read this package where it is; a copy for the server is in {copied}."
    return SettledPath(tuple(folders), tuple(problems), note)


def _probed(probe: Probe, folders: list[str], marker: dict[str, str] | None = None) -> Answer:
    modules = ["kanon_pg", *SERVER_MODULES] if marker is None else []
    answer: Answer = json.loads(probe(json.dumps({"folders": folders, "modules": modules, "marker": marker})))
    return answer


def _own_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _problems(answer: Answer, folders: list[str]) -> list[MissingPart]:
    """Say everything that is wrong at once; a folder that cannot be read explains modules not found."""
    found = []
    python = answer["python"]
    if answer["interpreter"] is None:
        found.append(
            MissingPart(
                f"The server has no program python{python}, which runs the solver.",
                f"Debian and Ubuntu: apt install python{python}.",
            )
        )
    for folder, step in answer["blocked"].items():
        found.append(
            MissingPart(
                f"The server's user (id {answer['user']}) cannot read {folder}: "
                f"{step} is missing or closed to it.",
                f"chmod o+rx {step!r} on the server, or choose other folders with --python-path.",
            )
        )
    for folder in answer["open_to_all"]:
        found.append(
            MissingPart(
                f"Everybody can write to {folder}, so everybody could run code as the server.",
                f"chmod o-w {folder!r}",
            )
        )
    failed = {name: why for name, (works, why) in answer["imports"].items() if not works}
    version = answer["imports"].get("kanon_pg", [False, ""])
    if version[0] and version[1] != kanon_pg.__version__:
        found.append(
            MissingPart(
                f"The server would use kanon_pg {version[1]}, but this is {kanon_pg.__version__}.",
                f"Install kanon_pg {kanon_pg.__version__} in {', '.join(folders)} on the server.",
            )
        )
    if failed and python != _own_python():
        found.append(
            MissingPart(
                f"The server's PL/Python is Python {python}, this package runs on Python {_own_python()}; "
                f"the server cannot import {', '.join(failed)}.",
                f"Make a virtual environment with python{python}, install kanon_pg there, and run "
                "its `kanon install`.",
            )
        )
    elif failed and not answer["blocked"]:
        found += [
            MissingPart(
                f"The server's Python cannot import {name} ({why}).",
                f"python{python} -m pip install --target {folders[-1]!r} {name.split('.')[-1]}",
            )
            for name, why in failed.items()
        ]
    return found


def _elsewhere(target: Path | None) -> MissingPart:
    if target is None:
        return MissingPart(
            "This user has no default folder to copy the package to for the server.",
            "Name a folder that the server's user can read: kanon install --runtime-dir FOLDER.",
        )
    return MissingPart(
        "The server does not see this machine's files.",
        "Install kanon_pg on the server's machine and name its folders there: "
        "kanon install --python-path FOLDER.",
    )


@contextmanager
def _marker(folder: Path) -> Iterator[dict[str, str]]:
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    file, content = folder / f".marker-{secrets.token_hex(8)}", secrets.token_hex(16)
    file.write_text(content, encoding="ascii")
    file.chmod(0o644)
    try:
        yield {"file": str(file), "content": content}
    finally:
        file.unlink()


def _is_same_machine(probe: Probe, folder: Path) -> bool:
    with _marker(folder) as marker:
        return bool(_probed(probe, [str(folder)], marker)["same_machine"])
