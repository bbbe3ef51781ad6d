"""A hierarchy on its way into the database, and the options that every way of storing one has.

Between functions it travels as a list without repetitions: written out, a hierarchy of 200,000 values and 20
levels has 4 million nodes, most of them many times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kanon_pg.core.hierarchy import MAX_HEIGHT, MAX_VALUES, GeneralizationHierarchy, from_levels, hierarchy_of
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.inputs import Spec
from kanon_pg.hierarchies.ranges import OUTPUTS, TEXT


def folded(hierarchy: GeneralizationHierarchy) -> list[Any]:
    """Return the values, then per level its nodes, and for each node below the number of the one above it.

    Examples
    --------
    >>> folded(GeneralizationHierarchy(("Bern", "Basel", "Bonn"), (("CH", "CH", "DE"),)))
    [['Bern', 'Basel', 'Bonn'], [['CH', 'DE'], [0, 0, 1]]]
    """
    tree: list[Any] = [list(hierarchy.values)]
    below = hierarchy.values
    for level in hierarchy.levels:
        place = {node: number for number, node in enumerate(dict.fromkeys(level))}
        above = dict(zip(below, level, strict=True))
        tree.append([list(place), [place[node] for node in above.values()]])
        below = level
    return tree


def unfolded(tree: Any) -> GeneralizationHierarchy:
    """Return the hierarchy that `folded` made a list of, checked as any other."""
    try:
        values, *folds = tree
        _require(isinstance(values, list) and len(values) <= MAX_VALUES and len(folds) < MAX_HEIGHT)
        levels = list(_levels(len(values), folds))
        _require(all(isinstance(text, str) for column in (values, *levels) for text in set(column)))
    except (TypeError, ValueError, LookupError):
        raise _misshapen() from None
    return from_levels(values, levels, keeps_all=True)


def _levels(count: int, folds: list[Any]) -> Iterator[list[Any]]:
    places: Sequence[int] = range(count)
    for nodes, above in folds:
        places = [above[place] for place in places]
        yield [nodes[place] for place in places]


def _require(is_so: bool) -> None:
    if not is_so:
        raise _misshapen()


def _misshapen() -> InputError:
    return InputError(
        "A hierarchy on its way between two functions has another form than they give it.",
        hint="Call kanon_hierarchy_build or kanon_hierarchy_load, which give it this form.",
    )


@dataclass(frozen=True, slots=True)
class StoringOptions:
    """Options of any stored hierarchy; every curator sees one that is shared."""

    description: str | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class HierarchyDefinition:
    """A checked hierarchy with the type of its nodes."""

    hierarchy: GeneralizationHierarchy
    output: str = TEXT
    kind: str = "rows"
    """Where it comes from: rows, a table, a taxonomy, or the name of a builder."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """What it was made with, ready for JSON."""
    options: StoringOptions = field(default_factory=StoringOptions)

    def to_json(self) -> str:
        """Return the form in which it travels from the function that reads to the function that stores."""
        fields = {"tree": folded(self.hierarchy), "output": self.output, "kind": self.kind}
        return json.dumps(fields | {"spec": dict(self.spec)} | asdict(self.options))


def take_storing_options(options: Spec) -> StoringOptions:
    """Take `StoringOptions` out of options; what else they have stays for the caller."""
    return StoringOptions(options.text("description"), options.flag("shared"))


def read_definition(given: Any, kinds: Sequence[str]) -> HierarchyDefinition:
    """Check a definition from outside anew.

    `given` has ``rows``: one list per value, which is followed by its nodes from level 1; ``output``: type of
    the nodes, text unless given; ``description`` and ``shared``. `HierarchyDefinition.to_json` adds more, and
    has ``tree`` in place of ``rows``.
    """
    definition: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    rows: Any = definition.get("rows")
    tree: Any = definition.get("tree")
    is_folded = rows is None and tree is not None
    if not is_folded and not (isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
        raise InputError(
            "A hierarchy is given as a JSON list with one list per value.",
            hint='The value first, then its nodes: [["Bern","CH"],["Basel","CH"],["Bonn","DE"]].',
        )
    taken = ("rows", "spec", "tree") if is_folded else ("rows", "spec")
    fields = Spec({name: one for name, one in definition.items() if name not in taken}, "options")
    kind = fields.text("kind", kinds)
    output, options = fields.text("output", OUTPUTS), take_storing_options(fields)
    fields.done()
    spec = definition.get("spec")
    return HierarchyDefinition(
        unfolded(tree) if is_folded else hierarchy_of(rows),
        output or TEXT,
        kind or "rows",
        spec if isinstance(spec, Mapping) else {},
        options,
    )
