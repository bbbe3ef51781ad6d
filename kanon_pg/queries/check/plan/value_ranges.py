"""Whether a condition on one value of a row, or a group by it, takes one range of this value.

Everything here is an allowlist: a form that is not listed may take several ranges. What lies between two
limits of an expression in order with the value (`plan.value_order`) is one range of the value, and so are the
rows with one value of the expression. NULL takes part in no condition and is a group by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.plan.cuts import NOTHING, Cuts, compared, union
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import (
    AllowedCall,
    Bound,
    TypedConstant,
    constant_value,
    has_default,
    results_of,
)
from kanon_pg.queries.check.plan.value_order import ValueOrder, is_exact_cast
from kanon_pg.queries.check.types import INTEGERS, NUMBERS

_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
"""Comparisons, and what they are with their sides exchanged."""

_WITH_NULL: Final = {"is distinct from": "<>", "is not distinct from": "="}

_CALENDAR_TEXT: Final = re.compile(
    r"YYYY(?:[-/. ]?MM(?:[-/. ]?DD(?:[ ]?HH24(?::?MI(?::?SS)?)?)?)?|[-/. ]?Q|-?\"Q\"Q)?|IYYY-?(?:\"W\")?IW"
)
"""Formats whose texts have all fields of a moment down to the last one, so that equal ones are one range."""


class ValueRanges:
    """What conditions and groups take of one value of each row.

    Parameters
    ----------
    level : GroupingLevel
        Where the expressions stand.
    value : Bound
        A column, or an expression that is aggregated.
    nulls_count : bool
        Whether NULL stands for a number in the figure, which then may not be beside a range.
    """

    def __init__(self, level: GroupingLevel, value: Bound, *, nulls_count: bool) -> None:
        self._order = ValueOrder(level, value, nulls_count=nulls_count)
        self._nulls_count = nulls_count

    def takes_one_range(self, condition: Bound) -> bool:
        """Return whether a condition holds for one range of the value, or for NULL, and for nothing else."""
        return self._is_one_range(condition, where=True)

    def _is_one_range(self, condition: Bound, *, where: bool) -> bool:
        """Return whether the rows for which a condition is true, or false, are one range."""
        if not isinstance(condition, AllowedCall):
            return False
        comparison = self._comparison(condition)
        if comparison is not None:
            operator, side = comparison
            if operator in {"=", "<>"}:
                return where == (operator == "=") and self._follows(side)
            return self._order.is_in_order(side)
        rule = _CONDITIONS.get(condition.name)
        return rule is not None and rule(self, condition, where)

    def _of_logic(self, condition: AllowedCall, where: bool) -> bool:
        """AND holds for what all its parts take, OR fails for what all of them fail for."""
        is_common = where == (condition.name == "and")
        return is_common and all(self._is_one_range(item, where=where) for item in condition.operands)

    def _of_not(self, condition: AllowedCall, where: bool) -> bool:
        return self._is_one_range(condition.operands[0], where=not where)

    def _of_test(self, condition: AllowedCall, where: bool) -> bool:
        """IS TRUE and IS FALSE fail for NULL, too."""
        holds = where == (condition.name == "is true")
        return (where or not self._nulls_count) and self._is_one_range(condition.operands[0], where=holds)

    def _of_null(self, condition: AllowedCall, where: bool) -> bool:
        del where
        return self._order.is_in_order(condition.operands[0])

    def _of_between(self, condition: AllowedCall, where: bool) -> bool:
        first, *limits = condition.operands
        if not self._order.is_constant(first):
            return where and self._order.is_in_order(first) and all(map(self._order.is_constant, limits))
        return where and all(
            self._order.is_constant(item) or self._order.is_in_order(item) for item in limits
        )

    def _of_list(self, condition: AllowedCall, where: bool) -> bool:
        first, *items = condition.operands
        return where and len(set(items)) == 1 and self._order.is_constant(items[0]) and self._follows(first)

    def _follows(self, side: Bound) -> bool:
        """Return whether an expression has an order of its own, by which it says what is below and above."""
        if self._order.is_in_order(side) or not isinstance(side, AllowedCall):
            return self._order.is_in_order(side)
        return (side.type == "bool" or side.name == "to_char") and self.has_ranges(side)

    def excluded(self, condition: Bound) -> Bound | None:
        """Return the constant that a condition leaves out alone, None if it is another condition."""
        if not isinstance(condition, AllowedCall):
            return None
        if condition.name == "not":
            return self.only(condition.operands[0])
        operator = _WITH_NULL.get(condition.name, condition.name)
        with_null = condition.name in _WITH_NULL and self._nulls_count
        return self._compared_constant(condition) if operator == "<>" and not with_null else None

    def only(self, condition: Bound) -> Bound | None:
        """Return the constant that a condition takes alone, None if it is another condition."""
        if not isinstance(condition, AllowedCall):
            return None
        if condition.name == "in":
            value, *items = condition.operands
            return items[0] if len(set(items)) == 1 and self._order.is_plain(value) else None
        return self._compared_constant(condition) if condition.name == "=" else None

    def _compared_constant(self, condition: AllowedCall) -> Bound | None:
        left, right = condition.operands
        if self._order.is_plain(left) and self._order.is_constant(right):
            return right
        return left if self._order.is_plain(right) and self._order.is_constant(left) else None

    def has_ranges(self, key: Bound) -> bool:
        """Return whether each value of an expression belongs to one range of the value, or to NULL."""
        if self._order.is_in_order(key) or not isinstance(key, AllowedCall):
            return self._order.is_in_order(key)
        rule = _KEYS.get(key.name)
        if rule is not None:
            return rule(self, key)
        return key.type == "bool" and all(self._is_one_range(key, where=where) for where in (True, False))

    def _of_cast(self, key: AllowedCall) -> bool:
        """Different numbers, days and truth values stay different."""
        (inner,) = key.operands
        if inner.type in {"bool", "int2", "int4"} and key.type in NUMBERS:
            return self.has_ranges(inner)
        is_told = inner.type in {*INTEGERS, "numeric", "date", "timestamp"}
        return key.type == "text" and is_told and self._order.is_in_order(inner)

    def _of_text(self, key: AllowedCall) -> bool:
        moment, form = key.operands
        text = form.text if isinstance(form, TypedConstant) else None
        return self._order.is_in_order(moment) and bool(_CALENDAR_TEXT.fullmatch((text or "").upper()))

    def _labels_have_ranges(self, case: AllowedCall) -> bool:
        """Return whether each label of a CASE stands for one range.

        That is so if all conditions look the same way, such as x < a, x < b, whatever the constants are, and
        all labels are different. Otherwise the constants say it.
        """
        if self._nulls_count:
            return False
        labels = [_label(result) for result in results_of(case)]
        if not has_default(case):
            labels.append(_NO_LABEL)
        if None in labels:
            return False
        conditions = case.operands[:-1:2] if has_default(case) else case.operands[::2]
        if len(set(labels)) == len(labels) and self._is_staircase(conditions):
            return True
        terms: set[Bound] = set()
        chosen: dict[tuple[str, object] | None, list[Cuts]] = {}
        rest = ~NOTHING
        for label, condition in zip(labels, conditions, strict=False):
            values = self._values(condition, terms)
            if values is None or len(terms) > 1:
                return False
            chosen.setdefault(label, []).append(values & rest)
            rest &= ~values
        chosen.setdefault(labels[-1], []).append(rest)
        return all(union(sets).is_one_range for sets in chosen.values())

    def _is_staircase(self, conditions: tuple[Bound, ...]) -> bool:
        steps = set()
        for condition in conditions:
            comparison = self._comparison(condition) if isinstance(condition, AllowedCall) else None
            if comparison is None or comparison[0] not in {"<", "<=", ">", ">="}:
                return False
            operator, side = comparison
            steps.add(self._order.direction(side) * (1 if operator.startswith("<") else -1))
        return len(steps) == 1 and 0 not in steps

    def _values(self, condition: Bound, terms: set[Bound]) -> Cuts | None:
        """Return for which values of one term, which is added to the terms, a condition holds."""
        if not isinstance(condition, AllowedCall):
            return None
        if condition.name in {"and", "or", "not"}:
            return self._combined(condition, terms)
        first, *others = condition.operands or (condition,)
        if condition.name == "is null":
            return NOTHING if self._order.is_in_order(first) else None
        if condition.name == "between":
            low, high = (
                self._compared(first, sign, item, terms)
                for sign, item in zip((">=", "<="), others, strict=True)
            )
            return None if low is None or high is None else low & high
        if condition.name == "in":
            return _union_of_known([self._compared(first, "=", item, terms) for item in others])
        return self._of_comparison(condition, terms)

    def _combined(self, condition: AllowedCall, terms: set[Bound]) -> Cuts | None:
        found = [self._values(operand, terms) for operand in condition.operands]
        if condition.name == "not":
            return None if found[0] is None else ~found[0]
        if condition.name == "or":
            return _union_of_known(found)
        left, right = found
        return None if left is None or right is None else left & right

    def _of_comparison(self, condition: AllowedCall, terms: set[Bound]) -> Cuts | None:
        comparison = self._comparison(condition) if condition.name in _TURNED else None
        if comparison is None:
            return None
        operator, side = comparison
        left, right = condition.operands
        return self._compared(side, operator, left if side is right else right, terms)

    def _compared(self, side: Bound, operator: str, constant: Bound, terms: set[Bound]) -> Cuts | None:
        if not self._order.is_constant(constant) or not self._order.is_in_order(side):
            return None
        while isinstance(side, AllowedCall) and is_exact_cast(side):
            side = side.operands[0]
        terms.add(side)
        return compared(operator, constant, side.type)

    def _comparison(self, condition: AllowedCall) -> tuple[str, Bound] | None:
        """Return the operator and the left side of a comparison with a constant."""
        operator = _WITH_NULL.get(condition.name, condition.name)
        if operator not in _TURNED:
            return None
        left, right = condition.operands
        if self._order.is_constant(right):
            return operator, left
        return (_TURNED[operator], right) if self._order.is_constant(left) else None


_CONDITIONS: Final[dict[str, Callable[[ValueRanges, AllowedCall, bool], bool]]] = {
    **dict.fromkeys(("and", "or"), ValueRanges._of_logic),
    "not": ValueRanges._of_not,
    **dict.fromkeys(("is true", "is false"), ValueRanges._of_test),
    "is null": ValueRanges._of_null,
    "between": ValueRanges._of_between,
    "in": ValueRanges._of_list,
}

_KEYS: Final[dict[str, Callable[[ValueRanges, AllowedCall], bool]]] = {
    "cast": ValueRanges._of_cast,
    "to_char": ValueRanges._of_text,
    "case": ValueRanges._labels_have_ranges,
}

_NO_LABEL: Final = ("null", None)


def _label(result: Bound) -> tuple[str, object] | None:
    """Return what tells a constant label of a CASE from others, None if others may be equal to it."""
    if isinstance(result, TypedConstant) and result.text is None:
        return _NO_LABEL
    if result.type in {*INTEGERS, "numeric"}:
        value = constant_value(result)
        return None if value is None else ("number", value)
    if isinstance(result, TypedConstant) and result.type in {"text", "bool"}:
        return result.type, result.text
    return None


def _union_of_known(sets: list[Cuts | None]) -> Cuts | None:
    known = [item for item in sets if item is not None]
    return union(known) if len(known) == len(sets) else None
