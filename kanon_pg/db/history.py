"""The history: who did what to which table, hierarchy or release, written in the transaction that does it."""

from __future__ import annotations

import json
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement


def record_event(
    db: Database,
    operation: str,
    name: Identifier,
    role: str,
    *,
    parent: Identifier | None = None,
    **details: Any,
) -> None:
    """Add to the history what a role did to a table or hierarchy, by a function without its ``kanon_``.

    Parameters
    ----------
    details
        What else to keep; nobody's values.
    """
    parts = list(name.parts), None if parent is None else list(parent.parts)
    db.execute(statement("record_event"), operation, parts[0], role, json.dumps(details), parts[1])


def record_release_event(
    db: Database, operation: str, release: str, role: str, changes: int | None = None
) -> None:
    """Add to the history what a role did to a release, whose record must be there.

    Parameters
    ----------
    changes : int, optional
        ``kanon.base_changes`` of the base relation, from before its rows were read.
    """
    db.execute(statement("record_release_event"), operation, release, role, changes)
