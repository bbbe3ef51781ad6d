"""Writes the relations behind a release: the mapping, the parts of row types, the guarded materialized view.

What the guard demands of every class besides k people compares as `kanon_pg.worker.models.evaluator` does:
whole numbers exactly; entropies and distances, which are sums of rounded numbers, up to a tolerance. So a
class may miss what is demanded of these by a billionth. Where rows of one row type have different patterns,
the view draws numbers of rows with a secret seed.
"""

from __future__ import annotations

import math
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, NamedTuple

from kanon_pg.core.packed import ITEM_BYTES
from kanon_pg.core.privacy_models import ModelRules, PrivacyModels
from kanon_pg.core.solving import SolveOutcome
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.failures import UNIQUE_VIOLATION
from kanon_pg.db.identifiers import Fragment, Identifier, derived_name
from kanon_pg.db.protocol import Database, PackedColumn
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, gather_statistics, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import DatabaseError, ReleaseError
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import HASH_SEED
from kanon_pg.release.plan.generalized import node_parts
from kanon_pg.release.plan.planning import ROW, ReleasePlan
from kanon_pg.release.plan.pseudonyms import text_of


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of divided row types, all buffers of signed 64-bit big-endian numbers of equal length."""

    row_types: bytes
    """Hash of the row type of each part."""
    first_rows: bytes
    """Number of the first row of each part, from 1; the part ends where the next of its row type begins, and
    the last one has all further rows."""
    patterns: bytes
    """Mask of suppressed columns of each part."""


def parts_of(keys: bytes, outcome: SolveOutcome) -> Parts | None:
    """Number the rows of divided row types; None if the outcome divides nothing."""
    if not outcome.moved_types:
        return None
    moved = zip(
        _numbers(outcome.moved_types),
        _numbers(outcome.moved_patterns),
        _numbers(outcome.moved_rows),
        strict=True,
    )
    row_types, first_rows, patterns = bytearray(), bytearray(), bytearray()
    for row_type, group in groupby(moved, key=lambda part: part[0]):
        start = ITEM_BYTES * row_type
        first = 1
        for _, pattern, rows in group:
            row_types += keys[start : start + ITEM_BYTES]
            first_rows += struct.pack(">q", first)
            patterns += struct.pack(">q", pattern)
            first += rows
        row_types += keys[start : start + ITEM_BYTES]
        first_rows += struct.pack(">q", first)
        patterns += outcome.patterns[start : start + ITEM_BYTES]
    return Parts(bytes(row_types), bytes(first_rows), bytes(patterns))


def _write_parts(db: Database, table: Identifier, parts: Parts) -> None:
    db.execute(statement("create_parts", parts=table))
    db.load(
        table,
        [
            PackedColumn("row_type", parts.row_types),
            PackedColumn("first_row", parts.first_rows),
            PackedColumn("pattern", parts.patterns),
            PackedColumn("seed", secrets.token_bytes(ITEM_BYTES) * (len(parts.patterns) // ITEM_BYTES)),
        ],
    )
    gather_statistics(db, table)


def _numbers(buffer: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack(">q", buffer)]


TOLERANCE = 1e-9
"""Entropies and distances that differ by less are equal."""

_STEPS = ("unit", "cell", "whole", "curve", "step", "satisfying")


class _Guard(NamedTuple):
    """What ``guard/models/<model>``, the condition on classes, compares with, and what it looks at."""

    threshold: Callable[[float], int | Fragment]
    """Makes it of the number that was asked for."""
    of_whole: bool = False
    in_order: bool = False
    """`of_whole`, `in_order`: whether it compares with the shares of the whole table, and whether value by
    value in order."""


GUARDED = ModelRules(
    "the guard of a release",
    {
        "distinct": _Guard(int),
        "frequency": _Guard(int),
        "entropy": _Guard(lambda number: _number(math.log(number) - TOLERANCE)),
        "equal": _Guard(lambda number: _number(number + TOLERANCE), of_whole=True),
        "ordered": _Guard(lambda number: _number(number + TOLERANCE), of_whole=True, in_order=True),
    },
)


def model_parts(models: PrivacyModels) -> dict[str, Any]:
    """Return the conditions of the models that are asked for.

    Raises
    ------
    SolverError
        There is none for one of them.
    """
    rules = [rule for rule, _ in GUARDED.of(models)]
    return {
        "conditions": [
            {"model": demand.model, "threshold": rule.threshold(demand.number)}
            for demand, rule in zip(models.demands(), rules, strict=True)
        ],
        "of_whole": any(rule.of_whole for rule in rules),
        "in_order": any(rule.in_order for rule in rules),
    }


def model_checks(columns: tuple[CanonicalColumn, ...], *, has_entity: bool) -> list[dict[str, Any]]:
    """Return what the models check: each sensitive column in rows and, with an entity, in people."""
    found: list[dict[str, Any]] = []
    for column in columns:
        for of_people in (False, True) if has_entity else (False,):
            number = len(found) + 1
            steps = {step: Identifier.of(f"{step}_{number}") for step in _STEPS}
            found.append({"value": column.alias, "of_people": of_people, **steps})
    return found


def _number(value: float) -> Fragment:
    return Fragment(f"{value!r}::double precision")


@dataclass(frozen=True, slots=True)
class StorageNames:
    """The relations behind a release."""

    storage: Identifier
    """The guarded materialized view."""
    mapping: Identifier | None
    """The table that says which columns to suppress for which row type; None in a release over time."""
    parts: Identifier | None = None
    """The table that says which rows of divided row types have which pattern, if any are divided."""
    nodes: tuple[Identifier, ...] = ()
    """Per generalized column the table of what is published of its values."""
    unknown: Identifier | None = None
    """The view that counts rows whose values these tables do not know, if there are such columns."""
    source: Identifier | None = None
    """What reads the base relation with the rights of its reader; None where kanon itself made the table, or
    the nodes of Citus store the release."""


SCHEMA = "kanon"
"""Schema of what the coordinator, or the only server, stores."""


def storage_names(plan: ReleasePlan, generation: int, *, schema: str = SCHEMA) -> StorageNames:
    """Return fresh names for the relations behind a release.

    Parameters
    ----------
    schema : str
        Where its rows are stored.
    """

    def name(*kind: str) -> Identifier:
        return Identifier.of(SCHEMA, derived_name(plan.name, f"v{generation}", *kind))

    return StorageNames(
        storage=Identifier.of(schema, name().name),
        mapping=name("mapping"),
        parts=name("parts"),
        nodes=tuple(name("nodes", str(found.number)) for found in plan.generalized),
        unknown=name("unknown") if plan.generalized else None,
        source=None
        if plan.base.is_own or schema != SCHEMA
        else Identifier.of(BASES_SCHEMA, derived_name(plan.name, f"v{generation}")),
    )


def lasting_name(release: str) -> Identifier:
    """Return the name that the storage of a release has once it is published, each time the same."""
    return Identifier.of("kanon", derived_name(release, "storage"))


def write_patterns(
    db: Database, names: StorageNames, keys: bytes, outcome: SolveOutcome, parts: Parts | None
) -> None:
    """Create the tables that say which row types, and which rows of divided ones, have which pattern.

    Raises
    ------
    ReleaseError
        If two row types have the same hash: the primary key, on which the view's counts rely, refuses it.
    """
    if names.mapping is not None:
        _write_mapping(db, names.mapping, keys, outcome)
    if names.parts is not None and parts is not None:
        _write_parts(db, names.parts, parts)


def _write_mapping(db: Database, mapping: Identifier, keys: bytes, outcome: SolveOutcome) -> None:
    db.execute(statement("create_mapping", mapping=mapping))
    columns = [PackedColumn("row_type", keys), PackedColumn("pattern", outcome.patterns)]
    prices = [PackedColumn("price", outcome.prices)] if outcome.prices else []
    db.load(mapping, columns + prices)
    try:
        db.execute(statement("index_mapping", mapping=mapping))
    except DatabaseError as error:
        if error.server_state != UNIQUE_VIOLATION:
            raise
        raise ReleaseError(
            "Two row types have the same 64-bit hash.", hint="This is very rare; please report it."
        ) from error
    gather_statistics(db, mapping)


def create_storage(db: Database, plan: ReleasePlan, names: StorageNames, *, k: int, rows: int) -> None:
    """Create and fill the materialized view whose own definition withholds what must not be published.

    Parameters
    ----------
    names : StorageNames
        The view to create and the tables it reads; its source is created, too.
    k : int
        Fewest people per class.
    rows : int
        Of the base relation.
    """
    parts = storage_parts(plan, names.nodes)
    source = None
    if names.source is not None:
        reader = require_reader(db, plan.base)
        source = define_base(db, reader, names.source, render("guard/base_columns", **parts), rows=rows)
    db.execute(
        statement(
            "create_storage",
            **parts,
            source=source,
            storage=names.storage,
            mapping=names.mapping,
            parts=names.parts,
            k=k,
            hash_seed=HASH_SEED,
        )
    )
    gather_statistics(db, names.storage)


def storage_parts(plan: ReleasePlan, nodes: tuple[Identifier, ...] = ()) -> dict[str, Any]:
    """Return what the templates of the storage take from a plan and from its tables of nodes."""
    suppressible = {
        column.facts.name: _suppressible(plan, position, nodes)
        for position, column in enumerate(plan.quasi_identifiers)
    }
    carried = {
        column.name: {
            "expression": column.identifier,
            "alias": Identifier.of(f"c{number}"),
            "output": column.identifier,
            "stored": _carried(plan, column, number),
            "looks": _looks(CanonicalColumn(column, Identifier.of(f"c{number}"))),
        }
        for number, column in enumerate(plan.carried, 1)
    }
    everything = {**suppressible, **carried}
    hidden = [
        {
            "expression": column.identifier,
            "alias": Identifier.of(f"n{number}"),
            "output": column.identifier,
            "stored": Fragment(f"counted.n{number}"),
            "looks": _looks(CanonicalColumn(column, Identifier.of(f"n{number}"))),
        }
        for number, column in enumerate(plan.hidden, 1)
    ]
    entity = plan.entity
    identity = [
        {
            "expression": key.expression,
            "alias": key.alias,
            "output": key.output,
            "stored": key.alias,
            "looks": _looks(key),
        }
        for key in plan.keys
    ]
    return {
        "relation": plan.base.source,
        "columns": list(suppressible.values()),
        "carried": [*carried.values(), *hidden, *identity],
        "published": [everything[c.name] for c in plan.base.columns if c.name in everything]
        + _row_identity(plan)
        + hidden
        + ([] if plan.people is None else _STATE),
        "entity": None
        if entity is None
        else {
            "expression": entity.expression,
            "hashed": entity.hashed("counted"),
            "masked_hash": entity.hashed("masked"),
        },
        "model_columns": [
            {
                "expression": c.expression,
                "alias": c.alias,
                "base_hash": c.hashed("base"),
                "looks": _looks(c),
            }
            for c in plan.model_columns
        ],
        "models": model_parts(plan.models),
        "model_checks": model_checks(plan.model_columns, has_entity=entity is not None),
        "all_suppressed": plan.levels.top,
        "generalized": bool(plan.generalized),
        "has_tables": plan.people is not None,
        "subsets": [
            {"columns": chosen, "bits": sum(column["bit"] for column in chosen)}
            for chosen in combinations(suppressible.values(), plan.subsets or 0)
            if chosen
        ],
    }


_STATE: list[dict[str, Any]] = [
    {"output": Identifier.of("kanon_class"), "stored": Fragment("counted.class")},
    {
        "output": Identifier.of("kanon_stamp"),
        "stored": Fragment("(SELECT pg_catalog.gen_random_uuid())"),
    },
]
"""What tables that are linked to people find there: the class, and a number that is drawn each time."""


def _carried(plan: ReleasePlan, column: ColumnFacts, number: int) -> Fragment:
    pseudonym = plan.pseudonyms.get(column.name)
    cell = Identifier.of("counted", f"c{number}")
    return Fragment(str(cell)) if pseudonym is None else pseudonym.of(str(text_of(column, cell)))


def _looks(column: CanonicalColumn) -> dict[str, Fragment]:
    """Return what stands for the cells of a column as readers see them, by the query that has these."""
    return {table: column.look(f"{table}.{column.alias}") for table in ("base", "typed")}


def _row_identity(plan: ReleasePlan) -> list[dict[str, Any]]:
    """Return what the storage has besides what is published, so that versions can be compared."""
    if not plan.keys:
        return []
    hashed = ", ".join(str(key.hashed("counted")) for key in plan.keys)
    return [
        {
            "output": Identifier.of(ROW),
            "stored": Fragment(f"pg_catalog.hash_record_extended(ROW({hashed}), 0)"),
        }
    ]


def _suppressible(plan: ReleasePlan, position: int, nodes: tuple[Identifier, ...]) -> dict[str, Any]:
    column, fields = plan.quasi_identifiers[position], plan.levels
    generalized = plan.hierarchy_of(column)
    parts = {
        "expression": column.expression,
        "alias": column.alias,
        "output": column.output,
        "stored": column.stored("counted"),
        "suppressed": column.suppressed,
        "bit": 1 << fields.offsets[position],
        "base_hash": column.hashed("base"),
        "masked_hash": column.hashed("masked"),
        "offset": fields.offsets[position],
        "mask": (1 << fields.widths[position]) - 1,
        "level": Identifier.of(f"l{position + 1}"),
        "levels": None,
    }
    if generalized is None:
        return parts
    return parts | {
        "stored": generalized.stored,
        "masked_hash": generalized.hashed("masked"),
        "levels": {
            "height": generalized.height,
            "known": generalized.known,
            "knows": generalized.knows(f"assigned.{column.alias}"),
            "nodes": node_parts(generalized),
            "table": nodes[plan.generalized.index(generalized)],
        },
    }
