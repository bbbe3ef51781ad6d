"""Quasi-identifiers with a hierarchy: what is requested, what may be published, and how SQL spells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kanon_pg.core.generalization import LevelFields
from kanon_pg.core.json_numbers import is_number, is_whole
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.hierarchies.ranges import ELEMENTS
from kanon_pg.relations.canonical import CanonicalColumn

LOSSES = ("ncp", "levels")
"""Names of losses: the share of values that a node stands for, and the share of the height."""

_EXAMPLE = """For example: hierarchies => '{"age": "ages", "zip": {"hierarchy": "zips", "lowest": 1}}'."""
_LOSS_HINT = (
    'Give "ncp", "levels", or one number per level from 0 to the top: not falling, the last one 1, '
    "for example [0, 0.2, 0.6, 1]."
)


@dataclass(frozen=True, slots=True)
class HierarchyRequest:
    """The hierarchy requested for one column."""

    column: str
    """Name of the quasi-identifier."""
    hierarchy: str | None = None
    """Name of a stored hierarchy."""
    builder: Mapping[str, Any] | None = None
    """How to build one from the column instead; exactly one of the two is given."""
    lowest: int = 0
    """Finest level at which a cell may be published, >= 0."""
    loss: str | tuple[float, ...] = "ncp"
    """One of `LOSSES`, or the loss of a cell per level: 0 to 1, not falling, the last one 1."""


def parse_hierarchies(argument: Any) -> tuple[HierarchyRequest, ...]:
    """Read the argument ``hierarchies`` as far as that needs no database.

    Parameters
    ----------
    argument : dict or None
        Parsed JSON: column -> name of a stored hierarchy, or an object with ``hierarchy`` or ``builder``,
        and optionally ``lowest`` and ``loss``; further keys belong to the builder.

    Returns
    -------
    tuple of HierarchyRequest
        In the order given; empty for None.

    Raises
    ------
    InputError
        With the column, for the first hierarchy that cannot be understood.
    """
    if argument is None:
        return ()
    if not isinstance(argument, Mapping):
        raise InputError("Argument hierarchies must be a JSON object of columns.", hint=_EXAMPLE)
    return tuple(_hierarchy_request(column, given) for column, given in argument.items())


def _hierarchy_request(column: str, given: Any) -> HierarchyRequest:
    quoted = Identifier.of(column)
    if isinstance(given, str):
        given = {"hierarchy": given}
    if not isinstance(given, Mapping):
        raise InputError(
            f"The hierarchy of column {quoted} is neither a name nor a JSON object.", hint=_EXAMPLE
        )
    named, built = given.get("hierarchy"), given.get("builder")
    if (named is None) == (built is None):
        raise InputError(
            f"Column {quoted} needs either the name of a stored hierarchy or a builder.", hint=_EXAMPLE
        )
    if not isinstance(built if named is None else named, str):
        raise InputError(f"The name of the hierarchy of column {quoted} is no text.", hint=_EXAMPLE)
    rest = {key: value for key, value in given.items() if key not in ("hierarchy", "lowest", "loss")}
    if named is not None and set(rest) - {"builder"}:
        raise InputError(
            f"The stored hierarchy of column {quoted} takes lowest and loss, and nothing else.", hint=_EXAMPLE
        )
    return HierarchyRequest(
        column=column,
        hierarchy=named,
        builder=rest if named is None else None,
        lowest=_lowest(quoted, given.get("lowest")),
        loss=_loss(quoted, given.get("loss")),
    )


def _lowest(column: Identifier, lowest: Any) -> int:
    if lowest is None:
        return 0
    if not is_whole(lowest) or lowest < 0:
        raise InputError(
            f"The lowest level of column {column} is not a whole number of at least 0.",
            hint="Level 0 publishes values, level 1 at least their nodes.",
        )
    return lowest


def _loss(column: Identifier, loss: Any) -> str | tuple[float, ...]:
    if loss is None:
        return "ncp"
    if isinstance(loss, str) and loss in LOSSES:
        return loss
    if not isinstance(loss, Sequence) or isinstance(loss, str) or not _is_scale(loss):
        raise InputError(f"The loss of column {column} is not one of those there are.", hint=_LOSS_HINT)
    return tuple(float(number) for number in loss)


def _is_scale(losses: Sequence[Any]) -> bool:
    if not all(map(is_number, losses)):
        return False
    rising = all(low <= high for low, high in pairwise(losses))
    return len(losses) >= 2 and rising and losses[0] >= 0 and losses[-1] == 1


_GREATEST = {"int4range": 2**31 - 1, "int8range": 2**63 - 1}
"""Nothing follows these integers that could end their range, which therefore has no end."""

_SPELLED_WITHOUT_DATA = frozenset({"numeric", "float4", "float8"})
"""Types with several spellings of one value whose canonical one does not depend on the other rows."""


@dataclass(frozen=True, slots=True)
class GeneralizedColumn:
    """A quasi-identifier whose cells are published at a level of a hierarchy.

    Level 0 is the value itself; NULL is a value of its own, published as NULL below the top.
    """

    column: CanonicalColumn
    """The column."""
    requested: HierarchyRequest
    """What was requested for it."""
    output: str
    """Type of its published cells: ``text`` or one of `kanon_pg.hierarchies.ranges.ELEMENTS`."""
    height: int
    """The top level, >= 1, at which a cell is suppressed."""
    source: Fragment | None = None
    """For a stored hierarchy a query with columns ``value`` (text) and ``nodes`` (text[], levels 1 to
    ``height - 1``)."""
    rows: str | None = None
    """For a hierarchy built for this release the same as a JSON list of lists."""

    @property
    def number(self) -> int:
        """Position among the quasi-identifiers, from 1, as in the alias."""
        return int(self.column.alias.name[1:])

    @property
    def known(self) -> Identifier:
        """Alias of the table of its values in a join."""
        return Identifier.of(f"h{self.number}")

    def knows(self, value: str) -> Fragment:
        """Return the condition that a row of the table of its values is about a value.

        Labels of enumerations are compared as texts: which operator compares these, casts could choose.
        """
        own, facts = f"{self.known}.value", self.column.facts
        if facts.base_kind == "e":
            own, value = facts.label(own), facts.label(value)
        return Fragment(f"{own} OPERATOR(pg_catalog.=) {value}")

    @property
    def level(self) -> Identifier:
        """Name of its level inside the queries."""
        return Identifier.of(f"l{self.number}")

    @property
    def published_type(self) -> Fragment:
        """The type of its published cells."""
        return Fragment(f"pg_catalog.{self.output}")

    @property
    def value_as_node(self) -> Fragment:
        """Level 0 in the published type, in terms of a column ``value``."""
        end = ELEMENTS.get(self.output)
        if end is None:
            return self._value_as_text
        if self.output in _GREATEST:
            value = f"typed.value::text::{end}"
            after = f"CASE WHEN {value} < {_GREATEST[self.output]} THEN {value} + 1 END"
            return Fragment(f"pg_catalog.{self.output}({value}, {after})")
        return Fragment(f"pg_catalog.{self.output}(typed.value::text::{end}, typed.value::text::{end}, '[]')")

    @property
    def _value_as_text(self) -> Fragment:
        """Level 0 as text; moments in UTC, because a release shows the same whoever publishes it."""
        text = self.column.facts.text("typed.value")
        if self.column.facts.base_type != "timestamptz":
            return text
        in_utc = "pg_catalog.timezone('UTC', typed.value)"
        return Fragment(
            f"{in_utc}::text || CASE WHEN pg_catalog.isfinite(typed.value) THEN '+00' ELSE '' END"
        )

    @property
    def stored(self) -> Fragment:
        """The cell as the release stores it; texts not as the table of nodes may have compressed them."""
        cell = f"counted.{self.column.alias}"
        return Fragment(f"({cell} || '')::text" if self.output == "text" else cell)

    def hashed(self, table: str) -> Fragment:
        """What stands for the published cell in a hash."""
        return self.look(f"{table}.{self.column.alias}")

    def look(self, node: str) -> Fragment:
        """What stands for a node as readers see it: [1.0,2) and [1.00,2) are equal and look different."""
        return Fragment(f'{node} COLLATE "C"' if self.output == "text" else f"pg_catalog.range_send({node})")

    def losses(self) -> tuple[float, ...] | None:
        """Loss of a cell per level; None if it depends on the node."""
        if isinstance(self.requested.loss, tuple):
            return self.requested.loss
        if self.requested.loss == "levels":
            return tuple(level / self.height for level in range(self.height + 1))
        return None

    def null_losses(self) -> tuple[float, ...]:
        """Loss of a NULL per level: it stands for itself alone below the top."""
        return self.losses() or (0.0,) * self.height + (1.0,)


def require_fit(column: CanonicalColumn, requested: HierarchyRequest, height: int) -> None:
    """Refuse a hierarchy that a column cannot have, and a request that one of this height cannot fulfil.

    Raises
    ------
    UnsuitableColumn
        If equal values of the column may be spelled differently in table and hierarchy.
    InputError
        If the request does not fit the height.
    """
    if not column.is_exact and column.facts.base_type not in _SPELLED_WITHOUT_DATA:
        raise UnsuitableColumn(
            f"Column {column.output} of type {column.facts.type} cannot have a hierarchy: one value may have "
            "several spellings.",
            hint="Cast it in a view, for example to text, and publish the view.",
        )
    if requested.lowest > height:
        raise InputError(
            f"The lowest level of column {column.output} is {requested.lowest}; "
            f"its hierarchy ends at {height}.",
            hint="Level 0 is the value, the last level is suppression.",
        )
    if isinstance(requested.loss, tuple) and len(requested.loss) != height + 1:
        raise InputError(
            f"The loss of column {column.output} has {len(requested.loss)} numbers; its hierarchy has "
            f"{height + 1} levels.",
            hint="Give one number per level: first that of the value, last that of suppression, which is 1.",
        )


def values_of_other_type(column: CanonicalColumn, nodes: str = "") -> UnsuitableColumn:
    """Return the refusal of a hierarchy whose values, or nodes, are not of the types they must have."""
    return UnsuitableColumn(
        f"The hierarchy of column {column.output} has values that are not of the column's type "
        f"{column.facts.type}{nodes}.",
        hint="Give values as the column's type spells them, and ranges as PostgreSQL does, like [20,30).",
    )


def level_fields(
    columns: tuple[CanonicalColumn, ...], generalized: tuple[GeneralizedColumn, ...]
) -> LevelFields:
    """Return where the level of each quasi-identifier stands in a pattern vector."""
    heights = {found.column.alias: found.height for found in generalized}
    return LevelFields(tuple(heights.get(column.alias, 1) for column in columns))


def node_parts(generalized: GeneralizedColumn) -> list[dict[str, Any]]:
    """Return per level below the top what templates need: names of node and loss, and how a loss is found."""
    losses = generalized.losses()
    return [
        {
            "name": Identifier.of(f"level_{level}"),
            "look": generalized.look(f"level_{level}"),
            "loss": Identifier.of(f"loss_{level}"),
            "alias": Identifier.of(f"n{generalized.number}_{level}"),
            "share": losses is None,
            "fixed": None if losses is None else float_literal(losses[level]),
        }
        for level in range(generalized.height)
    ]


def float_literal(value: float) -> Fragment:
    """Return a number of type ``double precision`` as SQL."""
    return Fragment(f"({value!r})::double precision")
