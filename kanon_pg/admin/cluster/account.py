"""The operating-system account that runs the server, and running programs as that account."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import ClusterError

UNPRIVILEGED = ("postgres", "nobody")
"""Accounts that may run root's server, best first: PostgreSQL itself refuses to run as root."""

ROOT = 0


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """An account of the operating system.

    Parameters
    ----------
    name : str
        Login name.
    uid, gid : int
        Numbers of the user and of its main group.
    """

    name: str
    uid: int
    gid: int

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
