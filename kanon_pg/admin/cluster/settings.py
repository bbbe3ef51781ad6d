"""The configuration of a private server, derived from the machine's size."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

MEBIBYTE = 1024 * 1024

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where Linux says how much memory the current container may use ("max" for no limit)."""

AUTHENTICATION = """\
# Whoever can reach the socket is let in as any role: its folder is closed to everybody but the account
# that runs the server (and root). Over TCP, which is off unless asked for, a password is needed.
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
