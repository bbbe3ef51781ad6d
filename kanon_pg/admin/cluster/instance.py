"""The server in one folder: make its data, configure it by the machine's size, start it, stop it, run SQL."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from kanon_pg.admin.cluster.account import HOME_VARIABLE, ServerAccount, socket_folder
from kanon_pg.admin.cluster.programs import ServerPrograms, newest_with_python, with_major_version
from kanon_pg.errors import ClusterError

PROCESSES = Path("/proc")

_LINES_WHEN_READY = 8
_SECONDS_TO_END = 10.0
_SECONDS_BETWEEN_LOOKS = 0.02


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server, as its lock file describes it."""

    pid: int
    """Process id of the postmaster."""
    port: int
    """Number in the socket's name and TCP port."""
    socket_folder: Path
    """Folder of the Unix socket."""
    tcp: bool
    """Whether it listens on TCP."""


def running_server(data: Path) -> RunningServer | None:
    """Return the server that is running on a data folder, None if there is none.

    A lock file alone proves nothing: after a crash it stays, and its process id may by now belong to
    something else. A server's processes have its data folder as their working directory.
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


MEBIBYTE = 1024 * 1024

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where Linux says how much memory the current container may use ("max" for no limit)."""

AUTHENTICATION = """\
# Whoever can reach the socket is let in as any role: its folder is closed to everybody but the account
# that runs the server (and root). Over TCP, which is off by default, a password is needed.
local all all trust
host all all 127.0.0.1/32 scram-sha-256
"""


def memory_of_machine(container_limit: Path = CONTAINER_LIMIT) -> int:
    """Return the bytes of memory that this machine or container has.

    Parameters
    ----------
    container_limit : Path
        File with the container's limit; it need not exist.
    """
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(physical, int(container_limit.read_text()))
    except (OSError, ValueError):
        return physical


