"""Notices for data owners about roles of columns that are probably not what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, require_equality
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import UnsuitableColumn

_ROWS_LOOKED_AT = 100_000


def tell_undeclared(db: Database, relation: RelationFacts) -> None:
    """Say that roles were guessed, and how to find better ones.

    Parameters
    ----------
    db : Database
        Its user is told.
    relation : RelationFacts
        The base relation, of which nothing was declared or asked for.
    """
    db.notice(
        f"The roles of {relation.identifier}'s columns are not declared: all but keys count as "
        "quasi-identifiers, and each row as a person. "
        "SELECT * FROM kanon_suggest(...); proposes roles, SELECT kanon_declare(...); records them."
    )


def tell_repeated_identifiers(db: Database, relation: RelationFacts, identifiers: Sequence[str]) -> None:
    """Say which identifiers repeat, because people may have several rows then.

    Looks at 100,000 rows at most; a repetition that shows only in more of them is not told.

    Parameters
    ----------
    db : Database
        May read the relation; its user is told.
    relation : RelationFacts
        The relation.
    identifiers : sequence of str
        Names of its columns that are declared as identifiers, while no column is the entity.
    """
    columns = [
        c for c in map(relation.column, identifiers) if not c.is_key and _has_equality(db, relation, c)
    ]
    if not columns:
        return
    aliases = [Identifier.of(f"c{number}") for number in range(len(columns))]
    found = db.row(
        statement(
            "repeated_identifiers",
            relation=relation.identifier,
            rows=_ROWS_LOOKED_AT,
            columns=[{"name": c.identifier, "alias": a} for c, a in zip(columns, aliases, strict=True)],
        )
    )
    repeated = [c for c, alias in zip(columns, aliases, strict=True) if found[alias.name]]
    if len(repeated) == 1:
        column = repeated[0]
        db.notice(
            f"Column {column.identifier} is declared as an identifier and repeats. If it names people, "
            f"declare it as entity => {Literal(column.name)}, too: else each row counts as a person."
        )
    elif repeated:
        names = ", ".join(str(column.identifier) for column in repeated)
        db.notice(
            f"Columns {names} are declared as identifiers and repeat. "
            "If one of them names people, declare it as the entity, too: else each row counts as a person."
        )


def _has_equality(db: Database, relation: RelationFacts, column: ColumnFacts) -> bool:
    try:
        require_equality(db, relation, (column,))
    except UnsuitableColumn:
        return False
    return True
