"""What is asked when a column is grouped, checked before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kanon_pg.errors import InputError, UnknownName
from kanon_pg.release.request import DEFAULT_SECONDS, check_k

COSTS = ("max", "sum")
"""Size of the largest class, or the sum over all people of what their class has beyond k."""

LABEL_METHODS = ("spread", "fold", "exact", "relaxed")
REGION_METHODS = ("moves", "tree", "exact")
RECTANGLE_METHODS = ("kd", "exact")
ON_LIGHT = ("other", "refuse")

DEFAULT_EPSILON = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingCall:
    """What every way of grouping takes.

    Parameters
    ----------
    relation : str or None
        Table or view, as SQL writes it.
    k : int
        Least size of a class, >= 2.
    weight : str, optional
        Numeric column whose sum a value weighs; else people, or rows if no entity is declared.
    cost : str
        One of `COSTS`.
    time_limit : float
        Seconds for searching, > 0; counting is not part of it.
    """

    relation: str | None
    k: int
    weight: str | None = None
    cost: str = "max"
    time_limit: float = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse arguments that can be judged without the database.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        check_k(self.k)
        check_choice("cost", self.cost, COSTS)
        if self.time_limit is None or not math.isfinite(self.time_limit) or self.time_limit <= 0:
            raise InputError(
                "time_limit must be a positive interval.", hint="For example: time_limit => '30 seconds'."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalsCall(GroupingCall):
    """The arguments of ``kanon_intervals``; `column` has numbers, dates or moments."""

    column: str | None

    def check(self) -> None:
        """Refuse arguments that can be judged without the database."""
        GroupingCall.check(self)
        require_name("column", self.column)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsCall(GroupingCall):
    """The arguments of ``kanon_groups``.

    Parameters
    ----------
    column : str
        Its values are labels without order.
    method : str
        One of `LABEL_METHODS`.
    epsilon : float
        Of the relaxed scheme, between 0 and 1/2.
    """

    column: str | None
    method: str = "spread"
    epsilon: float = DEFAULT_EPSILON

    def check(self) -> None:
        """Refuse arguments that can be judged without the database."""
        GroupingCall.check(self)
        require_name("column", self.column)
        check_choice("method", self.method, LABEL_METHODS)
        if self.epsilon is None or not 0 < self.epsilon < 0.5:
            raise InputError("epsilon must be above 0 and below 1/2.", hint="For example 0.25.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionsCall(GroupingCall):
    """The arguments of ``kanon_regions``.

    Parameters
    ----------
    column : str
        Its values are the nodes of a graph.
    adjacency : str
        Table or view with a row for each pair of neighbours, in one direction or both.
    neighbours : sequence of str, optional
        The two columns of it; its first two unless given.
    method : str
        One of `REGION_METHODS`.
    on_light : str
        One of `ON_LIGHT`: what becomes of parts of the map that have less than k.
    positions : tuple of (str, str), optional
        Columns with a place on the map, for pictures; averaged by value.
    """

    column: str | None
    adjacency: str | None
    neighbours: Any = None
    method: str = "moves"
    on_light: str = "other"
    positions: tuple[str, str] | None = None

    def check(self) -> None:
        """Refuse arguments that can be judged without the database."""
        GroupingCall.check(self)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RectanglesCall(GroupingCall):
    """The arguments of ``kanon_rectangles``.

    Parameters
    ----------
    x : str
        Column of numbers, or of points.
    y : str, optional
        Column of numbers; None if `x` has points.
    method : str
        One of `RECTANGLE_METHODS`.
    """

    x: str | None
    y: str | None = None
    method: str = "kd"

    def check(self) -> None:
        """Refuse arguments that can be judged without the database."""
        GroupingCall.check(self)
        require_name("x", self.x)
        check_choice("method", self.method, RECTANGLE_METHODS)


def require_name(argument: str, name: str | None) -> None:
    """Refuse a column that is not named.

    Raises
    ------
    InputError
        If it is NULL.
    """
    if name is None:
        raise InputError(f"{argument} is NULL.", hint="Name a column of the relation.")


def check_choice(argument: str, given: Any, known: tuple[str, ...]) -> None:
    """Refuse a word that is none of some.

    Raises
    ------
    UnknownName
        If it is not.
    """
    if given not in known:
        raise UnknownName(f"There is no such {argument}.", hint="Choose one of: " + ", ".join(known) + ".")
