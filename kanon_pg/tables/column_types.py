"""Chooses the SQL type of a text column from all of its values.

A type is chosen only if it keeps what the text says: a code with leading zeros (`02134`), a number
beyond `bigint`, the thirtieth of February or a `?` make the column text. Values are looked at as
distinct values per batch, by Arrow's kernels, so the work is per distinct value, not per cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

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


class ColumnType:
    """What the values of one column, seen batch by batch, allow it to be.

    Examples
    --------
    >>> column = ColumnType()
    >>> column.observe(pa.array(["7", "12", None]))
    >>> column.sql_type
    'integer'
    >>> column.observe(pa.array(["007"]))
    >>> column.sql_type
    'text'
    """

    def __init__(self) -> None:
        self._possible = list(_RULES)
        self._seen = False
        self._number_seen = False

    def observe(self, values: pa.Array) -> None:
        """Take in further values; NULL and the empty string allow every type.

        Parameters
        ----------
        values : pyarrow.Array
            Strings of any length and number.
        """
        if not self._possible:
            return
        distinct = pc.unique(values).drop_null()
        distinct = distinct.filter(pc.not_equal(distinct, ""))
        if not len(distinct):
            return
        self._seen = True
        self._possible = [r for r in self._possible if _matches(distinct, r.spelling) and r.holds(distinct)]
        self._number_seen = self._number_seen or not _matches(distinct, _NOT_FINITE)

    @property
    def sql_type(self) -> str:
        """The narrowest type that holds every value seen, ``text`` if none does or none was seen."""
        if not self._seen or not self._possible or not self._number_seen:
            return "text"
        return self._possible[0].sql_type
