"""What classes are called: ranges in PostgreSQL's own notation, or the heaviest of their values."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.grouping.found import FoundValue

_RANGES = {
    "int2": ("int4range", "integer"),
    "int4": ("int4range", "integer"),
    "int8": ("int8range", "bigint"),
    "numeric": ("numrange", "numeric"),
    "float4": ("numrange", "numeric"),
    "float8": ("numrange", "numeric"),
    "date": ("daterange", "date"),
    "timestamp": ("tsrange", "timestamp"),
    "timestamptz": ("tstzrange", "timestamptz"),
}
"""Range type of the values of a type, and what its ends are."""

_GREATEST = {"int4range": "2147483647", "int8range": "9223372036854775807"}

_WIDEST = 60
_SEPARATOR = ", "
OTHER = "other"
MISSING = "(none)"


def require_range(column: ColumnFacts) -> None:
    """Refuse a column whose values have no range type.

    Raises
    ------
    UnsuitableColumn
        If they have none.
    """
    if column.base_type not in _RANGES:
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
    name, ends = _RANGES[column.base_type]
    greatest = values[-1].value
    # Nothing follows the greatest integer that could end its range, which then has no end.
    highs = [*lows[1:], None if greatest == _GREATEST.get(name) else greatest]
    bounds = ["[)"] * (len(lows) - 1) + ["[]"]
    query = statement("group_ranges", range=Fragment(name), type=Fragment(ends))
    return [row["label"] for row in db.rows(query, lows, highs, bounds)]


def list_labels(
    values: Sequence[FoundValue], classes: Sequence[int], count: int, other: int | None = None
) -> list[str]:
    """Return for each class the names of its heaviest values and how many more there are, all different.

    Parameters
    ----------
    values : sequence of FoundValue
    classes : sequence of int
        Of each value, from 0.
    count : int
        Number of classes.
    other : int, optional
        Class of what belongs nowhere else.

    Examples
    --------
    >>> list_labels([FoundValue("b", 0, 1), FoundValue("a", 0, 2), FoundValue("c", 0, 5)], [0, 0, 1], 2)
    ['a, b', 'c']
    """
    members: list[list[FoundValue]] = [[] for _ in range(count)]
    for value, number in zip(values, classes, strict=True):
        members[number].append(value)
    labels: list[str] = []
    taken = set[str]()
    for number, inside in enumerate(members):
        label = OTHER if number == other else _listed(inside)
        while label in taken:
            label = f"{label} ({number + 1})"
        taken.add(label)
        labels.append(label)
    return labels


def _listed(inside: Sequence[FoundValue]) -> str:
    heaviest = sorted(inside, key=lambda value: (-value.weight, value.value is None, value.value))
    shown: list[str] = []
    width = 0
    for value in heaviest:
        name = MISSING if value.value is None else value.value
        width += len(name) + len(_SEPARATOR)
        if shown and width > _WIDEST:
            return f"{_SEPARATOR.join(shown)} and {len(inside) - len(shown)} more"
        shown.append(name)
    return _SEPARATOR.join(shown)
