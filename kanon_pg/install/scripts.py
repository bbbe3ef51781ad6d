"""The scripts below ``sql/`` in the order in which they are installed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kanon_pg.db.failures import DEPENDENT_OBJECTS
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, mapped_errors
from kanon_pg.db.queries import Statement, render, sql_root, statement
from kanon_pg.errors import DatabaseError

_FIRST = ("schema/roles", "schema/schemas", "schema/catalog")
_FOLDERS = ("types", "tables", "functions", "views", "views/catalog", "functions/catalog")
_SERVER_FOLDERS = ("functions/server", "functions/api", "views/server")

_VIEWS_OVER_FUNCTIONS = (Identifier.of("kanon", "query_log"),)
"""Views of functions that come and go with PL/Python; if objects of users depend on one, both stay."""

_INSTALL_LOCK = 0x6B616E6F6E
"""Key of the advisory lock that keeps two installations apart: "kanon" in ASCII."""


def prepare_session(db: Database) -> None:
    """Set what the scripts rely on, until the transaction ends, and wait for other installations."""
    db.row(Statement("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"))
    db.row(Statement("SELECT pg_catalog.set_config('client_min_messages', 'warning', true)"))
    db.row(Statement(f"SELECT pg_catalog.pg_advisory_xact_lock({_INSTALL_LOCK})::text AS lock"))


def script_names(plpython: bool, *, last: bool = False) -> list[str]:
    """Return names for `run_script`, in order.

    Parameters
    ----------
    plpython : bool
        Whether the functions that need PL/Python belong to it.
    last : bool
        False: everything up to the views. True: what comes after the functions' schema exists.
    """
    if not last:
        return [*_FIRST, *(name for folder in _FOLDERS for name in _in_folder(folder))]
    functions = [name for folder in _SERVER_FOLDERS for name in _in_folder(folder)] if plpython else []
    return [*functions, "grants"]


def _in_folder(folder: str) -> list[str]:
    return [f"{folder}/{path.stem}" for path in sorted((sql_root() / folder).glob("*.sql"))]


def run_script(connection: Connection, name: str, **parts: Any) -> None:
    """Render a script and run all its statements."""
    text: Fragment = render(name, **parts)
    with mapped_errors():
        connection.execute(text.text.encode())


def drop_own_functions(db: PsycopgDatabase, api_schema: str) -> list[str]:
    """Drop an earlier version's functions, so that none with another signature stays behind.

    A function that objects of users depend on stays, to be replaced in place; returns their signatures.
    """
    for view in _VIEWS_OVER_FUNCTIONS:
        with suppress(DatabaseError), db.savepoint():
            db.execute(statement("drop_own_view", view=view))
    kept = []
    for row in db.rows(statement("own_functions"), api_schema):
        try:
            with db.savepoint():
                db.execute(statement("drop_function", function=Fragment(row["function"])))
        except DatabaseError as error:
            if error.server_state != DEPENDENT_OBJECTS:
                raise
            kept.append(row["function"])
    return kept


def users_of_outdated(db: PsycopgDatabase, api_schema: str, kept: list[str]) -> list[str]:
    """Return what uses those of the kept functions beside which the scripts made one with another signature.

    With both of them in place a call that leaves out arguments would be ambiguous.
    """
    signatures = [row["function"] for row in db.rows(statement("own_functions"), api_schema)]
    names = [signature.rpartition("(")[0] for signature in signatures]
    outdated = [one for one in kept if names.count(one.rpartition("(")[0]) > 1]
    return [row["description"] for one in outdated for row in db.rows(statement("function_users"), one)]
