"""Chooses types of columns by all their values, and how to read their texts: dates, decimals, marks for NULL.

A type is chosen only if it keeps what the text says: a code with leading zeros (`02134`), a number beyond
`bigint`, the thirtieth of February or a word among numbers make the column text. Values are looked at as
distinct values per batch, by Arrow's kernels, so the work is per distinct value, not per cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from kanon_pg.errors import as_given, in_words

Check = Callable[[pa.Array], bool]
_DAY = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
# Offsets up to 14 hours: every zone in use, and within what both Arrow and PostgreSQL read.
_OFFSET = r"(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)"
_DECIMAL = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
# Numbers as people write them, money for example. More digits after the point are what programs print of
# floating-point numbers, which they also are afterwards.
_SHORT_DECIMAL = r"-?((0|[1-9]\d{0,17})(\.\d{0,9})?|\.\d{1,9})"
_NOT_FINITE = r"NaN|-?Infinity"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A type, the spelling of its values, and what else must hold of them."""

    sql_type: str
    spelling: str
    holds: Check

    def fits(self, values: pa.Array) -> bool:
        """Whether all values have the type."""
        return _matches(values, self.spelling) and self.holds(values)


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())


def _matches(values: pa.Array, spelling: str) -> bool:
    return _all(pc.match_substring_regex(values, f"^({spelling})$"))


def _within(low: int, high: int) -> Check:
    def holds(values: pa.Array) -> bool:
        if pc.max(pc.binary_length(values)).as_py() > len("-9223372036854775808"):
            return False
        numbers = pc.cast(values, pa.decimal128(20, 0))
        return bool(low <= pc.min(numbers).as_py() and pc.max(numbers).as_py() <= high)

    return holds


def _fits_double(values: pa.Array) -> bool:
    if pc.any(pc.match_substring_regex(values, r"^-?\d{19,}$")).as_py():
        return False  # beyond bigint: a long code, of which a double would drop digits
    spelled_out = values.filter(pc.invert(pc.match_substring_regex(values, f"^({_NOT_FINITE})$")))
    numbers = pc.cast(spelled_out, pa.float64())
    # PostgreSQL refuses what overflows, and what is too small to differ from zero but is not zero.
    vanished = pc.and_(pc.equal(numbers, 0.0), pc.match_substring_regex(spelled_out, r"^[^eE]*[1-9]"))
    return _all(pc.is_finite(numbers)) and not pc.any(vanished).as_py()


def _no_negative_zero(values: pa.Array) -> bool:
    return not pc.any(pc.match_substring_regex(values, r"^-[0.]*$")).as_py()  # numeric drops its sign


def _casts_to(arrow_type: pa.DataType) -> Check:
    def holds(values: pa.Array) -> bool:
        try:
            pc.cast(values, arrow_type)
        except pa.ArrowInvalid:  # no such day or time of day
            return False
        return not pc.any(pc.starts_with(values, "0000")).as_py()  # there is no year 0 in SQL

    return holds


def _holds(_values: pa.Array) -> bool:
    return True


_RULES = (
    _Rule("boolean", "true|false|True|False|TRUE|FALSE", _holds),
    _Rule("integer", r"0|-?[1-9]\d*", _within(-(2**31), 2**31 - 1)),
    _Rule("bigint", r"0|-?[1-9]\d*", _within(-(2**63), 2**63 - 1)),
    _Rule("numeric", _SHORT_DECIMAL, _no_negative_zero),
    _Rule("double precision", f"{_DECIMAL}|{_NOT_FINITE}", _fits_double),
    _Rule("date", _DAY, _casts_to(pa.date32())),
    _Rule("timestamp", f"{_DAY}[ T]{_TIME}", _casts_to(pa.timestamp("us"))),
    _Rule("timestamp with time zone", f"{_DAY}[ T]{_TIME}{_OFFSET}", _casts_to(pa.timestamp("us", "UTC"))),
)
"""In order of preference; what fits none is text."""


