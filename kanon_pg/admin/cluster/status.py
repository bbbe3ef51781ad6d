"""What can be said about a private server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class State(Enum):
    """Whether a private server exists and runs."""

    ABSENT = "absent"
    STOPPED = "stopped"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """Facts about a private server.

    Parameters
    ----------
    name : str
        Its name.
    state : State
        Whether it exists and runs.
    folder : Path
        Where its files are.
    server_user : str
        Account of the operating system that runs it.
    major : int or None
        Major version of PostgreSQL, None if absent.
    pid : int or None
        Process id, None unless it runs.
    dsn : str or None
        How to connect through its socket, None unless it runs.
    tcp_port : int or None
        Its port on 127.0.0.1, None unless it listens there.
    """

    name: str
    state: State
    folder: Path
    server_user: str
    major: int | None = None
    pid: int | None = None
    dsn: str | None = None
    tcp_port: int | None = None
