"""The rules under which a protected relation answers, as ``kanon_protect`` stored them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """One row of ``kanon.protection``.

    Parameters
    ----------
    relation : int
        OID of the protected relation. Partitions and inheritance children have the rules of their protected
        ancestor, whose OID this is then: they share its people and its record.
    k : int
        Fewest people, 2 to 100.
    mode : {'reject', 'suppress'}
        As in `kanon_pg.queries.check.options.Options`.
    strict, simulatable : bool
        As there.
    dominance : float or None
        As there.
    extremes : str
        'never', 'insensitive' or 'always', as in `kanon_pg.queries.check.catalog.Protection`.
    ledger : {'off', 'pairwise', 'linear'}
        As in `kanon_pg.worker.ledger.rules.Rules`.
    one_sided : bool
        As there.
    rank : int
        As there.
    questions, refusals : int or None
        Budget of each login within `period`, as in `kanon_pg.worker.ledger.budget.Budget`.
    all_questions, all_refusals : int or None
        Budget of all logins together.
    period, lockout : float
        Seconds, of both budgets.
    seconds : float
        Longest time that one question may take, > 0.
    rows : int
        Most rows of one answer, >= 1.
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
    questions: int | None = None
    refusals: int | None = 50
    all_questions: int | None = None
    all_refusals: int | None = None
    period: float = 86_400.0
    lockout: float = 3_600.0
    seconds: float = 30.0
    rows: int = 10_000


def protection(db: Database, oid: int) -> ProtectionRules | None:
    """Return the rules under which a relation answers.

    Parameters
    ----------
    db : Database
        May read ``kanon.protection``.
    oid : int
        OID of a relation.

    Returns
    -------
    ProtectionRules or None
        Its own rules, or those of the nearest protected table whose partition or child it is; None if it is
        not protected.
    """
    found = db.rows(statement("fetch_protection"), oid)
    return ProtectionRules(**found[0]) if found else None
