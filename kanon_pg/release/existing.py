"""Finds a release by what people call it: its bare name, or its view as SQL writes that."""

from __future__ import annotations

from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, UnknownName

_LONGEST = 60
"""Bytes from which a text may be the cut-off rest of a longer one: SQL's type ``name`` ends after 63, or up
to three earlier, before a character of several bytes."""


def existing_release(db: Database, given: str | None) -> Row:
    """Return the record of a release.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    given : str or None
        Its name, exactly as in ``kanon.releases``; else ``name`` or ``safe.name`` as SQL writes
        it, with quotes where SQL needs them.

    Raises
    ------
    UnknownName
        If there is none.
    """
    for name in () if given is None else (given, name_in_sql(db, given)):
        found = [] if name is None else db.rows(statement("fetch_release"), name)
        if found:
            return found[0]
    raise UnknownName("There is no such release.", hint="SELECT * FROM kanon.releases lists them.")


def name_in_sql(db: Database, given: str) -> str | None:
    """Return the bare name in a text that SQL takes as the name of a view in ``safe``; None if it is none.

    Parameters
    ----------
    db : Database
        Any.
    given : str
        ``name`` or ``safe.name``.
    """
    if len(given.encode()) >= _LONGEST:
        return None
    try:
        with db.savepoint():
            parts: list[str] = db.row(statement("load_parse_name"), given)["parts"]
    except DatabaseError:
        return None
    in_safe = len(parts) == 1 or (len(parts) == 2 and parts[0] == "safe")
    return parts[-1] if in_safe else None
