"""Operations on hierarchies: define, read from a table, build over a column, see, forget.

The requests are the arguments of the SQL functions; what a hierarchy looks like is a tree of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import caller, describe, describe_readable, require_readable
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.settings import exact_text
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.hierarchies import build, sources, storage
from kanon_pg.hierarchies.definition import HierarchyDefinition, read_definition
from kanon_pg.hierarchies.ranges import TEXT
from kanon_pg.hierarchies.storage import StoredHierarchy

HierarchyName = Annotated[str, Argument("text", "Name of the hierarchy.")]
SourceRelation = Annotated[str, Argument("regclass", "Any table, view or release that you may read.")]
StoringOptions = Annotated[Mapping[str, Any] | None, Argument("jsonb", "Object: description, shared.")]


@dataclass(frozen=True, slots=True)
class DefineHierarchyRequest:
    """The arguments of ``kanon_hierarchy_define``: per value the value, then its nodes from level 1."""

    hierarchy: HierarchyName
    rows: Annotated[Sequence[Sequence[str | None]], Argument("jsonb", "List of lists of texts.")]
    options: StoringOptions = None


@dataclass(frozen=True, slots=True)
class LoadHierarchyRequest:
    """The arguments of ``kanon_hierarchy_load``."""

    hierarchy: HierarchyName
    relation: SourceRelation
    options: Annotated[
        Mapping[str, Any] | None,
        Argument("jsonb", "Object: columns, or child and parent; description, shared."),
    ] = None


@dataclass(frozen=True, slots=True)
class BuildHierarchyRequest:
    """The arguments of ``kanon_hierarchy_build``."""

    hierarchy: HierarchyName
    relation: SourceRelation
    column_name: Annotated[str, Argument("name", "The column.")]
    spec: Annotated[Mapping[str, Any], Argument("jsonb", "Object: builder and its keys.")]
    options: StoringOptions = None


@dataclass(frozen=True, slots=True)
class ShowHierarchyRequest:
    """The arguments of ``kanon_hierarchy_show``."""

    hierarchy: HierarchyName
    most: Annotated[int, Argument("integer", "Nodes shown below each.")] = 10


@dataclass(frozen=True, slots=True)
class MissingValuesRequest:
    """The arguments of ``kanon_hierarchy_missing``."""

    hierarchy: HierarchyName
    relation: SourceRelation
    column_name: Annotated[str, Argument("name", "The column.")]


DEFINE_HIERARCHY = Operation(DefineHierarchyRequest)
LOAD_HIERARCHY = Operation(LoadHierarchyRequest, kept=("hierarchy",))
BUILD_HIERARCHY = Operation(BuildHierarchyRequest, kept=("hierarchy",))
SHOW_HIERARCHY = Operation(ShowHierarchyRequest)
MISSING_VALUES = Operation(MissingValuesRequest, kept=("hierarchy",))


KINDS = ("rows", "table", "taxonomy", *build.NAMES)
"""Where a hierarchy can come from."""


@dataclass(frozen=True, slots=True)
class HierarchyContent:
    """A stored hierarchy with its values."""

    stored: StoredHierarchy
    hierarchy: GeneralizationHierarchy


def define(db: Database, name: str, definition: Any, *, role: str) -> StoredHierarchy:
    """Check a definition and store it, see `read_definition` and `kanon_pg.hierarchies.storage.store`."""
    return storage.store(db, name, read_definition(definition, KINDS), role)


def read_table(db: Database, relation: str, options: Any = None) -> HierarchyDefinition:
    """Read a hierarchy from a table with the caller's rights, see `kanon_pg.hierarchies.sources`."""
    with exact_text(db):
        return sources.read_table(db, describe_readable(db, relation, caller(db)), options)


