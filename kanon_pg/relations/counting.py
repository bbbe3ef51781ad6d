"""Counts row types in the database and brings them over packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.packed import ITEM_BYTES, PackedRowTypes, SensitiveColumn
from kanon_pg.db.citus import distribution_of
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import InfeasibleError, MemoryExceeded, in_words
from kanon_pg.relations.canonical import CanonicalColumn

HASH_SEED = 0
"""Seed of the hash by which row types are known; stored with a release."""

_COPIES = 4
"""Times a buffer stands in memory at most: in the server's growing aggregate, the backend, the solver."""

_MOST_ANSWER_BYTES = 2**30 - 2**20
"""Bytes of all packed columns together: they are one row, which PostgreSQL ends at 1 GB."""

_PAIR_NUMBERS = 2
"""Numbers of a pair of a row type and a person."""

_SAMPLED = 1.25
"""Rows that are looked at before all are counted, as a multiple of the row types that the budget holds."""

_ROWS_WORTH_STORING = 4
"""Rows per class from which storing the classes is cheaper than counting them twice."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The row types of a relation and its totals."""

    row_types: PackedRowTypes
    """Empty buffers if the relation is empty."""
    tuples: int
    """Distinct quasi-identifier tuples; fewer than row types if these differ in sensitive values too."""
    rows: int
    people: int
    """`rows`, `people`: rows, and distinct people (equal without an entity)."""
    fingerprint: int
    """What `fingerprint` gives for the relation as long as no quasi-identifier, person or sensitive value of
    the models changes."""


