"""The functions and aggregates that may be called, as data.

A function is on this list if it cannot fail on any value of its columns, has no side effect, reads
nothing but its arguments and gives the same result within a statement. Where PostgreSQL's function can
fail on some value (``ln`` of a negative number), the template gives NULL there instead. Arguments that
could make it fail or large are constants, checked by name in `kanon_pg.queries.check.bind.constants`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function.

    Parameters
    ----------
    takes : tuple of str
        Types of the arguments.
    gives : str
        Type of the result.
    template : str
        SQL; ``{0}`` is the first argument.
    constants : dict
        Position of an argument that must be constant, and the name of its check.
    takes_numeric : bool
        Whether whole-number arguments are computed as numeric (and a whole result stays so).
    """

    takes: tuple[str, ...]
    gives: str
    template: str
    constants: dict[int, str] = field(default_factory=dict)
    takes_numeric: bool = False


def _plain(name: str, *takes: str, gives: str, **constants: str) -> Overload:
    places = ", ".join(f"{{{position}}}" for position in range(len(takes)))
    checks = {int(key.removeprefix("at")): check for key, check in constants.items()}
    return Overload(takes, gives, f"pg_catalog.{name}({places})", checks)


def _numbers(template: str) -> tuple[Overload, ...]:
    return tuple(Overload((number,), number, template) for number in ("float8", "numeric"))


def _positive(name: str) -> tuple[Overload, ...]:
    return _numbers(f"CASE WHEN {{0}} OPERATOR(pg_catalog.>) 0 THEN pg_catalog.{name}({{0}}) END")


_FINITE = "CASE WHEN pg_catalog.isfinite({0}) AND pg_catalog.isfinite({1}) THEN pg_catalog.age({0}, {1}) END"
_TODAY = (
    "CASE WHEN pg_catalog.isfinite({0})"
    " THEN pg_catalog.age(CAST(CURRENT_DATE AS pg_catalog.timestamp), {0}) END"
)
_BUCKET = (
    "CASE WHEN {0} OPERATOR(pg_catalog.<>) CAST('NaN' AS pg_catalog.%s)"
    " THEN pg_catalog.width_bucket({0}, {1}, {2}, {3}) END"
)
_SQRT = "CASE WHEN {0} OPERATOR(pg_catalog.>=) 0 THEN pg_catalog.sqrt({0}) END"


def _bucket(number: str) -> Overload:
    takes = (number, number, number, "int4")
    return Overload(takes, "int4", _BUCKET % number, {1: "number", 2: "number", 3: "buckets"})


def _moments(name: str, check: str, gives: str | None) -> tuple[Overload, ...]:
    return tuple(
        _plain(name, "text", moment, gives=gives or moment, at0=check)
        for moment in ("timestamptz", "timestamp")
    )


def _extract(moment: str) -> Overload:
    return Overload(("text", moment), "numeric", "EXTRACT({0} FROM {1})", {0: f"{moment} field"})


def _part(moment: str) -> Overload:
    return _plain("date_part", "text", moment, gives="float8", at0=f"{moment} field")


_LENGTH = (_plain("length", "text", gives="int4"),)
_SUBSTRING = (
    _plain("substr", "text", "int4", gives="text", at1="position"),
    _plain("substr", "text", "int4", "int4", gives="text", at1="position", at2="length"),
)
_CEIL = _numbers("pg_catalog.ceil({0})")
_MOMENTS = ("timestamptz", "timestamp", "date", "interval")

FUNCTIONS: Final[dict[str, tuple[Overload, ...]]] = {
    "lower": (_plain("lower", "text", gives="text"),),
    "upper": (_plain("upper", "text", gives="text"),),
    "initcap": (_plain("initcap", "text", gives="text"),),
    "reverse": (_plain("reverse", "text", gives="text"),),
    "length": _LENGTH,
    "char_length": _LENGTH,
    "character_length": _LENGTH,
    **{
        name: (
            _plain(name, "text", gives="text"),
            _plain(name, "text", "text", gives="text", at1="characters"),
        )
        for name in ("btrim", "ltrim", "rtrim")
    },
    "left": (_plain("left", "text", "int4", gives="text", at1="length"),),
    "right": (_plain("right", "text", "int4", gives="text", at1="length"),),
    "substring": _SUBSTRING,
    "substr": _SUBSTRING,
    "split_part": (
        _plain("split_part", "text", "text", "int4", gives="text", at1="characters", at2="position"),
    ),
    "strpos": (_plain("strpos", "text", "text", gives="int4", at1="characters"),),
    "abs": (
        Overload(("int8",), "int8", "pg_catalog.abs({0})", takes_numeric=True),
        *_numbers("pg_catalog.abs({0})"),
    ),
    "ceil": _CEIL,
    "ceiling": _CEIL,
    "floor": _numbers("pg_catalog.floor({0})"),
    "sign": _numbers("pg_catalog.sign({0})"),
    "round": (
        *_numbers("pg_catalog.round({0})"),
        _plain("round", "numeric", "int4", gives="numeric", at1="digits"),
    ),
    "trunc": (
        *_numbers("pg_catalog.trunc({0})"),
        _plain("trunc", "numeric", "int4", gives="numeric", at1="digits"),
    ),
    "sqrt": _numbers(_SQRT),
    "ln": _positive("ln"),
    "log": _positive("log"),
    "log10": _positive("log"),
    "width_bucket": (_bucket("float8"), _bucket("numeric")),
    "date_trunc": _moments("date_trunc", "unit", None),
    "date_part": tuple(_part(moment) for moment in _MOMENTS),
    "extract": tuple(_extract(moment) for moment in _MOMENTS),
    "age": (
        # without a time zone first: days have the same age in each of them
        *(Overload((moment, moment), "interval", _FINITE) for moment in ("timestamp", "timestamptz")),
        Overload(("timestamp",), "interval", _TODAY),
    ),
    "to_char": tuple(
        _plain("to_char", moment, "text", gives="text", at1="format")
        for moment in ("timestamptz", "timestamp")
    ),
}
"""By name in lower case. The overload that fits exactly is taken, else the first that fits widened."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One signature of an aggregate.

    Parameters
    ----------
    takes : str
        Type of the argument.
    gives : str
        Type of the result.
    """

    takes: str
    gives: str


