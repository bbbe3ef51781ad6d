"""Where a private server keeps its files and its socket."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import platformdirs

from kanon_pg.admin.cluster.account import ROOT
from kanon_pg.errors import InputError

HOME_VARIABLE = "KANON_CLUSTER_HOME"
"""Environment variable that names another home of the clusters."""

LONGEST_SOCKET_PATH = 107
"""Bytes of a socket's path: ``sun_path`` holds 108 with the closing NUL."""

SHARED_FOLDER = Path("/tmp")  # noqa: S108  # ServerAccount.own_folder refuses what somebody else prepared there
"""Where the short folders are: every account can reach it and its path is the same in every session."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SOCKET_FILE = b"/.s.PGSQL.65535"
_UNFIT = set(b",'\"\\\n")


def checked_name(name: str) -> str:
    """Return the name of a cluster, if it is one.

    Raises
    ------
    InputError
        If it is anything but 1 to 40 lower-case letters, digits, ``_`` and ``-`` (it names a folder).
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            "This is not a name for a private server.",
            hint="Use 1 to 40 lower-case letters, digits, underscores or hyphens; "
            "begin with a letter or digit.",
        )
    return name


def clusters_home() -> Path:
    """Return the folder that holds all private servers of the current user.

    The user's cache folder; root's is the machine's cache folder, because root's own home is closed to
    the unprivileged account that runs the server.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == ROOT:
        return platformdirs.site_cache_path("kanon_pg")
    return platformdirs.user_cache_path("kanon_pg")


def socket_folder(cluster_folder: Path, uid: int) -> Path:
    """Return the folder for a server's socket: the cluster's own or, if its path is unfit, a short one.

    A path is unfit if the socket's path would be longer than the operating system allows, or if it holds
    a character with a meaning in a list of hosts.

    Parameters
    ----------
    cluster_folder : Path
        The cluster's own folder.
    uid : int
        Owner of the socket.
    """
    own = cluster_folder / "socket"
    path = os.fsencode(own) + _SOCKET_FILE
    if len(path) <= LONGEST_SOCKET_PATH and not set(path) & _UNFIT:
        return own
    digest = hashlib.blake2b(os.fsencode(cluster_folder), digest_size=8).hexdigest()
    return SHARED_FOLDER / f"kanon-{uid}-{digest}"
