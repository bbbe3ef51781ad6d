"""Functions that installing and uninstalling run inside the server, by the source text of this module.

A temporary PL/Python function gets the whole text (`inside_server` in `kanon_pg.admin.install.scripts`),
before anything of this package can be imported there. So it uses the standard library alone and no
annotations from elsewhere.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from typing import Any

_IMPORT = (
    "import importlib, json, sys\n"
    "given = json.loads(sys.argv[1])\n"
    "sys.path[:0] = given['folders']\n"
    "found = {}\n"
    "for name in given['modules']:\n"
    "    try:\n"
    "        found[name] = [True, getattr(importlib.import_module(name), '__version__', '')]\n"
    "    except Exception as error:\n"
    "        found[name] = [False, type(error).__name__ + ': ' + str(error).splitlines()[0]]\n"
    "print(json.dumps(found))\n"
)


def _interpreter() -> Any:
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}{sys.abiflags}"
    beside = os.path.join(sys.base_exec_prefix, "bin", name)
    for program in (sys.executable or "", beside):
        if os.path.basename(os.path.realpath(program)) == name and os.access(program, os.X_OK):
            return program
    return None


def _blocked_at(folder: str) -> Any:
    """Return the outermost folder on the way that this user may not enter, or that is not there."""
    steps = [folder]
    while os.path.dirname(steps[-1]) != steps[-1]:
        steps.append(os.path.dirname(steps[-1]))
    for step in reversed(steps):
        if not os.access(step, os.X_OK) or not os.path.isdir(step):
            return step
    return None if os.access(folder, os.R_OK) else folder


def _open_to_all(folder: str) -> bool:
    return os.path.isdir(folder) and bool(os.stat(folder).st_mode & stat.S_IWOTH)


def _imports(program: str, folders: Any, modules: Any) -> Any:
    given = json.dumps({"folders": folders, "modules": modules})
    done = subprocess.run(  # noqa: S603 - this module's own program text
        [program, "-I", "-S", "-c", _IMPORT, given],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={},
        cwd="/",
    )
    if done.returncode != 0:
        return {
            name: [False, "the interpreter ended with status " + str(done.returncode)] for name in modules
        }
    return json.loads(done.stdout)


def _same_machine(marker: Any) -> bool:
    try:
        with open(marker["file"], encoding="ascii") as file:
            return bool(file.read() == marker["content"])
    except OSError:
        return False


def probe(arguments: str) -> str:
    """Answer a request in JSON with JSON.

    Parameters
    ----------
    arguments : str
        ``folders`` (list of paths), ``modules`` (names to import), ``marker`` (file and content) or null.

    Returns
    -------
    str
        ``python`` (version), ``user`` (numeric id), ``interpreter`` (path or null), ``blocked`` (folder to
        the step that cannot be entered), ``open_to_all`` (folders that everybody can write to), ``imports``
        (module to [works, version or error]), ``same_machine`` (bool).
    """
    request = json.loads(arguments)
    program = _interpreter()
    blocked = {folder: _blocked_at(folder) for folder in request["folders"]}
    return json.dumps(
        {
            "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
            "user": os.geteuid(),
            "interpreter": program,
            "blocked": {folder: step for folder, step in blocked.items() if step is not None},
            "open_to_all": [folder for folder in request["folders"] if _open_to_all(folder)],
            "imports": _imports(program, request["folders"], request["modules"]) if program else {},
            "same_machine": bool(request["marker"]) and _same_machine(request["marker"]),
        }
    )


_FOLDER = "kanon_ledger"


def remove_records(database: str) -> str:
    """Remove the folder of a database below that of all records, which goes too if it is empty then.

    Parameters
    ----------
    database : str
        OID of the database, in decimal digits.

    Returns
    -------
    str
        Why it could not be removed, empty if it is gone or never was.
    """
    # the working directory of a backend is the server's data directory
    if not os.path.isfile(os.path.join("global", "pg_control")):
        return "the server's data directory was not found"
    try:
        shutil.rmtree(os.path.join(_FOLDER, str(int(database))))
    except FileNotFoundError:
        pass
    except OSError as error:
        return error.strerror or "unknown reason"
    try:
        os.rmdir(_FOLDER)
    except OSError:
        # other databases have records there, or there never were any
        return ""
    return ""
