"""psql as the readers of a page keep it open: a session for each of them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.docs.databases import environment, psql_command

_END = "-- end of the block --"


class Sessions:
    """Sessions of psql in one database, by the user who types into them.

    A new session imports kanon_pg and starts a worker when it first needs them, which takes far longer than
    most statements. So a session goes on from block to block, until the server refuses a statement in it.

    Parameters
    ----------
    dsn : str
        The database.
    folder : Path
        Where psql runs.
    """

    def __init__(self, dsn: str, folder: Path) -> None:
        self._dsn = dsn
        self._folder = folder
        self._open: dict[str | None, subprocess.Popen[str]] = {}

    def run(
        self, sql: str, user: str | None = None, *, verbosity: str = "verbose"
    ) -> subprocess.CompletedProcess[str]:
        """Run SQL as a reader does who types it into psql; stop at the first error."""
        process = self._open.get(user) or self._start(user)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(f"\\set VERBOSITY {verbosity}\n{sql}\n\\echo '{_END}'\n\\warn '{_END}'\n")
        process.stdin.flush()
        (output, goes_on), (errors, _) = _until_end(process.stdout), _until_end(process.stderr)
        if not goes_on:
            self._close(user)
        return subprocess.CompletedProcess(process.args, 0 if goes_on else process.returncode, output, errors)

    def close(self) -> None:
        """End all sessions: what follows may need new ones, or nobody in the database."""
        for user in list(self._open):
            self._close(user)

    def _start(self, user: str | None) -> subprocess.Popen[str]:
        self._open[user] = subprocess.Popen(
            psql_command(),
            env=environment(self._dsn, user),
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self._open[user]

    def _close(self, user: str | None) -> None:
        process = self._open.pop(user)
        process.communicate()


@contextmanager
def sessions(dsn: str, folder: Path) -> Iterator[Sessions]:
    """Yield sessions that end with the context."""
    opened = Sessions(dsn, folder)
    try:
        yield opened
    finally:
        opened.close()


def _until_end(lines: IO[str]) -> tuple[str, bool]:
    """Return what was written for a block, and whether psql goes on after it."""
    found: list[str] = []
    for line in iter(lines.readline, ""):
        if line == f"{_END}\n":
            return "".join(found), True
        found.append(line)
    return "".join(found), False
