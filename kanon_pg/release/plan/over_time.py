"""The arguments of a release over time: one that is published again and again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import check_keys, check_share, check_whole

LEAVERS = ("retain", "withhold", "show")
"""What happens to those who leave, until k of their cohort can leave together: their stored cells stay
published, their cohort is withheld, or they go at once, which tells who they were."""

UPDATES = ("replace", "keep")
"""What a changed row is: one that left and one that arrived, or the row whose published cells stay."""

_EXAMPLE = """For example: options => '{"over_time": {"leavers": "retain", "longest_wait": 6}}'."""
_MOST_VERSIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class OverTime:
    """The rules of a release over time."""

    leavers: str = "retain"
    """A name of `LEAVERS`."""
    longest_retain: int = 12
    """Versions for which rows that left are shown at most, >= 1; then their cohort is withheld."""
    waiting: float = 0.03
    """Largest share of the people, 0 to 1, who may wait although k could enter, because a later version
    may have better company for them; see `kanon_pg.release.series.entering`."""
    longest_wait: int = 6
    """Versions for which rows may wait so, >= 1; then they enter in the classes that there are."""
    updates: str = "replace"
    """A name of `UPDATES`."""
    new_series: bool = False
    """Whether an earlier series of the same name may end here."""


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
    check_keys("Option over_time", argument, [field.name for field in fields(OverTime)], _EXAMPLE)
    rules = OverTime(**{key: value for key, value in argument.items() if value is not None})
    for key, choices in (("leavers", LEAVERS), ("updates", UPDATES)):
        if getattr(rules, key) not in choices:
            raise InputError(
                f"{_named(key)} is not one of those there are.", hint=f"Choose one of {', '.join(choices)}."
            )
    for key in ("longest_retain", "longest_wait"):
        check_whole(_named(key), getattr(rules, key), 1, _EXAMPLE, most=_MOST_VERSIONS)
    check_share(
        _named("waiting"),
        rules.waiting,
        "It is the largest share of people who may wait for a later version, for example 0.03.",
    )
    if not isinstance(rules.new_series, bool):
        raise InputError(f"{_named('new_series')} must be true or false.", hint=_EXAMPLE)
    return rules


def _named(key: str) -> str:
    return f"Key {key} of option over_time"
