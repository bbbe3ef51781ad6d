"""Builds a hierarchy over the values of a column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.class_finder import finder_in_worker
from kanon_pg.hierarchies.classes import classes
from kanon_pg.hierarchies.dates import calendar
from kanon_pg.hierarchies.definition import HierarchyDefinition, take_storing_options
from kanon_pg.hierarchies.intervals import intervals
from kanon_pg.hierarchies.networks import networks
from kanon_pg.hierarchies.prefix import prefixes
from kanon_pg.hierarchies.priority import priority
from kanon_pg.hierarchies.ranges import TEXT, range_type
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.hierarchies.values import ColumnValues, column_values

Builder = Callable[[ColumnValues, Spec], GeneralizationHierarchy]

BUILDERS: dict[str, Builder] = {
    "intervals": intervals,
    "dates": calendar,
    "prefix": prefixes,
    "networks": networks,
    "priority": priority,
}
"""Builders by name, without those that need the worker."""

_OF_RANGES = ("intervals", "dates", "classes")


def build(
    db: Database, relation: RelationFacts, column: ColumnFacts, spec: Any, options: Any = None
) -> HierarchyDefinition:
    """Build a hierarchy over all values that a column has now, NULL apart.

    Parameters
    ----------
    db : Database
        May read the column.
    relation : RelationFacts
        Table or view.
    column : ColumnFacts
        A column of it.
    spec : mapping
        ``{"builder": NAME, ...}`` with the name of a builder, and the keys of that builder.
    options : mapping, optional
        Those of `kanon_pg.hierarchies.definition.StoringOptions`.

    Returns
    -------
    HierarchyDefinition
        Checked; the output is a range type for intervals, dates, and classes of what has an order, else text.

    Raises
    ------
    InputError
        If the specification cannot be understood.
    UnsuitableColumn
        If the builder is not for columns of this type.
    InfeasibleError
        If there are too few rows for what it wants.
    """
    given, saying = Spec(spec, "spec"), Spec(options, "options")
    kept = take_storing_options(saying)
    saying.done()
    builders = BUILDERS | {"classes": partial(classes, finder_in_worker(db))}
    name = given.text("builder", tuple(builders))
    if name is None:
        raise InputError(
            "The specification names no builder.",
            hint=f'Choose one of {", ".join(builders)}, for example {{"builder": "intervals", "width": 5}}.',
        )
    hierarchy = builders[name](column_values(db, relation, column), given)
    given.done()
    output = range_type(column.base_type) if name in _OF_RANGES else None
    return HierarchyDefinition(hierarchy, output or TEXT, name, dict(spec), kept)
