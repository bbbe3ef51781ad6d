"""Proves on the user's own server that an installation works; leaves nothing behind."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import kanon_pg
from kanon_pg.admin.install.facts import (
    ServerFacts,
    described,
    find_orphans,
    missing_tables,
    own_relations,
    read_facts,
    read_recorded,
)
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.solving import SolveRequest
from kanon_pg.db.citus import coordinator_holds_shards
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, undone
from kanon_pg.db.readers import reader_role
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import InstallError, KanonError
from kanon_pg.runner.limits import default_memory_budget
from kanon_pg.runner.parent import solve_in_worker
from kanon_pg.runner.session import Caller

Trial = Callable[[str, str], None]
"""Publishes a relation with k = 2 under a release name, with the owner's rights."""

RecordStates = Callable[[], list[dict[str, Any]]]
"""Says of every record of answers whether it can be used: `kanon_pg.queries.record.records.record_states`."""

TRIAL_QUASI_IDENTIFIERS = ("a", "b", "c")
"""Columns of the trial's table that it publishes as quasi-identifiers, all of them."""

_TRIAL_BASE = Identifier.of("safe", "kanon_install_check_base")
_TRIAL_VIEW = Identifier.of("safe", "kanon_install_check")
_TRIAL_ON_NODES = Identifier.of("kanon_shards", "kanon_install_check_base")
_TRIAL_COLUMN = "a"
"""Column by which the trial's table is distributed."""


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One thing that was checked."""

    item: str
    """What."""
    ok: bool
    """Whether it is as it must be."""
    detail: str
    hint: str | None = None
    """What to do if it is not as it must be."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of the SQL objects and the server, and how the objects were made."""

    sql: str | None
    """What is recorded; None if nothing that could be a version is."""
    server: str
    """The server's."""
    extension: str | None
    """Version of the extension; None if `kanon install` made the objects."""

    @property
    def installation(self) -> str:
        """How the objects were made, in the words that upgrade them."""
        return "kanon install" if self.extension is None else "extension"


def versions(db: Database) -> Versions:
    """Return the versions in the database; that the package has the same is up to ``kanon.boot()``."""
    facts = read_facts(db, "public")
    server = db.row(Statement("SELECT pg_catalog.current_setting('server_version') AS server"))["server"]
    return Versions(read_recorded(db, facts).version, server, facts.extension)


def check_database(db: Database, trial: Trial) -> list[CheckItem]:
    """Check through the client's interface: inside the server if it has the functions, else from here.

    Parameters
    ----------
    db : Database
        The rights of a curator or analyst suffice if the server has the functions. Everything it did
        is to be rolled back.
    trial : callable
        See `run_checks`.

    Raises
    ------
    InstallError
        If nothing is installed.
    """
    if not read_facts(db, "public").installed:
        raise InstallError("kanon is not installed in this database.", hint="kanon install DSN")
    found = db.rows(statement("find_functions"))
    if found:
        function = Identifier.of(found[0]["schema"], "kanon_install_check")
        return [CheckItem(**row) for row in db.rows(statement("call_install_check", function=function))]
    db.execute(statement("act_as", role=Identifier.of("kanon_owner")))
    return run_checks(db, trial)


def run_checks(db: Database, trial: Trial, states: RecordStates | None = None) -> list[CheckItem]:
    """Check everything, whatever the outcome of single items.

    Parameters
    ----------
    trial : callable
        Publishes a release; an argument because this package does not know the release service.
    states : callable, optional
        For functions in the server, which keep records of answers.
    """
    facts = read_facts(db, "public")
    recorded = read_recorded(db, facts)
    return [
        _version_item(versions(db)),
        _table_item(facts),
        *_catalog_items(db),
        *_public_items(db, recorded.api_schema or "public"),
        *_orphan_items(db, facts),
        *(_record_items(db, states) if states is not None else ()),
        _attempt("solver process", "a small table was solved", lambda: _solve(db), db),
        _attempt(
            "trial release", "published, recounted, readable for analysts", lambda: _release(db, trial), db
        ),
        *_node_items(db, trial),
    ]


