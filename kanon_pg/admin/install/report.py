"""What installing and uninstalling tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is missing, and how to get it.

    Parameters
    ----------
    what : str
        One sentence.
    fix : str
        What to do, ready to type where possible.
    """

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class InstallReport:
    """What an installation did.

    Parameters
    ----------
    database : str
        Name of the database.
    version : str
        Version that is installed now.
    previous_version : str or None
        Version that was there before.
    api_schema : str
        Schema of the functions.
    plpython : bool
        Whether the functions exist in the server; otherwise only the client can work.
    python_path : tuple of str
        Folders that the server's Python searches first.
    missing : tuple of Problem
        What keeps the functions out of the server, if they were not asked for explicitly.
    notes : tuple of str
        What else the administrator should know.
    """

    database: str
    version: str
    previous_version: str | None
    api_schema: str
    plpython: bool
    python_path: tuple[str, ...]
    missing: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UninstallReport:
    """What uninstalling did.

    Parameters
    ----------
    database : str
        Name of the database.
    was_installed : bool
        Whether there was anything to remove.
    releases : tuple of str
        Releases that were dropped.
    notes : tuple of str
        What was left and why.
    """

    database: str
    was_installed: bool
    releases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
