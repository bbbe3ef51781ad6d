"""The operating-system account that runs the server, and where its files and its socket are."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from kanon_pg.errors import ClusterError, InputError

UNPRIVILEGED = ("postgres", "nobody")
"""Accounts that may run root's server, best first: PostgreSQL itself refuses to run as root."""

ROOT = 0


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """An account of the operating system."""

    name: str
    uid: int
    gid: int
    """`uid`, `gid`: numbers of the user and of its main group."""

    def run(self, command: Sequence[str | Path], *, folder: Path, text: str | None = None) -> str:
        """Run a program as this account and return what it printed.

        The program gets a clean environment, because variables such as PGDATA or PYTHONPATH of the
        person who starts a server must not decide what the server does.

        Parameters
        ----------
        command : sequence of str or Path
            Program and arguments; no shell is involved.
        folder : Path
            Working directory, readable for the account.
        text : str, optional
            Standard input; empty if left out.

        Raises
        ------
        ClusterError
            If the program cannot be started or fails; the detail is what it printed.
        """
        program = Path(command[0]).name
        switch = os.geteuid() != self.uid
        try:
            done = subprocess.run(  # noqa: S603  # no shell reads the arguments
                [str(part) for part in command],
                cwd=folder,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder)},
                input=text or "",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                umask=0o077,
                check=False,
                user=self.uid if switch else None,
                group=self.gid if switch else None,
                extra_groups=[] if switch else None,
            )
        except OSError as error:
            raise ClusterError(f"The program {program} cannot be started.", detail=str(error)) from error
        if done.returncode != 0:
            raise ClusterError(
                f"The program {program} failed (exit code {done.returncode}).",
                detail=done.stdout.strip() or None,
            )
        return done.stdout

    def write(self, file: Path, content: str) -> None:
        """Replace a file, as this account, by one that no other account can read.

        Root does not write below a folder of the account itself: a link planted there would make it
        write anywhere.

        Raises
        ------
        ClusterError
            If the file cannot be written.
        """
        script = 'cat > "$1.new" && mv -f "$1.new" "$1"'
        self.run(["/bin/sh", "-c", script, "sh", file], folder=file.parent, text=content)

    def own_folder(self, folder: Path) -> None:
        """Create a folder, if it is missing, that nobody but this account (and root) can enter.

        Raises
        ------
        ClusterError
            If the path is taken by something that this account does not own; a folder that somebody
            else prepared in a shared place must not be trusted.
        """
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            found = folder.lstat()
            if folder.is_symlink() or not folder.is_dir() or found.st_uid != self.uid:
                raise ClusterError(
                    f"The folder {folder} belongs to another account.",
                    hint=f'Remove it, or choose another place; the account "{self.name}" must own it.',
                ) from None
        else:
            os.chown(folder, self.uid, self.gid)
        folder.chmod(0o700)


def server_account() -> ServerAccount:
    """Return the account that runs a server for the current user.

    A normal user's server runs as that user. Root's server runs as an unprivileged account: the
    ``postgres`` account of the operating system's packages or, without it, ``nobody``.

    Raises
    ------
    ClusterError
        If root has no unprivileged account to use.
    """
    if os.geteuid() != ROOT:
        entry = pwd.getpwuid(os.geteuid())
        return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ClusterError(
        "There is no unprivileged account to run PostgreSQL as.",
        hint="Install the package postgresql, which creates the account postgres, "
        "or run kanon as a normal user.",
    )


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
    """Return the name, which names a folder; refuse any but 1 to 40 of a to z, digits, ``_`` and ``-``.

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
