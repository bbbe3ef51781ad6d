"""What a database has, in the form of a policy, as a curator sees it; reads no table of users."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import describe
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, UnknownName
from kanon_pg.hierarchies.build import NAMES as BUILDERS
from kanon_pg.policy.document import VERSION, Document
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.release.plan.request import AnonymizeRequest

INCOMPLETE = "complete_by_hand"
"""Key of a hierarchy of which the settings are not known."""

Contents = Callable[[str], GeneralizationHierarchy | None]
"""Returns a stored hierarchy by its name, with values; None for one of which the name is enough."""


def existing(db: Database, contents: Contents | None = None) -> Document:
    """Return what a database has.

    Parameters
    ----------
    contents : callable, optional
        Reads hierarchies that no builder made; else they are only named.
    """
    return {
        "policy": VERSION,
        "tables": {row["name"]: _roles(row) for row in db.rows(statement("policy_tables"))},
        "links": {
            row["name"]: {"parent": row["parent"], "columns": list(row["columns"])}
            for row in db.rows(statement("policy_links"))
        },
        "hierarchies": {
            row["name"]: _hierarchy(row, contents) for row in db.rows(statement("policy_hierarchies"))
        },
        "releases": {
            row["name"]: {"table": row["table"]} | _given(AnonymizeRequest, _arguments(row["parameters"]))
            for row in db.rows(statement("policy_releases"))
        },
        "protections": {
            row["name"]: _given(ProtectionRules, json.loads(row["rules"]))
            for row in db.rows(statement("policy_protections"))
        },
        "grants": _grants(db),
    }


def published_roles(db: Database) -> dict[str, dict[str, Any]]:
    """Return what the columns of each release are."""
    return {
        row["name"]: _roles({**row, "identifiers": (), "weights": None})
        for row in db.rows(statement("policy_releases"))
    }


def named_in_full(db: Database, document: Document) -> Document:
    """Return a policy with the full names of all tables that there are.

    Raises
    ------
    InputError
        If two entries are about one table.
    """

    def name(given: str) -> str:
        try:
            full: str = db.row(statement("policy_name"), describe(db, given).oid)["name"]
        except UnknownName:  # a difference, too; applying it is refused
            return given
        return full

    full = dict(document)
    for section in ("tables", "links", "protections"):
        if section in document:
            full[section] = {name(given): entry for given, entry in document[section].items()}
            if len(full[section]) < len(document[section]):
                raise InputError(
                    f"Two entries of section {section} are about one table.",
                    hint="Write its name in one way.",
                )
    for section, key in (("links", "parent"), ("releases", "table"), ("hierarchies", "table")):
        if section in full:
            full[section] = {
                one: entry | ({key: name(entry[key])} if key in entry else {})
                for one, entry in full[section].items()
            }
    return full


def _roles(row: Mapping[str, Any]) -> dict[str, Any]:
    groups = ("identifiers", "quasi_identifiers", "sensitive", "insensitive")
    roles: dict[str, Any] = {group: list(row[group]) for group in groups if row[group]}
    if row["entity"] is not None:
        roles["entity"] = row["entity"]
    if row["weights"] is not None:
        roles["weights"] = json.loads(row["weights"])
    return roles


def _hierarchy(row: Mapping[str, Any], contents: Contents | None) -> dict[str, Any]:
    if row["spec"] is None:  # somebody else's, not shared
        return {"kind": row["kind"]}
    spec = json.loads(row["spec"])
    values = None if contents is None else contents(row["name"])
    own: dict[str, Any]
    if row["kind"] in BUILDERS and row["table"] is not None:
        own = {"table": row["table"], "column": spec.pop("column", None)}
        own["spec"] = {key: one for key, one in spec.items() if key != "table"}
    elif values is not None:
        own = {"rows": values.rows(), "output": row["output"]}
    else:
        return {"kind": row["kind"]}
    own |= {"shared": True} if row["shared"] else {}
    return own | ({} if row["description"] is None else {"description": row["description"]})


def _arguments(recorded: str) -> dict[str, Any]:
    """Return recorded arguments, with the bare names of hierarchies where there is nothing else to say.

    What a builder of the release's own was given is not recorded. Its entry gets a key that no builder has,
    so that nobody publishes by other settings unawares.
    """
    arguments: dict[str, Any] = json.loads(recorded)
    usual = {"lowest": 0, "loss": "ncp"}
    for column, one in (arguments["hierarchies"] or {}).items():
        if one == usual | {"hierarchy": one.get("hierarchy")}:
            arguments["hierarchies"][column] = one["hierarchy"]
        elif "builder" in one:
            one[INCOMPLETE] = True
    return arguments


def _given(request: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not left to their defaults, in their order."""
    return {
        field.name: arguments[field.name]
        for field in fields(request)
        if field.name in arguments
        and field.name not in ("relation", "release")
        and (field.default is MISSING or _plain(arguments[field.name]) != _plain(field.default))
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _grants(db: Database) -> dict[str, Any]:
    grants: dict[str, Any] = {"schema": [], "new_releases": [], "releases": {}}
    for row in db.rows(statement("policy_releases")):
        grants["releases"][row["name"]] = []
    for row in db.rows(statement("policy_grants")):
        of_release = row["scope"] == "release"
        roles = grants["releases"].setdefault(row["release"], []) if of_release else grants[row["scope"]]
        roles.append(row["role"])
    return grants
