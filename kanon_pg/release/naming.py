"""What people call a release: its bare name, or its view as SQL writes that."""

from __future__ import annotations

from kanon_pg.db.catalog import parsed_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.relations.subject import RELEASE_SCHEMA


def name_in_sql(db: Database, given: str) -> str | None:
    """Return the bare name in a text that SQL takes as the name of a view in ``safe``; None if it is none.

    Parameters
    ----------
    db : Database
        Any.
    given : str
        ``name`` or ``safe.name``.
    """
    match parsed_name(db, given):
        case [name] | ["safe", name]:
            return name
        case _:
            return None


def name_to_publish(db: Database, given: str) -> str:
    """Return the bare name of a release that is to be published.

    Parameters
    ----------
    given : str
        The name; or ``safe.name`` as SQL writes it, unless a release has exactly this name.

    Raises
    ------
    InputError
        If it begins with the schema, and what follows is no name as SQL writes it.
    """
    if not given.lower().startswith((f"{RELEASE_SCHEMA}.", f'"{RELEASE_SCHEMA}".')):
        return given
    if db.rows(statement("fetch_release"), given):
        return given
    name = name_in_sql(db, given)
    if name is None:
        raise InputError(
            f"The release name begins with the schema {RELEASE_SCHEMA}, and what follows is no name as SQL "
            "writes it.",
            hint="Give the name of the view without its schema: release => 'other_name'.",
        )
    return name
