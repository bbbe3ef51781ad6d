"""Constants: which texts are values of which type, and arguments that have to be constants.

A constant that PostgreSQL would refuse at run time is refused here, so that no run-time error can
depend on the order in which rows and constants are looked at. Patterns are constants, too: PostgreSQL
compiles a regular expression without parentheses, back references and counted repetitions to a deterministic
automaton and reads the text once, so that neither its time nor its memory grows beyond proportion with a
person's value.
"""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Final

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ParameterRef, TypedConstant, constant_value
from kanon_pg.queries.check.types import LABEL, UNKNOWN

_NUMBER = re.compile(r"-?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")
_ZONED = re.compile(_MOMENT.pattern + r"(?:Z|[+-]\d{2}(?::?\d{2})?)?")
_TIME = re.compile(r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?")
_PART = re.compile(r"-?(\d{1,6})\s*(years?|months?|mons?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?)")
_WORDS = {
    "true": "true",
    "t": "true",
    "yes": "true",
    "on": "true",
    "1": "true",
    "false": "false",
    "f": "false",
    "no": "false",
    "off": "false",
    "0": "false",
}
_LARGEST = {"int2": 2**15 - 1, "int4": 2**31 - 1, "int8": 2**63 - 1}
_MOST_DAYS = 400_000
_DAYS = {"y": 366.0, "mon": 31.0, "w": 7.0, "d": 1.0, "h": 1 / 24, "m": 1 / 1440, "s": 1 / 86400}
_MOST_TEXT = 4000


def number_constant(text: str, span: Span) -> TypedConstant:
    """Return the constant that digits mean: int4, int8 or numeric, as PostgreSQL decides it."""
    if not _NUMBER.fullmatch(text):
        raise Refusal("Q200", span, "This number is not allowed.", "Write at most 40 digits.")
    if text.isdigit():
        fitting = next((name for name in ("int4", "int8") if int(text) <= _LARGEST[name]), "numeric")
        return TypedConstant(type=fitting, text=text, span=span)
    return TypedConstant(type="numeric", text=_plain(text, span), span=span)


def _plain(text: str, span: Span) -> str:
    value = Decimal(text)
    if value and abs(value.adjusted()) > 60:
        raise Refusal("Q200", span, "This number is too large or too small.", "Stay within 60 digits.")
    return text


def _whole(name: str) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        stripped = text.strip()
        if not re.fullmatch(r"[+-]?\d{1,19}", stripped):
            return None
        value = int(stripped)
        return str(value) if -_LARGEST[name] <= value <= _LARGEST[name] else None

    return read


def _decimal(text: str) -> str | None:
    stripped = text.strip()
    try:
        value = Decimal(stripped) if _NUMBER.fullmatch(stripped) else None
    except InvalidOperation:
        return None
    return stripped if value is not None and abs(value.adjusted()) <= 60 else None


def _calendar(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        stripped = text.strip()
        if not pattern.fullmatch(stripped):
            return None
        try:
            datetime.datetime.fromisoformat(stripped)
        except ValueError:
            return None
        return stripped

    return read


def _without_zone(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    """Read a moment of which PostgreSQL takes what the pattern describes and ignores the rest."""

    def read(text: str) -> str | None:
        found = _calendar(_ZONED)(text)
        taken = pattern.match(found) if found is not None else None
        return taken.group() if taken is not None else None

    return read


def _time(text: str) -> str | None:
    try:
        return (
            text.strip()
            if _TIME.fullmatch(text.strip()) and datetime.time.fromisoformat(text.strip())
            else None
        )
    except ValueError:
        return None


def interval_text(text: str) -> str | None:
    """Return an interval such as ``1 year 2 months``, or None if it is not plain or above 1000 years."""
    rest, days = text.strip().lower(), 0.0
    parts = list(_PART.finditer(rest))
    if not parts or re.sub(r"\s+", "", _PART.sub("", rest)):
        return None
    for part in parts:
        unit = part.group(2)
        days += int(part.group(1)) * next(size for start, size in _DAYS_BY_START if unit.startswith(start))
    return rest if days <= _MOST_DAYS else None


_DAYS_BY_START = sorted(_DAYS.items(), key=lambda item: -len(item[0]))


_RANGE = re.compile(r"\s*([\[(])([^,]{0,40}),([^,]{0,40})([\])])\s*")


def _range(read: Callable[[str], str | None], value: Callable[[str], int]) -> Callable[[str], str | None]:
    """Read a range whose bounds are in order and far enough from the ends of their type."""

    def read_range(text: str) -> str | None:
        parts = _RANGE.fullmatch(text)
        if parts is None:
            return None
        opening, *bounds, closing = parts.groups()
        found = [read(bound) if bound.strip() else "" for bound in bounds]
        if None in found:
            return None
        low, high = (value(bound) if bound else None for bound in found)
        if high is not None and not (low is None or low <= high):
            return None
        return f"{opening}{found[0]},{found[1]}{closing}"

    return read_range


def _day(text: str) -> int:
    return datetime.date.fromisoformat(text).toordinal()


def _short_of_last(name: str) -> Callable[[str], str | None]:
    """Read a whole number that has a successor: a range that includes it ends before that one."""

    def read(text: str) -> str | None:
        found = _whole(name)(text)
        return None if found is None or int(found) == _LARGEST[name] else found

    return read


def _uuid(text: str) -> str | None:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


_READING: dict[str, Callable[[str], str | None]] = {
    **dict.fromkeys(("text", LABEL), lambda text: text if len(text) <= _MOST_TEXT else None),
    "bool": lambda text: _WORDS.get(text.strip().lower()),
    "int2": _whole("int2"),
    "int4": _whole("int4"),
    "int8": _whole("int8"),
    "numeric": _decimal,
    "float4": lambda text: _decimal(text) if len(text) < 30 else None,
    "float8": _decimal,
    "date": _without_zone(_DATE),
    "timestamp": _without_zone(_MOMENT),
    "timestamptz": _calendar(_ZONED),
    "time": _time,
    "interval": interval_text,
    "uuid": _uuid,
    "int4range": _range(_short_of_last("int4"), int),
    "int8range": _range(_short_of_last("int8"), int),
    "daterange": _range(_calendar(_DATE), _day),
}
_EXAMPLES = {
    "date": "'2024-01-31'",
    "timestamp": "'2024-01-31 12:00'",
    "timestamptz": "'2024-01-31 12:00+01'",
    "time": "'12:00'",
    "interval": "'30 days'",
    "bool": "true",
    "int4range": "'[20,30)'",
    "int8range": "'[20,30)'",
    "daterange": "'[2024-01-01,2024-02-01)'",
}


def typed_constant(constant: TypedConstant | ParameterRef, target: str) -> TypedConstant | ParameterRef:
    """Give a constant or parameter of unknown type the type of its place.

    Parameters
    ----------
    constant : TypedConstant or ParameterRef
        Of type `UNKNOWN`.
    target : str
        Member of `kanon_pg.queries.check.types.TYPES`, or `LABEL`.

    Raises
    ------
    Refusal
        Q201 if the text is no value of the type.
    """
    if isinstance(constant, ParameterRef):
        return ParameterRef(type=target, number=constant.number, span=constant.span)
    text = constant.text
    if text is not None:
        text = _READING[target](text)
        if text is None:
            example = _EXAMPLES.get(target)
            hint = f"Write it like {example}." if example else "Write a value of that type."
            raise Refusal(
                "Q201", constant.span, f"This is not a constant of type {target} that can be used.", hint
            )
    return TypedConstant(type=target, text=text, span=constant.span)


_SHAPES: Final = {
    ("to_date", "YYYY-MM-DD"): ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("to_timestamp", "YYYY-MM-DD"): ("timestamptz", re.compile(r"\d{4}-\d\d-\d\d")),
    ("to_timestamp", "YYYY-MM-DD HH24:MI:SS"): (
        "timestamptz",
        re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    ),
    ("to_timestamp", "YYYY-MM-DD HH24:MI:SS.US"): (
        "timestamptz",
        re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}"),
    ),
}


def formatted_constant(function: str, arguments: tuple[Bound, ...], span: Span) -> Bound | None:
    """Return the constant that ``to_date`` or ``to_timestamp`` makes of constants, as tools write it.

    Returns
    -------
    Bound or None
        None for other formats, and for texts that do not fill theirs.
    """
    texts = [item.text if isinstance(item, TypedConstant) else None for item in arguments]
    if len(texts) != 2 or texts[0] is None or texts[1] is None:
        return None
    target, shape = _SHAPES.get((function, texts[1].upper()), ("", None))
    if shape is None or not shape.fullmatch(texts[0]):
        return None
    return typed_constant(unknown_text(texts[0], span), target)


def unknown_text(text: str | None, span: Span) -> TypedConstant:
    """Return a string or NULL that has no type yet."""
    return TypedConstant(type=UNKNOWN, text=text, span=span)


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
_DAY_FIELDS = frozenset(
    {"year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "decade", "century"}
)
_CLOCK_FIELDS = frozenset({"hour", "minute", "second"})
_FIELDS: Final = {
    "date field": _DAY_FIELDS | {"epoch"},
    "timestamp field": _DAY_FIELDS | _CLOCK_FIELDS | {"epoch"},
    "timestamptz field": _DAY_FIELDS | _CLOCK_FIELDS | {"epoch"},
    "interval field": frozenset({"year", "month", "day", "epoch"}) | _CLOCK_FIELDS,
}
_FORMAT = re.compile(r"[A-Za-z0-9 :/._,\"-]{1,60}")
_PATTERN_LENGTH = 200
_WILDCARDS = 8


def text_of(expression: Bound) -> str | None:
    """Return the text of a constant, through casts to text, or None."""
    while isinstance(expression, AllowedCall) and expression.name == "cast":
        expression = expression.operands[0]
    return expression.text if isinstance(expression, TypedConstant) else None


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
    text = _joined_text(expression)
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


def _joined_text(expression: Bound) -> str | None:
    """Return the text of constants joined by ``||``, as some programs write 'abc' || '%'."""
    if not isinstance(expression, AllowedCall) or expression.name != "||":
        return text_of(expression)
    parts = [_joined_text(operand) for operand in expression.operands]
    known = [part for part in parts if part is not None]
    return "".join(known) if len(known) == len(parts) else None


_ATOM = r"(?:[A-Za-z0-9 _,;:@%&='\"#~/<>-]|\.|\[\^?(?:[A-Za-z0-9](?:-[A-Za-z0-9])?|[ _,;:@%./])+\])"
_BRANCH = rf"\^?(?:{_ATOM}[*+?]?)+\$?"
_PATTERN = re.compile(rf"{_BRANCH}(?:\|{_BRANCH})*")
_LENGTH = 100
_REPETITIONS = 8


def check_regular_expression(expression: Bound) -> None:
    """Refuse a pattern that is not constant, could fail, or could be slow.

    Raises
    ------
    Refusal
        Q205.
    """
    text = text_of(expression)
    if text is None:
        hint = "Write ~ '^abc', or LIKE with a parameter."
        raise Refusal("Q205", expression.span, "A regular expression has to be a constant.", hint)
    repeated = sum(text.count(sign) for sign in "*+?")
    if len(text) <= _LENGTH and repeated <= _REPETITIONS and _PATTERN.fullmatch(text) and _in_order(text):
        return
    sentence = "This regular expression is not allowed."
    hint = "Letters, digits, dots, [a-z], ^, $, | and * + ? are allowed; use LIKE for everything else."
    raise Refusal("Q205", expression.span, sentence, hint)


def _in_order(text: str) -> bool:
    """Return whether every range runs upwards, inside one kind of characters."""
    ranges = re.findall(r"([A-Za-z0-9])-([A-Za-z0-9])", text)
    return all(first <= last and _kind(first) == _kind(last) for first, last in ranges)


def _kind(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"