def _summaries(**gives: str) -> tuple[Summary, ...]:
    return tuple(Summary(takes, result) for takes, result in gives.items())


_SPREAD = _summaries(
    int2="numeric", int4="numeric", int8="numeric", numeric="numeric", float4="float8", float8="float8"
)
_DEVIATIONS = ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop")
_ANY = (
    "int2",
    "int4",
    "int8",
    "numeric",
    "float4",
    "float8",
    "text",
    "date",
    "timestamp",
    "timestamptz",
    "time",
)
_EXTREME = tuple(Summary(name, name) for name in _ANY)

LIST: Final = "string_agg"
"""Lists different values; it takes a separator, too."""

AGGREGATES: Final[dict[str, tuple[Summary, ...]]] = {
    "sum": _summaries(
        int2="int8", int4="int8", int8="numeric", numeric="numeric", float4="float4", float8="float8"
    ),
    "avg": _SPREAD,
    **dict.fromkeys(_DEVIATIONS, _SPREAD),
    "min": _EXTREME,
    "max": _EXTREME,
    "percentile_cont": _summaries(float8="float8"),
    "percentile_disc": _EXTREME,
    "mode": (*_EXTREME, Summary("bool", "bool")),
    **dict.fromkeys(("bool_or", "bool_and", "every"), (Summary("bool", "bool"),)),
    LIST: (Summary("text", "text"),),
}
"""All take one argument, but for the separator of a list; ``count`` takes any, and none."""

PAIRS: Final = frozenset({"corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2"})
"""Take two numbers, computed as float8."""

SPREADS: Final = frozenset({*_DEVIATIONS, *PAIRS})
"""Disclose a sum of squares."""

PAIRS_COUNT: Final = "regr_count"
"""Counts the rows that have both numbers."""

VALUES: Final = frozenset({"mode", "bool_or", "bool_and", "every", LIST})
"""Show a value that occurs, or all of them."""

PERCENTILES: Final = frozenset({"percentile_cont", "percentile_disc"})
EXTREMES: Final = frozenset({"min", "max"})
SUMS: Final = frozenset({"sum", "avg"})

LIST_HINT: Final = (
    "Lists show single people: SELECT a, b, count(*) ... GROUP BY a, b lists values that people share, and"
    " string_agg(DISTINCT a, ', ' ORDER BY a) lists texts of which each has enough."
)

_ADVICE_FOR: Final[dict[str, tuple[str, ...]]] = {
    LIST_HINT: (
        LIST,
        "array_agg",
        "json_agg",
        "jsonb_agg",
        "xmlagg",
    ),
    "Window functions are not allowed; use GROUP BY.": (
        "row_number",
        "rank",
        "lag",
        "lead",
        "ntile",
        "first_value",
    ),
    "Only functions that give the same value again are allowed.": (
        "random",
        "gen_random_uuid",
        "clock_timestamp",
        "setseed",
    ),
    "Write LIKE with a constant pattern.": (
        "regexp_replace",
        "regexp_match",
        "regexp_matches",
        "regexp_like",
    ),
    "It can overflow; multiply by constants instead.": ("power", "pow", "exp", "factorial"),
    "Functions that return rows are not allowed.": ("generate_series", "unnest"),
    "Write a || b.": ("concat", "concat_ws", "format"),
    "Use CASE to rename values.": ("replace", "translate"),
    "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column).": ("median",),
    "Write COALESCE(column, value).": ("ifnull", "isnull", "nvl"),
    "Write CASE WHEN condition THEN value ELSE other END.": ("if", "iif", "decode"),
    "Write extract(year from column), or date_trunc('month', column).": ("year", "quarter", "month", "day"),
    "Subtract: the difference of two dates is a number of days.": ("datediff", "date_diff"),
    "Write a constant such as date '2024-01-31', or date_trunc.": ("make_date", "to_date", "to_timestamp"),
}
ADVICE: Final = {name: hint for hint, names in _ADVICE_FOR.items() for name in names}
"""What to write instead of functions that people ask for."""
