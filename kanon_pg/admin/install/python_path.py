"""Which folders the server's Python searches for this package, and making them readable for it.

PL/Python runs the server's own interpreter as the server's user, so it knows nothing of the environment
that this process runs in. The folders are found here, tried inside the server, and then stored once, in the
SET clause of ``kanon.boot()``.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kanon_pg
from kanon_pg.admin.install.report import Problem
from kanon_pg.admin.install.runtime import copy_runtime
from kanon_pg.runner.launch import SOLVER_LIBRARIES, folder_of

SERVER_MODULES = ("jinja2", "markupsafe", "sqlglot", "pyroaring", *SOLVER_LIBRARIES)
"""Modules beside this package that the server's backend or its solver process imports."""

DEFAULT_RUNTIME = Path("/var/lib/kanon_pg/runtime")
"""Where root copies the package to if the server's user cannot read it where it is."""

Answer = dict[str, Any]
Ask = Callable[[str], str]
"""Runs `kanon_pg.admin.install.probe.probe` inside the server."""


@dataclass(frozen=True, slots=True)
class SettledPath:
    """The folders that the server will use.

    Parameters
    ----------
    folders : tuple of str
        In search order.
    problems : tuple of Problem
        Why they do not work; empty if they do.
    note : str or None
        What was copied, if anything.
    """

    folders: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    note: str | None = None


def own_folders() -> list[str]:
    """Return the folders from which this process imports the package and what the server needs beside it."""
    folders = [str(Path(kanon_pg.__file__).resolve().parents[1])]
    for module in SERVER_MODULES:
        folder = folder_of(module)
        if folder is not None:
            folders.append(folder)
    return list(dict.fromkeys(folders))


def settle_python_path(ask: Ask, given: list[str] | None, runtime_folder: Path | None) -> SettledPath:
    """Find folders that the server's Python can use; copy the package if that is what it takes.

    Parameters
    ----------
    ask : callable
        Runs the probe inside the server.
    given : list of str, optional
        Folders on the server, chosen by the administrator; nothing else is tried then.
    runtime_folder : Path, optional
        Where to copy to; root has a default.
    """
    folders = own_folders() if given is None else given
    answer = _ask(ask, folders)
    problems = _problems(answer, folders)
    unreadable = bool(answer["blocked"] or answer["open_to_all"])
    if not problems or given is not None or not unreadable or answer["python"] != _own_python():
        return SettledPath(tuple(folders), tuple(problems))
    target = runtime_folder or (DEFAULT_RUNTIME if os.geteuid() == 0 else None)
    if target is None or not _is_same_machine(ask, target):
        return SettledPath(tuple(folders), (*problems, _elsewhere(target)))
    copied = copy_runtime(target)
    folders = [str(copied)]
    problems = _problems(_ask(ask, folders), folders)
    note = f"The server's user cannot read this package where it is; a copy for the server is in {copied}."
    return SettledPath(tuple(folders), tuple(problems), note)


def _ask(ask: Ask, folders: list[str], marker: dict[str, str] | None = None) -> Answer:
    modules = ["kanon_pg", *SERVER_MODULES] if marker is None else []
    answer: Answer = json.loads(ask(json.dumps({"folders": folders, "modules": modules, "marker": marker})))
    return answer


def _own_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _problems(answer: Answer, folders: list[str]) -> list[Problem]:
    """Say everything that is wrong at once; a folder that cannot be read explains modules not found."""
    found = []
    python = answer["python"]
    if answer["interpreter"] is None:
        found.append(
            Problem(
                f"The server has no program python{python}, which runs the solver.",
                f"Debian and Ubuntu: apt install python{python}.",
            )
        )
    for folder, step in answer["blocked"].items():
        found.append(
            Problem(
                f"The server's user (id {answer['user']}) cannot read {folder}: "
                f"{step} is missing or closed to it.",
                f"chmod o+rx {step!r} on the server, or choose other folders with --python-path.",
            )
        )
    for folder in answer["open_to_all"]:
        found.append(
            Problem(
                f"Everybody can write to {folder}, so everybody could run code as the server.",
                f"chmod o-w {folder!r}",
            )
        )
    failed = {name: why for name, (works, why) in answer["imports"].items() if not works}
    version = answer["imports"].get("kanon_pg", [False, ""])
    if version[0] and version[1] != kanon_pg.__version__:
        found.append(
            Problem(
                f"The server would use kanon_pg {version[1]}, but this is {kanon_pg.__version__}.",
                f"Install kanon_pg {kanon_pg.__version__} in {', '.join(folders)} on the server.",
            )
        )
    if failed and python != _own_python():
        found.append(
            Problem(
                f"The server's PL/Python is Python {python}, this package runs on Python {_own_python()}; "
                f"the server cannot import {', '.join(failed)}.",
                f"Make a virtual environment with python{python}, install kanon_pg there, and run "
                "its `kanon install`.",
            )
        )
    elif failed and not answer["blocked"]:
        found += [
            Problem(
                f"The server's Python cannot import {name} ({why}).",
                f"python{python} -m pip install --target {folders[-1]!r} {name.split('.')[-1]}",
            )
            for name, why in failed.items()
        ]
    return found


def _elsewhere(target: Path | None) -> Problem:
    if target is None:
        return Problem(
            "This user has no default folder to copy the package to for the server.",
            "Name a folder that the server's user can read: kanon install --runtime-dir FOLDER.",
        )
    return Problem(
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


def _is_same_machine(ask: Ask, folder: Path) -> bool:
    with _marker(folder) as marker:
        return bool(_ask(ask, [str(folder)], marker)["same_machine"])
