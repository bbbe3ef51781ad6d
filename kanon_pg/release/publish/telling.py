"""Columns that are published as they are and tell what suppressed cells of others hide.

What the catalog knows, generated columns, is refused. What only the values show is said, by a sample of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.citus import reads_tables_of_citus
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.plan.planning import ReleasePlan

_MOST_ROWS, _FEWEST_ROWS = 10_000, 1_000
"""Rows of a sample, in which each pair of columns is counted: with many pairs it is smaller."""

_COUNTS = 40_000
"""Rows that all pairs are counted in together: 10 milliseconds."""

_FEWEST_OTHERS = 20
"""Of fewer rows that share their value with others nothing is concluded."""

_TELLS = 0.8
"""Share of what cannot be guessed that has to be told for a notice."""


def refuse_generated(db: Database, plan: ReleasePlan) -> None:
    """Refuse to publish as it is a generated column whose source is hidden, or the source of such a one.

    Raises
    ------
    UnsuitableColumn
        With what to do.
    """
    masked = {column.facts.name for column in plan.quasi_identifiers}
    refuse_generated_columns(db, plan.base.oid, {column.name for column in plan.readable}, masked)


def refuse_generated_columns(db: Database, relation: int, carried: Set[str], masked: Set[str]) -> None:
    """Refuse to publish columns of a table as they are that tell others, of which they are generated.

    Parameters
    ----------
    carried, masked : set of str
        Columns that are published as they are, and those of which cells are suppressed.
    """
    for row in db.rows(statement("generated_columns"), relation):
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
    """
    base = plan.base
    carried = plan.readable
    if not carried or reads_tables_of_citus(db, base.oid):
        return
    masked = _masked(db, plan, storage)
    if not masked:
        return
    columns = [*carried, *masked]
    size = max(_FEWEST_ROWS, min(_MOST_ROWS, _COUNTS // (len(carried) * len(masked))))
    sampled = _sample(db, plan, columns, share=min(1.0, size / max(1, rows)), most=2 * size)
    count = len(sampled[0])
    for shown, of_shown in zip(carried, sampled, strict=False):
        for hidden, of_hidden in zip(masked, sampled[len(carried) :], strict=True):
            by_shown, by_hidden = _told(of_shown, of_hidden)
            if _tells(by_shown, of_shown, of_hidden):
                what = "tells"
            elif _tells(by_hidden, of_hidden, of_shown):
                what = "is told by, and so tells a part of,"
            else:
                continue
            sample = "all" if count >= rows else "a sample of"
            role = "Sensitive" if shown in plan.sensitive else "Insensitive"
            db.notice(
                f"{role} column {shown.identifier} {what} {hidden.identifier} (nearly always, in {sample} "
                f"{count} rows) and is published as it is, beside suppressed cells of {hidden.identifier}. "
                "Declare it as a quasi-identifier, or leave it out of the declaration."
            )


def _sample(
    db: Database, plan: ReleasePlan, facts: Sequence[ColumnFacts], *, share: float, most: int
) -> list[Sequence[int]]:
    """Return the values of some columns in a random sample of the rows, one for each person, as numbers."""
    columns = [CanonicalColumn(column, Identifier.of(f"c{number}")) for number, column in enumerate(facts, 1)]
    command = statement(
        "telling_columns",
        relation=plan.base.source,
        columns=[
            {"name": column.facts.identifier, "alias": column.alias, "identity": column.identity("drawn")}
            for column in columns
        ],
        entity=None if plan.entity is None else plan.entity.facts.identifier,
        share=Fragment(f"{share:.9f}"),
        rows=most,
    )
    with reading(db, plan.base):
        (row,) = db.read(command)
    return [row[column.alias.name] for column in columns]


def _told(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """Count what each of two columns tells of the other.

    For each value, of all its rows but one, how many have the value of the other that is most frequent there.
    """
    by_one: dict[int, int] = {}
    by_other: dict[int, int] = {}
    for (value, beside), rows in Counter(zip(one, other, strict=True)).items():
        if rows > 1:
            by_one[value] = max(rows, by_one.get(value, 0))
            by_other[beside] = max(rows, by_other.get(beside, 0))
    return sum(by_one.values()) - len(by_one), sum(by_other.values()) - len(by_other)


def _tells(told: int, telling: Sequence[int], other: Sequence[int]) -> bool:
    """Whether a column tells nearly all of another that cannot be guessed without it."""
    others = len(telling) - len(set(telling))
    if others < _FEWEST_OTHERS or told < _TELLS * others:
        return False
    guess = max(Counter(other).values()) / len(other)
    return guess < 1 and told / others >= guess + _TELLS * (1 - guess)


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
