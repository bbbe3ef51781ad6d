"""Errors that both adapters raise; none of them can carry a cell value."""

from __future__ import annotations

from kanon_pg.errors import DatabaseError, InputError, InstallError, LimitExceeded

FEATURE_NOT_SUPPORTED = "0A000"
INSUFFICIENT_PRIVILEGE = "42501"
INVALID_NAME = "42602"
INVALID_PARAMETER_VALUE = "22023"
LOCK_NOT_AVAILABLE = "55P03"
QUERY_CANCELED = "57014"
SERIALIZATION_FAILURE = "40001"
SYNTAX_ERROR = "42601"
UNDEFINED_COLUMN = "42703"
UNDEFINED_FUNCTION = "42883"
UNDEFINED_SCHEMA = "3F000"
UNDEFINED_TABLE = "42P01"
DEPENDENT_OBJECTS = "2BP01"
TRANSACTION_RESOLUTION_UNKNOWN = "08007"
UNIQUE_VIOLATION = "23505"
_CHARACTER_NOT_IN_REPERTOIRE = "22021"
_UNTRANSLATABLE_CHARACTER = "22P05"
_TOO_MANY_COLUMNS = "54011"
_PROHIBITED_STATEMENT = "2F003"
_UNDEFINED_OBJECT = "42704"

_NAMES_ONLY = ("42", "55", "57", "53", "3D", "3F", "2B", "25", "40", "0A")
"""Classes of SQLSTATE whose messages name objects and resources, never values."""


def database_error(state: str | None, message: str, hint: str | None = None) -> DatabaseError:
    """Build the error for a refused statement.

    Parameters
    ----------
    state : str or None
        The server's SQLSTATE.
    message : str
        The server's primary message; quoted only if its class of SQLSTATE cannot carry values.
    hint : str, optional
        The server's hint, kept under the same condition.
    """
    if state == _PROHIBITED_STATEMENT:  # of postgres_fdw and dblink alone
        return DatabaseError(
            "The server of a foreign table is reached without a password, which only superusers may do.",
            hint="Its reader is in kanon.base: ALTER USER MAPPING FOR kanon_base_... SERVER ... "
            "OPTIONS (ADD password '...'); or, as a superuser, OPTIONS (ADD password_required 'false').",
            server_state=state,
        )
    if state == _CHARACTER_NOT_IN_REPERTOIRE:
        return DatabaseError(
            "A text has what PostgreSQL keeps in none, mostly a zero byte.",
            hint="Take it out: tr -d '\\0' does so in a file.",
            server_state=state,
        )
    if state == _UNTRANSLATABLE_CHARACTER:
        return DatabaseError(
            "A text has a character that the encoding of the database does not have.",
            hint="Leave it out, or use a database of encoding UTF8.",
            server_state=state,
        )
    if state == _TOO_MANY_COLUMNS:
        return DatabaseError(
            "A table would need more columns than PostgreSQL allows.",
            hint="Releases, and what they are made with, have columns besides those that are published: "
            "publish fewer, from a view or by a declaration that gives the others no role.",
            server_state=state,
        )
    if state == INSUFFICIENT_PRIVILEGE and hint is None and "tablespace" in message.lower():
        hint = (
            "Releases belong to kanon_owner: GRANT CREATE ON TABLESPACE ... TO kanon_owner; or keep them in "
            "the database's own: SET default_tablespace = '';"
        )
    if state == _UNDEFINED_OBJECT and hint is None and "user mapping" in message:
        hint = "CREATE USER MAPPING FOR ... SERVER ... OPTIONS (user '...', password '...');"
    if state is not None and state[:2] in _NAMES_ONLY:
        return DatabaseError(f"The database refused a statement: {message}.", hint=hint, server_state=state)
    return DatabaseError(
        f"The database refused a statement (SQLSTATE {state or 'unknown'}).",
        hint="The server's log has its own message; it is not repeated here because it may quote data.",
        server_state=state,
    )


def connection_lost() -> DatabaseError:
    """Build the error for a connection of this process that ended unasked.

    Its state is not the one with which a server tells that it lost a connection to another server (08006).
    """
    return DatabaseError(
        "The connection to the database was lost.",
        detail="Whether the last change took effect is not known.",
        hint="Connect again, and look at what is there before you repeat it.",
        server_state=TRANSACTION_RESOLUTION_UNKNOWN,
    )


def time_limit_passed() -> LimitExceeded:
    """Build the error of what took longer than its `kanon_pg.db.protocol.Database.deadline`."""
    return LimitExceeded(
        "The time for a query passed before it was complete.",
        hint="Ask for less in one query, or have the rule seconds of its protected tables raised: "
        """SELECT kanon_protect(..., options => '{"seconds": 60}');""",
    )


_WITHOUT_CHARACTERS = ("SQL_ASCII", "MULE_INTERNAL")
"""Encodings of databases that PostgreSQL does not convert to Unicode."""


def check_encoding(database: str, session: str) -> None:
    """Refuse a database, or a session, whose texts may be no texts of Python.

    ``sql/extension/encoding.sql`` says the same where there is no Python yet.

    Parameters
    ----------
    database, session : str
        ``server_encoding`` and ``client_encoding``; inside the server both are the database's.

    Raises
    ------
    InstallError
        If it is the database, with what to do.
    InputError
        If it is the session.
    """
    if database in _WITHOUT_CHARACTERS:
        raise InstallError(
            f"In a database of encoding {database} nobody can tell which characters texts have, so kanon "
            "does not work there.",
            hint="Make a database of encoding UTF8 and move the data there with pg_dump and pg_restore: "
            "CREATE DATABASE ... ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0;",
        )
    if session in _WITHOUT_CHARACTERS:
        raise InputError(
            f"The connection has the encoding {session}, in which texts are only bytes.",
            hint="SET client_encoding TO 'UTF8';",
        )
