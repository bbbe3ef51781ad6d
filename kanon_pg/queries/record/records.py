"""The records of a database: where they are, how they begin, and what curators read in them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kanon_pg.db.catalog import describe, require_readable
from kanon_pg.db.history import record_event
from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import KanonError, LedgerError, LedgerUnavailable, UnknownName
from kanon_pg.queries.reading.facts import Protection
from kanon_pg.queries.reading.load_facts import load_relation
from kanon_pg.queries.record.log import Mark
from kanon_pg.queries.record.record import Record

FOLDER = "kanon_ledger"
"""Name of the folder in the server's data directory, with one folder for each database."""

_PRIVATE = 0o700

_open: dict[Path, Record] = {}
"""Those that this session has used: what opening one costs, later queries save."""


@dataclass(frozen=True, slots=True)
class NamedMark:
    """How far the record of a name, as in ``kanon.record``, was written, for the database to know."""

    name: str
    mark: Mark


def has_folder(folder: str | None) -> bool:
    """Return whether there is a folder for records."""
    # the working directory of a backend is the server's data directory
    return folder is not None or (Path.cwd() / "global" / "pg_control").is_file()


def _path(db: Database, name: str, folder: str | None) -> Path:
    moment = db.row(statement("record_moment"))
    if moment["is_copy"]:
        # neither server knows the queries of the other
        raise LedgerError("A standby server has no record of answers.", hint="Ask the primary server.")
    if not has_folder(folder):
        raise LedgerError(
            "There is no folder for the record of answers.",
            hint="Give the folder of the record, or use the functions in the server.",
        )
    parent = (Path.cwd() / FOLDER if folder is None else Path(folder)) / str(moment["database"])
    parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    return parent / f"{name}.sqlite"


def open_record(db: Database, space: int, folder: str | None) -> tuple[str, Record]:
    """Return the name and the record of a space of people."""
    rows = db.rows(statement("fetch_records"), space)
    if not rows:
        raise LedgerError(
            "There is no record of answers about these people.",
            hint="Protect the table again: kanon_protect.",
        )
    name = rows[0]["name"]
    path = _path(db, name, folder)
    marks = [] if rows[0]["events"] is None else [Mark(rows[0]["events"], bytes.fromhex(rows[0]["digest"]))]
    record = _open.get(path)
    if record is None:
        record = _open[path] = Record.open(path, marks, checkpoint=db.checkpoint)
    return name, record


def begin_record(db: Database, space: int, k: int, role: str, *, folder: str | None = None) -> None:
    """Begin the record of a space of people, or check the existing one and let it compare by k."""
    if db.rows(statement("fetch_records"), space):
        _, record = open_record(db, space, folder)
        if record.k < k:
            record.raise_k(k)
        return
    db.execute(statement("store_record"), space, _new_record(db, k, folder), role)


def restart_record(db: Database, relation: str, role: str, *, folder: str | None = None) -> None:
    """Begin a new record of a relation's people; what was disclosed before is compared with nothing any more.

    The old file stays where it is, so that a curator can read or remove it.
    """
    protection = _protection(db, relation, role)
    db.execute(statement("store_record"), protection.space, _new_record(db, protection.k, folder), role)
    record_event(db, "restart_record", describe(db, relation, role).identifier, role)


def _protection(db: Database, relation: str, role: str) -> Protection:
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    protection = load_relation(db, facts.schema, facts.name, role).protection
    if protection is None or not protection.rules:
        raise UnknownName(
            f"{facts.identifier} answers no queries.",
            hint="It begins with: SELECT kanon_protect('relation', 5).",
        )
    return protection


def _remedy(relation: str, problem: KanonError) -> str:
    begin = f"SELECT kanon.restart_record({Literal(relation)});"
    # a file that cannot be read now is not to be given up
    return problem.hint or "" if isinstance(problem, LedgerUnavailable) else f"{problem.hint} {begin}"


def _new_record(db: Database, k: int, folder: str | None) -> str:
    name = secrets.token_hex(16)
    Record.create(_path(db, name, folder), k)
    return name


def keep_marks(db: Database, marks: Sequence[NamedMark]) -> None:
    """Store how far records were written, so that older copies of them are noticed."""
    for one in marks:
        db.execute(statement("store_mark"), one.name, one.mark.events, one.mark.digest.hex())
        db.execute(statement("forget_marks"), one.name, one.mark.events)


def query_log(db: Database, *, folder: str | None = None) -> list[dict[str, Any]]:
    """Return all queries about people of relations that still exist, in the order of time.

    They have what analysts wrote, and nothing of the data; ``blocked_by`` are entries that conflicted.
    """
    entries: list[dict[str, Any]] = []
    for row in db.rows(statement("list_records")):
        _, record = open_record(db, row["space"], folder)
        for one in record.log():
            text, parameters, role = json.loads(one.query)
            entries.append(
                {
                    "relation": row["relation"],
                    "entry": one.entry,
                    "asked_at": datetime.fromtimestamp(one.time, UTC).isoformat(),
                    "login": one.login,
                    "role": role,
                    "query": text,
                    "parameters": parameters,
                    "outcome": one.outcome,
                    "reason": one.reason or None,
                    "blocked_by": sorted(one.blocked_by) or None,
                    "forgotten": one.forgotten is not None,
                }
            )
    return sorted(entries, key=lambda row: (row["asked_at"], row["entry"]))


def forget_answer(db: Database, relation: str, entry: int, role: str, *, folder: str | None = None) -> int:
    """Compare new answers about a relation's people no more with one; return how many sets that frees."""
    _, record = open_record(db, _protection(db, relation, role).space, folder)
    record_event(db, "forget_answer", describe(db, relation, role).identifier, role, entry=entry)
    return record.forget(entry, role, float(db.row(statement("now"))["seconds"]), "")


def record_states(db: Database, *, folder: str | None = None) -> list[dict[str, Any]]:
    """Return for each record whether it can be used: ``relation``, ``ok``, ``problem``, ``remedy``."""
    states = []
    for row in db.rows(statement("list_records")):
        problem: KanonError | None = None
        try:
            open_record(db, row["space"], folder)
        except KanonError as error:
            problem = error
        states.append(
            {
                "relation": row["relation"],
                "ok": problem is None,
                "problem": None if problem is None else problem.message,
                "remedy": None if problem is None else _remedy(row["relation"], problem),
            }
        )
    return states
