"""What values of a column look like, and which hierarchy suits them: rules over some of the values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from kanon_pg.audit.names import FIRST_NAMES, SCALES, has_postal_codes, is_coded, kind_of, without_accents


@dataclass(frozen=True, slots=True)
class Look:
    """What values look like, and the role that it speaks for."""

    role: str
    topic: str
    """What they look like."""
    is_certain: bool = False
    """Whether a name that says something else is wrong."""
    widely_known: bool = False
    """Whether neighbours, colleagues or registers know such values of a person."""


MAIL_ADDRESSES = Look("identifier", "mail addresses", is_certain=True)
ADDRESSES_OF_DEVICES = Look("identifier", "addresses in a network", is_certain=True)
ACCOUNTS = Look("identifier", "numbers of bank accounts", is_certain=True)
PHONE_NUMBERS = Look("identifier", "phone numbers")
NAMES = Look("identifier", "names of people")
POSTAL_CODES = Look("quasi_identifier", "postal codes", widely_known=True)
BIRTH_DATES = Look("quasi_identifier", "dates of birth", widely_known=True)
DATES = Look("quasi_identifier", "dates")

_DATE = re.compile(r"(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4})(?:[ T]\d.*)?")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"\d{4}")
_PHONE = re.compile(r"(?=(?:.*\d){7})(?:\+|00?|\()[\d ()/.-]{6,20}|\d{3}[-. ]\d{3,4}[-. ]\d{4}")
_POSTAL = re.compile(
    r"(?:[A-Z]{1,2}-)?\d{5}(?:-\d{4})?"  # many countries
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"  # United Kingdom
    r"|[A-Z]\d[A-Z] ?\d[A-Z]\d"  # Canada
    r"|\d{4} ?[A-Z]{2}"  # Netherlands
    r"|\d{4}-\d{3}|\d{5}-\d{3}"  # Portugal, Brazil
)
_NAME = re.compile(r"[^\W\d_]+(?:[ ,.'\u2019-]+[^\W\d_]+){0,4}\.?")

_NEARLY_ALL = 0.9
_FIRST_NAMES_SHARE = 0.1
"""Share of values with one of the most frequent first names from which a column names people."""

_FEW = 20
"""Different values up to which postal codes, phone numbers and names are not told from other texts."""

_LIFETIME = 40
"""Years between the oldest and the newest tenth of dates from which they are dates of birth."""


_TEXTS = (
    (MAIL_ADDRESSES, re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    (ADDRESSES_OF_DEVICES, re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}")),
    (ACCOUNTS, re.compile(r"[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?")),
    (DATES, _DATE),
    (POSTAL_CODES, _POSTAL),
    (PHONE_NUMBERS, _PHONE),
)
_OF_MANY = (POSTAL_CODES, PHONE_NUMBERS)
"""Looks that a column of few values cannot have: other codes look alike."""


def look_of(base_type: str, values: Sequence[str]) -> Look | None:
    """Return what some values of a column look like; None if they look like nothing in particular.

    Examples
    --------
    >>> look_of("text", ["ann@example.org", "bob@example.com"]).topic
    'mail addresses'
    >>> look_of("text", ["red", "green"]) is None
    True
    """
    if not values:
        return None
    kind = kind_of(base_type)
    if kind == "moment":
        return BIRTH_DATES if _span_lifetimes(values) else None
    if kind != "text":
        return None
    counted = Counter(values)
    for look, pattern in _TEXTS:
        if len(counted) <= _FEW and look in _OF_MANY:
            continue
        if _share(counted, pattern.fullmatch) >= _NEARLY_ALL:
            return BIRTH_DATES if look is DATES and _span_lifetimes(values) else look
    return NAMES if len(counted) > _FEW and _name_people(counted) else None


def _share(counted: Counter[str], is_one: Callable[[str], object]) -> float:
    """Return the share of values that are of some kind."""
    return sum(rows for value, rows in counted.items() if is_one(value)) / counted.total()


def _span_lifetimes(values: Sequence[str]) -> bool:
    years = sorted(int(found[0]) for found in map(_YEAR.search, values) if found)
    tenth = len(years) // 10
    return bool(years) and years[-1 - tenth] - years[tenth] >= _LIFETIME


def _name_people(counted: Counter[str]) -> bool:
    if _share(counted, _NAME.fullmatch) < _NEARLY_ALL:
        return False
    return _share(counted, _has_first_name) >= _FIRST_NAMES_SHARE


def _has_first_name(name: str) -> bool:
    """Return whether the first or the last word is a first name: "Ann Mary Smith", "Smith, Ann"."""
    words = without_accents(name).lower().replace(",", " ").split()
    return bool(words) and not FIRST_NAMES.isdisjoint((words[0], words[-1]))


_SHORT_RANGE = 20
"""Different numbers up to which each may well be published as it is."""

_DAY = len("1980-05-01")
_LONGEST_POSTAL_CODE = 12

_GROUPS: Mapping[str, Any] = {"builder": "intervals", "groups": [16, 8, 4]}


def hierarchy_for(
    name: str, base_type: str, values: Sequence[str], look: Look | None, *, is_measured: bool
) -> Mapping[str, Any] | None:
    """Return the specification of a hierarchy that suits a column, None if none does.

    `is_measured` says that its numbers are measurements or counts, as far as is known.

    Examples
    --------
    >>> hierarchy_for("birth", "date", ["1980-05-01"], None, is_measured=True)
    {'builder': 'dates'}
    >>> ages = [str(age) for age in range(18, 90)]
    >>> hierarchy_for("edad", "int4", ages, None, is_measured=False)["width"]
    [5, 10, 20]
    """
    kind = kind_of(base_type)
    if kind == "moment":
        return {"builder": "dates"}
    if kind == "number" and base_type != "money":
        numbers = [float(value) for value in values]
        found = _of_numbers(name, numbers, is_measured=is_measured)
        is_whole = base_type.startswith("int")
        return found and {key: one for key, one in found.items() if is_whole or key != "domain"}
    if kind != "text" or len(set(values)) < 2:
        return None
    longest = max(map(len, values))
    if look in (DATES, BIRTH_DATES) and all(map(_ISO_DATE.match, values)):
        return {"builder": "prefix", "keep": [10, 7, 4, 3] if longest > _DAY else [7, 4, 3]}
    is_postal = look is POSTAL_CODES or (has_postal_codes(name) and longest <= _LONGEST_POSTAL_CODE)
    return {"builder": "prefix"} if is_postal else None


def _of_numbers(name: str, numbers: Sequence[float], *, is_measured: bool) -> Mapping[str, Any] | None:
    if len(set(numbers)) <= _SHORT_RANGE or not all(map(isfinite, numbers)):
        return None
    for scale in SCALES:
        if scale.phrases.longest_in(name) and scale.holds(numbers):
            return scale.hierarchy
    return _GROUPS if is_measured and not is_coded(name) else None