def _version_item(found: Versions) -> CheckItem:
    again = (
        "Run `kanon install` again."
        if found.extension is None
        else "ALTER EXTENSION kanon_pg UPDATE TO 'unpackaged'; ALTER EXTENSION kanon_pg UPDATE;"
    )
    if found.sql != kanon_pg.__version__:
        said = "no version of the SQL objects" if found.sql is None else f"version {found.sql}"
        return CheckItem(
            "versions", False, f"{said} is recorded, the Python package is {kanon_pg.__version__}", again
        )
    return CheckItem(
        "versions", True, f"kanon {found.sql} by {found.installation}, PostgreSQL {found.server}"
    )


def _table_item(facts: ServerFacts) -> CheckItem:
    missing = missing_tables(facts)
    if not missing:
        return CheckItem("tables", True, "all are there")
    return CheckItem(
        "tables",
        False,
        "missing in schema kanon: " + ", ".join(missing),
        "Restore a dump of the database, or make them anew, empty: run `kanon install` again.",
    )


def _orphan_items(db: Database, facts: ServerFacts) -> Iterator[CheckItem]:
    if not {"release", "declaration"}.issubset(facts.tables):
        return  # nothing can be checked without them, which is reported already
    orphans = [row for row in find_orphans(db) if row["published"]]
    for row in orphans:
        again = None if row["filled"] else "Run `kanon install` again, which drops it."
        yield CheckItem("releases", False, described(row), again)
    if not orphans:
        yield CheckItem("releases", True, "every view of kanon in schema safe is recorded")


def _record_items(db: Database, states: RecordStates) -> list[CheckItem]:
    try:
        with db.savepoint():
            found = states()
    except KanonError as error:
        return [CheckItem("records of answers", False, error.message, error.hint)]
    damaged = sum(not row["ok"] for row in found)
    if damaged:
        # analysts may run this, and learn the reason of no refusal
        said = f"{damaged} of {len(found)} record(s) cannot be used, so that every answer is withheld"
        return [
            CheckItem(
                "records of answers", False, said, "Curators see why: SELECT * FROM kanon.record_states;"
            )
        ]
    said = f"{len(found)} can be used" if found else "there is none yet"
    return [CheckItem("records of answers", True, said)]


def _catalog_items(db: Database) -> Iterator[CheckItem]:
    holds_shards = coordinator_holds_shards(db)
    who = "kanon_reader" if holds_shards else "kanon_owner"
    row = db.row(statement("check_catalog", holds_shards=holds_shards), own_relations())
    yield CheckItem(
        "roles",
        row["roles_safe"],
        f"{who} cannot log in and none of the roles is a superuser" if row["roles_safe"] else "unsafe roles",
        None if row["roles_safe"] else f"ALTER ROLE {who} NOLOGIN NOSUPERUSER NOCREATEROLE;",
    )
    foreign_objects = row["foreign_objects"]
    yield CheckItem(
        "ownership",
        not foreign_objects,
        "kanon_owner and the role that installed own all objects"
        if not foreign_objects
        else "neither of kanon_owner nor of the role that installed: " + ", ".join(foreign_objects),
        None
        if not foreign_objects
        else "Move objects of your own elsewhere, then run `kanon install` again.",
    )
    members = row["members_of_readers"]
    yield CheckItem(
        "readers",
        not members,
        "no role is a member of a reader" if not members else "members: " + ", ".join(members),
        None if not members else "As a superuser: REVOKE ... FROM ...;",
    )
    kept = row["kept_rights"]
    yield CheckItem(
        "rights of kanon's roles",
        not kept,
        "each relation is read by its reader alone" if not kept else ", ".join(kept),
        None if not kept else "Run `kanon install` again, as a superuser.",
    )
    opened = row["open_to_others"]
    yield CheckItem(
        "internals",
        not opened,
        "closed to others" if not opened else "open to others: " + ", ".join(opened),
        None if not opened else "REVOKE ALL ON these FROM PUBLIC, or from the roles that have rights.",
    )


