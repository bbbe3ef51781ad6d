"""The arguments of a release over time: one that is published again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kanon_pg.core.json_numbers import is_number, is_whole
from kanon_pg.errors import InputError, UnknownName, as_given

LEAVERS = ("retain", "withhold", "show")
"""What happens to those who leave, until k of their cohort can leave together: their stored cells stay
published, their cohort is withheld, or they go at once, which tells who they were."""

UPDATES = ("replace", "keep")
"""What a changed row is: one that left and one that arrived, or the row whose published cells stay."""

_EXAMPLE = """For example: options => '{"over_time": {"leavers": "retain", "longest_wait": 6}}'."""
_MOST_VERSIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class OverTime:
    """The rules of a release over time.

    Parameters
    ----------
    leavers : str
        A name of `LEAVERS`.
    longest_retain : int
        Versions for which rows that left are shown at most, >= 1; then their cohort is withheld.
    waiting : float
        Largest share of the people, 0 to 1, who may wait although k could enter, because a later version may
        have better company for them; see `kanon_pg.release.series.waiting`.
    longest_wait : int
        Versions for which rows may wait so, >= 1; then they enter in the classes that there are.
    updates : str
        A name of `UPDATES`.
    new_series : bool
        Whether an earlier series of the same name may end here.
    """

    leavers: str = "retain"
    longest_retain: int = 12
    waiting: float = 0.03
    longest_wait: int = 6
    updates: str = "replace"
    new_series: bool = False


def parse_over_time(argument: Any) -> OverTime | None:
    """Read the option ``over_time``; None stands for an ordinary release.

    Raises
    ------
    InputError
        If it is no object, or a value is not what its key takes.
    UnknownName
        If there is no such key.

    Examples
    --------
    >>> parse_over_time({"leavers": "withhold"}).leavers
    'withhold'
    """
    if argument is None:
        return None
    if not isinstance(argument, Mapping):
        raise InputError("Option over_time must be a JSON object; an empty one will do.", hint=_EXAMPLE)
    keys = [field.name for field in fields(OverTime)]
    for key in argument:
        if key not in keys:
            raise UnknownName(
                f"Option over_time has no key {as_given(key)}.", hint="Keys are: " + ", ".join(keys) + "."
            )
    found = OverTime(**{key: value for key, value in argument.items() if value is not None})
    _require_one_of("leavers", found.leavers, LEAVERS)
    _require_one_of("updates", found.updates, UPDATES)
    _require_versions("longest_retain", found.longest_retain)
    _require_versions("longest_wait", found.longest_wait)
    if not is_number(found.waiting) or not 0 <= found.waiting <= 1:
        raise InputError(
            "Key waiting of option over_time must be a number from 0 to 1.",
            hint="It is the largest share of people who may wait for a later version, for example 0.03.",
        )
    if not isinstance(found.new_series, bool):
        raise InputError("Key new_series of option over_time must be true or false.", hint=_EXAMPLE)
    return found


def _require_one_of(key: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(
            f"Key {key} of option over_time is not one of those there are.",
            hint="Choose one of " + ", ".join(choices) + ".",
        )


def _require_versions(key: str, value: Any) -> None:
    if not is_whole(value) or not 1 <= value <= _MOST_VERSIONS:
        raise InputError(
            f"Key {key} of option over_time must be a whole number of versions, at least 1.", hint=_EXAMPLE
        )