def _as_it_is(values: pa.Array) -> pa.Array:
    return values


def _with_comma(values: pa.Array) -> pa.Array:
    """Write decimal commas as points; what has a point is then no number."""
    pointed = pc.match_substring(values, ".")
    return pc.if_else(pointed, "with a point", pc.replace_substring(values, ",", "."))


def _in_order(order: str) -> Callable[[pa.Array], pa.Array]:
    """Return what writes dates of this order as ISO does; what follows a date stays."""
    digits = {"D": r"(\d{1,2})", "M": r"(\d{1,2})", "Y": r"(\d{4})"}
    found = "-".join(rf"\{order.index(part) + 1}" for part in "YMD")

    def convert(values: pa.Array) -> pa.Array:
        for sign in ".-/":
            day = rf"\{sign}".join(digits[part] for part in order)
            values = pc.replace_substring_regex(values, rf"^{day}($|[ T])", rf"{found}\4")
        for short in (r"^(\d{4}-)(\d-)", r"^(\d{4}-\d{2}-)(\d(?:$|[ T]))"):
            values = pc.replace_substring_regex(values, short, r"\10\2")
        return values

    return convert


@dataclass(frozen=True, slots=True)
class _WayToRead:
    """A way to read the texts of a column, and the types that it may lead to."""

    convert: Callable[[pa.Array], pa.Array]
    types: frozenset[str]


_FRACTIONS = frozenset({"numeric", "double precision"})
_DAYS = frozenset({"date", "timestamp", "timestamp with time zone"})
_READINGS = {
    "as it is": _WayToRead(_as_it_is, frozenset(rule.sql_type for rule in _RULES)),
    "decimal comma": _WayToRead(_with_comma, _FRACTIONS),
    **{order: _WayToRead(_in_order(order), _DAYS) for order in ("DMY", "MDY", "YMD")},
}
"""In order of preference."""

_THOUSANDS = r"-?\d{1,3},\d{3}"
_MARKS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "?", "-", ".", "\\N")
"""What stands for NULL among numbers, dates and truth values, unless the user says what does."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """What the user says of how a file spells values; None: it is guessed for each column."""

    nulls: tuple[str, ...] | None = None
    """Texts that stand for NULL in every column."""
    decimal: Literal[".", ","] | None = None
    """What decimals are written with."""
    dates: Literal["DMY", "MDY", "YMD"] | None = None
    """The order of day, month and year in dates that are not ISO's."""

    def possible(self) -> dict[str, list[_Rule]]:
        """Return the rules of each way to read a column."""
        left_out = {"decimal comma"} if self.decimal == "." else set()
        left_out |= {"DMY", "MDY", "YMD"} - {self.dates} if self.dates else set()
        found = {
            name: [rule for rule in _RULES if rule.sql_type in reading.types]
            for name, reading in _READINGS.items()
            if name not in left_out
        }
        if self.decimal == ",":
            found["as it is"] = [rule for rule in _RULES if rule.sql_type not in _FRACTIONS]
        return found


GUESSED = Spelling()
"""Nothing is known."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of a CSV file."""

    name: str
    """Its name."""
    sql_type: str
    """The type that its values allow."""
    read_as: str = "as it is"
    """How its texts are read: ``as it is``, ``decimal comma`` or an order of day, month and year."""
    nulls: tuple[str, ...] = ()
    """Texts in it that stand for NULL."""
    doubt: str | None = None
    """Why it stays text, if it could be read in two ways."""

    def read(self, values: pa.Array) -> pa.Array:
        """Return its texts as PostgreSQL reads them."""
        if self.nulls:
            values = pc.if_else(pc.is_in(values, pa.array(self.nulls, pa.string())), None, values)
        return _READINGS[self.read_as].convert(values)

    def guesses(self, spelling: Spelling) -> Iterable[str]:
        """Say what was taken for what without being told, and what could not be told."""
        name = f"Column {as_given(self.name)}"
        if self.nulls and spelling.nulls is None:
            yield f"{name}: {in_words(self.nulls)} taken for NULL. --null says what is, --text keeps it."
        if self.read_as == "decimal comma" and spelling.decimal is None:
            yield f"{name}: read with decimal commas. --decimal says what decimals are written with."
        elif self.read_as in ("DMY", "MDY", "YMD") and spelling.dates is None:
            yield f"{name}: dates in the order {self.read_as}. --date-format says which order."
        if self.doubt:
            yield f"{name}: left as text, because {self.doubt}"


