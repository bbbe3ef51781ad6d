"""Reads hierarchies from tables and CSV files: a column per level, or a row per entry that names its parent.

A file has a header ``level_0,level_1``, or none and semicolons.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO, Any

from kanon_pg.core.hierarchy import MAX_VALUES, GeneralizationHierarchy, hierarchy_of
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.definition import HierarchyDefinition, StoringOptions, take_storing_options
from kanon_pg.hierarchies.inputs import Spec
from kanon_pg.hierarchies.ranges import ELEMENTS, TEXT

_GZIP_START = b"\x1f\x8b"
_HEADER_START = re.compile(r'"?level_0"?([^\w\r\n])')
"""Begins a header; what follows is the delimiter."""

_SIGN_WITHOUT_HEADER = ";"
_OTHER_SIGNS = ",\t|"


def read_csv(path: Path, delimiter: str | None = None, header: bool | None = None) -> list[list[str | None]]:
    """Return the rows of a file: the value, then its nodes from level 1. An empty field is NULL.

    Parameters
    ----------
    path : Path
        UTF-8, plain or gzipped.
    delimiter : str, optional
        One character; what follows ``level_0`` if the first line begins so, else a semicolon.
    header : bool, optional
        Whether the first line names the columns; it does if it begins with ``level_0``.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise InputError("The delimiter is not one character other than a quote or a line end.")
    try:
        with _opened(path) as file:
            first = file.readline()
            file.seek(0)
            named = _HEADER_START.match(first)
            names = named is not None if header is None else header
            sign = delimiter or (_SIGN_WITHOUT_HEADER if named is None else named[1])
            rows = list(_records(file, sign))
    except OSError as error:
        raise InputError(
            f"The file {path} cannot be read: {error.strerror or 'it may be damaged'}."
        ) from None
    except (UnicodeDecodeError, EOFError, csv.Error):
        # their messages quote the text around the error
        raise InputError(
            "The file cannot be read as CSV in UTF-8.",
            hint="Check the delimiter, the quoting and the encoding.",
        ) from None
    if delimiter is None and named is None and _has_other_delimiter(rows):
        raise InputError(
            "Each line of the file is one field, as it is read with semicolons between fields.",
            hint="Name the delimiter: kanon hierarchy load --delimiter ','.",
        )
    return rows[1:] if names else rows


def _has_other_delimiter(rows: list[list[str | None]]) -> bool:
    """Return whether every line is a single field that would be several with another usual delimiter."""
    return bool(rows) and all(
        len(row) == 1 and row[0] is not None and any(sign in row[0] for sign in _OTHER_SIGNS) for row in rows
    )


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as raw:
        is_packed = raw.read(len(_GZIP_START)) == _GZIP_START
    if is_packed:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _records(file: IO[str], delimiter: str) -> Iterator[list[str | None]]:
    for record in csv.reader(file, delimiter=delimiter, strict=True):
        if record:
            yield [field or None for field in record]


def taxonomy(
    entries: Iterable[tuple[str | None, str | None]], *, with_inner: bool = False, repeats: bool = False
) -> GeneralizationHierarchy:
    """Return the hierarchy that entries and their parents form.

    Levels are counted from the top, so that entries of the same depth share a level. Running time is linear
    in the number of entries times the height.

    Parameters
    ----------
    entries : iterable of tuple
        Entry and parent; NULL as parent: it has none. A parent need not be an entry.
    with_inner : bool
        Whether entries that have entries below them are values, too; else only the lowest ones are.
    repeats : bool
        Whether a value that is less deep than others repeats itself up to its own level; else it is refused.
    """
    parents = _parents(entries)
    depths = _depths(parents)
    above = set(parents.values())
    values = [entry for entry in depths if with_inner or entry not in above]
    deepest = max((depths[value] for value in values), default=0)
    uneven = sum(depths[value] < deepest for value in values)
    if uneven and not (repeats or with_inner):
        raise InputError(
            f"The hierarchy is uneven: {uneven} of {len(values)} values are less deep than {deepest} levels.",
            hint='With the option {"uneven": "repeat"} they repeat themselves up to their own level.',
        )
    return hierarchy_of(_path(value, parents, depths, deepest) for value in values)


def _parents(entries: Iterable[tuple[str | None, str | None]]) -> dict[str, str | None]:
    parents: dict[str, str | None] = {}
    nulls = repeated = torn = 0
    for entry, parent in entries:
        if entry is None:
            nulls += 1
        elif entry not in parents:
            parents[entry] = parent
        elif parents[entry] == parent:
            repeated += 1
        else:
            torn += 1
    if nulls:
        raise InputError(f"The hierarchy has gaps: {nulls} of its entries are NULL.", hint="Leave them out.")
    if torn:
        raise InputError(
            f"The hierarchy is not a tree: {torn} rows give an entry a second parent.",
            hint="Give each entry one parent.",
        )
    if repeated:
        raise InputError(
            f"The hierarchy has duplicates: {repeated} rows repeat an entry.", hint="Give each entry one row."
        )
    for above in {parent for parent in parents.values() if parent is not None}:
        parents.setdefault(above, None)
    return parents


