"""Arguments that several operations have, and what is wrong with them whatever the database holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from kanon_pg.core.json_numbers import is_number, is_whole
from kanon_pg.core.solving import METHODS
from kanon_pg.db.operation import Argument
from kanon_pg.errors import InputError, UnknownName, as_given

DEFAULT_SECONDS = 30.0
"""Default time limit of a search for better solutions."""

_MOST_SECONDS = 1e12
"""About what an interval of PostgreSQL holds."""

MOST_INTEGER = (1 << 31) - 1
"""Largest ``integer`` of SQL."""

AnyRelation = Annotated[str | None, Argument("regclass", "Any table, view or release that you may read.")]
OwnRelation = Annotated[str, Argument("regclass", "Table or view, as SQL writes it.")]
QuasiIdentifiers = Annotated[Sequence[str] | None, Argument("name[]", "In place of the declared ones.")]
Sensitive = Annotated[Sequence[str] | None, Argument("name[]", "In place of the declared ones.")]
Seed = Annotated[int | None, Argument("integer", "Breaks ties at random, reproducibly.")]
TimeLimit = Annotated[float, Argument("interval", "How long to search; what is not proven by then is said.")]


def check_k(k: Any) -> None:
    """Refuse a k that is no integer or less than 2."""
    if k is None:
        raise InputError("k is NULL.", hint="Give the fewest people a class may have, for example 5.")
    if not is_whole(k):
        raise InputError(
            "k must be an integer.", hint="Give the fewest people a class may have, for example 5."
        )
    if k < 2:
        raise InputError(
            f"k must be at least 2, not {k}.",
            hint="With k = 1 every row could be published as it is; 5 is a common choice.",
        )


def check_time_limit(seconds: Any) -> None:
    """Refuse a time limit that is NULL, no number, not above 0, or longer than an interval can be."""
    if seconds is None or not 0 < seconds <= _MOST_SECONDS:  # which NaN is not
        raise InputError(
            "time_limit must be a positive interval.", hint="For example: time_limit => '30 seconds'."
        )


def check_choice(argument: str, given: Any, known: Sequence[str]) -> None:
    """Refuse a word that is none of some."""
    if given not in known:
        raise UnknownName(
            f"There is no {argument} {as_given(given)}.", hint="Choose one of: " + ", ".join(known) + "."
        )


def check_keys(what: str, given: Any, keys: Sequence[str], example: str) -> None:
    """Refuse what is no JSON object, or has other keys than some."""
    if not isinstance(given, Mapping):
        raise InputError(f"{what} must be a JSON object.", hint=example)
    for key in given:
        if key not in keys:
            raise UnknownName(f"{what} has no key {as_given(key)}.", hint=f"Keys are: {', '.join(keys)}.")


def check_whole(what: str, value: Any, least: int, hint: str, *, most: int = MOST_INTEGER) -> None:
    """Refuse what is no integer between two bounds, both included."""
    if not is_whole(value):
        raise InputError(f"{what} must be an integer.", hint=hint)
    if not least <= value <= most:
        raise InputError(f"{what} must be at least {least} and at most {most}, not {value}.", hint=hint)


def check_share(what: str, value: Any, hint: str) -> None:
    """Refuse what is no number from 0 to 1."""
    if not (is_number(value) and 0 <= value <= 1):
        raise InputError(f"{what} must be a number from 0 to 1.", hint=hint)


def check_search(method: str, time_limit: float | None, seed: int | None) -> None:
    """Refuse an unknown method, a time limit that is no time, and a negative seed."""
    check_choice("method", method, METHODS)
    check_time_limit(time_limit)
    if seed is not None and seed < 0:
        raise InputError("seed must not be negative.", hint="Any other integer does, for example 1.")
