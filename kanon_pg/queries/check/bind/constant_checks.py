"""Checks of arguments that have to be constants, by the names that `functions` uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.bind.conversion import constant_value
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.plan.typed import Bound, Fixed, Operation

_UNITS = frozenset(
    {
        "microseconds",
        "milliseconds",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "quarter",
        "year",
        "decade",
        "century",
    }
)
_DATE = frozenset(
    {"year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "decade", "century"}
)
_CLOCK = frozenset({"hour", "minute", "second"})
_FIELDS: Final = {
    "date field": _DATE | {"epoch"},
    "timestamp field": _DATE | _CLOCK | {"epoch"},
    "timestamptz field": _DATE | _CLOCK | {"epoch"},
    "interval field": frozenset({"year", "month", "day", "epoch"}) | _CLOCK,
}
_FORMAT = re.compile(r"[A-Za-z0-9 :/._,\"-]{1,60}")
_PATTERN_LENGTH = 200
_WILDCARDS = 8


def text_of(expression: Bound) -> str | None:
    """Return the text of a constant, through casts to text, or None."""
    while isinstance(expression, Operation) and expression.name == "cast":
        expression = expression.operands[0]
    return expression.text if isinstance(expression, Fixed) else None


def _between(lowest: int, highest: int) -> Callable[[Bound], bool]:
    def check(expression: Bound) -> bool:
        value = constant_value(expression)
        return value is not None and value == value.to_integral_value() and lowest <= value <= highest

    return check


def _word(words: frozenset[str]) -> Callable[[Bound], bool]:
    return lambda expression: (text_of(expression) or "").lower() in words


def _format(expression: Bound) -> bool:
    return bool(_FORMAT.fullmatch(text_of(expression) or ""))


def _characters(expression: Bound) -> bool:
    return 1 <= len(text_of(expression) or "") <= 100


_CHECKS: dict[str, tuple[Callable[[Bound], bool], str]] = {
    "position": (_between(1, 100_000), "a whole number from 1"),
    "length": (_between(0, 100_000), "a whole number from 0"),
    "digits": (_between(-30, 30), "a whole number from -30 to 30"),
    "buckets": (_between(1, 100_000), "a whole number from 1 to 100000"),
    "number": (lambda expression: constant_value(expression) is not None, "a constant number"),
    "characters": (_characters, "a constant text of 1 to 100 characters"),
    "unit": (_word(_UNITS), "a unit such as 'month'"),
    "format": (_format, "a constant format such as 'YYYY-MM'"),
    **{name: (_word(words), "a field such as year or month") for name, words in _FIELDS.items()},
}


def check_constant(expression: Bound, name: str, function: str) -> None:
    """Refuse an argument that is not the constant that the function needs.

    Parameters
    ----------
    expression : Bound
        The argument.
    name : str
        Name of the check.
    function : str
        For the message.

    Raises
    ------
    Refusal
        Q204.
    """
    check, wanted = _CHECKS[name]
    if not check(expression):
        sentence = f"This argument of {function} has to be {wanted}."
        raise Refusal("Q204", expression.span, sentence, "Write it as a constant.")


def check_pattern(expression: Bound) -> None:
    """Refuse a pattern of LIKE that is not constant, could fail, or is slow.

    Raises
    ------
    Refusal
        Q205.
    """
    text = text_of(expression)
    if text is None:
        raise Refusal(
            "Q205", expression.span, "The pattern of LIKE has to be a constant.", "Write LIKE 'abc%'."
        )
    trailing = len(text) - len(text.rstrip("\\"))
    if trailing % 2 or len(text) > _PATTERN_LENGTH or text.count("%") > _WILDCARDS:
        hint = (
            f"At most {_PATTERN_LENGTH} characters and {_WILDCARDS} percent signs, no backslash at the end."
        )
        raise Refusal("Q205", expression.span, "This pattern of LIKE is not allowed.", hint)
