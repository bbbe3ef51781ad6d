"""Pseudonyms: what stands for keys in a release, the same for the same key as long as its secret lives."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.subject import Subject

KEY_TYPES = frozenset({"int2", "int4", "int8", "numeric", "text", "varchar", "bpchar", "uuid"})
"""Types whose values have one text each, whatever a session has set."""


@dataclass(frozen=True, slots=True)
class Pseudonym:
    """What stands for the values of a column."""

    secret: Literal
    """Name of the secret."""
    domain: Literal
    """Whose values they are: equal values of others have other pseudonyms."""

    def of(self, text: str) -> Fragment:
        """Return the pseudonym of a text: a keyed hash, of type ``uuid``.

        Nobody computes or inverts it without the secret, which has 32 bytes. Of each digest the half is
        shown, so that nobody goes on from it to that of a longer text (Coron, Dodis, Malinaud and Puniya
        2005, the chop construction).
        """
        return render("pseudonym", secret=self.secret, domain=self.domain, text=Fragment(text))


def key_text(facts: ColumnFacts) -> Fragment:
    """Return the one text of a value of a key column, in terms of the column."""
    return facts.text(str(key_value(facts)))


def key_value(facts: ColumnFacts) -> Fragment:
    """Return a value of a key column, spelled as equal ones of columns that refer to it."""
    value = CanonicalColumn(facts, Identifier.of("k")).expression
    # numeric(10,2) may refer to numeric, and integers to both
    return Fragment(f"pg_catalog.trim_scale({value})") if facts.base_type == "numeric" else value


def text_of(facts: ColumnFacts, cell: Identifier) -> Fragment:
    """Return the same of a cell that was read under another name."""
    return key_text(replace(facts, name=cell.name))


def require_key_types(relation: Identifier, columns: Sequence[ColumnFacts]) -> None:
    """Refuse columns for whose values there are no pseudonyms.

    Raises
    ------
    UnsuitableColumn
        With the types there are.
    """
    for column in columns:
        if column.base_type not in KEY_TYPES or not column.deterministic:
            raise UnsuitableColumn(
                f"Column {column.identifier} of {relation} has type {column.type}, for which there are no "
                "pseudonyms.",
                hint="Pseudonyms stand for integers, numeric, texts of deterministic collations and uuid.",
            )


def require_one_row_each(subject: Subject, columns: Sequence[ColumnFacts]) -> None:
    """Refuse pseudonyms by which several rows could be followed.

    Raises
    ------
    UnsuitableColumn
        With what to do.
    """
    for column in columns:
        if not column.is_key:
            raise UnsuitableColumn(
                f"Column {column.identifier} of {subject.relation.identifier} is not unique: a pseudonym "
                "would show which rows belong together, and so tell people apart in their classes.",
                hint="If it names people, declare it as the entity, and give no other: the class of each "
                "person is that of all their rows then.",
            )


SHARED = "shared:"
"""Beginning of the names of secrets that several releases may have."""


def secret_name(db: Database, release: str, table: RelationFacts, given: str | None) -> str:
    """Return the name of the secret of a publication: its own, or one that others may have, too.

    Tables of one owner can share a secret. With that of another, whoever may choose keys could look up what
    stands for each.
    """
    if given is None:
        return f"release:{release}:{secrets.token_hex(8)}"
    owner = db.row(statement("linked/owner"), table.oid)["owner"]
    # quoted, so that a colon in the name of one owner does not make it that of another
    return f"{SHARED}{Identifier.of(owner)}:{Identifier.of(given).name}"


def make_secret(db: Database, name: str) -> None:
    """Make a secret, unless there is one of this name, and one for chance; say what sharing one means."""
    for one in (name, order_secret(name)):
        db.execute(statement("make_secret"), one)
    if name.startswith(SHARED):
        db.notice(
            "Who may read several releases that share a secret can link their rows, and learns of each "
            "person "
            "what all of them say together. k holds in each release by itself."
        )


def order_secret(name: str) -> str:
    """Return the name of the secret by which rows are drawn that are left out: it lasts with the release."""
    return f"{name}:order"


def renew_secret(db: Database, name: str | None) -> None:
    """Give the rows of a release new pseudonyms, unless others may have the same."""
    if name is not None and not name.startswith(SHARED):
        db.execute(statement("renew_secret"), name)


def forget_secret(db: Database, name: str | None) -> None:
    """Remove the secrets of a publication; one that others may have stays."""
    if name is not None and not name.startswith(SHARED):
        for one in (name, order_secret(name)):
            db.execute(statement("forget_secret"), one)
