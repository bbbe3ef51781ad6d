"""Decides whether the sets behind an answer are read in the scan that computes the answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import KanonError, LimitExceeded
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.ledgers import moment
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.queries.record import key_of
from kanon_pg.runner import ledger_parent


def worth_gathering(
    db: Database,
    verdict: Verdict,
    arguments: Sequence[str | None],
    rules: Mapping[int, ProtectionRules],
    *,
    folder: str | None,
) -> bool:
    """Return whether some set will be compared that the ledger's worker does not know already.

    This decides how often a relation is read, never what is compared: a set that was not gathered, and turns
    out to be needed, is read by itself.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role.
    verdict : Verdict
        Accepted.
    arguments : sequence of (str or None)
        Values of its parameters.
    rules : Mapping of int to ProtectionRules
        By the OID of a relation.
    folder : str or None
        As in `kanon_pg.queries.ledgers.moment`.
    """
    gathered = verdict.gathering.sets if verdict.gathering is not None else ()
    wanted = [verdict.entity_sets[number] for number in gathered]
    wanted = [item for item in wanted if rules[item.relation].ledger != "off"]
    if not wanted or not ledger_parent.is_ready():
        # one that is only starting knows nothing
        return bool(wanted)
    now = moment(db, folder)
    known = _known(db, {rules[item.relation].relation for item in wanted}, now.parent, now.epoch)
    keys = ((rules[item.relation].relation, key_of(verdict, item, arguments, now.zone)) for item in wanted)
    return any(key not in known.get(root, ()) for root, key in keys)


def _known(
    db: Database, roots: Collection[int], parent: str, epoch: str
) -> Mapping[int, Collection[str | None]]:
    names = {row["relation"]: row["name"] for row in db.rows(statement("fetch_ledgers"), list(roots))}
    try:
        found = ledger_parent.states(parent, epoch, list(names.values()), db.checkpoint)
    except LimitExceeded:
        raise
    except KanonError:
        # what is wrong with the record is found, and recorded, when the answer is
        return {}
    return {root: state["sets"] for root, state in zip(names, found, strict=True)}
