"""A private server by name: what ``kanon up``, ``down`` and ``status`` do with it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kanon_pg.admin.cluster.account import HOME_VARIABLE, checked_name, clusters_home, server_account
from kanon_pg.admin.cluster.instance import SUPERUSER, RunningServer, ServerInstance
from kanon_pg.errors import ClusterError, InputError


class State(Enum):
    """Whether a private server exists and runs."""

    ABSENT = "absent"
    STOPPED = "stopped"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """Facts about a private server."""

    name: str
    state: State
    folder: Path
    server_user: str
    """Account of the operating system that runs it."""
    major: int | None = None
    """Major version of PostgreSQL, None if absent."""
    pid: int | None = None
    """Process id, None unless it runs."""
    dsn: str | None = None
    """How to connect through its socket, None unless it runs."""
    tcp_port: int | None = None
    """Its port on 127.0.0.1, None unless it listens there."""


DATABASE = "kanon"
"""The database that is made in every private server."""

DEFAULT_NAME = "main"

_UNPRIVILEGED_PORTS = range(1024, 65536)


class Cluster:
    """A private server; nothing is touched before `up`.

    Parameters
    ----------
    name : str
        Servers of different names run side by side.
    home : Path, optional
        Folder of all private servers; `account.clusters_home` if left out.
    settings : mapping, optional
        PostgreSQL settings in place of the usual ones.

    Raises
    ------
    InputError
        If the name is not one.
    ClusterError
        If there is no account that could run a server.
    """

    def __init__(
        self,
        name: str = DEFAULT_NAME,
        *,
        home: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.name = checked_name(name)
        self.home = home or clusters_home()
        self.instance = ServerInstance(self.home / self.name, server_account(), settings or {})

    def status(self) -> ClusterStatus:
        """Return what is known about the server, without changing anything."""
        instance = self.instance
        if instance.major is None:
            return ClusterStatus(self.name, State.ABSENT, instance.folder, instance.account.name)
        running = instance.running()
        return ClusterStatus(
            name=self.name,
            state=State.RUNNING if running else State.STOPPED,
            folder=instance.folder,
            server_user=instance.account.name,
            major=instance.major,
            pid=running.pid if running else None,
            dsn=instance.dsn(running, DATABASE) if running else None,
            tcp_port=running.port if running and running.tcp else None,
        )

    def _running(self) -> RunningServer:
        running = self.instance.running()
        if running is None:
            option = "" if self.name == DEFAULT_NAME else f" --name {self.name}"
            raise ClusterError(
                f'The private server "{self.name}" is not running.', hint=f"Start it with 'kanon up{option}'."
            )
        return running

    def dsn(self, database: str = DATABASE) -> str:
        """Return how to connect through the socket of the running server, as a URI.

        Raises
        ------
        ClusterError
            If the server is not running.
        """
        return self.instance.dsn(self._running(), database)

    def tcp_dsn(self, database: str = DATABASE) -> str:
        """Return how to connect over TCP, if the running server listens there, as a URI with the password.

        Raises
        ------
        ClusterError
            If the server is not running or does not listen on TCP.
        """
        running = self._running()
        if not running.tcp:
            raise ClusterError(
                f'The private server "{self.name}" does not listen on TCP.',
                hint="Start it with 'kanon up --tcp PORT', or use its socket ('kanon dsn').",
            )
        return self.instance.tcp_dsn(running, database)

    def client_environment(self) -> dict[str, str]:
        """Return the variables that make any PostgreSQL client connect to this running server by default.

        Raises
        ------
        ClusterError
            If the server is not running.
        """
        running = self._running()
        return {
            "PGHOST": str(running.socket_folder),
            "PGPORT": str(running.port),
            "PGUSER": SUPERUSER,
            "PGDATABASE": DATABASE,
        }

    def up(
        self, *, tcp_port: int | None = None, prepare: Callable[[str], None] | None = None
    ) -> ClusterStatus:
        """Make sure that the server exists, runs and has its database.

        Concurrent calls wait for each other. After an unclean stop the server is recovered. A running
        server is restarted only if it cannot be reached, or does not listen on the `tcp_port` given.

        Parameters
        ----------
        tcp_port : int, optional
            Also listen on this port of 127.0.0.1 (1024 to 65535).
        prepare : callable, optional
            Called with the DSN before any other call that waits for the server gets it.

        Raises
        ------
        InputError
            If the port is out of range.
        ClusterError
            If PostgreSQL is missing, or a program of it failed; the detail is what it said.
        """
        if tcp_port is not None and tcp_port not in _UNPRIVILEGED_PORTS:
            raise InputError("The port is out of range.", hint="Choose a number from 1024 to 65535.")
        with self._lock():
            if self.instance.major is None:
                self.instance.create()
            running = self.instance.running()
            if running and not self._serves(running, tcp_port):
                self.instance.stop()
                running = None
            if running is None:
                self.instance.start(tcp_port)
            self._ensure_database()
            if prepare is not None:
                prepare(self.dsn())
            return self.status()

    def _serves(self, running: RunningServer, tcp_port: int | None) -> bool:
        listens = tcp_port is None or (running.tcp and running.port == tcp_port)
        return listens and self.instance.answers(running)

    def _ensure_database(self) -> None:
        if not self.instance.run_sql(f"select 1 from pg_database where datname = '{DATABASE}'").strip():
            self.instance.run_sql(f"create database {DATABASE}")

    def down(self, *, delete: bool = False) -> ClusterStatus:
        """Stop the server if it runs.

        Parameters
        ----------
        delete : bool
            Also delete its data for good.

        Raises
        ------
        ClusterError
            If it did not stop.
        """
        if not self.instance.folder.exists():
            return self.status()
        with self._lock():
            if self.instance.running() is not None:
                self.instance.stop()
            if delete:
                self.instance.delete()
            return self.status()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other calls for the same server out; the lock ends with the process, however it ends."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            file = os.open(self.home / f".{self.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ClusterError(
                f"The folder {self.home} cannot be used.",
                detail=error.strerror,
                hint=f"Make it writable, or name another one in the environment variable {HOME_VARIABLE}.",
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)
