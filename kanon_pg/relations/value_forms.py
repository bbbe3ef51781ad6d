"""Forms of values by which these are told apart: the same in every session, and nobody's code.

The text of a value depends on settings: of the time zone, of styles of dates, of the digits of numbers. A
cast to text runs what the owner of a type wrote, if they gave it a cast. So a value is known by what
PostgreSQL's own functions make of it: by its bytes (what ``send`` gives) where its text depends on settings,
by what its output function gives where it does not. Bytes of texts would depend on the encoding of the
client. Composite values that have parts of both kinds are known by the hashes of their parts; what else there
is, by its text under settings of our own, which takes longer. Every function here takes these types alone or
all types: of several with one name a cast that others made could choose another.

A form tells values apart that look different, equal ones as well (1.0 and 1.00):
`kanon_pg.relations.canonical` gives equal values one spelling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Identifier

SENT = {
    "bytea": "byteasend", "date": "date_send", "time": "time_send", "timestamp": "timestamp_send",
    "timestamptz": "timestamptz_send", "interval": "interval_send", "int8": "int8send",
    "numeric": "numeric_send", "float4": "float4send", "float8": "float8send", "money": "cash_send",
    "point": "point_send", "lseg": "lseg_send", "path": "path_send", "box": "box_send",
    "polygon": "poly_send", "line": "line_send", "circle": "circle_send", "regproc": "regprocsend",
    "regprocedure": "regproceduresend", "regoper": "regopersend", "regoperator": "regoperatorsend",
    "regclass": "regclasssend", "regcollation": "regcollationsend", "regtype": "regtypesend",
    "regrole": "regrolesend", "regnamespace": "regnamespacesend", "regconfig": "regconfigsend",
    "regdictionary": "regdictionarysend",
}  # fmt: skip
"""Types of ``pg_catalog`` that are known by their bytes, and what gives these."""

SAME_IN_EVERY_SESSION = frozenset({
    "bool", "char", "name", "text", "varchar", "bpchar", "int2", "int4", "int8", "oid", "numeric", "time",
    "timetz", "uuid", "macaddr", "macaddr8", "inet", "cidr", "bit", "varbit", "json", "jsonb", "jsonpath",
    "xml", "tsvector", "tsquery", "pg_lsn", "xid", "xid8", "cid", "tid", "txid_snapshot", "pg_snapshot",
    "int2vector", "oidvector", "refcursor",
})  # fmt: skip
"""Types of ``pg_catalog`` whose text no setting changes."""

_Way = Literal["text", "bytes", "parts"]

_CONTAINER_BYTES = {"a": "array_send", "r": "range_send", "m": "multirange_send"}


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type, with the types that it is made of."""

    name: Identifier
    """Its schema and name."""
    kind: str
    """``pg_type.typtype``, but ``a`` for an array."""
    output: Identifier
    """Its output function."""
    is_string: bool
    """Whether PostgreSQL counts it among the string types."""
    part: ValueType | None = None
    """Of an array its elements, of a range its bounds, of a multirange its ranges, of a domain what it
    restricts."""
    fields: tuple[tuple[Identifier, ValueType], ...] = ()
    """Of a composite type its columns."""

    @property
    def is_built_in(self) -> bool:
        """Whether it has the same number in every database."""
        return self.name.parts[0] == "pg_catalog"

    @property
    def way(self) -> _Way:
        """By what its values are known inside of others."""
        if self.kind == "e":
            return "text"
        if self.kind == "c":
            return "text" if all(kind.way == "text" for _, kind in self.fields) else "parts"
        if self.part is not None:
            way = self.part.way
            # an array's bytes begin with the number of the type of its elements
            names_type = self.kind == "a" and not self.part.is_built_in
            return "parts" if way == "bytes" and (names_type or self.kind == "d") else way
        if self.is_string or (self.is_built_in and self.name.name in SAME_IN_EVERY_SESSION):
            return "text"
        return "bytes" if self.is_built_in and self.name.name in SENT else "parts"


def value_type(facts: ColumnFacts) -> ValueType | None:
    """Return the type of a column below its domains; None if it is a plain one of ``pg_catalog``."""
    if facts.made_of is None:
        return None
    described = {one["oid"]: one for one in json.loads(facts.made_of)}
    (top,) = (one for one in described.values() if one["is_whole"])
    return _assembled(top, described)


def _assembled(one: Mapping[str, Any], described: Mapping[int, Mapping[str, Any]]) -> ValueType:
    part = described.get(one["part"])
    return ValueType(
        name=Identifier.of(*one["name"]),
        kind=one["kind"],
        output=Identifier.of(*one["output"]),
        is_string=one["is_string"],
        part=None if part is None else _assembled(part, described),
        fields=tuple(
            (Identifier.of(name), _assembled(described[oid], described)) for name, oid in one["fields"] or ()
        ),
    )


def form_of(kind: ValueType, value: str) -> str:
    """Return the form of a value in SQL, as text or bytes, NULL for NULL."""
    if kind.kind == "d" and kind.part is not None:
        return form_of(kind.part, f"({value})::{kind.part.name}")
    if kind.kind == "b" and kind.is_built_in and kind.name.name in SENT:
        return f"pg_catalog.{SENT[kind.name.name]}({value})"
    if kind.way == "text":
        return f'pg_catalog.textin({kind.output}({value})) COLLATE "C"'
    if kind.way == "bytes":
        return f"pg_catalog.{_CONTAINER_BYTES[kind.kind]}({value})"
    return _form_by_parts(kind, value)


def _form_by_parts(kind: ValueType, value: str) -> str:
    if kind.kind != "c":
        return f'kanon.spelled({value}) COLLATE "C"'
    parts = ", ".join(form_of(field, f"({value}).{name}") for name, field in kind.fields)
    # a composite value may be there with nothing but NULL in it
    hashed = f"pg_catalog.int8send(pg_catalog.hash_record_extended(ROW({parts}), 0))"
    return f"CASE WHEN {value} IS DISTINCT FROM NULL THEN {hashed} END"