class ColumnType:
    """SQL types that the values of one column, seen batch by batch, allow.

    Examples
    --------
    >>> column = ColumnType()
    >>> column.observe(pa.array(["7", "12", None]))
    >>> column.chosen("a").sql_type
    'integer'
    >>> column.observe(pa.array(["007"]))
    >>> column.chosen("a").sql_type
    'text'
    """

    def __init__(self, spelling: Spelling = GUESSED) -> None:
        self._spelling = spelling
        self._possible = spelling.possible()
        self._marks = pa.array(_MARKS if spelling.nulls is None else spelling.nulls, pa.string())
        self._nulls: set[str] = set()
        self._seen = False
        self._number_seen = False
        self._only_thousands = True

    def observe(self, values: pa.Array) -> None:
        """Take in further values; NULL, the empty string and what stands for NULL allow every type."""
        if not any(self._possible.values()):
            return
        distinct = pc.unique(values).drop_null()
        is_mark = pc.is_in(distinct, self._marks)
        self._nulls |= set(distinct.filter(is_mark).to_pylist())
        distinct = distinct.filter(pc.and_not(pc.not_equal(distinct, ""), is_mark))
        if not len(distinct):
            return
        self._seen = True
        fits_as_it_is = cache(lambda rule: rule.fits(distinct))
        for name, rules in self._possible.items():
            if rules:
                read = _READINGS[name].convert(distinct)
                is_same = read.equals(distinct)
                self._possible[name] = [r for r in rules if (fits_as_it_is(r) if is_same else r.fits(read))]
        self._number_seen = self._number_seen or not _matches(distinct, _NOT_FINITE)
        with_commas = distinct.filter(pc.match_substring(distinct, ","))
        self._only_thousands = self._only_thousands and _matches(with_commas, _THOUSANDS)

    def chosen(self, name: str) -> CsvColumn:
        """Return the column with the narrowest type that holds every value seen, ``text`` if none does."""
        nulls = tuple(sorted(self._nulls))
        text = CsvColumn(name, "text", nulls=self._spelling.nulls or ())
        ways = [way for way, rules in self._possible.items() if rules]
        if not self._seen or not self._number_seen or not ways:
            return text
        way = ways[0]
        if way == "decimal comma" and self._only_thousands and self._spelling.decimal is None:
            return replace(text, doubt=_COMMAS)
        if way == "DMY" and "MDY" in ways:
            return replace(text, doubt=_DAY_OR_MONTH)
        return CsvColumn(name, self._possible[way][0].sql_type, way, nulls)


_COMMAS = "its commas may separate thousands or decimals. --decimal ',' says that they are decimals."
_DAY_OR_MONTH = "its days cannot be told from its months. --date-format DMY or MDY says what is first."
_POINTS = "it has decimal points, and other columns have decimal commas. --decimal says which are right."


def with_one_decimal_sign(columns: Iterable[CsvColumn], spelling: Spelling) -> tuple[CsvColumn, ...]:
    """Return columns as they are, but those with decimal points as text where others have decimal commas."""
    found = tuple(columns)
    if spelling.decimal is not None or all(column.read_as != "decimal comma" for column in found):
        return found
    return tuple(
        CsvColumn(column.name, "text", nulls=spelling.nulls or (), doubt=_POINTS)
        if column.read_as == "as it is" and column.sql_type in _FRACTIONS
        else column
        for column in found
    )
