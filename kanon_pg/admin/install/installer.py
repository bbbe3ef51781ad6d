"""Installs into a database, in one transaction; may be repeated at any time.

Also takes from PUBLIC those rights by default with which an analyst could bring own code near the data.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import kanon_pg
from kanon_pg.admin.install.facts import (
    MissingPart,
    Recorded,
    ServerFacts,
    general_problems,
    missing_tables,
    plpython_problems,
    read_facts,
    read_recorded,
    remove_orphans,
)
from kanon_pg.admin.install.python_path import SettledPath, settle_python_path
from kanon_pg.admin.install.run_in_server import probe
from kanon_pg.admin.install.scripts import inside_server, prepare_session, run_script, script_names
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, connected, notices
from kanon_pg.db.readers import READERS, READERS_LOCK
from kanon_pg.db.statements import statement
from kanon_pg.errors import InstallError, VersionMismatch

DEFAULT_API_SCHEMA = "public"


@dataclass(frozen=True, slots=True)
class InstallReport:
    """What an installation did."""

    database: str
    version: str
    """Version that is installed now."""
    previous_version: str | None
    """Version that was there before."""
    api_schema: str
    """Schema of the functions."""
    plpython: bool
    """Whether the functions exist in the server; otherwise only the client can work."""
    python_path: tuple[str, ...]
    """Folders that the server's Python searches first."""
    missing: tuple[MissingPart, ...] = ()
    """Why the functions are not in the server, unless they were requested explicitly."""
    notes: tuple[str, ...] = ()
    """What else the administrator should know."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the checks found: where to, from where, and with or without functions in the server."""

    api_schema: str
    previous: str | None
    plpython: bool
    path: SettledPath
    missing: tuple[MissingPart, ...]
    mended: tuple[str, ...]


def install(
    dsn: str = "",
    *,
    api_schema: str | None = None,
    python_path: list[str] | None = None,
    plpython: bool | None = None,
    runtime_folder: Path | None = None,
) -> InstallReport:
    """Install, or bring an installation up to date; declarations and releases stay.

    Parameters
    ----------
    dsn : str
        The database; empty means the standard PG* variables.
    api_schema : str, optional
        Schema of the ``kanon_...`` functions, made if missing; by default where they are, or ``public``.
    python_path : list of str, optional
        Folders on the server that hold ``kanon_pg`` and what it needs; found automatically for a server
        on this machine.
    plpython : bool, optional
        True: functions in the server, or an error. False: only what the client needs. None: functions if
        the server has PL/Python and the role is a superuser.
    runtime_folder : Path, optional
        Where to copy the package to if the server's user cannot read it where it is.

    Raises
    ------
    InstallError
        With everything that is missing, and the fix for each; nothing has changed.
    VersionMismatch
        If a later version is installed.
    """
    with connected(dsn, as_server=True) as connection:
        db = PsycopgDatabase(connection)
        prepare_session(db)
        facts = read_facts(db, api_schema or DEFAULT_API_SCHEMA)
        plan = _plan(connection, db, facts, api_schema, python_path, plpython, runtime_folder)
        return _carry_out(connection, db, facts, plan)


def _plan(
    connection: Connection,
    db: Database,
    facts: ServerFacts,
    api_schema: str | None,
    python_path: list[str] | None,
    plpython: bool | None,
    runtime_folder: Path | None,
) -> _Plan:
    if facts.extension is not None:
        raise InstallError(
            f"kanon is an extension in database {facts.database}, so `kanon install` leaves it alone.",
            hint="To bring it up to date: `kanon extension install` on the server's machine, then in the "
            "database ALTER EXTENSION kanon_pg UPDATE;",
        )
    if db.row(statement("on_citus"))["on_citus"] and db.row(statement("distributed/is_worker"))["is_worker"]:
        raise InstallError(
            f"In database {facts.database} this is a worker of Citus; kanon belongs on the coordinator.",
            hint="Connect to the coordinator: installing there gives the workers what they need.",
        )
    recorded = read_recorded(db, facts) if facts.readable else None
    if recorded is not None:
        if recorded.version is not None:
            refuse_downgrade(recorded.version)
        # Whoever cannot renew the functions must not remove them by installing again.
        plpython = True if plpython is None and recorded.plpython else plpython
    problems = general_problems(facts)
    missing = [] if plpython is False else plpython_problems(facts)
    wanted = plpython is True or (plpython is None and not missing)
    path = SettledPath(())
    if wanted and not missing:
        if not facts.plpython_created:
            run_script(connection, "schema/plpython")
        with inside_server(db, probe) as probe_server:
            path = settle_python_path(probe_server, python_path, runtime_folder)
        problems += path.problems
    if wanted:
        problems += missing
    if problems:
        raise _incomplete(problems, facts, wanted and not (recorded and recorded.plpython))
    mended = _mended(facts, recorded) if recorded else ()
    if recorded is not None and recorded.plpython and not wanted:
        mended += (
            "The functions were taken out of the server: statements that call them fail, and protected "
            "tables answer no queries. `kanon install --server` brings them back.",
        )
    return _Plan(
        api_schema=api_schema or (recorded.api_schema if recorded else None) or DEFAULT_API_SCHEMA,
        previous=recorded.version if recorded else None,
        plpython=wanted,
        path=path,
        missing=() if wanted else tuple(missing),
        mended=mended,
    )


