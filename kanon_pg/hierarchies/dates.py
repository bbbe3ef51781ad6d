"""Calendar periods of dates and timestamps: hour, day, month, quarter, year, decade, century."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from kanon_pg.core.hierarchy import MAX_VALUES, GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.hierarchies.inputs import ColumnValues, Spec
from kanon_pg.hierarchies.ranges import half_open

_LAST_YEAR = 9999

_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
"""Periods by their length in months; each begins at a multiple of its length since the year 0."""

_LONGEST_FIRST = sorted(_MONTHS.values(), reverse=True)

_HOURS = {"hour": 1, "day": 24}

_PERIODS = (*_HOURS, *_MONTHS)
_DEFAULT = ("day", "month", "year", "decade")


def calendar(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build calendar periods over dates or timestamps; those with time zone are taken in UTC.

    `spec` has ``levels``: names of periods in rising order, of hour, day, month, quarter, year, decade,
    century; day (timestamps only), month, year and decade unless given. ``domain``: the first and the last of
    the dates that are expected.
    """
    if not values.are_moments:
        raise values.unsuitable("calendar periods", "dates and timestamps")
    is_date = values.column.base_type == "date"
    given = spec.texts("levels")
    usual = _DEFAULT[1:] if is_date else _DEFAULT
    periods = list(usual) if given is None else given
    _require_rising(periods, is_date)
    wanted = values.with_expected(_expected(spec, is_date))
    moments = [moment_of(values, text) for text in wanted.texts]
    write = moment_writer(values.column.base_type)
    levels = [[_period(moment, period, write) for moment in moments] for period in values.by_level(periods)]
    return from_levels(wanted.texts, levels, keeps_all=given is not None)


def _expected(spec: Spec, is_date: bool) -> list[str]:
    """Return the days of the domain."""
    ends = spec.texts("domain")
    if ends is None:
        return []
    try:
        first, last = (date.fromisoformat(end) for end in ends)
    except ValueError:
        is_date = False
    if not is_date or not 0 <= (last - first).days < MAX_VALUES:
        raise InputError(
            '"domain" of the dates must be the first and the last day of a column of dates.',
            hint='For example: "domain": ["1900-01-01", "2030-12-31"].',
        )
    return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]


def _require_rising(periods: list[str], is_date: bool) -> None:
    places = [_PERIODS.index(period) if period in _PERIODS else -1 for period in periods]
    least = _PERIODS.index("month") if is_date else 0
    if not places or places[0] < least or any(a >= b for a, b in pairwise(places)):
        raise InputError(
            '"levels" of the dates must be periods in rising order.',
            hint=f"Of these: {', '.join(_PERIODS[least:])}.",
        )


def moment_of(values: ColumnValues, text: str) -> datetime:
    """Return a value as a moment, in UTC if it has a time zone; refuse other calendars than Python's."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UnsuitableColumn(
            f"Column {values.column.identifier} has moments outside of the years 1 to {_LAST_YEAR}.",
            hint="Replace these, and infinity, by NULL in a view, and use that.",
        ) from None
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _period(moment: datetime, period: str, write: Callable[[datetime], str]) -> str:
    if period in _HOURS:
        low = moment.replace(minute=0, second=0, microsecond=0)
        low = low.replace(hour=0) if period == "day" else low
        is_last = low > datetime.max - timedelta(hours=_HOURS[period])
        return half_open(write(low), None if is_last else write(low + timedelta(hours=_HOURS[period])))
    months = _MONTHS[period]
    first = (moment.year * 12 + moment.month - 1) // months * months
    bounds = (_month_start(first), _month_start(first + months))
    low_text, high_text = (None if bound is None else write(bound) for bound in bounds)
    return half_open(low_text, high_text)


def _month_start(months: int) -> datetime | None:
    """Return the first moment of a month, counted from the year 0; None if it is out of the calendar."""
    year, month = divmod(months, 12)
    return datetime(year, month + 1, 1) if 1 <= year <= _LAST_YEAR else None


def roundest_moment(low: datetime, high: datetime, *, is_date: bool) -> datetime:
    """Return the start of the longest period that begins after `low` and not after `high`, else `high`.

    Examples
    --------
    >>> roundest_moment(datetime(1959, 12, 5), datetime(1961, 3, 7), is_date=True)
    datetime.datetime(1960, 1, 1, 0, 0)
    """
    starts = [_month_start((high.year * 12 + high.month - 1) // length * length) for length in _LONGEST_FIRST]
    midnight = high.replace(hour=0, minute=0, second=0, microsecond=0)
    if not is_date:
        starts += [midnight, high.replace(minute=0, second=0, microsecond=0)]
    return next((start for start in starts if start is not None and low < start), high)


def moment_writer(base_type: str) -> Callable[[datetime], str]:
    """Return the function that writes a moment as a column of that type shows it."""
    if base_type == "date":
        return lambda moment: moment.date().isoformat()
    zone = "+00" if base_type == "timestamptz" else ""
    return lambda moment: moment.isoformat(sep=" ") + zone