def _depths(parents: dict[str, str | None]) -> dict[str, int]:
    """Return how deep each entry is: 1 without parent."""
    above = {entry: () if parent is None else (parent,) for entry, parent in parents.items()}
    depths: dict[str | None, int] = {None: 0}
    try:
        for entry in TopologicalSorter(above).static_order():
            depths[entry] = depths[parents[entry]] + 1
    except CycleError:  # whose text has the entries
        raise InputError(
            "The hierarchy is not a tree: it has a cycle, in which entries are above themselves.",
            hint="Follow the parents from entry to entry; the highest has none.",
        ) from None
    return {entry: depths[entry] for entry in parents}


def _path(value: str, parents: dict[str, str | None], depths: dict[str, int], deepest: int) -> list[str]:
    """Return a value and its nodes; it repeats itself up to the level of its depth."""
    path = [value] * (deepest - depths[value] + 1)
    above = parents[value]
    while above is not None:
        path.append(above)
        above = parents[above]
    return path


_MOST_ENTRIES = 2 * MAX_VALUES


def read_table(db: Database, relation: RelationFacts, options: Any = None) -> HierarchyDefinition:
    """Read a hierarchy from a table or view.

    `options` has ``columns``: the column of the values and those of the levels, rising; all in the relation's
    order unless given. Or ``child`` and ``parent``: columns of a table of parents, with ``values`` 'leaves'
    or 'all' and ``uneven`` 'refuse' or 'repeat', see `kanon_pg.hierarchies.sources.taxonomy`. And those of
    `kanon_pg.hierarchies.definition.StoringOptions`.
    """
    given = Spec(options, "options")
    child, parent = given.text("child"), given.text("parent")
    named = given.texts("columns")
    which, uneven = given.text("values", ("leaves", "all")), given.text("uneven", ("refuse", "repeat"))
    kept = take_storing_options(given)
    given.done()
    if child is None and parent is None:
        if which or uneven:
            raise InputError(
                '"values" and "uneven" are for tables with child and parent.', hint="Name both columns."
            )
        return _by_levels(db, relation, named, kept)
    if child is None or parent is None or named is not None:
        raise InputError(
            'A table of parents is given by "child" and "parent", without "columns".',
            hint='For example: {"child": "code", "parent": "belongs_to"}.',
        )
    rows = _rows(db, relation, (relation.column(child), relation.column(parent)))
    hierarchy = taxonomy(((a, b) for a, b in rows), with_inner=which == "all", repeats=uneven == "repeat")
    return HierarchyDefinition(hierarchy, TEXT, "taxonomy", _source(relation), kept)


def _by_levels(
    db: Database, relation: RelationFacts, named: list[str] | None, kept: StoringOptions
) -> HierarchyDefinition:
    columns = relation.columns if named is None else tuple(relation.column(name) for name in named)
    if not columns:
        raise InputError('"columns" must name at least the column of the values.', hint="Or leave it out.")
    hierarchy = hierarchy_of(_rows(db, relation, columns))
    kinds = {column.base_type for column in columns[1 : hierarchy.height]}
    output = kinds.pop() if len(kinds) == 1 else TEXT
    return HierarchyDefinition(
        hierarchy, output if output in ELEMENTS else TEXT, "table", _source(relation), kept
    )


def _rows(db: Database, relation: RelationFacts, columns: tuple[ColumnFacts, ...]) -> list[list[str | None]]:
    numbered = [(f"c{number}", column) for number, column in enumerate(columns)]
    command = statement(
        "hierarchy_table_rows",
        relation=relation.identifier,
        columns=[
            {
                "name": column.identifier,
                "text": column.text(str(column.identifier)),
                "alias": Identifier.of(alias),
            }
            for alias, column in numbered
        ],
        most=_MOST_ENTRIES + 1,
    )
    with reading(db, relation):
        rows = db.read(command)
    if len(rows) > _MOST_ENTRIES:
        raise InputError(
            f"{relation.identifier} has more than {_MOST_ENTRIES:,} rows.",
            hint="A hierarchy of so many entries is no use; leave out by a view what no column has.",
        )
    return [[row[alias] for alias, _ in numbered] for row in rows]


def _source(relation: RelationFacts) -> dict[str, str]:
    return {"relation": str(relation.identifier)}
