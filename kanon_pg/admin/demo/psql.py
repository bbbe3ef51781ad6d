"""Runs SQL through psql, as a person would, and keeps what it printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import DatabaseError

_OPTIONS = (
    "--no-psqlrc",
    "--set=ON_ERROR_STOP=1",
    "--set=VERBOSITY=terse",
    "--pset=pager=off",
    "--pset=footer=off",
)
_BARE = ("--quiet", "--tuples-only", "--no-align")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A statement and psql's answer.

    Parameters
    ----------
    prompt : str
        psql's prompt: the database, and whether it is a superuser (``#``) who asks or not (``>``).
    sql : str
        The statement.
    output : str
        What psql printed: rows, or the error.
    accepted : bool
        Whether the server carried it out.
    """

    prompt: str
    sql: str
    output: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class Psql:
    """psql for one person in one database.

    Parameters
    ----------
    program : Path
        The psql program.
    environment : mapping of str to str
        PG* variables that name server, database and user.
    superuser : bool
        Whether the prompt shows one.
    """

    program: Path
    environment: Mapping[str, str]
    superuser: bool = False

    def ask(self, sql: str, *, expanded: bool = False) -> Exchange:
        """Run a statement and return what a person would have seen.

        Parameters
        ----------
        sql : str
            The statement.
        expanded : bool
            One line per column instead of one per row.
        """
        done = self._run([*_OPTIONS, *(["--expanded"] if expanded else []), "--command", sql])
        prompt = f"{self.environment['PGDATABASE']}={'#' if self.superuser else '>'}"
        return Exchange(prompt, sql, (done.stdout + done.stderr).rstrip(), done.returncode == 0)

    def value(self, sql: str) -> str:
        """Run a statement that gives one value and return it as text.

        Raises
        ------
        DatabaseError
            If the server refuses it.
        """
        done = self._run([*_OPTIONS, *_BARE, "--command", sql])
        if done.returncode:
            raise DatabaseError("A step of the demo was refused by the server.", detail=done.stderr.strip())
        return done.stdout.strip()

    def numbers(self, sql: str) -> list[float]:
        """Run a statement that gives one row of numbers and return them."""
        return [float(text) for text in self.value(sql).split("|")]

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
        return subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [self.program, *arguments],
            env={**own, **self.environment, "PGCLIENTENCODING": "UTF8"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
