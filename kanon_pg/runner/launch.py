"""Starts a worker: which interpreter, which modules it can load, and nothing else inherited.

The worker is started by exec, never by fork alone: a forked PostgreSQL backend would share the server's
sockets and shared memory. It gets its own session, so that the signals which PostgreSQL sends to the
backend's process group do not hit it half-way, no open files but its end of the channel, and no environment.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kanon_pg
from kanon_pg.core.code_folders import CODE_FOLDER, CodeFolder, own_folder

SOLVER = "kanon_pg.worker.solvers.registry"
"""Module whose function ``solve`` the worker calls."""

AUDITOR = "kanon_pg.worker.audit.auditor"
"""Module whose function ``work`` the worker calls for audits."""

GROUPER = "kanon_pg.worker.grouping.grouper"
"""Module whose function ``work`` the worker calls to group the values of one attribute."""

CERTIFIER = "kanon_pg.worker.certifier"
"""Module whose function ``certify`` the worker calls to write the certificate of a release."""

WARM_UP = "kanon_pg.worker.warm_up"
"""Module whose function ``warm_up`` compiles the solvers."""

SOLVER_LIBRARIES = ("numpy", "numba", "llvmlite", "ortools", "networkx", "google.protobuf")
"""Packages that the solvers import besides this one. What else OR-Tools depends on they never load.
``google`` is the folder of many packages, so the one that is meant is named whole."""

IDLE_SECONDS = 300.0
"""A worker that has had nothing to do for so long ends itself."""

_BOOT = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path.extend(start.pop('path')); "
    "import importlib; importlib.import_module(start.pop('module')).main(**start)"
)


class LaunchError(Exception):
    """A worker cannot be started; its session raises that as the error of its own kind."""

    def __init__(self, message: str, *, detail: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """What a worker runs."""

    module: str
    """Module whose function ``main`` serves the channel."""
    path: Sequence[str]
    """Folders it imports from."""
    arguments: Mapping[str, Any]
    """Further arguments of ``main``, as JSON values."""
    environment: Mapping[str, str]
    """Its whole environment."""
    code: CodeFolder | None = None
    """Its own folder for compiled code, if it compiles."""


class Worker:
    """A running worker process and this end of its channel.

    It ends with this object: when `end` is called, when the object is collected, when Python exits.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, code: CodeFolder | None
    ) -> None:
        self.process = process
        self.channel = channel
        self.ready = False
        self._code = code
        self._owner = os.getpid()
        self.end = weakref.finalize(self, _end, self._owner, process, channel, code)

    @property
    def code_folder(self) -> Path:
        """Own folder for compiled code of a worker that compiles."""
        assert self._code is not None  # noqa: S101 - callers know what they started
        return self._code.folder

    def is_usable(self) -> bool:
        """Return whether the worker runs, and is not that of the process which this one was forked from."""
        return self.end.alive and self._owner == os.getpid() and self.process.poll() is None


def start_process(code: CodeFolder | None = None, *, prepared: str | None = None) -> Worker:
    """Start a worker for solving and return at once; it loads a module while the caller goes on.

    Parameters
    ----------
    code : CodeFolder, optional
        Its own folder for compiled code; this account's unless given.
    prepared : str, optional
        The module that its first job needs; the solvers' unless given.

    Raises
    ------
    LaunchError
        There is no interpreter or library for it, or the system starts no process.
    """
    code = own_folder() if code is None else code
    try:
        path = python_path()
    except BaseException:
        _remove(code)
        raise
    arguments = {
        "solver": SOLVER,
        "auditor": AUDITOR,
        "grouper": GROUPER,
        "certifier": CERTIFIER,
        "warm_up": WARM_UP,
        "prepared": SOLVER if prepared is None else prepared,
        "temporary_folder": str(code.folder) if code.temporary else None,
    }
    environment = {CODE_FOLDER: str(code.folder)}
    return start(WorkerProgram("kanon_pg.worker.main", path, arguments, environment, code))