def build_column(
    db: Database, relation: str, column: str | None, spec: Any, options: Any = None
) -> HierarchyDefinition:
    """Build a hierarchy over a column with the caller's rights, see `kanon_pg.hierarchies.build`."""
    role = caller(db)
    facts = describe(db, relation, role)
    if column is None:
        raise InputError("The column is NULL.", hint="Name the column that the hierarchy is for.")
    target = facts.column(column)
    require_readable(facts, (target,), role)
    with exact_text(db):
        return build.build(db, facts, target, spec, options)


def content(db: Database, name: str, *, role: str) -> HierarchyContent:
    """Return the latest version of a hierarchy with its values."""
    stored = storage.stored_hierarchy(db, name, role)
    return HierarchyContent(stored, storage.read(db, stored))


def show(db: Database, name: str, most: int | None, *, role: str) -> list[str]:
    """Return a hierarchy as the lines of a tree, at most `most` nodes below each."""
    if most is None or most < 1:
        raise InputError(
            "most must be at least 1.", hint="It is how many nodes are shown below each; 10 is usual."
        )
    latest = content(db, name, role=role)
    return list(tree_lines(tree_of(latest.hierarchy, latest.stored.output), most))


def hierarchies(db: Database) -> Sequence[Row]:
    """Return the stored hierarchies by name, in their latest versions."""
    return db.rows(statement("list_hierarchies"))


TOP = "*"
"""How the top is shown, at which a cell is suppressed."""

MOST_LINES = 2_000
_PARTS = re.compile(r"\d+(?:\.\d+)?")
_SIGNED = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node with all that is below it, and how many values that are, itself if it is one."""

    label: str
    level: int
    leaves: int
    children: tuple[TreeNode, ...]


def tree_of(hierarchy: GeneralizationHierarchy, output: str = TEXT) -> TreeNode:
    """Return the top of a hierarchy with everything below it.

    In ranges of numbers a minus is a sign, elsewhere a hyphen.
    """
    numbers = _SIGNED if output in ("int4range", "int8range", "numrange") else _PARTS
    below = {value: TreeNode(value, 0, 1, ()) for value in hierarchy.values}
    names = hierarchy.values
    for level, above in enumerate((*hierarchy.levels, (TOP,) * len(names)), 1):
        groups: dict[str, dict[str, TreeNode]] = {}
        for name, node in zip(names, above, strict=True):
            groups.setdefault(node, {})[name] = below[name]
        below = {node: _node(node, level, list(group.values()), numbers) for node, group in groups.items()}
        names = above
    return below[TOP]


def tree_lines(top: TreeNode, most: int = 10) -> Iterator[str]:
    """Yield the lines of a tree, at most `MOST_LINES`, with at most `most` children of each node."""
    lines = _lines(top, most, "", "")
    for _, line in zip(range(MOST_LINES), lines, strict=False):
        yield line
    if next(lines, None) is not None:
        yield "..."


def _node(label: str, level: int, children: list[TreeNode], numbers: re.Pattern[str]) -> TreeNode:
    ordered = sorted(children, key=lambda child: _place(child.label, numbers))
    return TreeNode(label, level, sum(child.leaves for child in children), tuple(ordered))


def _place(label: str, numbers: re.Pattern[str]) -> tuple[bool, list[Decimal], str]:
    """Return the sort key of a label: its numbers, an open beginning first."""
    return not label.startswith("("), [Decimal(number) for number in numbers.findall(label)], label


def _lines(node: TreeNode, most: int, lead: str, hang: str) -> Iterator[str]:
    many = f"  ({node.leaves:,} {'value' if node.leaves == 1 else 'values'})" if node.level > 0 else ""
    yield f"{lead}{node.label}{many}"
    rest = len(node.children) - most
    shown = node.children if rest <= 1 else node.children[:most]
    for child in shown:
        is_last = child is node.children[-1]
        yield from _lines(
            child, most, hang + ("└── " if is_last else "├── "), hang + ("    " if is_last else "│   ")
        )
    if len(shown) < len(node.children):
        yield f"{hang}└── ... {rest:,} more"
