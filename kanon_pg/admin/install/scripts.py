"""The scripts below ``sql/`` in the order in which they are installed."""

from __future__ import annotations

from typing import Any

from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, mapped_errors
from kanon_pg.db.queries import Statement, render, sql_root

_FIRST = ("schema/roles", "schema/schemas", "schema/earlier", "schema/catalog")
_FOLDERS = ("types", "tables", "functions", "views", "views/catalog", "functions/catalog")
_SERVER_FOLDERS = ("functions/server", "functions/api", "views/server")

INSTALL_LOCK = 0x6B616E6F6E
"""Key of the advisory lock that keeps two installations apart: "kanon" in ASCII."""


def prepare_session(db: Database) -> None:
    """Set what the scripts rely on, until the transaction ends, and wait for other installations."""
    db.row(Statement("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"))
    db.row(Statement("SELECT pg_catalog.set_config('client_min_messages', 'warning', true)"))
    db.row(Statement(f"SELECT pg_catalog.pg_advisory_xact_lock({INSTALL_LOCK})::text AS lock"))


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
    return [*functions, "grants", "outdated"]


def _in_folder(folder: str) -> list[str]:
    return [f"{folder}/{path.stem}" for path in sorted((sql_root() / folder).glob("*.sql"))]


def run_script(connection: Connection, name: str, **parts: Any) -> None:
    """Render a script and run all its statements."""
    text: Fragment = render(name, **parts)
    with mapped_errors():
        connection.execute(text.text.encode())