def _carry_out(connection: Connection, db: PsycopgDatabase, facts: ServerFacts, plan: _Plan) -> InstallReport:
    api = Identifier.of(plan.api_schema)
    parts = {
        "api": api,
        "plpython": plan.plpython,
        "python_path": Literal(json.dumps(plan.path.folders, ensure_ascii=False)),
        "version": Literal(kanon_pg.__version__),
        "readers_lock": READERS_LOCK,
        "readers": READERS,
    }
    creates_schema = plan.plpython and not read_facts(db, plan.api_schema).api_schema_exists
    for name in script_names(plan.plpython):
        run_script(connection, name, **parts)
    if creates_schema:
        db.execute(statement("create_api_schema", api=api))
    for name in script_names(plan.plpython, last=True):
        run_script(connection, name, **parts)
    run_script(connection, "readers", **parts)
    if plan.plpython:
        run_script(connection, "counting")
    run_script(connection, "nodes")
    orphans = remove_orphans(db) if facts.installed else ()
    with notices(connection) as rights:
        run_script(
            connection,
            "settle",
            **parts,
            schema=Literal(plan.api_schema),
            in_server=int(plan.plpython),
            created_extension=int(plan.plpython and not facts.plpython_created),
            created_schema=int(creates_schema),
        )
    notes = (*plan.mended, *orphans, *([plan.path.note] if plan.path.note else []), *rights)
    return InstallReport(
        database=facts.database,
        version=kanon_pg.__version__,
        previous_version=plan.previous,
        api_schema=plan.api_schema,
        plpython=plan.plpython,
        python_path=plan.path.folders,
        missing=plan.missing,
        notes=notes,
    )


def _mended(facts: ServerFacts, recorded: Recorded) -> tuple[str, ...]:
    """Say what installing makes anew; a table that is new in this version was not missing."""
    damage = [f"{sentence} This is kanon {kanon_pg.__version__} now." for sentence in recorded.damage]
    missing = missing_tables(facts)
    if missing and recorded.version in (None, kanon_pg.__version__):
        damage.append(
            f"Tables of schema kanon were missing and were made anew, empty: {', '.join(missing)}. "
            "What they held is lost."
        )
    return tuple(damage)


def _incomplete(problems: list[MissingPart], facts: ServerFacts, plpython: bool) -> InstallError:
    lines = [f"{number}. {problem.what} -> {problem.fix}" for number, problem in enumerate(problems, 1)]
    return InstallError(
        f"kanon cannot be installed into database {facts.database}: "
        + (f"{len(problems)} things are missing." if len(problems) > 1 else "something is missing."),
        detail="\n".join(lines),
        hint="Nothing was changed. Mend these and run `kanon install` again"
        + (
            "; `kanon install --client` installs what works without Python in the server."
            if plpython
            else "."
        ),
    )


def refuse_downgrade(installed: str) -> None:
    """Refuse to install over a later version.

    Raises
    ------
    VersionMismatch
        If the version in the database is later than this package's.
    """
    if release_numbers(installed) > release_numbers(kanon_pg.__version__):
        raise VersionMismatch(
            f"The database has kanon {installed}, which is later than this package ({kanon_pg.__version__}).",
            hint=f"Install kanon_pg {installed} or later and use that.",
        )


def release_numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for comparison.

    Examples
    --------
    >>> release_numbers("1.10.0") > release_numbers("1.9")
    True
    """
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in found.group().split(".")) if found else ()