def _public_items(db: Database, api_schema: str) -> Iterator[CheckItem]:
    rights = db.rows(statement("public_rights"), api_schema)
    for row in rights:
        yield CheckItem(
            "rights of PUBLIC",
            False,
            f"PUBLIC has {row['privilege']} on {row['kind']} {row['name']}",
            f"REVOKE {row['privilege']} ON {row['kind'].upper()} {Identifier.of(row['name'])} FROM PUBLIC;",
        )
    if not rights:
        yield CheckItem("rights of PUBLIC", True, "neither TEMPORARY nor CREATE")


def _attempt(item: str, success: str, operation: Callable[[], None], db: Database) -> CheckItem:
    try:
        with undone(db):
            operation()
    except KanonError as error:
        detail = error.message if error.detail is None else f"{error.message} {error.detail}"
        return CheckItem(item, False, detail, error.hint)
    return CheckItem(item, True, success)


def _node_items(db: Database, trial: Trial) -> Iterator[CheckItem]:
    """Check that the nodes of Citus let in who reads there, and publish a release that they store."""
    if not db.row(statement("on_citus"))["on_citus"]:
        return
    again = "Run `kanon install` again, on the coordinator."
    coordinator, *workers = db.rows(statement("distributed/ask_nodes"))
    if coordinator["state"] == "missing":
        yield CheckItem("nodes", False, "Citus was created after kanon was installed", again)
        return
    closed = [f"kanon_owner on {row['node']}" for row in workers if not row["success"]] or _readers_kept_out(
        db
    )
    if closed:
        yield CheckItem(
            "nodes",
            False,
            "these cannot log in: " + ", ".join(closed),
            f"{again} pg_hba.conf of these nodes has to let them in from the other nodes.",
        )
        return
    opened = [row["node"] for row in (coordinator, *workers) if row["state"] != "closed"]
    if opened:
        yield CheckItem(
            "nodes",
            False,
            "others than kanon_owner may use the schema kanon_shards, or it is missing, on "
            + ", ".join(opened),
            "Give it back there: ALTER SCHEMA kanon_shards OWNER TO kanon_owner; revoke what others may do "
            "with it; where it is missing, run `kanon install` again, on the coordinator.",
        )
        return
    yield CheckItem("nodes", True, f"kanon_owner and the readers reach all {len(workers)} workers")
    if workers:
        yield _attempt(
            "trial release on nodes",
            "stored on the workers, recounted, readable for analysts",
            lambda: _release(db, trial, on_nodes=True),
            db,
        )


def _readers_kept_out(db: Database) -> list[str]:
    """Return which reader cannot log in on which node."""
    found = []
    for one in db.rows(statement("distributed/readers")):
        with db.reading_as(one["reader"]):
            nodes = db.read(statement("distributed/ask_nodes"))
        found += [f"{reader_role(one['reader'])} on {row['node']}" for row in nodes if not row["success"]]
    return found


def _solve(db: Database) -> None:
    """Let the worker solve four row types of one person each; loads and compiles the solvers."""
    four = struct.pack(">4q", 1, 2, 3, 4)
    row_types = PackedRowTypes(
        columns=(QuasiIdentifier("a"), QuasiIdentifier("b")),
        keys=four,
        rows=struct.pack(">4q", 1, 1, 1, 1),
        people=struct.pack(">4q", 1, 1, 1, 1),
        cells=(struct.pack(">4q", 1, 1, 2, 2), four),
        values=(None, None),
    )
    solve_in_worker(row_types, SolveRequest(k=2), Caller.of(db, default_memory_budget()))


def _release(db: Database, trial: Trial, *, on_nodes: bool = False) -> None:
    base = _TRIAL_ON_NODES if on_nodes else _TRIAL_BASE
    db.execute(statement("check_create_base", relation=base))
    if on_nodes:
        db.row(statement("distributed/distribute_by"), str(base), _TRIAL_COLUMN)
    trial(str(base), _TRIAL_VIEW.name)
    row = db.row(statement("check_trial", view=_TRIAL_VIEW), str(_TRIAL_VIEW))
    if row["smallest"] < 2 or not row["readable"]:
        raise KanonError(
            "The trial release is not as it must be.",
            detail=f"Smallest class: {row['smallest']}; readable for analysts: {row['readable']}.",
            hint="Run `kanon install` again; if that does not help, please report it.",
        )
