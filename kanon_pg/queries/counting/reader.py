"""With whose rights the relations of a query are read."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reader_role
from kanon_pg.db.statements import statement
from kanon_pg.errors import NotPermitted
from kanon_pg.queries.reading.findings import Refusal


def query_reader(db: Database, oids: Sequence[int]) -> int | None:
    """Return the reader with whose rights the relations of a query are read; None: the reading role itself.

    What superusers own runs trusted code. What others own is read together only if it is one owner's, and
    with the rights of the reader that has no others' tables: code of theirs finds nothing else.
    """
    readers = db.row(statement("query_reader"), list(oids))
    owners, reader = readers["owners"], readers["reader"]
    if not owners:
        return None
    if len(owners) > 1:
        raise Refusal(
            "Q109",
            0,
            "The tables of this query belong to several owners: code of one could read what is another's.",
            "Let one role own them, or a superuser.",
        )
    if reader is None:
        raise Refusal(
            "Q109",
            0,
            f"No role reads the tables of {Identifier.of(owners[0])} for queries.",
            "Protect one of them (again): SELECT kanon_protect(...);",
        )
    role = reader_role(reader)
    for row in db.rows(statement("closed_to_reader"), list(oids), role):
        name = Identifier.of(row["schema"], row["name"])
        raise Refusal(
            "Q109",
            0,
            f"{name} cannot be queried together with the other tables: the role {role} may not read it.",
            f"Its owner can allow it: GRANT USAGE ON SCHEMA {Identifier.of(row['schema'])} TO {role}; "
            f"GRANT SELECT ON {name} TO {role};",
        )
    try:
        with db.savepoint():
            db.row(statement("begin_reading"))
    except NotPermitted as error:
        raise Refusal("Q109", 0, error.message, error.hint or "") from None
    return int(reader)
