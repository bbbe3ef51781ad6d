"""How a policy and a database differ, as a list of changes; knows no database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kanon_pg.core.hierarchy import hierarchy_of
from kanon_pg.errors import InputError
from kanon_pg.policy.document import SECTIONS, Document
from kanon_pg.queries.protection_rules import ProtectionRules, rules_from_arguments
from kanon_pg.release.plan.request import AnonymizeRequest, recorded_arguments

Kind = Literal["table", "link", "hierarchy", "release", "protection", "grant"]
_KINDS: Mapping[str, Kind] = {
    "tables": "table",
    "links": "link",
    "hierarchies": "hierarchy",
    "releases": "release",
    "protections": "protection",
}
assert {*_KINDS, "grants"} == {*SECTIONS}  # noqa: S101


@dataclass(frozen=True, slots=True)
class Change:
    """Something that a database lacks, has differently, or has besides what its policy says."""

    action: Literal["add", "change", "remove"]
    """What makes the database as the policy says."""
    kind: Kind
    """What it is about."""
    name: str
    """Of the entry; of a grant what it is for."""
    what: str = ""
    """What differs: keys of the entry; of a grant the role."""


def differences(
    wanted: Mapping[str, Any], found: Document, published: Mapping[str, Mapping[str, Any]]
) -> Iterator[Change]:
    """Yield the changes that make a database what a policy says, in no order.

    Parameters
    ----------
    wanted : dict
        The policy, with full names.
    found : dict
        What there is, see `kanon_pg.policy.existing.existing`.
    published : dict
        What the columns of each release are.

    Raises
    ------
    InputError
        If an entry of the policy is none that kanon would take.
    """
    for section, kind in _KINDS.items():
        if section not in wanted:
            continue
        entries, there = wanted[section], found[section]
        for name, entry in entries.items():
            differ = _FORMS[kind](_Named(section, name), entry, there.get(name))
            if kind == "release" and name in there:
                declared = wanted.get("tables", found["tables"]).get(entry["table"])
                differ += _other_roles(entry, declared, published[name])
            if name not in there:
                yield Change("add", kind, name)
            elif differ:
                yield Change("change", kind, name, ", ".join(dict.fromkeys(differ)))
        yield from (Change("remove", kind, name) for name in there if name not in entries)
    if "grants" in wanted:
        yield from _grants(wanted, found)


@dataclass(frozen=True, slots=True)
class _Named:
    section: str
    name: str

    def checked(self, make: Callable[[], Any]) -> Any:
        """Return what is made of an entry; a refusal says of which."""
        try:
            return make()
        except InputError as error:
            raise InputError(
                f"In the policy, {self.section}: {self.name}: {error.message}", hint=error.hint
            ) from error


def _other(one: Mapping[str, Any], other: Mapping[str, Any] | None) -> list[str]:
    """Return the keys that differ, in the order of the first; what is empty is as if it were not there."""
    if other is None:
        return []
    return [key for key in dict.fromkeys((*one, *other)) if _form(one.get(key)) != _form(other.get(key))]


def _form(value: Any) -> Any:
    """Return what equals the same of another value that means the same: names have no order."""
    if value is False or (isinstance(value, list | tuple | dict | str) and not value):
        return None  # but 0 is something
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return sorted(value)
    return value


def _plain(named: _Named, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> list[str]:
    del named
    return _other(entry, there)


def _link(named: _Named, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> list[str]:
    return [one for one in _plain(named, entry, there) if one != "columns" or "columns" in entry]


def _hierarchy(named: _Named, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> list[str]:
    """Compare what the entry says; what is only named has to be there."""
    if there is None:
        return []
    if "rows" in entry and "rows" in there:
        there = {**there, "rows": sorted(there["rows"])}
        rows = named.checked(lambda: hierarchy_of(entry["rows"])).rows()
        entry = {"output": "text", **entry, "rows": sorted(rows)}
    return [] if set(entry) == {"kind"} else _other(entry, there)


def _release(named: _Named, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> list[str]:
    one = _arguments(named, entry)
    return _other(one, None if there is None else _arguments(named, there))


def _arguments(named: _Named, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as kanon records them."""

    def recorded() -> dict[str, Any]:
        request = request_of(entry)
        request.check()
        found: dict[str, Any] = json.loads(json.dumps(recorded_arguments(request)))
        return found

    return named.checked(recorded)  # type: ignore[no-any-return]


def request_of(entry: Mapping[str, Any]) -> AnonymizeRequest:
    """Return the request that an entry of section ``releases`` stands for."""
    arguments = {name: value for name, value in entry.items() if name != "table"}
    return AnonymizeRequest(entry["table"], **arguments)


def _other_roles(
    entry: Mapping[str, Any], declared: Mapping[str, Any] | None, published: Mapping[str, Any]
) -> list[str]:
    """Say where the columns of a release are no longer what its table's declaration makes of them."""
    if declared is None or entry.get("tables") or entry.get("pseudonyms"):
        return []  # further tables have a say in what the columns of these are
    sensitive, quasi = entry.get("sensitive"), entry.get("quasi_identifiers")
    if sensitive is None:
        sensitive = declared.get("sensitive", [])
    if quasi is None:
        quasi = [name for name in declared.get("quasi_identifiers", []) if name not in sensitive]
    insensitive = [
        name for name in declared.get("insensitive", []) if name not in sensitive and name not in quasi
    ]
    expected = {"quasi_identifiers": quasi, "sensitive": sensitive, "insensitive": insensitive}
    return _other(expected | {"entity": declared.get("entity")}, published)


def _protection(named: _Named, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> list[str]:
    one = asdict(named.checked(lambda: rules_of(entry)))
    return _other(one, None if there is None else asdict(rules_of(there)))


def rules_of(entry: Mapping[str, Any]) -> ProtectionRules:
    """Return the rules that an entry of section ``protections`` stands for."""
    return rules_from_arguments(0, entry["k"], {name: one for name, one in entry.items() if name != "k"})


_FORMS: Mapping[Kind, Callable[[_Named, Mapping[str, Any], Mapping[str, Any] | None], list[str]]] = {
    "table": _plain,
    "link": _link,
    "hierarchy": _hierarchy,
    "release": _release,
    "protection": _protection,
}


SCHEMA_SAFE = "schema safe"
NEW_RELEASES = "new releases"


def granted(document: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return what is granted to whom: pairs of a name, of a release after ``safe:``, and a role."""
    grants = document["grants"]
    return (
        {(SCHEMA_SAFE, role) for role in grants.get("schema", ())}
        | {(NEW_RELEASES, role) for role in grants.get("new_releases", ())}
        | {(f"safe:{name}", role) for name, roles in grants.get("releases", {}).items() for role in roles}
    )


def _grants(wanted: Mapping[str, Any], found: Document) -> Iterator[Change]:
    """Yield grants that differ, of what the policy says anything of."""
    asked = wanted["grants"]
    named = {
        *([SCHEMA_SAFE] if "schema" in asked else ()),
        *([NEW_RELEASES] if "new_releases" in asked else ()),
        *(f"safe:{name}" for name in asked.get("releases", ())),
    }
    want, have = granted(wanted), granted(found)
    yield from (Change("add", "grant", *one) for one in sorted(want - have))
    yield from (Change("remove", "grant", *one) for one in sorted(have - want) if one[0] in named)
