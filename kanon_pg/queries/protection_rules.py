"""The rules under which a protected relation answers: as given to ``kanon_protect``, and as stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, as_given
from kanon_pg.relations.beside_queries import BESIDE_RELEASES


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """One row of ``kanon.protection``.

    Parameters
    ----------
    relation : int
        OID of the protected relation. Partitions and inheritance children have the rules of their protected
        ancestor, whose OID this is then: they share its people and its ledger.
    k : int
        Fewest people, 2 to 100.
    mode : {'reject', 'suppress'}
        As in `kanon_pg.queries.check.options.Options`.
    extremes : str
        'never', 'insensitive' or 'always', as in `kanon_pg.queries.check.catalog.Protection`.
    ledger : {'off', 'pairwise', 'linear'}
        As in `kanon_pg.worker.ledger.rules.LedgerRules`.
    margin, share : int, float
        As in `kanon_pg.worker.ledger.rules.LedgerRules`.
    queries, refusals, near_refusals : int or None
        Budget of each login within `period`, as in `kanon_pg.worker.ledger.rules.QueryBudget`.
    all_queries, all_refusals : int or None
        Budget of all logins together.
    period, lockout : float
        Seconds, of both budgets.
    seconds : float
        Longest time that one query may take, > 0.
    rows : int
        Most rows of one answer, >= 1.
    beside_releases : str
        A name of `kanon_pg.relations.beside_queries.BESIDE_RELEASES`.
    """

    relation: int
    k: int
    mode: Literal["reject", "suppress"] = "reject"
    strict: bool = False
    simulatable: bool = False
    dominance: float | None = None
    extremes: Literal["never", "insensitive", "always"] = "insensitive"
    ledger: Literal["off", "pairwise", "linear"] = "pairwise"
    one_sided: bool = False
    rank: int = 256
    margin: int = 10
    share: float = 0.5
    queries: int | None = None
    refusals: int | None = 50
    near_refusals: int | None = 30
    all_queries: int | None = None
    all_refusals: int | None = None
    period: float = 86_400.0
    lockout: float = 3_600.0
    seconds: float = 30.0
    rows: int = 10_000
    beside_releases: Literal["allow", "warn", "refuse"] = "warn"


def fetch_rules(db: Database, oid: int) -> ProtectionRules | None:
    """Return the rules under which a relation answers.

    Parameters
    ----------
    db : Database
        May read ``kanon.protection``.

    Returns
    -------
    ProtectionRules or None
        Its own rules, or those of the nearest protected table whose partition or child it is; None if it is
        not protected.
    """
    found = db.rows(statement("fetch_protection"), oid)
    return ProtectionRules(**found[0]) if found else None


_LARGEST = 2**31 - 1
_LONGEST = 1e9

OptionTest = Callable[[Any], bool]


def _is_whole(least: int, most: int) -> OptionTest:
    return lambda value: type(value) is int and least <= value <= most


def _is_number(above: float, most: float) -> OptionTest:
    return lambda value: type(value) in {int, float} and above < value <= most


def _is_none_or(test: OptionTest) -> OptionTest:
    return lambda value: value is None or test(value)


def _is_one_of(*choices: str) -> tuple[OptionTest, str]:
    return lambda value: value in choices, "one of " + ", ".join(choices)


_COUNT = "null or a whole number from 1"
_SECONDS = "a number of seconds above 0"

_RULES: Mapping[str, tuple[OptionTest, str]] = {
    "mode": _is_one_of("reject", "suppress"),
    "strict": (lambda value: isinstance(value, bool), "true or false"),
    "simulatable": (lambda value: isinstance(value, bool), "true or false"),
    "dominance": (
        _is_none_or(lambda value: type(value) is float and 0 < value < 1),
        "null or a share between 0 and 1",
    ),
    "extremes": _is_one_of("never", "insensitive", "always"),
    "ledger": _is_one_of("off", "pairwise", "linear"),
    "one_sided": (lambda value: isinstance(value, bool), "true or false"),
    "rank": (_is_whole(8, 2048), "a whole number from 8 to 2048"),
    "share": (_is_number(0, 1), "a number above 0, at most 1"),
    "margin": (_is_whole(1, 100), "a whole number from 1 to 100"),
    "queries": (_is_none_or(_is_whole(1, _LARGEST)), _COUNT),
    "refusals": (_is_none_or(_is_whole(1, _LARGEST)), _COUNT),
    "near_refusals": (_is_none_or(_is_whole(1, _LARGEST)), _COUNT),
    "all_queries": (_is_none_or(_is_whole(1, _LARGEST)), _COUNT),
    "all_refusals": (_is_none_or(_is_whole(1, _LARGEST)), _COUNT),
    "period": (_is_number(0, _LONGEST), _SECONDS),
    "lockout": (_is_number(0, _LONGEST), _SECONDS),
    "seconds": (_is_number(0, 86_400), "a number of seconds above 0, at most a day"),
    "rows": (_is_whole(1, 1_000_000), "a whole number from 1 to 1000000"),
    "beside_releases": _is_one_of(*BESIDE_RELEASES),
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
    if not _is_whole(2, 100)(k):
        raise InputError(
            "k must be a whole number from 2 to 100.",
            hint="For example: SELECT kanon_protect('patients', 5);",
        )
    if options is None:
        options = {}
    if not isinstance(options, Mapping):
        raise InputError("options must be a JSON object.", hint='For example: {"ledger": "linear"}')
    known = [field.name for field in fields(ProtectionRules) if field.name in _RULES]
    for name, value in options.items():
        if name not in _RULES:
            raise InputError(
                f"There is no option {as_given(name)}.", hint="Options are: " + ", ".join(known) + "."
            )
        test, wanted = _RULES[name]
        if not test(value):
            raise InputError(f"Option {name} must be {wanted}.", hint="Leave it out for the default.")
    rules = ProtectionRules(relation, k, **options)
    if rules.simulatable and rules.dominance is not None:
        raise InputError(
            "Refusals by dominance depend on sensitive values.",
            hint="Leave out one of the options simulatable and dominance.",
        )
    return rules
