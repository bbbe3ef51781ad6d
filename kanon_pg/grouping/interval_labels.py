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

_GREATEST = {"int4range": "2147483647", "int8range": "9223372036854775807"}


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
    name, greatest = range_type(column.base_type) or "", values[-1].value
    # Nothing follows the greatest integer that could end its range, which then has no end.
    highs = [*lows[1:], None if greatest == _GREATEST.get(name) else greatest]
    bounds = ["[)"] * (len(lows) - 1) + ["[]"]
    query = statement("group_ranges", range=Fragment(name), type=Fragment(ELEMENTS[name]))
    return [row["label"] for row in db.rows(query, lows, highs, bounds)]
