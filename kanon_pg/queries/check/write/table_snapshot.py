"""Statements that read all rows of a protected relation, and whether they may have changed.

A row is recognized by a hash of its content under a secret seed, so that it keeps its identity when it is
moved, dumped or restored, and is another one when a value changes that a query can depend on. Within one
state of the relation its table and TID say the same and are cheaper to send.
"""

from __future__ import annotations

from kanon_pg.queries.check.catalog import ENUM, ColumnRole, Relation, RelationKind
from kanon_pg.queries.check.types import AS_TEXT, TYPES
from kanon_pg.queries.check.write.expressions import quoted

EMPTY = "CAST('' AS pg_catalog.bytea)"
"""SQL of no bytes."""

_KINDS_WITH_TIDS = frozenset({RelationKind.TABLE, RelationKind.PARTITIONED, RelationKind.MATERIALIZED})

# Age counts from the present transaction, so a difference of two ages names a transaction at any time.
_WRITER = (
    "(CAST(pg_catalog.age(CAST('1000' AS pg_catalog.xid)) AS pg_catalog.int8)"
    " OPERATOR(pg_catalog.-) pg_catalog.age(xmin))"
)
_TABLE = "(CAST(tableoid AS pg_catalog.int8) OPERATOR(pg_catalog.<<) 32)"
_NOTHING = "CAST((CAST($2 AS pg_catalog.xid) IS NULL) IS NULL AS pg_catalog.int4)"
"""SQL of 0; the server has to know the type of every parameter, used or not."""
_VERSION = f"pg_catalog.hashtidextended(ctid, {_WRITER} OPERATOR(pg_catalog.#) {_TABLE})"


def has_tids(relation: Relation) -> bool:
    """Return whether rows of the relation have a TID; those of a view have none."""
    return relation.kind in _KINDS_WITH_TIDS


def content_columns(relation: Relation) -> tuple[str, ...]:
    """Return the columns that make a row what it is: those a query can depend on, by name.

    Columns that were not declared, or are of a type that cannot be read, change nothing that is disclosed.
    """
    protection = relation.protection
    entity = protection.entity if protection is not None else None
    found = {
        column.name
        for column in relation.columns
        if column.role is not ColumnRole.WITHHELD and column.type_name in TYPES | AS_TEXT | {ENUM}
    }
    return tuple(sorted(found | ({entity} if entity is not None else set())))


def content_description(relation: Relation) -> list[list[str]]:
    """Return what two states of a relation must have in common for their rows to be comparable.

    Returns
    -------
    list of list of str
        Name and type of each column of `content_columns`, then the entity's name if there is one.
    """
    types = {column.name: column.type_name for column in relation.columns}
    entity = relation.protection.entity if relation.protection is not None else None
    found = [[name, types.get(name, "")] for name in content_columns(relation)]
    return [*found, [entity]] if entity is not None else found


def content_hash_sql(relation: Relation, alias: str, seed: str) -> str:
    """Return the SQL of the hash of a row's content.

    Parameters
    ----------
    seed : str
        SQL of the secret seed, an ``int8``.
    """
    columns = ", ".join(f"{alias}.{quoted(name)}" for name in content_columns(relation))
    return f"pg_catalog.hash_record_extended(ROW({columns}), {seed})"


def concatenated_sql(numbers: str) -> str:
    """Return the SQL of all values of a ``bytea`` expression in one."""
    # without any delimiter, not even an empty one, a row costs a fifth less
    return f"pg_catalog.string_agg({numbers}, CAST(NULL AS pg_catalog.bytea))"


def table_snapshot_sql(relation: Relation) -> str:
    """Return the statement that reads all rows.

    Parameters
    ----------
    relation : Relation
        A protected relation, not a partition of another one.

    Returns
    -------
    str
        Takes the seed and, as in `fingerprint_sql`, a horizon as text. One row per table: ``leaf`` (OID, 0
        for a view); ``tids`` (6 bytes each; empty for a view), ``contents`` (8 bytes each,
        big-endian), ``people`` (8 bytes each, empty without an entity), all in one order; ``rows``;
        ``fingerprint_sql`` (as that of `fingerprint_sql`; 0 for views).
    """
    seed = "CAST($1 AS pg_catalog.int8)"
    entity = relation.protection.entity if relation.protection is not None else None
    people = EMPTY
    if entity is not None:
        person = f'pg_catalog.hash_record_extended(ROW("r".{quoted(entity)}), {seed})'
        people = concatenated_sql(f"pg_catalog.int8send({person})")
    hashed = content_hash_sql(relation, '"r"', seed)
    with_tids = has_tids(relation)
    parts = [
        f'CAST({"tableoid" if with_tids else "0"} AS pg_catalog.int8) AS "leaf"',
        f'{concatenated_sql("pg_catalog.tidsend(ctid)") if with_tids else EMPTY} AS "tids"',
        f'{concatenated_sql(f"pg_catalog.int8send({hashed})")} AS "contents"',
        f'{people} AS "people"',
        'pg_catalog.count(*) AS "rows"',
        f'{_fingerprint("$2") if with_tids else _NOTHING} AS "fingerprint"',
    ]
    grouping = " GROUP BY tableoid" if with_tids else " HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0"
    return f'SELECT {", ".join(parts)} FROM {_name(relation)} AS "r"{grouping}'


def fingerprint_sql(relation: Relation, horizon: int) -> str | None:
    """Return the statement that tells whether rows changed since the snapshot.

    The horizon is the oldest transaction that ran at the time of the snapshot. Only rows of it and later ones
    are in the ``fingerprint``: a row that was not there is the work of a transaction that had not ended
    then, and if only rows went, there are fewer. So two states with equal ``rows`` and ``fingerprint``
    and the same files and columns (``relation_files``) hold the same rows, but for a collision of 64-bit
    hashes: a TID that is visible with the same ``xmin`` holds the same version, because a transaction cannot
    write after its end, and whatever moves rows without writing them makes a new file. A query reads the
    values from other places only if its names stand for other columns.

    Parameters
    ----------
    relation : Relation
        As for `table_snapshot_sql`.
    horizon : int
        A transaction of which fewer than 2**31 later ones have begun.

    Returns
    -------
    str or None
        Returns one row, ``rows`` and ``fingerprint``; None for a view.
    """
    if not has_tids(relation):
        return None
    oldest = f"'{transaction_number(horizon)}'"
    parts = f'pg_catalog.count(*) AS "rows", {_fingerprint(oldest)} AS "fingerprint"'
    return f'SELECT {parts} FROM {_name(relation)} AS "r"'


def transaction_number(transaction: int) -> str:
    """Return a transaction number as ``xmin`` has it, without the epoch."""
    return str(int(transaction) % 2**32)


def _fingerprint(horizon: str) -> str:
    # counted from the present transaction, like the writer, and found once for all rows
    oldest = f"(SELECT pg_catalog.age(CAST({horizon} AS pg_catalog.xid)))"
    recent = f"pg_catalog.age(xmin) OPERATOR(pg_catalog.<=) {oldest}"
    return f"COALESCE(pg_catalog.bit_xor({_VERSION}) FILTER (WHERE {recent}), 0)"


def _name(relation: Relation) -> str:
    return f"{quoted(relation.schema)}.{quoted(relation.name)}"
