"""Expressions over rows that weigh all people of a class alike: linear combinations of columns."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.plan.steps import birthday, is_linear_in_time, is_step, is_whole
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, is_constant
from kanon_pg.queries.check.types import INTEGERS, NUMBERS


def parts_above(argument: Bound, classes: tuple[Bound, ...]) -> Iterator[Bound]:
    """Yield an expression and everything in it, but no class, and nothing below a step over plain columns."""
    waiting = [argument]
    while waiting:
        item = waiting.pop()
        if item in classes:
            continue
        yield item
        if isinstance(item, AllowedCall) and not is_step(item) and birthday(item) not in classes:
            waiting.extend(item.operands)


def is_linear(item: Bound, classes: tuple[Bound, ...]) -> bool:
    """Return whether an operation is linear in its operands where the values of classes are constants."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return True
    if is_step(item) or is_linear_in_time(item) or birthday(item) in classes:
        return True
    if item.name == "round":
        return is_whole(item)
    if any(operand.type == "interval" for operand in item.operands):
        return False
    if item.name == "cast":
        source, target = item.operands[0].type, item.type
        return source == target or (source in NUMBERS and target in NUMBERS and _widens(source, target))
    fixed = [is_constant(operand) or operand in classes for operand in item.operands]
    allowed = {
        "+": True,
        "-": True,
        "neg": True,
        "difference": True,
        "*": any(fixed),
        "/": fixed[-1] and item.type not in INTEGERS,
        # a constant in place of NULL: who has no value is counted like whoever a filter leaves out
        "coalesce": fixed == [False, True],
    }
    return allowed.get(item.name, False)


def _widens(source: str, target: str) -> bool:
    return NUMBERS.index(source) <= NUMBERS.index(target) or (source == "float4" and target == "numeric")
