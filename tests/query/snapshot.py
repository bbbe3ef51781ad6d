"""The hospital and the registers as the checker sees them, from their SQL and declarations: no server."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.checker import check
from tests.query.honest import HonestQuery, workload
from tests.query.hospital import DECLARATIONS, DEPENDENT, FORBIDDEN, SCHEMA, SCHEMA_FILE, Declaration, K
from tests.query.registers import REGISTERS, REGISTERS_FILE

_TABLE = re.compile(r"create table (?:hospital|public)\.(\w+) \(\n(.*?)\n\)", re.DOTALL)
_COLUMN = re.compile(r"    (\w+) (double precision|\w+)(\([\d, ]+\))?(.*?),?")
_TYPES = {"integer": "int4", "boolean": "bool", "double precision": "float8"}
_FIRST_OID = 20_000

_VIEWS = {
    "stays": {
        "patient_id": "int4",
        "ward": "text",
        "birth_date": "date",
        "zip": "text",
        "cost": "numeric(10, 2)",
        "days": "int4",
    },
    "weather": {"station": "text", "day": "date", "temperature": "numeric(10, 2)"},
    "monthly_report": {
        "patient_id": "int4",
        "birth_date": "date",
        "ward": "text",
        "diagnosis": "text",
        "cost": "numeric(10, 2)",
    },
}
_COPIES = {
    "lab_results_2022": "lab_results",
    "lab_results_2023": "lab_results",
    "lab_results_2024": "lab_results",
    "old_visits": "visits",
}
"""Partitions and inheritance children have the columns and the declaration of their parents."""

_KINDS = {
    "lab_results": RelationKind.PARTITIONED,
    "stays": RelationKind.VIEW,
    "weather": RelationKind.VIEW,
    "monthly_report": RelationKind.MATERIALIZED,
}


@cache
def accepted_queries() -> tuple[HonestQuery, ...]:
    """Return the honest queries that the checker accepts; it takes a second to read all of them."""
    return tuple(query for query in workload() if check(query.text, hospital()).accepted)


@cache
def hospital() -> CatalogSnapshot:
    """Return the catalog as an analyst may know it."""
    relations = {
        name: _relation(name, body) for name, body in _TABLE.findall(SCHEMA_FILE.read_text(encoding="utf-8"))
    }
    for name, columns in _VIEWS.items():
        made = tuple(
            Column(column, type_name.partition("(")[0], one_scale="(" in type_name)
            for column, type_name in columns.items()
        )
        relations[name] = Relation(0, SCHEMA, name, _KINDS[name], made)
    for declaration in DECLARATIONS:
        relations[declaration.table] = _declared(relations[declaration.table], declaration)
    for copy, parent in _COPIES.items():
        keys = () if parent == "visits" else relations[parent].unique_keys
        relations[copy] = replace(relations[parent], name=copy, kind=RelationKind.TABLE, unique_keys=keys)
    for name in DEPENDENT.keys() - _COPIES.keys():
        relations[name] = replace(relations[name], protection=Protection(K, declared=False))
    known = [relation for name, relation in sorted(relations.items()) if name not in FORBIDDEN]
    numbered = tuple(
        replace(relation, oid=_FIRST_OID + place, single_table=_is_undivided(relation))
        for place, relation in enumerate(known)
    )
    return CatalogSnapshot(numbered, search_path=(SCHEMA, "public"))


@cache
def registers() -> CatalogSnapshot:
    """Return the catalog of the registers; nothing is hidden in it."""
    relations = {
        name: replace(_relation(name, body), schema="public")
        for name, body in _TABLE.findall(REGISTERS_FILE.read_text(encoding="utf-8"))
    }
    for declaration in REGISTERS:
        relations[declaration.table] = _declared(relations[declaration.table], declaration)
    numbered = (
        replace(relation, oid=_FIRST_OID + place, single_table=True)
        for place, (_, relation) in enumerate(sorted(relations.items()))
    )
    return CatalogSnapshot(tuple(numbered), in_utc=True)


def _is_undivided(relation: Relation) -> bool:
    return (
        relation.kind in {RelationKind.TABLE, RelationKind.MATERIALIZED}
        and relation.name not in _COPIES.values()
    )


def _relation(name: str, body: str) -> Relation:
    columns, keys = [], []
    for line in body.splitlines():
        match = _COLUMN.fullmatch(line)
        if match is None:
            raise ValueError(f"not a column of {name}: {line}")
        column, written, size, rest = match.groups()
        is_key = "primary key" in rest
        columns.append(
            Column(
                column,
                _TYPES.get(written, written),
                nullable=not (is_key or "not null" in rest),
                one_scale=written == "numeric" and size is not None,
            )
        )
        if is_key or "unique" in rest:
            keys.append(frozenset({column}))
    return Relation(
        0, SCHEMA, name, _KINDS.get(name, RelationKind.TABLE), tuple(columns), unique_keys=tuple(keys)
    )


def _declared(relation: Relation, declaration: Declaration) -> Relation:
    roles = {
        **dict.fromkeys((*declaration.identifiers, declaration.entity), ColumnRole.IDENTIFIER),
        **dict.fromkeys(declaration.quasi_identifiers, ColumnRole.QUASI_IDENTIFIER),
        **dict.fromkeys(declaration.sensitive, ColumnRole.SENSITIVE),
    }
    columns = tuple(
        replace(column, role=roles.get(column.name, ColumnRole.WITHHELD)) for column in relation.columns
    )
    return replace(relation, columns=columns, protection=Protection(K, entity=declaration.entity))
