"""Columns that are published as they are and tell what suppressed cells of others hide.

What the catalog knows, generated columns, is refused. What only the values show is said, by a sample of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.citus import reads_tables_of_citus
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.relations.canonical import as_seen
from kanon_pg.release.plan import ReleasePlan

_MOST_ROWS, _FEWEST_ROWS = 10_000, 1_000
"""Rows of a sample, in which each pair of columns is counted: with many pairs it is smaller."""

_COUNTS = 1_000_000
"""Rows that all pairs are counted in together: less than a second."""

_FEWEST_OTHERS = 20
"""Of fewer rows that share their value with others nothing is concluded."""

_TELLS = 0.8
"""Share of what cannot be guessed that has to be told for a notice."""


def refuse_generated(db: Database, plan: ReleasePlan) -> None:
    """Refuse to publish a generated column as it is whose source is hidden, or the source of such a column.

    Raises
    ------
    UnsuitableColumn
        With what to do.
    """
    masked = {column.facts.name for column in plan.quasi_identifiers}
    carried = {column.name for column in plan.carried}
    for row in db.rows(statement("generated_columns"), plan.base.oid):
        generated, source = row["generated"], row["source"]
        if generated in carried and source not in carried:
            shown, hidden = generated, source
            how = f"is computed from {Identifier.of(source)}"
        elif source in carried and generated in masked:
            shown, hidden = source, generated
            how = f"is what {Identifier.of(generated)} is computed from"
        else:
            continue
        raise UnsuitableColumn(
            f"Column {Identifier.of(shown)} {how}, so it would tell cells of {Identifier.of(hidden)} that "
            "are not published.",
            hint=f"Declare {Identifier.of(shown)} as a quasi-identifier, or leave it out of the declaration.",
        )


def notice_telling(db: Database, plan: ReleasePlan, storage: Identifier, *, rows: int) -> None:
    """Say which columns that are published as they are tell hidden cells of others, or a part of these.

    Looks at a random sample of the base relation.

    Parameters
    ----------
    storage : Identifier
        What was stored of the release.
    rows : int
        How many rows the base relation has.
    """
    base = plan.base
    carried = list(plan.carried)
    if not carried or reads_tables_of_citus(db, base.oid):
        return
    masked = _masked(db, plan, storage)
    if not masked:
        return
    columns = [*carried, *masked]
    alias = {column.name: Identifier.of(f"c{number}") for number, column in enumerate(columns)}
    pairs = [(one, other) for shown in carried for hidden in masked for one, other in _ways(shown, hidden)]
    size = max(_FEWEST_ROWS, min(_MOST_ROWS, _COUNTS // len(pairs)))
    command = statement(
        "telling_columns",
        relation=base.identifier,
        columns=[{"seen": as_seen(db, base, column), "alias": alias[column.name]} for column in columns],
        entity=None if plan.entity is None else plan.entity.facts.identifier,
        share=Fragment(f"{min(1.0, size / max(1, rows)):.9f}"),
        rows=2 * size,
        pairs=[
            {"number": number, "one": alias[one.name], "other": alias[other.name]}
            for number, (one, other) in enumerate(pairs)
        ],
    )
    with reading(db, base):
        found = sorted(db.read(command), key=lambda row: row["number"])
    said: set[tuple[str, str]] = set()
    for row, (one, other) in zip(found, pairs, strict=True):
        shown, hidden = (one, other) if one in carried else (other, one)
        if (shown.name, hidden.name) in said or not _tells(
            row["told"], row["others"], row["guessed"], row["rows"]
        ):
            continue
        said.add((shown.name, hidden.name))
        what = "tells" if one is shown else "is told by, and so tells a part of,"
        sample = "all" if row["rows"] >= rows else "a sample of"
        role = "Sensitive" if shown in plan.sensitive else "Insensitive"
        db.notice(
            f"{role} column {shown.identifier} {what} {hidden.identifier} (nearly always, in {sample} "
            f"{row['rows']} rows) and is published as it is, beside suppressed cells of {hidden.identifier}. "
            "Declare it as a quasi-identifier, or leave it out of the declaration."
        )


def _ways(shown: ColumnFacts, hidden: ColumnFacts) -> Sequence[tuple[ColumnFacts, ColumnFacts]]:
    return (shown, hidden), (hidden, shown)


def _tells(told: int, others: int, guessed: int, rows: int) -> bool:
    """Whether a column tells nearly all of another that cannot be guessed without it."""
    if others < _FEWEST_OTHERS or guessed >= rows:
        return False
    guess = guessed / rows
    return told / others >= guess + _TELLS * (1 - guess)


def _masked(db: Database, plan: ReleasePlan, storage: Identifier) -> list[ColumnFacts]:
    """Return the quasi-identifiers with a cell that is suppressed or generalized."""
    fields = plan.levels
    masks = [
        ((1 << width) - 1) << offset for width, offset in zip(fields.widths, fields.offsets, strict=True)
    ]
    row = db.row(
        statement(
            "masked_columns",
            storage=storage,
            columns=[
                {"alias": column.alias, "mask": mask}
                for column, mask in zip(plan.quasi_identifiers, masks, strict=True)
            ],
        )
    )
    return [column.facts for column in plan.quasi_identifiers if row[column.alias.name]]
