"""What a relation must be for its columns to be read."""

from __future__ import annotations

from kanon_pg.queries.check.catalog import Column, Kind, Relation
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.typed import ColumnOf
from kanon_pg.queries.check.types import AS_TEXT, TYPES


def usable(column: Column) -> bool:
    """Tell whether a column has a type that may be read, and an equality of bytes."""
    return column.deterministic and (column.type_name in TYPES or column.type_name in AS_TEXT)


def column_of(column: Column, instance: int, outer: bool) -> ColumnOf:
    """Return a column of an instance as an expression."""
    kind = "text" if column.type_name in AS_TEXT else column.type_name
    return ColumnOf(
        type=kind,
        instance=instance,
        name=column.name,
        nullable=column.nullable or outer,
        stored_type=column.type_name,
        span=Span(0, 0),
    )


def check_relation(relation: Relation, span: Span) -> None:
    """Refuse a relation that cannot be read safely, or whose people cannot be counted.

    Raises
    ------
    Refusal
        Q105 to Q109.
    """
    name = f"{relation.schema}.{relation.name}"
    if relation.obstacle is not None:
        raise Refusal("Q109", span, relation.obstacle.sentence, relation.obstacle.hint)
    if relation.kind in {Kind.FOREIGN, Kind.OTHER} or not relation.plain:
        hint = "Ask ordinary tables and releases."
        raise Refusal("Q105", span, f"{name} cannot be asked: reading it may run code of others.", hint)
    protection = relation.protection
    if protection is None:
        return
    if not protection.declared:
        hint = "Ask the table itself, or let its curator declare this view."
        raise Refusal(
            "Q106", span, f"{name} reads a protected table and has no declaration of its own.", hint
        )
    if protection.k < 2:
        raise Refusal("Q107", span, f"{name} has no valid k.", "Let its curator declare it again.")
    entity = protection.entity
    column = relation.column(entity) if entity is not None else None
    if entity is not None and (column is None or not usable(column)):
        raise Refusal(
            "Q108", span, f"The people of {name} cannot be counted.", "Let its curator declare it again."
        )
    if entity is None and relation.kind is Kind.VIEW:
        hint = "Let its curator declare the column that names a person."
        raise Refusal("Q108", span, f"The people of the view {name} cannot be counted.", hint)
