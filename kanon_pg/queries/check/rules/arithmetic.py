"""Arithmetic on single rows cannot overflow.

A product that overflows for one person's value alone would answer a query about that person by
failing; a constant expression can do so, too, if a CASE computes it for that person only. Constants are
therefore bounded, products of columns are not multiplied again, and floating
point numbers are multiplied and divided by constants only. Dates are moved a few times only, by at most 1100
years each: a chain of moves could end just before the first date that PostgreSQL has (4713 BC) for one
person and just after it for all others.

Codes: Q330.

Refused::

    SELECT count(*) FROM people WHERE age * 1e15 > 1

    SELECT count(*) FROM people WHERE score * score > 1

Accepted::

    SELECT count(*) FROM people WHERE age * 2 > 60
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import is_bounded
from kanon_pg.queries.check.plan.typed import (
    AllowedCall,
    Bound,
    ParameterRef,
    constant_value,
    is_constant,
    walk,
)
from kanon_pg.queries.check.types import FLOATS, MOMENTS

_PRODUCTS = {"*", "/", "%"}
_ARITHMETIC = _PRODUCTS | {"+", "-", "neg"}
_LARGEST = 10**12
_MOST_FACTORS = 8
_MOST_SHIFTS = 4


def arithmetic(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every operation on rows that some value could make fail."""
    for expression in level.row_expressions():
        factors = shifts = 0
        for item in walk(expression):
            if not isinstance(item, AllowedCall) or item.name not in _ARITHMETIC:
                continue
            factors += item.name in _PRODUCTS
            shifts += item.type in MOMENTS
            problem = _problem(item)
            if problem is not None:
                yield finding_at("Q330", item, *problem)
        if factors > _MOST_FACTORS or shifts > _MOST_SHIFTS:
            sentence = (
                f"One expression on single rows takes {_MOST_FACTORS} products and {_MOST_SHIFTS} shifts of"
                " dates at most."
            )
            place = expression.span
            yield Finding("Q330", place.start, place.end, sentence, "Calculate with aggregates.")


def _problem(item: AllowedCall) -> tuple[str, str] | None:
    fixed = [operand for operand in item.operands if is_constant(operand)]
    if any(isinstance(part, ParameterRef) for operand in fixed for part in walk(operand)):
        return "A parameter cannot be part of arithmetic on single rows.", "Write the number as a constant."
    if any(_is_out_of_bounds(operand) for operand in fixed):
        hint = "Write the number itself."
        return "Arithmetic on single rows takes one number between 1e-12 and 1e12.", hint
    return _product_of_columns(item)


def _product_of_columns(item: AllowedCall) -> tuple[str, str] | None:
    scaled = is_constant(item.operands[-1]) or (item.name == "*" and is_constant(item.operands[0]))
    if item.name not in _PRODUCTS or scaled:
        return None
    if item.type in FLOATS and not (item.name == "/" and is_bounded(item.operands[1])):
        hint = "Multiply and divide by constants only, or cast to numeric."
        return f"{item.name} of two columns can overflow.", hint
    if any(_is_product(part) for operand in item.operands for part in walk(operand)):
        return "A product of columns may not be multiplied again.", "Calculate with aggregates."
    return None


def _is_product(item: Bound) -> bool:
    if not isinstance(item, AllowedCall) or item.name not in _PRODUCTS:
        return False
    return not any(is_constant(operand) for operand in item.operands)


def _is_out_of_bounds(operand: Bound) -> bool:
    value = constant_value(operand)
    return bool(value) and not 1 / _LARGEST <= abs(float(value or 1)) <= _LARGEST