def count_row_types(
    db: Database,
    relation: Identifier | Fragment,
    columns: tuple[CanonicalColumn, ...],
    entity: CanonicalColumn | None,
    *,
    sensitive: tuple[CanonicalColumn, ...] = (),
    memory_bytes: int,
) -> Counted:
    """Group a relation by its quasi-identifiers, one pass, in SQL.

    Partitions on other servers are grouped there: only their row types travel. The caller says with whose
    rights is read (`Database.reading_as`).

    Rows of one type agree on the sensitive columns, too: those that a privacy model constrains.

    Raises
    ------
    MemoryExceeded
        If there are more row types than the budget or a row of the server holds; nothing was transferred
        then. A table far too large for the budget is refused by its first rows.
    """
    grouped = columns + sensitive
    per_type = ITEM_BYTES * (3 + len(grouped) + sum(c.kind == "numeric" for c in grouped)) * _COPIES
    parts = _query_parts(db, relation, columns, sensitive, entity)
    room = min(memory_bytes, _COPIES * _MOST_ANSWER_BYTES)
    most = max(1, room // per_type)
    is_budget = room == memory_bytes
    _refuse_by_first_rows(db, relation, parts, most, is_budget=is_budget)
    weights = {"type_bytes": per_type, "pair_bytes": ITEM_BYTES * _PAIR_NUMBERS * _COPIES}
    most_bytes = max(room, per_type)
    # Where all rows of a person are on one node of Citus, people are counted there.
    query = (
        "distributed/count_row_types"
        if _counts_people_apart(db, relation, grouped, entity)
        else "count_row_types"
    )
    repeats = query == "count_row_types" and _may_repeat_pairs(db, relation, parts, most_bytes)
    (counted,) = db.read(statement(query, **parts, **weights, most_bytes=most_bytes, repeats=repeats))
    if repeats and counted["bytes"] > most_bytes:
        (counted,) = db.read(statement(query, **parts, **weights, most_bytes=most_bytes, repeats=False))
    if counted["bytes"] > most_bytes:
        pairs = "" if entity is None else ", and pairs of them with people"
        raise _too_many(f"{counted['types']:,} row types{pairs}", most, is_budget=is_budget)
    packed = _packed(counted, columns, sensitive)
    return Counted(packed, counted["tuples"], counted["rows"], counted["people"], int(counted["fingerprint"]))


def require_people(
    counted: Counted,
    relation: Identifier,
    ks: Sequence[int],
    entity: CanonicalColumn | None,
    *,
    hint: str | None = None,
) -> None:
    """Refuse a relation in which nobody can be hidden among k people, for one of several k."""
    if not counted.rows:
        raise InfeasibleError(f"{relation} is empty.", hint="Load data first.")
    too_large = [k for k in ks if k > counted.people]
    if too_large:
        unit = "rows" if entity is None else "people"
        raise InfeasibleError(
            f"{relation} has {counted.people} {unit}, fewer than k = {in_words(too_large)}.",
            hint=hint or "No release of it can hide a person among so many; choose a smaller k.",
        )


def _may_repeat_pairs(
    db: Database, relation: Identifier | Fragment, parts: dict[str, Any], most_bytes: int
) -> bool:
    """Return whether pairs of row types and people may come once for each row.

    Not from elsewhere, and not if they may need more memory than the budget then.
    """
    if parts["entity"] is None or parts["shards"] or not isinstance(relation, Identifier):
        return False
    if distribution_of(db, relation) is not None:
        return False
    return not _may_have_more(db, relation, most_bytes // (ITEM_BYTES * _PAIR_NUMBERS * _COPIES))


def _counts_people_apart(
    db: Database,
    relation: Identifier | Fragment,
    columns: tuple[CanonicalColumn, ...],
    entity: CanonicalColumn | None,
) -> bool:
    if entity is None or not isinstance(relation, Identifier):
        return False
    distribution = distribution_of(db, relation)
    if distribution is None or distribution.column != entity.facts.name:
        return False
    return not any(column.is_spelled_by_others for column in (*columns, entity))


def _refuse_by_first_rows(
    db: Database, relation: Identifier | Fragment, parts: dict[str, Any], most: int, *, is_budget: bool
) -> None:
    """Refuse a table of whose first rows alone more types come than memory holds."""
    if not _may_have_more(db, relation, most):
        return
    (sample,) = db.read(statement("sample_row_types", **parts), most, int(_SAMPLED * most) + 1)
    if sample["types"] > most:
        raise _too_many(f"more than {most:,} row types", most, is_budget=is_budget)


def _packed(
    counted: Row, columns: tuple[CanonicalColumn, ...], sensitive: tuple[CanonicalColumn, ...]
) -> PackedRowTypes:
    grouped = tuple(enumerate(columns + sensitive, 1))
    cells = tuple(counted[f"cell_{number}"] for number, _ in grouped)
    values = tuple(counted[f"value_{number}"] if c.kind == "numeric" else None for number, c in grouped)
    width = len(columns)
    return PackedRowTypes(
        columns=tuple(column.for_solver() for column in columns),
        keys=counted["keys"],
        rows=counted["row_counts"],
        people=counted["people_counts"],
        cells=cells[:width],
        values=values[:width],
        pair_keys=counted["pair_keys"],
        pair_people=counted["pair_people"],
        sensitive_columns=tuple(SensitiveColumn(c.facts.name, c.kind) for c in sensitive),
        sensitive_cells=cells[width:],
        sensitive_values=values[width:],
    )


def _may_have_more(db: Database, relation: Identifier | Fragment, most: int) -> bool:
    """Return whether a table seems to have more rows than a number; nothing is known of a subquery."""
    if not isinstance(relation, Identifier):
        return False
    rows: int = db.row(statement("estimate_rows"), str(relation))["rows"]
    return rows > most


def _too_many(size: str, most: int, *, is_budget: bool) -> MemoryExceeded:
    if not is_budget:
        return MemoryExceeded(
            f"The table has {size}; one answer of the server holds about {most:,} row types.",
            hint="Use fewer or coarser quasi-identifiers.",
        )
    return MemoryExceeded(
        f"The table has {size}; the memory budget holds about {most:,} row types.",
        hint="Raise it (SET kanon.memory_budget = '8GB'), or use fewer or coarser quasi-identifiers.",
    )


def are_many_classes(classes: int, rows: int) -> bool:
    """Return whether counting equivalence classes twice is cheaper than to store them (measured, 1M rows)."""
    return classes * _ROWS_WORTH_STORING > rows


def fingerprint(
    db: Database,
    relation: Identifier,
    columns: tuple[CanonicalColumn, ...],
    entity: CanonicalColumn | None,
    *,
    sensitive: tuple[CanonicalColumn, ...] = (),
) -> tuple[int, int]:
    """Return (rows, sum over rows of half a hash) of a relation now; all else as `count_row_types`."""
    parts = _query_parts(db, relation, columns, sensitive, entity)
    (row,) = db.read(statement("fingerprint_row_types", **parts))
    return row["rows"], int(row["fingerprint"])


def _query_parts(
    db: Database,
    relation: Identifier | Fragment,
    columns: tuple[CanonicalColumn, ...],
    sensitive: tuple[CanonicalColumn, ...],
    entity: CanonicalColumn | None,
) -> dict[str, Any]:
    return {
        "relation": relation,
        "shards": _shards(db, relation),
        "columns": [
            _parts(column, number, is_sensitive=number > len(columns))
            for number, column in enumerate(columns + sensitive, 1)
        ],
        "quasi_identifiers": [column.alias for column in columns] if sensitive else None,
        "entity": entity and {"expression": entity.expression, "hashed": entity.hashed("pairs")},
        "hash_seed": HASH_SEED,
    }


def _shards(db: Database, relation: Identifier | Fragment) -> list[Identifier]:
    """Return the partitions that are grouped where their rows are, if some lie on other servers."""
    if not isinstance(relation, Identifier):
        return []
    return [Identifier.of(row["schema"], row["name"]) for row in db.read(statement("shards"), str(relation))]


def _parts(column: CanonicalColumn, number: int, *, is_sensitive: bool) -> dict[str, Any]:
    # Of sensitive values models need the order alone. It is the server's: as numbers of 64 bits some values
    # that differ are equal, among them NaN and infinity.
    order = Identifier.of(f"order_{number}") if is_sensitive and column.kind == "numeric" else None
    return {
        "expression": column.expression,
        "alias": column.alias,
        "hashed": column.hashed("types"),
        "identity": column.identity("types"),
        "value": Fragment(f"coalesce({order}.place, 'NaN')") if order else column.value("types"),
        "order": order,
        "cell": Identifier.of(f"cell_{number}"),
        "number": Identifier.of(f"value_{number}"),
        "hashed_pair": column.hashed("pairs"),
    }
