"""Makes a database what a policy says, in the transaction that is open: all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import caller
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, NotPermitted, UnknownName, as_given
from kanon_pg.policy.differences import NEW_RELEASES, SCHEMA_SAFE, Change, differences, request_of
from kanon_pg.policy.document import PUBLIC, Document
from kanon_pg.policy.existing import INCOMPLETE, existing, named_in_full, published_roles
from kanon_pg.release.plan.base import OWNER

Advance = Callable[[str, float | None], None]


class Operations(Protocol):
    """The operations of a database, inside one transaction and with the rights of the login."""

    def declare(self, arguments: Mapping[str, Any]) -> None:
        """Call ``kanon_declare``."""
        ...

    def link(self, arguments: Mapping[str, Any]) -> None:
        """Call ``kanon_link``."""
        ...

    def protect(self, arguments: Mapping[str, Any]) -> None:
        """Call ``kanon_protect``."""
        ...

    def anonymize(self, arguments: Mapping[str, Any], advance: Advance) -> Any:
        """Call ``kanon_anonymize``."""
        ...

    def run(self, function: str, name: str) -> None:
        """Call a function of a release or hierarchy."""
        ...

    def run_on_table(self, function: str, relation: str) -> None:
        """Call a function of a table."""
        ...

    def define_hierarchy(self, arguments: Mapping[str, Any]) -> int:
        """Call ``kanon_hierarchy_define``."""
        ...

    def build_hierarchy(self, arguments: Mapping[str, Any]) -> int:
        """Call ``kanon_hierarchy_build``."""
        ...

    def hierarchy_content(self, name: str) -> GeneralizationHierarchy:
        """Call ``kanon_hierarchy_values``."""
        ...


def changes_of(db: Database, operations: Operations, policy: Document) -> tuple[Document, list[Change]]:
    """Return a policy with full names, and the changes that it asks for in their order."""
    wanted = named_in_full(db, policy)
    written_out = {name for name, entry in wanted.get("hierarchies", {}).items() if "rows" in entry}
    found = existing(db, lambda name: operations.hierarchy_content(name) if name in written_out else None)
    changes = list(differences(wanted, found, published_roles(db)))
    return wanted, sorted(changes, key=lambda one: _ORDER.index((one.action == "remove", one.kind)))


_ORDER = [
    # what stands in the way of others goes first; what others need comes first
    *((True, kind) for kind in ("protection", "release", "link", "table", "hierarchy")),
    *((False, kind) for kind in ("hierarchy", "table", "link", "release", "protection", "grant")),
    (True, "grant"),
]


def apply(
    db: Database,
    operations: Operations,
    wanted: Document,
    changes: Sequence[Change],
    advance: Advance,
    *,
    prune: bool,
) -> None:
    """Make changes that `changes_of` found; what the policy does not have is removed only if `prune`.

    A release that is new is readable by those alone whom the policy names for it, if it does.

    Raises
    ------
    KanonError
        What an operation refuses; the transaction must be rolled back then.
    """
    for change in changes:
        if change.kind == "grant":
            continue
        if change.action != "remove":
            _ADD[change.kind](operations, change.name, wanted, advance)
        elif prune:
            _remove(operations, change)
    if "grants" in wanted:
        new = {f"safe:{one.name}" for one in changes if (one.action, one.kind) == ("add", "release")}
        # what publishing granted by itself is seen now
        now = differences({"grants": wanted["grants"]}, existing(db), {})
        _grant(db, [one for one in now if one.action == "add" or prune or one.name in new])


def _remove(operations: Operations, change: Change) -> None:
    if change.kind in ("release", "hierarchy"):
        operations.run(
            {"release": "kanon_drop", "hierarchy": "kanon_hierarchy_drop"}[change.kind], change.name
        )
        return
    function = {"protection": "kanon_unprotect", "link": "kanon_unlink", "table": "kanon_undeclare"}
    operations.run_on_table(function[change.kind], change.name)


def _declare(operations: Operations, name: str, wanted: Document, advance: Advance) -> None:
    advance("declaring", None)
    groups = ("identifiers", "quasi_identifiers", "sensitive", "insensitive")
    entry = {**dict.fromkeys(groups, ()), "entity": None, "weights": None, **wanted["tables"][name]}
    operations.declare({"relation": name, **entry})


def _link(operations: Operations, name: str, wanted: Document, advance: Advance) -> None:
    advance("linking", None)
    operations.link({"child": name, "columns": None, "foreign_key": None, **wanted["links"][name]})


def _store(operations: Operations, name: str, wanted: Document, advance: Advance) -> None:
    advance("storing hierarchies", None)
    entry = wanted["hierarchies"][name]
    options = {key: entry[key] for key in ("description", "shared", "output") if key in entry}
    if "rows" in entry:
        operations.define_hierarchy({"hierarchy": name, "rows": entry["rows"], "options": options})
    elif "spec" in entry:
        source = {"relation": entry["table"], "column_name": entry["column"], "spec": entry["spec"]}
        operations.build_hierarchy({"hierarchy": name, **source, "options": options})
    else:
        raise UnknownName(
            f"There is no hierarchy {as_given(name)}, of which the policy has the name alone.",
            hint="Store it first, or have its values in the policy: kanon policy export --values.",
        )


def _publish(operations: Operations, name: str, wanted: Document, advance: Advance) -> None:
    request = request_of(wanted["releases"][name])
    for column, one in (request.hierarchies or {}).items():
        if isinstance(one, Mapping) and INCOMPLETE in one:
            raise InputError(
                f"How release {as_given(name)} built the hierarchy of {as_given(column)} is not known.",
                hint=f"Put the builder's settings in the place of {INCOMPLETE}, or name a stored hierarchy.",
            )
    operations.anonymize(asdict(request) | {"release": name}, advance)


def _protect(operations: Operations, name: str, wanted: Document, advance: Advance) -> None:
    advance("protecting", None)
    entry = dict(wanted["protections"][name])
    operations.protect({"relation": name, "k": entry.pop("k"), "options": entry or None})


_ADD: Mapping[str, Callable[[Operations, str, Document, Advance], None]] = {
    "hierarchy": _store,
    "table": _declare,
    "link": _link,
    "release": _publish,
    "protection": _protect,
}


def _grant(db: Database, changes: Sequence[Change]) -> None:
    """Grant and revoke in schema safe, as its owner."""
    if not changes:
        return
    roles = [one.what for one in changes if one.what != PUBLIC]
    for row in db.rows(statement("missing_roles"), roles):
        raise UnknownName(
            f"There is no role {as_given(row['name'])}, to which the policy grants something.",
            hint="CREATE ROLE ...; a policy makes no roles.",
        )
    login = caller(db)
    try:
        db.execute(statement("act_as", role=Identifier.of(OWNER)))
    except DatabaseError as error:
        if error.server_state != INSUFFICIENT_PRIVILEGE:
            raise
        raise NotPermitted(
            f"Role {Identifier((login,))} may not grant what is in schema safe.",
            hint=f"Let a superuser or a member of {OWNER} apply the policy, or leave out its section grants.",
        ) from error
    for one in changes:
        db.execute(_grant_statement(one))
    db.execute(statement("act_as", role=Identifier((login,))))


def _grant_statement(change: Change) -> Any:
    what = {SCHEMA_SAFE: "USAGE ON SCHEMA safe", NEW_RELEASES: "SELECT ON TABLES"}.get(change.name)
    gives = change.action == "add"
    return statement(
        "policy_grant",
        default=change.name == NEW_RELEASES,
        verb=Fragment("GRANT" if gives else "REVOKE"),
        preposition=Fragment("TO" if gives else "FROM"),
        what=Fragment(what or f"SELECT ON {Identifier.of('safe', change.name.removeprefix('safe:'))}"),
        role=Fragment("PUBLIC") if change.what == PUBLIC else Identifier((change.what,)),
    )
