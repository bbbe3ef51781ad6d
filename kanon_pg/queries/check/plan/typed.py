"""Expressions whose names and types are known; what runs is rendered from these and nothing else.

Spans take no part in equality: two equal expressions are the same group key or the same aggregate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.types import INTEGERS, NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """Any bound expression.

    Parameters
    ----------
    type : str
        Type as PostgreSQL would derive it for the text that was written.
    as_numeric : bool
        True for whole numbers that are computed as ``numeric``, so that no sum or product overflows.
    """

    type: str
    as_numeric: bool = False
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRef(Typed):
    """A column of an instance in FROM.

    Parameters
    ----------
    instance : int
        Number of the instance within its level.
    name : str
        Name of the column.
    nullable : bool
        Whether NULL can occur here (also through an outer join).
    stored_type : str
        Type in the catalog; differs from ``type`` for ``varchar``, ``bpchar`` and enums.
    one_scale : bool
        Whether all its numbers have the same decimals.
    is_domain : bool
        Whether it is stored in a domain over ``stored_type``.
    """

    instance: int
    name: str
    nullable: bool
    stored_type: str
    one_scale: bool = False
    is_domain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedConstant(Typed):
    """A constant; ``text`` is None for NULL."""

    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRef(Typed):
    """A parameter."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedCall(Typed):
    """A call of something on the allowlists.

    Parameters
    ----------
    name : str
        Name for messages and rules, such as ``*`` or ``lower``.
    template : str
        SQL with ``{0}``, ``{1}`` ... for the operands.
    operands : tuple of Bound
        Already cast to what the template takes.
    """

    name: str
    template: str
    operands: tuple[Bound, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = 1 + sum(size_of(operand) for operand in self.operands)
        if size > _LARGEST:
            raise Refusal("Q001", self.span, "An expression grows too large.", "Write a simpler query.")
        object.__setattr__(self, "size", size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Typed):
    """An aggregate over the rows of a group.

    Parameters
    ----------
    function : str
        Name in ``pg_catalog``.
    argument : Bound or None
        None for ``count(*)``.
    distinct : bool
        Whether equal values count once.
    fraction : str or None
        Constant of a percentile.
    descending : bool
        Order of a percentile, or of a list.
    separator : str or None
        What stands between the values of a list, which are different ones.
    is_spelled : bool
        Whether the decimals of a sum or mean have to follow from its value (`plan.spellings`).
    """

    function: str
    argument: Bound | None
    distinct: bool = False
    condition: Bound | None = None
    fraction: str | None = None
    descending: bool = False
    separator: str | None = None
    is_spelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRef(Typed):
    """A group key of the level, by its position."""

    position: int


PAIR: Final = "pair"
"""Name of the operation that holds both arguments of an aggregate that takes two."""

_LARGEST = 3000
"""Most parts of an expression; parts that are written once but used often count each time."""

Bound: TypeAlias = ColumnRef | TypedConstant | ParameterRef | AllowedCall | Aggregate | KeyRef


def size_of(expression: Bound) -> int:
    """Return the number of parts of an expression."""
    if isinstance(expression, AllowedCall):
        return expression.size
    if isinstance(expression, Aggregate):
        return 1 + sum(
            size_of(part) for part in (expression.argument, expression.condition) if part is not None
        )
    return 1


def walk(expression: Bound) -> Iterator[Bound]:
    """Yield the expression and everything below it, aggregates' arguments included."""
    waiting: list[Bound] = [expression]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, AllowedCall):
            waiting.extend(item.operands)
        elif isinstance(item, Aggregate):
            waiting.extend(part for part in (item.argument, item.condition) if part is not None)


def columns_in(expression: Bound) -> tuple[ColumnRef, ...]:
    """Return the columns that the expression reads."""
    return tuple(item for item in walk(expression) if isinstance(item, ColumnRef))


def is_constant(expression: Bound) -> bool:
    """Return whether the value is the same for every row (constants, parameters, the time)."""
    return not any(isinstance(item, ColumnRef | Aggregate | KeyRef) for item in walk(expression))


def number_type(expression: Bound) -> str:
    """Return the type in which the rendered number really is."""
    return "numeric" if expression.as_numeric and expression.type in INTEGERS else expression.type


def constant_value(expression: Bound) -> Decimal | None:
    """Return the value of a numeric constant (through casts and a sign), or None."""
    if isinstance(expression, TypedConstant) and expression.type in NUMBERS and expression.text is not None:
        return Decimal(expression.text)
    if isinstance(expression, AllowedCall) and expression.name in {"cast", "neg"}:
        value = constant_value(expression.operands[0])
        return None if value is None else -value if expression.name == "neg" else value
    return None


def has_value(operand: Bound) -> AllowedCall:
    """Return the condition that an expression over rows is not NULL."""
    return AllowedCall(
        type="bool", name="not null", template="({0} IS NOT NULL)", operands=(operand,), span=operand.span
    )


def present_column(condition: Bound) -> ColumnRef | None:
    """Return the column of which a condition is `has_value`, None if it is another one."""
    if isinstance(condition, AllowedCall) and condition.name == "not null":
        (operand,) = condition.operands
        return operand if isinstance(operand, ColumnRef) else None
    return None


def results_of(case: AllowedCall) -> tuple[Bound, ...]:
    """Return the results of CASE, that of ELSE last."""
    return (*case.operands[1::2], *(case.operands[-1:] if has_default(case) else ()))


def has_default(case: AllowedCall) -> bool:
    """Return whether CASE has an ELSE."""
    return len(case.operands) % 2 == 1
