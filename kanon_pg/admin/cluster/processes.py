"""What of a server is alive, and clearing away what an unclean stop left behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import ClusterError

PROCESSES = Path("/proc")

_LINES_WHEN_READY = 8
_SECONDS_TO_END = 10.0
_SECONDS_BETWEEN_LOOKS = 0.02


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A live server, as its lock file describes it.

    Parameters
    ----------
    pid : int
        Process id of the postmaster.
    port : int
        Number in the socket's name and TCP port.
    socket_folder : Path
        Folder of the Unix socket.
    tcp : bool
        Whether it listens on TCP.
    """

    pid: int
    port: int
    socket_folder: Path
    tcp: bool


def running_server(data: Path) -> RunningServer | None:
    """Return the server that is running on a data folder, None if there is none.

    A lock file alone proves nothing: after a crash it stays, and its process id may by now belong to
    something else. A server's processes have its data folder as their working directory.

    Parameters
    ----------
    data : Path
        The data folder.
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return None
    if len(lines) < _LINES_WHEN_READY or not lines[0].isdecimal():
        return None
    pid = int(lines[0])
    if not _is_server_process(pid, data):
        return None
    return RunningServer(pid, int(lines[3]), Path(lines[4]), bool(lines[5].strip()))


def _is_server_process(pid: int, data: Path) -> bool:
    process = PROCESSES / str(pid)
    try:
        return (process / "cwd").samefile(data) and (process / "exe").readlink().name.startswith("postgres")
    except OSError:
        return False


def clear_after_crash(data: Path, sockets: Path) -> None:
    """End what is left of a server that did not stop cleanly, so that a new one can start.

    Left-over backends keep the shared memory of the dead server in use, and a new server refuses to
    start beside them. The same goes for a left-over lock file, of the data or of the socket, whose
    process id was given to another process or not yet given back.

    Parameters
    ----------
    data : Path
        Data folder of a server that is known not to run.
    sockets : Path
        Its folder for the socket, used by no other server.

    Raises
    ------
    ClusterError
        If a process does not end.
    """
    running = [int(entry.name) for entry in PROCESSES.iterdir() if entry.name.isdecimal()]
    left_over = [pid for pid in running if _is_server_process(pid, data)]
    for pid in left_over:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _SECONDS_TO_END
    while any(_is_server_process(pid, data) for pid in left_over):
        if time.monotonic() > deadline:
            raise ClusterError("A process of the server that crashed does not end.", hint="Try again later.")
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    for left_behind in [data / "postmaster.pid", *sockets.glob(".s.PGSQL.*")]:
        left_behind.unlink(missing_ok=True)
