"""The option ``noise`` of ``kanon_protect``: what strangers may learn, and what a person may weigh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kanon_pg.errors import InputError, as_given

_EXAMPLE = (
    'For example: {"noise": {"epsilon": 1, "delta": 1e-6, "rows_per_person": 10, "groups_per_person": 5, '
    '"bounds": {"cost": [0, 20000]}}}'
)


@dataclass(frozen=True, slots=True)
class NoiseSettings:
    """How a relation answers whoever gets noise."""

    epsilon: float
    delta: float
    """`epsilon`, `delta`: what all noisy answers about these people, to whomever, reveal of one person
    together."""
    rows_per_person: int
    groups_per_person: int
    """`rows_per_person`, `groups_per_person`: most rows, and most groups, of one block that a person has
    weight in."""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By column: values outside count as the nearest bound."""
    per_query: float = 0.02
    """Share of the account that one block costs."""
    per_login: float = 1.0
    """Share of the account that one login may spend."""


OptionTest = Callable[[Any], bool]


def is_integer(least: int, most: int) -> OptionTest:
    """Return the test that an option is an integer within bounds."""
    return lambda value: type(value) is int and least <= value <= most


def is_number(above: float, most: float) -> OptionTest:
    """Return the test that an option is a number above a bound, and at most another."""
    return lambda value: type(value) in {int, float} and above < value <= most


def _is_bounds(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and all(map(is_number(-1e15, 1e15), pair))
        and pair[0] < pair[1]
        for pair in value.values()
    )


_SHARE = is_number(0, 1), "a number above 0, at most 1"
_COUNT = is_integer(1, 100_000), "a whole number from 1 to 100000"
_TESTS: Mapping[str, tuple[OptionTest, str]] = {
    "epsilon": (is_number(0, 100), "a number above 0, at most 100"),
    "delta": (is_number(0, 0.01), "a number above 0, far below 1 divided by the people"),
    "rows_per_person": _COUNT,
    "groups_per_person": _COUNT,
    "bounds": (_is_bounds, "an object of columns, each with two numbers, the lower one first"),
    "per_query": _SHARE,
    "per_login": _SHARE,
}
_NEEDED = ("epsilon", "delta", "rows_per_person", "groups_per_person")


def noise_settings(given: Any) -> NoiseSettings:
    """Return the settings that an option or the database gives; refuse the first thing that is wrong.

    Raises
    ------
    InputError
        With a sentence for the first thing that is wrong.
    """
    if not isinstance(given, Mapping):
        raise InputError("Option noise must be null or a JSON object.", hint=_EXAMPLE)
    for name, value in given.items():
        if name not in _TESTS:
            known = ", ".join(one.name for one in fields(NoiseSettings))
            raise InputError(f"noise has no part {as_given(name)}.", hint=f"Parts are: {known}.")
        test, wanted = _TESTS[name]
        if not test(value):
            raise InputError(f"{name} of noise must be {wanted}.", hint=_EXAMPLE)
    for name in _NEEDED:
        if name not in given:
            raise InputError(f"noise lacks {name}.", hint=_EXAMPLE)
    bounds = {name: (float(low), float(high)) for name, (low, high) in given.get("bounds", {}).items()}
    return NoiseSettings(**{**given, "bounds": bounds})
