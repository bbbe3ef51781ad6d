"""Reads the parts of raw nodes, and refuses a node that has parts which nobody reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from kanon_pg.queries.check.findings import Refusal, Span


def only(node: RawNode, *names: str) -> None:
    """Refuse the node if it has an argument that is not named here.

    Raises
    ------
    Refusal
        Q020.
    """
    unread = sorted(set(node.values) - set(names))
    if unread:
        hint = _HINTS.get(unread[0], "Leave it out.")
        word = unread[0].rstrip("_").replace("_", " ")
        raise Refusal("Q020", node.span, f"This form is not allowed here ({node.kind}: {word}).", hint)


def unknown(node: RawNode) -> NoReturn:
    """Refuse a node that has no place where it stands.

    Raises
    ------
    Refusal
        Q021, always.
    """
    sentence, hint = _KINDS.get(
        node.kind, (f"{node.kind} is not allowed here.", "Write one SELECT with ordinary expressions.")
    )
    raise Refusal("Q021", node.span, sentence, hint)


def child(node: RawNode, name: str) -> RawNode:
    """Return the argument of that name, which must be a node."""
    value = node.values.get(name)
    if not isinstance(value, RawNode):
        raise Refusal("Q020", node.span, f"This form is not allowed ({node.kind}).", "Write it out in full.")
    return value


def optional(node: RawNode, name: str) -> RawNode | None:
    """Return the argument of that name, or None if it is empty."""
    return child(node, name) if name in node.values else None


def children(node: RawNode, name: str) -> tuple[RawNode, ...]:
    """Return the arguments of that name, all of which must be nodes."""
    value: RawValue = node.values.get(name, ())
    if not isinstance(value, tuple) or not all(isinstance(item, RawNode) for item in value):
        raise Refusal("Q020", node.span, f"This form is not allowed ({node.kind}).", "Write it out in full.")
    return tuple(item for item in value if isinstance(item, RawNode))


def string(node: RawNode, name: str) -> str:
    """Return the argument of that name, which must be text."""
    value = node.values.get(name)
    if not isinstance(value, str):
        raise Refusal("Q020", node.span, f"This form is not allowed ({node.kind}).", "Write it out in full.")
    return value


def identifier(node: RawNode) -> str:
    """Return a name as PostgreSQL folds it: lower case unless quoted."""
    if node.kind != "Identifier":
        unknown(node)
    only(node, "this", "quoted")
    text = string(node, "this")
    folded = text if node.values.get("quoted") else text.lower()
    if not folded or not folded.isascii() or "\0" in folded:
        raise Refusal("Q003", node.span, "This name is not allowed.", "Use letters, digits and underscores.")
    if folded.startswith("kanon_"):
        raise Refusal("Q022", node.span, "Names that begin with kanon_ are reserved.", "Choose another name.")
    return folded


_HINTS = {
    "locks": "Leave FOR UPDATE and FOR SHARE out; queries only read.",
    "windows": "Write the window where it is used: OVER (ORDER BY ...).",
    "spec": "Leave the frame out.",
    "sample": "Leave TABLESAMPLE out: a sample must not depend on single rows.",
    "only": "Leave ONLY out.",
    "recursive": "Recursive queries are not allowed.",
    "on": "Write GROUP BY instead of DISTINCT ON.",
    "distinct": "Write UNION ALL.",
    "method": "Write JOIN ... USING (column) or ON.",
    "rollup": "Write GROUP BY ROLLUP (...).",
    "cube": "Write GROUP BY CUBE (...).",
    "query": "Write column IN (SELECT ...) as a part of WHERE by itself, joined by AND; for NOT IN count all,"
    " and those with IN.",
    "into": "Leave INTO out; queries only read.",
    "columns": "Name the columns with AS inside the query.",
}

_STATEMENT = ("Only SELECT can be run.", "Write one SELECT.")
_SUBQUERY = ("A subquery inside an expression is not allowed.", "Put it into FROM or WITH, and join it.")
_WINDOW = ("Window functions are not allowed.", "Aggregate with GROUP BY.")
_SETS = ("Grouping sets stand in GROUP BY only.", "Write GROUP BY ROLLUP (...).")
_REGEXP = ("SIMILAR TO is not allowed.", "Write LIKE with a constant pattern.")
_ARRAY = ("Arrays are not allowed.", "Compare with IN (...), or write several outputs.")
_LIST = (
    "ANY and ALL have no place here.",
    "Write column IN ('a', 'b'), column = ANY ($1), or OR.",
)
_SET = ("Only UNION ALL may combine queries.", "Write UNION ALL, or run two queries.")
_KINDS = {
    **dict.fromkeys(
        ("Command", "Insert", "Update", "Delete", "Create", "Drop", "Copy", "Set", "Merge"), _STATEMENT
    ),
    **dict.fromkeys(
        ("Transaction", "Commit", "Rollback", "Alter", "Alias", "Values", "Describe"), _STATEMENT
    ),
    **dict.fromkeys(("Subquery", "Select"), _SUBQUERY),
    **dict.fromkeys(("Any", "All"), _LIST),
    "Exists": (
        "EXISTS stands in WHERE only, as a part by itself.",
        "Join it to the other conditions by AND; for NOT EXISTS count everybody, and those with EXISTS.",
    ),
    **dict.fromkeys(("Intersect", "Except"), _SET),
    **dict.fromkeys(("Rollup", "Cube", "GroupingSets"), _SETS),
    "SimilarTo": _REGEXP,
    "Window": _WINDOW,
    "Lateral": ("LATERAL is not allowed.", "Join a subquery that stands by itself."),
    "Tuple": ("Row values are not allowed.", "Compare column by column with AND."),
    "Array": _ARRAY,
    "Bracket": _ARRAY,
    "Collate": ("COLLATE is not allowed.", "Leave it out."),
    "Anonymous": (
        "A function is not allowed here.",
        "Name a table; none that return rows is allowed.",
    ),
}


RawValue: TypeAlias = "RawNode | tuple[RawValue, ...] | str | bool | int"


@dataclass(frozen=True, slots=True)
class RawNode:
    """A node of the parser's tree: its class, its arguments that are not empty, its place.

    Parameters
    ----------
    kind : str
        Name of the parser's class.
    span : Span
        Place in the text.
    """

    kind: str
    values: Mapping[str, RawValue]
    span: Span
