"""The form of a policy, as a JSON schema that is made of the requests that a policy stands for.

A section that a file does not have is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kanon_pg.db.operation import Argument
from kanon_pg.queries.noise_settings import NoiseSettings
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.release.plan.request import AnonymizeRequest, DeclareRequest

Document = dict[str, Any]
"""A policy: sections of entries by name."""

VERSION = 1

SECTIONS = ("tables", "links", "hierarchies", "releases", "protections", "grants")

PUBLIC = "public"
"""Stands for everybody in grants; no role can have this name."""

_NAMES = {"type": "array", "items": {"type": "string"}}
_TEXT = {"type": "string"}
_TYPES = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    NoneType: "null",
    dict: "object",
    Mapping: "object",
    NoiseSettings: "object",
    list: "array",
    tuple: "array",
    Sequence: "array",
}


def schema() -> dict[str, Any]:
    """Return the JSON schema of a policy, with which editors complete it."""
    table = _object(_properties(DeclareRequest, but={"relation"}), "Roles of columns; others are withheld.")
    release = _object(
        {"table": _TEXT | {"description": "Table or view, as SQL writes it."}}
        | _properties(AnonymizeRequest, but={"relation", "release"}),
        "Arguments of kanon_anonymize.",
        needed=["table", "k"],
    )
    link = _object({"parent": _TEXT, "columns": _NAMES}, "Where its foreign key leads.", needed=["parent"])
    protection = _object(
        _properties(ProtectionRules, but={"relation"}), "Rules of kanon_protect.", needed=["k"]
    )
    hierarchy = _object(
        {
            "kind": _TEXT | {"description": "Alone: a stored hierarchy of this kind has to be there."},
            "table": _TEXT,
            "column": _TEXT,
            "spec": {"type": "object", "required": ["builder"], "description": "Builder and its keys."},
            "rows": {
                "type": "array",
                "items": {"type": "array", "items": {"type": ["string", "null"]}},
                "description": "Per value the value, then its nodes.",
            },
            "output": _TEXT | {"description": "Type of the nodes of rows, text unless given."},
            "description": _TEXT,
            "shared": {"type": "boolean"},
        },
        "Built over a column (table, column, spec), written out (rows), or stored already (kind).",
    )
    hierarchy["anyOf"] = [
        {"required": ["table", "column", "spec"]},
        {"required": ["rows"]},
        {"required": ["kind"]},
    ]
    grants = _object(
        {
            "schema": _NAMES | {"description": "Roles that may look into schema safe."},
            "new_releases": _NAMES | {"description": "Roles that may read releases that are new."},
            "releases": _by_name(_NAMES, "Roles that may read each release."),
        },
        "Roles; public is everybody.",
    )
    sections = {
        "tables": _by_name(table, "By table, as SQL writes it."),
        "links": _by_name(link, "By table whose rows belong to people of another."),
        "hierarchies": _by_name(hierarchy, "By name."),
        "releases": _by_name(release, "By name of the view in schema safe."),
        "protections": _by_name(protection, "By table that answers queries."),
        "grants": grants,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy of kanon_pg",
        **_object(
            {"policy": {"const": VERSION}, **sections}, "See docs/how-to/policy.md.", needed=["policy"]
        ),
    }


def _object(properties: Mapping[str, Any], description: str, *, needed: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": dict(properties),
        "required": list(needed),
        "additionalProperties": False,
    }


def _by_name(entry: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "additionalProperties": dict(entry)}


def _properties(request: type, *, but: set[str]) -> dict[str, Any]:
    """Return the fields of a request as properties."""
    plain, annotated = get_type_hints(request), get_type_hints(request, include_extras=True)
    found = {}
    for name in (field.name for field in fields(request) if field.name not in but):
        said = [one.help for one in getattr(annotated[name], "__metadata__", ()) if isinstance(one, Argument)]
        found[name] = _of_hint(plain[name]) | ({"description": said[0]} if said else {})
    return found


def _of_hint(hint: Any) -> dict[str, Any]:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if Any in kinds:
        return {}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    names = [_TYPES[get_origin(kind) or kind] for kind in kinds]
    texts = any(_TYPES[get_origin(kind) or kind] == "array" and str in get_args(kind) for kind in kinds)
    return {"type": names if len(names) > 1 else names[0]} | ({"items": _TEXT} if texts else {})
