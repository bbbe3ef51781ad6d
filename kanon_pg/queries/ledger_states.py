"""Reports whether the ledgers of queries can be used, and what to do if not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.queries.check.write.table_snapshot import content_description
from kanon_pg.queries.ledgers import ledger_context, mark_of
from kanon_pg.queries.load_catalog import load_relation
from kanon_pg.runner import ledger_parent

_NEARLY_FULL = 80
"""Percent."""

_MORE_ROOM = (
    "Answers that were given before, or follow from those, are always given. For others raise the rule rank;"
    " of n people no more than 2 n / k independent answers can be compared."
)


def ledger_states(db: Database, *, folder: str | None = None) -> list[dict[str, Any]]:
    """Report for every protected relation whether its ledger of queries can be used.

    Reads all files, as the first query of a session does, so that no problem appears only then.

    Returns
    -------
    list of dict
        ``relation``, ``ok``; ``problem`` and ``remedy`` unless ``ok``, or if not much is left of what the
        ledger can compare; ``used``: how much of that answers have taken, in percent, None if old sets are
        forgotten. For curators: analysts are refused in the same words for every reason.

    Raises
    ------
    KanonError
        The worker failed.
    """
    found = db.rows(statement("protected_ledgers"))
    ledgers = [
        {"name": row["name"], "mark": mark_of(row) if folder is None else None}
        for row in found
        if row["name"] is not None
    ]
    read = ledger_parent.verify(ledger_context(db, folder).parent, ledgers, db.checkpoint) if ledgers else []
    by_name = {ledger["name"]: state for ledger, state in zip(ledgers, read, strict=True)}
    return [_ledger_state(db, row, by_name.get(row["name"])) for row in found]


def _ledger_state(db: Database, row: Row, read: Mapping[str, Any] | None) -> dict[str, Any]:
    problem = None
    if read is None:
        problem = "There is no ledger of queries."
    elif read["error"] is not None:
        problem = read["error"]
    elif read["description"] is not None:
        present = json.loads(json.dumps(content_description(load_relation(db, row["oid"], row["role"]))))
        if present != read["description"]:
            problem = "The columns that queries may read, or the entity, changed since the ledger began."
    used = None if read is None else read["percent_used"]
    if problem is None:
        is_nearly_full = used is not None and used >= _NEARLY_FULL
        return {
            "relation": row["relation"],
            "ok": True,
            "problem": f"{used} % of what answers can be compared by is taken." if is_nearly_full else None,
            "remedy": _MORE_ROOM if is_nearly_full else None,
            "used": used,
        }
    return {
        "relation": row["relation"],
        "ok": False,
        "problem": f"{problem} Every answer is withheld.",
        "remedy": f"Begin a new ledger: SELECT kanon.restart_ledger({Literal(row['relation'])}); what was "
        "answered before is then no longer compared with new answers.",
        "used": used,
    }
