"""The arguments of grouping a column, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from kanon_pg.core.grouping import DEFAULT_EPSILON, LABEL_METHODS, ON_LIGHT, RECTANGLE_METHODS, REGION_METHODS
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import (
    DEFAULT_SECONDS,
    AnyRelation,
    TimeLimit,
    check_choice,
    check_k,
    check_time_limit,
)

COSTS = ("max", "sum")
"""Size of the largest class, or the sum over all people of what their class has beyond k."""


Column = Annotated[str | None, Argument("name", "What is grouped; an SQL keyword, so in quotes if named.")]
K = Annotated[int, Argument("integer", "Least size of a class, at least 2.")]
Weight = Annotated[str | None, Argument("name", "Column to add up in place of counting people.")]
Cost = Annotated[
    str, Argument("text", "max: size of the largest class; sum: what the classes of all have beyond k.")
]


class GroupingRequest:
    """Arguments that all ways of grouping have, each in its own order, which is SQL's."""

    __slots__ = ()

    relation: str | None
    k: int
    weight: str | None
    cost: str
    time_limit: float

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        check_k(self.k)
        check_choice("cost", self.cost, COSTS)
        check_time_limit(self.time_limit)


@dataclass(frozen=True, slots=True)
class IntervalsRequest(GroupingRequest):
    """The arguments of ``kanon_intervals``; `column` has numbers, dates or moments."""

    relation: AnyRelation
    column: Column
    k: K
    weight: Weight = None
    cost: Cost = "max"
    time_limit: TimeLimit = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        GroupingRequest.check(self)
        require_name("column", self.column)


@dataclass(frozen=True, slots=True)
class LabelsRequest(GroupingRequest):
    """The arguments of ``kanon_groups``."""

    relation: AnyRelation
    column: Column
    k: K
    method: Annotated[str, Argument("text", "spread, fold, exact or relaxed.")] = "spread"
    weight: Weight = None
    cost: Cost = "max"
    epsilon: Annotated[float, Argument("double precision", "Of relaxed, above 0 and below 1/2.")] = (
        DEFAULT_EPSILON
    )
    time_limit: TimeLimit = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        GroupingRequest.check(self)
        require_name("column", self.column)
        check_choice("method", self.method, LABEL_METHODS)
        if self.epsilon is None or not 0 < self.epsilon < 0.5:
            raise InputError("epsilon must be above 0 and below 1/2.", hint="For example 0.25.")


@dataclass(frozen=True, slots=True)
class RegionsRequest(GroupingRequest):
    """The arguments of ``kanon_regions``."""

    relation: AnyRelation
    column: Column
    adjacency: Annotated[str | None, Argument("regclass", "Table or view with the pairs of neighbours.")]
    """Table or view with a row for each pair of neighbours, in one direction or both."""
    k: K
    neighbours: Annotated[
        Sequence[str] | None, Argument("name[]", "Its two columns; its first two unless given.")
    ] = None
    weight: Weight = None
    method: Annotated[str, Argument("text", "moves, tree or exact.")] = "moves"
    on_light: Annotated[
        str, Argument("text", "Parts of the map with less than k: other gathers them, refuse refuses.")
    ] = "other"
    """One of `ON_LIGHT`: what becomes of parts of the map that have less than k."""
    cost: Cost = "max"
    time_limit: TimeLimit = DEFAULT_SECONDS
    positions: tuple[str, str] | None = None
    """Columns with a place on the map, for pictures; averaged by value."""

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        GroupingRequest.check(self)
        require_name("column", self.column)
        check_choice("method", self.method, REGION_METHODS)
        check_choice("on_light", self.on_light, ON_LIGHT)
        if self.neighbours is not None and len(self.neighbours) != 2:
            raise InputError(
                "neighbours must name two columns of the adjacency.",
                hint="For example: neighbours => '{county,neighbor}'.",
            )
        if self.positions is not None and len(self.positions) != 2:
            raise InputError("A place on the map needs two columns.", hint="For example: longitude,latitude.")


@dataclass(frozen=True, slots=True)
class RectanglesRequest(GroupingRequest):
    """The arguments of ``kanon_rectangles``."""

    relation: AnyRelation
    x: Annotated[str | None, Argument("name", "Column of numbers, or of points.")]
    y: Annotated[str | None, Argument("name", "Column of numbers; NULL if x has points.")]
    k: K
    weight: Weight = None
    method: Annotated[str, Argument("text", "kd or exact.")] = "kd"
    cost: Cost = "max"
    time_limit: TimeLimit = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        GroupingRequest.check(self)
        require_name("x", self.x)
        check_choice("method", self.method, RECTANGLE_METHODS)


INTERVALS = Operation(IntervalsRequest)
GROUPS = Operation(LabelsRequest)
REGIONS = Operation(RegionsRequest)
RECTANGLES = Operation(RectanglesRequest)


def require_name(argument: str, name: str | None) -> None:
    """Refuse a column that is not named."""
    if name is None:
        raise InputError(f"{argument} is NULL.", hint="Name a column of the relation.")