def start(program: WorkerProgram) -> Worker:
    """Start a worker and return at once.

    Raises
    ------
    LaunchError
        There is no interpreter for it, or the system starts no process.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            # -B: its umask would close the bytecode that it writes to the server's account
            process = _spawn([interpreter(), "-I", "-S", "-B", "-c", _BOOT], theirs.fileno(), program)
        except BaseException:
            ours.close()
            _remove(program.code)
            raise
    return Worker(process, ours, program.code)


def interpreter() -> str:
    """Return the path of an interpreter that can load what this process loads.

    Inside a PostgreSQL backend ``sys.executable`` is the first ``python3`` on the server's ``PATH``, if any,
    and may be of another version than the library that PL/Python is linked with.

    Raises
    ------
    LaunchError
        There is none.
    """
    name = f"python{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}"
    if sys.executable and Path(sys.executable).resolve().name == name:
        return sys.executable
    beside = Path(sys.base_exec_prefix, "bin", name)
    if os.access(beside, os.X_OK):
        return str(beside)
    raise LaunchError(
        f"There is no {name} to run a worker with.",
        detail=f"Looked for {beside}.",
        hint=f"Install the program {name} on the server (Debian and Ubuntu: apt install {name}).",
    )


def python_path(libraries: Sequence[str] | None = None) -> list[str]:
    """Return the folders of this package and of libraries; none of these is imported.

    Parameters
    ----------
    libraries : sequence of str, optional
        The solvers' unless given.

    Raises
    ------
    LaunchError
        A library is not installed where this process looks.
    """
    folders = [str(Path(kanon_pg.__file__).resolve().parents[1])]
    for library in SOLVER_LIBRARIES if libraries is None else libraries:
        folder = folder_of(library)
        if folder is None:
            raise LaunchError(
                f"The Python package {library}, which a worker needs, cannot be found.",
                detail="Looked for it on the Python path of this process.",
                hint="Install kanon_pg with its dependencies where this Python finds and may read them.",
            )
        folders.append(folder)
    return list(dict.fromkeys(folders))


def folder_of(library: str) -> str | None:
    """Return the folder from which a package or module is imported, None if there is none.

    Parameters
    ----------
    library : str
        A name, with dots if it is part of a namespace package, which alone is imported.
    """
    try:
        found = importlib.util.find_spec(library)
    except ModuleNotFoundError:
        return None
    if found is None or found.origin is None:
        return None
    is_package = found.submodule_search_locations is not None
    return str(Path(found.origin).parents[library.count(".") + (1 if is_package else 0)])


def _spawn(command: list[str], channel: int, program: WorkerProgram) -> subprocess.Popen[bytes]:
    start = {
        "path": list(program.path),
        "module": program.module,
        "channel": channel,
        "parent": os.getpid(),
        "idle_seconds": IDLE_SECONDS,
        **program.arguments,
    }
    # Every thread's own malloc arena reserves address space, which the memory limit would count. Threads that
    # multiply matrices, which solvers hardly ever do, would spin while the backend needs the processor.
    environment = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", **program.environment}
    try:
        return subprocess.Popen(  # noqa: S603 - the program and its arguments are this module's own
            [*command, json.dumps(start)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # whatever native code prints could contain data
            stderr=subprocess.DEVNULL,
            pass_fds=[channel],
            env=environment,
            cwd="/",
            umask=0o077,
            start_new_session=True,
        )
    except OSError as error:
        raise LaunchError(
            "The worker's process could not be started.",
            detail=f"{command[0]}: {error.strerror}",
            hint="See whether the machine has memory and processes to spare.",
        ) from error


def _end(
    owner: int, process: subprocess.Popen[bytes], channel: socket.socket, code: CodeFolder | None
) -> None:
    channel.close()
    if owner != os.getpid():
        return
    process.kill()
    process.wait()
    _remove(code)


def _remove(code: CodeFolder | None) -> None:
    if code is not None and code.temporary:
        shutil.rmtree(code.folder, ignore_errors=True)
