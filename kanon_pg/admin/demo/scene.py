"""What a scene of the demo's story is made of, and who acts in it: people who run SQL through psql."""

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
    environment : mapping of str to str
        PG* variables that name server, database and user.
    superuser : bool
        Whether the prompt shows one.
    """

    program: Path
    environment: Mapping[str, str]
    superuser: bool = False

    def run(self, sql: str, *, expanded: bool = False) -> Exchange:
        """Run a statement and return what a person would have seen.

        Parameters
        ----------
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


K = 5
ANALYST = "kanon_demo_analyst"
"""A role that may log in and has nothing but the analyst role of kanon_pg."""

QUASI_IDENTIFIERS = "born, sex, zip, ethnicity"


@dataclass(frozen=True, slots=True)
class Scene:
    """A step of the demo.

    Parameters
    ----------
    before : str
        What the reader should know first.
    exchanges : tuple of Exchange
        What psql was asked and answered.
    after : str
        What it means.
    broken : tuple of str
        Claims of this scene that turned out false; empty if all is well.
    """

    title: str
    before: str
    exchanges: tuple[Exchange, ...]
    after: str
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """Who runs SQL in the demo.

    Parameters
    ----------
    owner : Psql
        The owner of the hospital's database.
    analyst : Psql
        Somebody who logs in as `ANALYST`.
    """

    owner: Psql
    analyst: Psql


def claims(*made: tuple[bool, str]) -> tuple[str, ...]:
    """Return the texts of those claims that do not hold."""
    return tuple(text for holds, text in made if not holds)


def accepted(*exchanges: Exchange) -> tuple[bool, str]:
    """Claim that the server carried out every statement."""
    return all(exchange.accepted for exchange in exchanges), "the server carries out every statement"


def storage_of(cast: Cast) -> str:
    """Return the name of the materialized view behind the release."""
    return cast.owner.value("SELECT storage FROM kanon.releases WHERE release = 'patients'")


def recount_sql(storage: str) -> str:
    """Return plain SQL that counts the people of every published class."""
    return (
        "SELECT min(people) AS smallest_class, count(*) AS classes\n"
        "FROM (SELECT count(DISTINCT kanon_person) AS people\n"
        f"      FROM {storage} GROUP BY {QUASI_IDENTIFIERS}, kanon_pattern) AS class"
    )
