"""The ledgers of a database: where they are, how they begin, and what curators read in them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kanon_pg.core.interrupted import collect
from kanon_pg.core.unrecorded import noted
from kanon_pg.db.catalog import describe, require_readable
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import LedgerError, UnknownName
from kanon_pg.runner import ledger_parent

FOLDER = "kanon_ledger"
"""Name of the folder in the server's data directory, with one folder for each database."""


@dataclass(frozen=True, slots=True)
class LedgerContext:
    """The state of the database that a query sees, and where its ledgers are.

    Parameters
    ----------
    snapshot : str
        The transactions that are visible.
    wrote_nothing : bool
        Whether the transaction itself wrote nothing, so that `snapshot` identifies the state.
    epoch : str
        Identifies the time since the server's last start or crash; transaction numbers are unique within it.
    zone : str
        The session's time zone, in which days begin and end.
    """

    snapshot: str
    wrote_nothing: bool
    parent: str
    epoch: str
    zone: str

    @property
    def horizon(self) -> int:
        """The oldest transaction that still ran; all older ones are visible, or never will be."""
        return int(self.snapshot.partition(":")[0])


def ledger_context(db: Database, folder: str | None) -> LedgerContext:
    """Return the present state.

    Parameters
    ----------
    folder : str or None
        Folder of all ledgers; None in a server's backend, for the one in the data directory.

    Raises
    ------
    LedgerError
        The server is a standby, or no folder is known.
    """
    row = db.row(statement("ledger_moment"))
    if row["is_copy"]:
        # neither server knows the queries of the other
        raise LedgerError("A standby server has no ledger of queries.", hint="Ask the primary server.")
    parent = Path(folder) if folder is not None else _data_directory() / FOLDER
    return LedgerContext(
        row["snapshot"], not row["writes"], str(parent / str(row["database"])), row["epoch"], row["zone"]
    )


def has_folder(folder: str | None) -> bool:
    """Return whether there is a folder for ledgers."""
    # the working directory of a backend is the server's data directory
    return folder is not None or (Path.cwd() / "global" / "pg_control").is_file()


def has_partitions(parent: str, name: str) -> bool:
    """Return whether a session stored partitions of a ledger's relation, of whatever state."""
    return any(Path(parent, name).glob("partition.*"))


def _data_directory() -> Path:
    if not has_folder(None):
        raise LedgerError(
            "There is no folder for the ledger of queries.",
            hint="Give the folder of the ledger, or use the functions in the server.",
        )
    return Path.cwd()


def begin_ledger(db: Database, oid: int, role: str, *, folder: str | None = None) -> None:
    """Begin the ledger of a relation, or check the existing one.

    Raises
    ------
    LedgerError
        There was one, and its files are missing or damaged.
    """
    context = ledger_context(db, folder)
    found = db.rows(statement("fetch_ledgers"), [oid])
    if found:
        ledger_parent.states(context.parent, context.epoch, [found[0]["name"]], db.checkpoint)
    else:
        db.execute(statement("store_ledger"), oid, _new_ledger(db, context.parent), role)


def restart_ledger(db: Database, relation: str, role: str, *, folder: str | None = None) -> None:
    """Begin a new ledger of a relation; what was disclosed before is no longer compared with new answers.

    The files of the old one stay where they are, so that a curator can read or remove them. A relation that
    answers queries without a ledger gets one.

    Raises
    ------
    UnknownName
        There is no ledger of the relation, and it does not answer queries.
    LedgerError
        The new files cannot be made.
    """
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    has_ledger = bool(db.rows(statement("fetch_ledgers"), [facts.oid]))
    if not has_ledger and not db.row(statement("is_protected"), facts.oid)["protected"]:
        raise UnknownName(
            f"There is no ledger of queries about {facts.identifier}.",
            hint="It begins with: SELECT kanon_protect('relation', 5).",
        )
    name = _new_ledger(db, ledger_context(db, folder).parent)
    db.execute(statement("replace_ledger" if has_ledger else "store_ledger"), facts.oid, name, role)


def _new_ledger(db: Database, parent: str) -> str:
    known = [row["name"] for row in db.rows(statement("list_ledgers"))]
    return ledger_parent.create_ledger(parent, known, db.checkpoint)


def mark_of(row: Row) -> list[Any] | None:
    """Return what the database says of a journal: entries, bytes and digest; None if it says nothing."""
    return None if row["records"] is None else [row["records"], row["length"], row["digest"]]


def query_log(db: Database, *, folder: str | None = None) -> list[dict[str, Any]]:
    """Return all queries about relations that still exist, in the order of time.

    Parameters
    ----------
    db : Database
        May read ``kanon.ledger``.

    Returns
    -------
    list of dict
        ``relation``, ``asked_at``, ``login``, ``role``, ``query``, ``parameters``, ``outcome``
        ('answered', 'withheld'; 'unreadable' for a whole ledger), ``reason`` (why). Holds what analysts
        wrote, and nothing of the data.

    Raises
    ------
    KanonError
        The worker failed.
    """
    relations = {row["name"]: row["relation"] for row in db.rows(statement("list_ledgers"))}
    if not relations:
        return []
    parent = ledger_context(db, folder).parent
    entries = ledger_parent.read_log(parent, list(relations), db.checkpoint)
    for name in relations:
        with suppress(OSError):
            collect(Path(parent, name), db.checkpoint)
        left = noted(Path(parent, name))
        entries += [[name, one.time, one.login, one.query, "withheld", one.reason] for one in left]
    in_time = sorted(entries, key=lambda entry: entry[1] or 0.0)
    return [_log_row(relations[name], entry) for name, *entry in in_time]


def _log_row(relation: str, entry: list[Any]) -> dict[str, Any]:
    time, login, query, outcome, reason, *_ = entry
    text, parameters, role = json.loads(query) if query is not None else (None, None, None)
    return {
        "relation": relation,
        "asked_at": datetime.fromtimestamp(time, UTC).isoformat() if time is not None else None,
        "login": login,
        "role": role,
        "query": text,
        "parameters": parameters,
        "outcome": outcome,
        "reason": reason or None,
    }
