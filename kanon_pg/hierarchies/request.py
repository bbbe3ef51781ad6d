"""The arguments of the SQL functions for hierarchies; their types and defaults are those of `operations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kanon_pg.db.operation import Argument, Operation

HierarchyName = Annotated[str, Argument("name", "Name of the hierarchy.")]
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


DEFINE_HIERARCHY = Operation(DefineHierarchyRequest)
LOAD_HIERARCHY = Operation(LoadHierarchyRequest, kept=("hierarchy",))
BUILD_HIERARCHY = Operation(BuildHierarchyRequest, kept=("hierarchy",))
SHOW_HIERARCHY = Operation(ShowHierarchyRequest)
