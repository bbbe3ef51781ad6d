"""Expressions that take few values, whatever the data: their values can be groups of people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, TypedConstant, is_constant
from kanon_pg.queries.check.types import MOMENTS, NUMBERS

_FIELDS: Final = frozenset(
    {"year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "decade", "century"}
)


def takes_few_values(item: Bound) -> bool:
    """Return whether a number that is no constant takes few values whatever the columns hold."""
    if not isinstance(item, AllowedCall) or is_constant(item) or item.type not in NUMBERS:
        return False
    rule = _RULES.get(item.name)
    return rule is not None and rule(item)


def _is_field_of_moment(item: AllowedCall) -> bool:
    field, moment = item.operands
    is_field = isinstance(field, TypedConstant) and (field.text or "").lower() in _FIELDS
    return is_field and (moment.type in MOMENTS or getattr(moment, "name", "") == "age")


def _are_results_few(case: AllowedCall) -> bool:
    return all(is_constant(result) or takes_few_values(result) for result in results_of(case))


def _are_combined_few(item: AllowedCall) -> bool:
    return all(is_constant(operand) or takes_few_values(operand) for operand in item.operands)


def _are_changed_few(item: AllowedCall) -> bool:
    first, *others = item.operands
    return takes_few_values(first) and all(map(is_constant, others))


_RULES: Final[dict[str, Callable[[AllowedCall], bool]]] = {
    **dict.fromkeys(("extract", "date_part"), _is_field_of_moment),
    "case": _are_results_few,
    **dict.fromkeys(("cast", "nullif", "coalesce", "/"), _are_changed_few),
    **dict.fromkeys(
        ("+", "-", "*", "neg", "abs", "floor", "ceil", "ceiling", "round", "trunc", "sign"),
        _are_combined_few,
    ),
}


def results_of(case: AllowedCall) -> tuple[Bound, ...]:
    """Return the results of CASE, that of ELSE last."""
    return (*case.operands[1::2], *(case.operands[-1:] if has_default(case) else ()))


def has_default(case: AllowedCall) -> bool:
    """Return whether CASE has an ELSE."""
    return len(case.operands) % 2 == 1
