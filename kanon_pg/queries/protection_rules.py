"""The rules under which a protected relation answers: as given to ``kanon_protect``, and as stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, as_given
from kanon_pg.queries.noise_settings import NoiseSettings, OptionTest, is_integer, is_number, noise_settings
from kanon_pg.relations.beside_queries import BESIDE_RELEASES


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """One row of ``kanon.protection``."""

    relation: int
    """OID of the protected relation. Partitions and inheritance children have the rules of their protected
    ancestor, whose OID this is then."""
    k: int
    """Fewest people behind every figure and every difference of two, 2 to 100."""
    mode: Literal["suppress", "reject"] = "suppress"
    """Whether rows with too few people are left out, or refuse the answer."""
    queries: int | None = None
    refusals: int | None = 50
    """`queries`, `refusals`: of each login within a day."""
    seconds: float = 30.0
    """Longest time that one query may take, > 0."""
    rows: int = 10_000
    """Most rows of one block, >= 1."""
    beside_releases: Literal["allow", "warn", "refuse"] = "refuse"
    """A name of `kanon_pg.relations.beside_queries.BESIDE_RELEASES`."""
    noise: NoiseSettings | None = None
    """How those are answered who are no members of `exact_for`; None answers everybody exactly."""
    exact_for: tuple[str, ...] = ()
    """Roles."""


def fetch_rules(db: Database, oid: int) -> ProtectionRules | None:
    """Return the rules under which a relation answers.

    Partitions and children have those of the nearest protected table above; None is not protected.
    """
    rows = db.rows(statement("fetch_protection"), oid)
    if not rows:
        return None
    row = dict(rows[0])
    noise, roles = json.loads(row.pop("noise")), json.loads(row.pop("exact_for"))
    return ProtectionRules(
        **row, noise=None if noise is None else noise_settings(noise), exact_for=tuple(roles)
    )


_LARGEST = 2**31 - 1


def _is_limit(value: Any) -> bool:
    return value is None or is_integer(1, _LARGEST)(value)


def _is_roles(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _is_one_of(*choices: str) -> tuple[OptionTest, str]:
    return lambda value: value in choices, "one of " + ", ".join(choices)


_RULES: Mapping[str, tuple[OptionTest, str]] = {
    "mode": _is_one_of("reject", "suppress"),
    "queries": (_is_limit, "null or a whole number from 1"),
    "refusals": (_is_limit, "null or a whole number from 1"),
    "seconds": (is_number(0, 86_400), "a number of seconds above 0, at most a day"),
    "rows": (is_integer(1, 1_000_000), "a whole number from 1 to 1000000"),
    "beside_releases": _is_one_of(*BESIDE_RELEASES),
    # `noise_settings` says what is wrong with it
    "noise": (lambda _: True, "null or an object"),
    "exact_for": (_is_roles, "a list of roles"),
}


def rules_from_arguments(relation: int, k: Any, options: Any) -> ProtectionRules:
    """Return the rules from the arguments of ``kanon_protect``.

    Parameters
    ----------
    k : Any
        2 to 100.
    options : Any
        A mapping with fields of `ProtectionRules`, or None.

    Raises
    ------
    InputError
        With a sentence for the first thing that is wrong.
    """
    if not is_integer(2, 100)(k):
        raise InputError(
            "k must be a whole number from 2 to 100.",
            hint="For example: SELECT kanon_protect('patients', 5);",
        )
    if options is None:
        options = {}
    if not isinstance(options, Mapping):
        raise InputError("options must be a JSON object.", hint='For example: {"mode": "reject"}')
    known = [field.name for field in fields(ProtectionRules) if field.name in _RULES]
    for name, value in options.items():
        if name not in _RULES:
            raise InputError(
                f"There is no option {as_given(name)}.", hint="Options are: " + ", ".join(known) + "."
            )
        test, wanted = _RULES[name]
        if not test(value):
            raise InputError(f"Option {name} must be {wanted}.", hint="Leave it out for the default.")
    given = dict(options)
    if given.get("noise") is not None:
        given["noise"] = noise_settings(given["noise"])
    given["exact_for"] = tuple(given.get("exact_for", ()))
    if given["exact_for"] and given.get("noise") is None:
        raise InputError(
            "Option exact_for says who is answered without noise, and there is no option noise.",
            hint="Give noise, too, or leave exact_for out: everybody is answered exactly.",
        )
    return ProtectionRules(relation, k, **given)