def configuration(
    *, memory: int, processors: int, socket_folder: Path, port: int, tcp: bool
) -> dict[str, str]:
    """Return the settings of a private server.

    Parameters
    ----------
    memory : int
        Bytes of memory of the machine.
    processors : int
        Number of processors.
    socket_folder : Path
        Folder of the Unix socket.
    port : int
        Number in the socket's name and, if `tcp`, the TCP port.
    tcp : bool
        Whether to listen on 127.0.0.1; without it nothing listens on TCP.

    Notes
    -----
    Grouping all rows of a table by many columns is the work this server is for, so it gets far more
    ``work_mem`` than PostgreSQL's default; with too little of it a GROUP BY of a million rows takes
    several times as long. Compilation of queries never pays there. Nothing is replicated, so bulk
    loads may skip the log. A failed statement's text and the detail of an error can hold values of the
    data, so neither is written to the log file.
    """
    return {
        "listen_addresses": "127.0.0.1" if tcp else "",
        "port": str(port),
        "unix_socket_directories": f'"{socket_folder}"',
        "unix_socket_permissions": "0700",
        "max_connections": "50",
        "shared_buffers": _megabytes(memory // 12, least=128, most=2048),
        "work_mem": _megabytes(memory // 96, least=32, most=256),
        "maintenance_work_mem": _megabytes(memory // 48, least=64, most=1024),
        "effective_cache_size": _megabytes(memory // 2, least=256, most=65536),
        "max_parallel_workers_per_gather": str(max(1, min(4, processors // 2))),
        "jit": "off",
        "fsync": "on",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_wal_size": "2GB",
        "log_error_verbosity": "terse",
        "log_min_error_statement": "panic",
    }


def _megabytes(size: int, *, least: int, most: int) -> str:
    return f"{min(max(size // MEBIBYTE, least), most)}MB"


def rendered(settings: Mapping[str, str]) -> str:
    r"""Return settings as the text of a PostgreSQL configuration file.

    Examples
    --------
    >>> rendered({"port": "5432", "cluster_name": "it's"})
    "port = '5432'\ncluster_name = 'it''s'\n"
    """
    quoted = {name: value.replace("'", "''") for name, value in settings.items()}
    return "".join(f"{name} = '{value}'\n" for name, value in quoted.items())


SUPERUSER = "postgres"
"""Role of the person who runs the server."""

SOCKET_PORT = 5432
"""Number in the socket's name while nothing listens on TCP; every server has a socket folder of its own."""

START_SECONDS = 300
"""How long recovery after an unclean stop may take before starting is called a failure."""

STOP_SECONDS = 60

_LARGEST_LOG = 16 * 1024 * 1024
_PSQL_OPTIONS = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]


@dataclass(frozen=True, slots=True)
class ServerInstance:
    """A server's folder. Callers make sure that no two of them work on it at once."""

    folder: Path
    """Holds the data folder, the log and, if its path is short enough, the socket."""
    account: ServerAccount
    settings: Mapping[str, str] = field(default_factory=dict)
    """PostgreSQL settings in place of the usual ones."""

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "server.log"

    @property
    def sockets(self) -> Path:
        """The folder of the socket."""
        return socket_folder(self.folder, self.account.uid)

    @property
    def major(self) -> int | None:
        """PostgreSQL's major version, None while there is no data folder."""
        try:
            return int((self.data / "PG_VERSION").read_text())
        except FileNotFoundError:
            return None

    @property
    def programs(self) -> ServerPrograms:
        """The programs for this data or, while there is none, the newest ones."""
        return newest_with_python() if self.major is None else with_major_version(self.major)

    def running(self) -> RunningServer | None:
        """Return the running server, None if it does not run."""
        return running_server(self.data)

    def dsn(self, running: RunningServer, database: str) -> str:
        """Return how to connect through the socket, as a URI."""
        host = quote(str(running.socket_folder), safe="")
        return f"postgresql://{SUPERUSER}@/{quote(database, safe='')}?host={host}&port={running.port}"

    def tcp_dsn(self, running: RunningServer, database: str) -> str:
        """Return how to connect over TCP, as a URI with the password."""
        password = (self.folder / "password").read_text()
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{running.port}/{quote(database, safe='')}"

    def create(self) -> None:
        """Make the data folder; an interrupted attempt leaves nothing that looks like one.

        Raises
        ------
        ClusterError
            If PostgreSQL is missing, the account cannot reach the folder, or ``initdb`` fails.
        """
        self.account.own_folder(self.folder)
        self._check_reachable()
        unfinished = self.folder / "data.unfinished"
        if unfinished.exists():
            shutil.rmtree(unfinished)
        options = ["--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-instructions"]
        self._run("initdb", "--pgdata", unfinished, f"--username={SUPERUSER}", "--data-checksums", *options)
        standard = (unfinished / "postgresql.conf").read_text()
        self.account.write(unfinished / "postgresql.conf", standard + "include 'kanon.conf'\n")
        self.account.write(unfinished / "pg_hba.conf", AUTHENTICATION)
        unfinished.rename(self.data)

    def _check_reachable(self) -> None:
        try:
            self.account.run(["/usr/bin/test", "-w", self.folder], folder=Path("/"))
        except ClusterError:
            raise ClusterError(
                f'The account "{self.account.name}", which runs the server, cannot reach {self.folder}.',
                hint="Open the folders above it for others (chmod o+x), or name another home of the clusters "
                f"in the environment variable {HOME_VARIABLE}.",
            ) from None

    def start(self, tcp_port: int | None) -> None:
        """Start a server that does not run, and wait until it accepts connections.

        Parameters
        ----------
        tcp_port : int or None
            Port of 127.0.0.1 to listen on as well.

        Raises
        ------
        ClusterError
            If it does not start; the detail is the end of its log.
        """
        self.account.own_folder(self.sockets)
        clear_after_crash(self.data, self.sockets)
        standard = configuration(
            memory=memory_of_machine(),
            processors=os.cpu_count() or 1,
            socket_folder=self.sockets,
            port=tcp_port or SOCKET_PORT,
            tcp=tcp_port is not None,
        )
        self.account.write(self.data / "kanon.conf", rendered(standard | dict(self.settings)))
        size = self.log.stat().st_size if self.log.exists() else 0
        if size > _LARGEST_LOG:
            self.log.replace(self.folder / "server.log.old")
            size = 0
        try:
            self._control("start", "--log", self.log, seconds=START_SECONDS)
        except ClusterError as error:
            raise ClusterError(
                "The private server did not start.",
                detail=self._last_lines(size) or error.detail,
                hint=f"The server's log is {self.log}.",
            ) from error
        if tcp_port is not None:
            self._set_password()

    def _last_lines(self, position: int) -> str:
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(position)
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-5:])

    def _set_password(self) -> None:
        password = secrets.token_urlsafe(24)
        self.account.write(self.folder / "password", password)
        self.run_sql(f"alter role {SUPERUSER} password '{password}'")

    def answers(self, running: RunningServer) -> bool:
        """Whether the server accepts connections through its socket.

        One that was just killed, or whose socket was cleared away with other temporary files, does not.
        """
        try:
            self._run("pg_isready", "--quiet", "--host", running.socket_folder, "--port", str(running.port))
        except ClusterError:
            return False
        return True

    def stop(self) -> None:
        """Stop a server, and wait until it has ended; one that ends by itself meanwhile is fine.

        Raises
        ------
        ClusterError
            If it does not end.
        """
        # a session that does not end holds a fast stop up; an immediate one is recovered from the log
        for mode in ("fast", "immediate"):
            try:
                self._control("stop", f"--mode={mode}", seconds=STOP_SECONDS)
            except ClusterError as error:
                failure = error
            if self.running() is None:
                return
        raise failure

    def delete(self) -> None:
        """Delete all files of a server that does not run."""
        if self.data.exists():
            clear_after_crash(self.data, self.sockets)
        shutil.rmtree(self.sockets, ignore_errors=True)
        shutil.rmtree(self.folder)

    def run_sql(self, command: str) -> str:
        """Run SQL in the maintenance database of a running server and return what psql printed.

        Raises
        ------
        ClusterError
            If the server does not run or refuses the command.
        """
        running = self.running()
        if running is None:
            raise ClusterError("The private server is not running.")
        return self._run("psql", *_PSQL_OPTIONS, "--dbname", self.dsn(running, "postgres"), text=command)

    def _control(self, action: str, *options: str | Path, seconds: int) -> None:
        self._run(
            "pg_ctl", action, "--pgdata", self.data, "--wait", f"--timeout={seconds}", "--silent", *options
        )

    def _run(self, program: str, *arguments: str | Path, text: str | None = None) -> str:
        return self.account.run([self.programs.program(program), *arguments], folder=self.folder, text=text)
