"""A hierarchy on its way into the database, and the options that every way of storing one has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy, hierarchy_of
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.folding import folded, unfolded
from kanon_pg.hierarchies.ranges import OUTPUTS, TEXT
from kanon_pg.hierarchies.spec import Spec

KINDS = ("rows", "table", "taxonomy", "intervals", "dates", "prefix", "networks", "priority")
"""Where a hierarchy can come from."""


@dataclass(frozen=True, slots=True)
class StoringOptions:
    """What can be said of any hierarchy when it is stored.

    Parameters
    ----------
    description : str or None
        For those who read the list of hierarchies.
    shared : bool
        Whether every curator may see and use it.
    """

    description: str | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class HierarchyDefinition:
    """A checked hierarchy with the type of its nodes.

    Parameters
    ----------
    hierarchy : GeneralizationHierarchy
        Values and nodes.
    output : str
        One of `kanon_pg.hierarchies.ranges.OUTPUTS`.
    kind : str
        One of `KINDS`.
    spec : mapping
        What it was made with, ready for JSON.
    options : StoringOptions
        Description and whether it is shared.
    """

    hierarchy: GeneralizationHierarchy
    output: str = TEXT
    kind: str = "rows"
    spec: Mapping[str, Any] = field(default_factory=dict)
    options: StoringOptions = field(default_factory=StoringOptions)

    def to_json(self) -> str:
        """Return the form in which it travels from the function that reads to the function that stores."""
        fields = {"tree": folded(self.hierarchy), "output": self.output, "kind": self.kind}
        return json.dumps(fields | {"spec": dict(self.spec)} | asdict(self.options))


def take_storing_options(options: Spec) -> StoringOptions:
    """Take `StoringOptions` out of options; what else they have stays for the caller."""
    return StoringOptions(options.text("description"), options.flag("shared"))


def read_definition(given: Any) -> HierarchyDefinition:
    """Check a definition from outside anew.

    Parameters
    ----------
    given : mapping
        ``rows``: one list per value, which is followed by its nodes from level 1; ``output``: type of the
        nodes, text unless given; ``description`` and ``shared``. `HierarchyDefinition.to_json` adds more, and
        has ``tree`` in place of ``rows``.

    Raises
    ------
    InputError
        If it has another form, or is no hierarchy, see `kanon_pg.core.hierarchy.hierarchy_of`.
    """
    found: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    rows: Any = found.get("rows")
    tree: Any = found.get("tree")
    is_folded = rows is None and tree is not None
    if not is_folded and not (isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
        raise InputError(
            "A hierarchy is given as a JSON list with one list per value.",
            hint='The value first, then its nodes: [["Bern","CH"],["Basel","CH"],["Bonn","DE"]].',
        )
    taken = ("rows", "spec", "tree") if is_folded else ("rows", "spec")
    fields = Spec({name: one for name, one in found.items() if name not in taken}, "options")
    kind = fields.text("kind", KINDS)
    output, options = fields.text("output", OUTPUTS), take_storing_options(fields)
    fields.done()
    spec = found.get("spec")
    return HierarchyDefinition(
        unfolded(tree) if is_folded else hierarchy_of(rows),
        output or TEXT,
        kind or "rows",
        spec if isinstance(spec, Mapping) else {},
        options,
    )
