"""SQL of hashes of persons, rows and values; a sketch is made of their sums."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.identifiers import Identifier
from kanon_pg.queries.reading.blocks import Source
from kanon_pg.queries.reading.facts import Column
from kanon_pg.queries.reading.scanner import words

SEED = "$1::pg_catalog.int8"
"""Of all hashes; only the record knows it."""

LARGEST = 2**31 - 1

_HASHES = {
    "smallint": "hashint8extended({}::pg_catalog.int8, {})",
    "integer": "hashint8extended({}::pg_catalog.int8, {})",
    "bigint": "hashint8extended({}, {})",
    "numeric": "hash_numeric_extended({}, {})",
    "text": "hashtextextended({}, {})",
    "character varying": "hashtextextended({}, {})",
    "uuid": "uuid_hash_extended({}, {})",
}
"""By types, without what stands in parentheses: hashes that take a seed, and make no record first."""

_IN_RECORDS = words("boolean character date interval real") | {
    *("double precision", "timestamp without time zone", "timestamp with time zone", "time without time zone")
}
"""Further types whose hashes are those of records; of all others, texts are hashed."""


def row_hash(source: Source, content: Column | None = None) -> str:
    """Return the hash of a row of a source, or of the row with a value of it."""
    key = [column for column in map(source.relation.column, source.relation.key) if column is not None]
    columns = key or [column for column in source.relation.columns if column.is_built_in]
    cells = [_cell(f"{source.alias}.{Identifier.of(column.name)}", column.type_name) for column in columns]
    hashed = f"pg_catalog.hash_record_extended(ROW({', '.join(cells)}), {SEED})"
    if key and all(_bare(column.type_name) in _HASHES for column in key):
        hashed = SEED
        for cell, column in zip(cells, key, strict=True):
            hashed = _hash(cell, column.type_name, hashed)
    if content is not None:
        value = f"{source.alias}.{Identifier.of(content.name)}"
        with_value = _hash(value, content.type_name, hashed)
        hashed = f"CASE WHEN {value} IS NULL THEN {hashed} ELSE {with_value} END"
    return folded(hashed)


def person_hash(types: Sequence[str], *, is_never_null: bool) -> str:
    """Return the hash of a row's ``person``, whose columns have these types; 0 for nobody."""
    hashed = _hash("person", types[0] if len(types) == 1 else "record", SEED)
    return folded(hashed if is_never_null else f"coalesce({hashed}, 0)")


def folded(value: str) -> str:
    """Return a hash in 31 bits."""
    return f"({value} & {LARGEST})::pg_catalog.int4"


def text_of(value: str) -> str:
    """Return SQL of a value as its type writes it: a cast to text may be somebody's function."""
    return f"CASE WHEN {value} IS NOT NULL THEN pg_catalog.format('%s', {value}) END"


def _bare(type_name: str) -> str:
    """Return the name of a type without what stands in parentheses; that of an array as it is."""
    return type_name if type_name.endswith("[]") else type_name.partition("(")[0]


def _cell(value: str, type_name: str) -> str:
    """Return SQL of what is hashed of a value: not every type has a hash."""
    bare = _bare(type_name)
    return value if bare in _HASHES or bare in _IN_RECORDS else text_of(value)


def _hash(value: str, type_name: str, seed: str) -> str:
    """Return SQL of the hash of a value that is not NULL, as a bigint."""
    form = _HASHES.get(_bare(type_name), "hash_record_extended(ROW({}), {})")
    return f"pg_catalog.{form.format(value if type_name == 'record' else _cell(value, type_name), seed)}"
