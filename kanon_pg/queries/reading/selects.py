"""Parts of a SELECT, and small trees that are made of others."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.naming import given_name
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.scopes import folded
from kanon_pg.queries.reading.trees import Tree

QUERIES = words("Select Union Intersect Except Subquery")


def from_items(select: Tree) -> list[Tree]:
    """Return what stands in FROM, and in the joins of its first item."""
    from_ = select.child("from_")
    first = () if from_ is None else from_.children("this")
    nested = (join for item in first for join in item.children("joins"))
    return [*first, *(one for join in (*select.children("joins"), *nested) for one in join.children("this"))]


def inner_query(tree: Tree | None) -> Tree | None:
    """Return the query in the parentheses of a subquery."""
    while tree is not None and tree.kind == "Subquery":
        tree = tree.child("this")
    return tree


def star(tree: Tree) -> str | None:
    """Return the alias before a star, "" for a star alone; None if it is none."""
    if tree.kind == "Star":
        return ""
    inner, table = tree.child("this"), tree.child("table")
    if tree.kind == "Column" and inner is not None and inner.kind == "Star":
        return "" if table is None else folded(table)
    return None


def output_name(tree: Tree) -> str:
    """Return the name of an output."""
    alias = tree.child("alias") if tree.kind == "Alias" else None
    return folded(alias) if alias is not None else given_name(tree)


def require_only(tree: Tree, *names: str) -> None:
    """Refuse a node that has other arguments."""
    for name, value in tree.args.items():
        if value and name not in names:
            raise Refusal(
                "Q020", tree.place, f"{name.upper().replace('_', ' ')} has no place here.", "Leave it out."
            )


def in_parentheses(tree: Tree) -> Tree:
    """Return a tree that can be a part of any operator."""
    return tree if tree.kind in {"Column", "Paren"} else Tree("Paren", {"this": tree}, tree.place)


def all_of(conditions: Sequence[Tree]) -> Tree:
    """Return one condition for several."""
    condition = in_parentheses(conditions[0])
    for other in conditions[1:]:
        condition = Tree("And", {"this": condition, "expression": in_parentheses(other)})
    return condition


def has_value(tree: Tree) -> Tree:
    """Return the condition that an expression is not NULL."""
    null = Tree("Null", {})
    return Tree("Is", {"this": in_parentheses(tree), "expression": null, "negate": True}, tree.place)


def number(digits: str) -> Tree:
    """Return the tree of a number."""
    return Tree("Literal", {"this": digits, "is_string": False})
