"""Readers: roles of which each may read one relation, as which the code that the relation brings along runs.

Views, index expressions, constraints, types and what built-in functions execute from a text run with the
rights of whoever reads. No other role of kanon reads what belongs to others, so that nothing is in reach of
that code but the relation itself. A reader owns nothing that anybody else calls, and whatever runs with its
rights cannot write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kanon_pg.db.citus import owner_reads, reads_tables_of_citus
from kanon_pg.db.failures import UNDEFINED_FUNCTION, UNDEFINED_SCHEMA
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.settings import dropped_everywhere
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InstallError, NotPermitted, UnsuitableRelation

SCHEMA = "kanon_bases"
"""Schema of what reads base relations."""

SHOWN_SCHEMA = "kanon_shown"
"""Schema of what shows rows to whom its argument names: views of kanon alone call it, nobody may name it."""

READERS_LOCK = 0x6B616E6F
"""First key of the locks that keep a reader for one relation while it is read; its number is the second."""

READERS = 16
"""Readers that an installation makes; `kanon.add_readers` makes more."""


class Readable(Protocol):
    """What is known of a relation that is read."""

    @property
    def oid(self) -> int:
        """Its OID."""
        ...

    @property
    def identifier(self) -> Identifier:
        """Its quoted, qualified name."""
        ...

    @property
    def row_security(self) -> bool:
        """Whether row-level security is on."""
        ...

    @property
    def is_own(self) -> bool:
        """Whether it belongs to ``kanon_owner``, so that nobody else's code is in it."""
        ...


def reader_role(reader: int) -> str:
    """Return the name of a reader's role."""
    return f"kanon_base_{reader}"


def reader_of(db: Database, oid: int) -> int | None:
    """Return the number of the reader of a relation; nobody else gets it until the transaction ends.

    Raises
    ------
    InstallError
        If the database has none of kanon's functions.
    """
    try:
        reader: int | None = db.row(statement("reader_of"), oid)["reader"]
    except DatabaseError as error:
        if error.server_state not in (UNDEFINED_SCHEMA, UNDEFINED_FUNCTION):
            raise
        raise InstallError(
            "kanon is not installed in this database, or in another version: no role reads for it.",
            hint="As a superuser: kanon install.",
        ) from error
    return reader


def require_reader(db: Database, relation: Readable) -> int:
    """Return the number of the reader of a relation.

    Raises
    ------
    NotPermitted
        If it has none; with the statement that changes it.
    """
    reader = reader_of(db, relation.oid)
    if reader is None:
        raise NotPermitted(
            f"Relation {relation.identifier} has no reader, a role that may read it and nothing else.",
            hint="Its owner, as a curator, or a superuser can give it one: "
            f"SELECT kanon.grant_read({Literal(str(relation.identifier))});",
        )
    return reader


@contextmanager
def reading(db: Database, relation: Readable) -> Iterator[None]:
    """Have `Database.read` inside use the rights of the relation's reader.

    A relation without one is given a reader for the time being, if the caller may let others read it and
    Citus has none of it. What kanon itself made is read with the caller's own rights.

    Raises
    ------
    NotPermitted
        If the caller may not let anybody else read it.
    UnsuitableRelation
        If row-level security is on.
    """
    if relation.is_own or owner_reads(db, relation.oid):
        with db.reading_as(None):
            yield
        return
    if relation.row_security:
        raise UnsuitableRelation(
            f"Relation {relation.identifier} has row-level security: what reads it could silently miss rows.",
            hint="Use a view, owned by the table's owner.",
        )
    reader = reader_of(db, relation.oid)
    is_lent = (
        reader is None
        and not db.row(statement("cannot_write"))["read_only"]
        # a right that was granted in a transaction cannot be used on other nodes before it ends
        and not reads_tables_of_citus(db, relation.oid)
    )
    if is_lent:
        db.row(statement("grant_read"), relation.oid)
    with db.reading_as(require_reader(db, relation) if reader is None else reader):
        yield
    if is_lent:
        db.row(statement("revoke_read"), relation.oid)


def define_base(
    db: Database, reader: int, base: Identifier, text: Fragment, *, rows: int, shown: bool = False
) -> Fragment:
    """Create what is read of a base relation from now on: a view, and a function of the same name.

    Everything that shows something of the relation depends on the view, and goes with the relation's columns.

    Parameters
    ----------
    base : Identifier
        Name of both, in `SCHEMA`.
    text : Fragment
        The view's query. Whatever is computed of the relation's values by operators, casts and functions that
        others could have made belongs into it.
    rows : int
        About how many rows there are, for the planner.
    shown : bool
        Whether a view shows it to others than kanon's own roles: the text says to whom, then, by the setting
        ``kanon.asking``.

    Returns
    -------
    Fragment
        The call of the function, for FROM.
    """
    if db.rows(statement("left_base"), base.name):
        # of a database that was copied without kanon's record
        drop_base(db, base.name, shown=shown)
    db.row(statement("define_base", reader=reader), base.name, _row_type(base.name), str(text), rows, shown)
    return Fragment(f"{Identifier.of(SHOWN_SCHEMA, base.name)}(CURRENT_USER)" if shown else f"{base}()")


def gather_statistics(db: Database, relation: Identifier) -> None:
    """Gather statistics of what kanon stores, but not of columns whose type would run code of its own."""
    for row in db.rows(statement("code_in_statistics"), str(relation)):
        db.execute(statement("without_statistics", relation=relation, column=Identifier.of(row["name"])))
    db.execute(statement("analyze", relation=relation))


def drop_base(db: Database, name: str, *, shown: bool = False) -> None:
    """Remove what `define_base` made, after everything that shows its rows."""
    base, row_type = Identifier.of(SCHEMA, name), Identifier.of(SCHEMA, _row_type(name))
    function = Fragment(f"{Identifier.of(SHOWN_SCHEMA, name)}(name)" if shown else f"{base}()")
    db.execute(statement("drop_base_function", function=function))
    with dropped_everywhere(db):
        db.execute(statement("drop_base", base=base, row_type=row_type))


def _row_type(name: str) -> str:
    return derived_name(name, "type")
