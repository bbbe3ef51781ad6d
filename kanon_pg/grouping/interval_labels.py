"""What intervals are called: ranges in PostgreSQL's own notation."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.grouping.found import FoundValue
from kanon_pg.hierarchies.ranges import ELEMENTS, range_type

_BEYOND = {("int4range", "2147483647"): "int8range", ("int8range", "9223372036854775807"): "numrange"}
"""Range types that hold a greatest value after which the usual one has none."""


def require_range(column: ColumnFacts) -> None:
    """Refuse a column whose values have no range type.

    Raises
    ------
    UnsuitableColumn
        If they have none.
    """
    if range_type(column.base_type) is None:
        raise UnsuitableColumn(
            f"Column {column.identifier} of type {column.type} has no intervals.",
            hint="Numbers, dates and timestamps have; for labels without order there is kanon_groups.",
        )


def interval_labels(
    db: Database, column: ColumnFacts, values: Sequence[FoundValue], classes: Sequence[int]
) -> list[str]:
    """Return the interval of each class: from its least value to that of the next, without it.

    The last one ends with the greatest value. So every value in between belongs to one interval, also one
    that does not occur yet.

    Parameters
    ----------
    db : Database
        Makes the ranges.
    column : ColumnFacts
        Of the values.
    values : sequence of FoundValue
        In order.
    classes : sequence of int
        Of each value, ascending from 0.
    """
    starts = [place for place, number in enumerate(classes) if place == 0 or number != classes[place - 1]]
    lows = [values[place].value for place in starts]
    highs = [*lows[1:], values[-1].value]
    bounds = ["[)"] * (len(lows) - 1) + ["[]"]
    name = range_type(column.base_type) or ""
    wider = _BEYOND.get((name, highs[-1] or ""), name)
    query = statement("group_ranges", range=Fragment(wider), type=Fragment(ELEMENTS[wider]))
    return [row["label"] for row in db.rows(query, lows, highs, bounds)]
