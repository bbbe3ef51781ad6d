"""Columns of relations: which can be queried, and as what."""

from __future__ import annotations

from typing import Final

from kanon_pg.queries.check.catalog import ENUM, ENUM_OF_OTHERS, Column
from kanon_pg.queries.check.findings import Span
from kanon_pg.queries.check.plan.typed import ColumnRef
from kanon_pg.queries.check.types import AS_TEXT, LABEL, TYPES

_READ_AS: Final = {ENUM: LABEL, **dict.fromkeys(AS_TEXT, "text"), **{name: name for name in TYPES}}

UNUSABLE_HINT: Final = "A curator can offer its values as text or numbers, in a column or in a declared view."


def is_usable(column: Column) -> bool:
    """Return whether a column has a type that may be read, and an equality of bytes."""
    return column.deterministic and column.type_name in _READ_AS


def why_unusable(column: Column) -> str:
    """Return why a column cannot be queried, as a part of a sentence."""
    if column.type_name == ENUM_OF_OTHERS:
        return (
            f"the owner of its type, {column.shown_type}, could rename labels and does not own the relation"
        )
    if column.type_name not in _READ_AS:
        return f"queries read no values of its type, {column.shown_type or column.type_name}"
    return "its collation takes different texts for equal"


def column_of(column: Column, instance: int, outer: bool) -> ColumnRef:
    """Return a column of an instance as an expression."""
    return ColumnRef(
        type=_READ_AS[column.type_name],
        instance=instance,
        name=column.name,
        nullable=column.nullable or outer,
        stored_type=column.type_name,
        one_scale=column.one_scale,
        is_domain=column.is_domain,
        span=Span(0, 0),
    )
