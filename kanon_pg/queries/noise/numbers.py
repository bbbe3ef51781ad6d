"""Bounds of what is calculated of bounded columns, and what fails for nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kanon_pg.queries.people.failing import never_fails
from kanon_pg.queries.reading.blocks import Block, Source
from kanon_pg.queries.reading.facts import Role
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.trees import Tree

Bounds = tuple[float, float]

_LARGEST = 1e15
_CALCULATED = words("Paren Cast Neg Case Coalesce Add Sub Mul Div")


def require_no_failure(block: Block) -> None:
    """Refuse a block of which an expression could fail for the values of somebody: errors would tell.

    Known columns are secrets here, too: that somebody is in the table at all is one.
    """
    all_secret = replace(
        block, sources=tuple(map(_all_secret, block.sources)), inner=tuple(map(_all_secret, block.inner))
    )
    for tree in all_secret.trees:
        if not never_fails(tree, all_secret):
            raise Refusal(
                "Q601",
                tree.place,
                "With noise, no expression may fail for the values of any row.",
                "Compare columns with constants, and divide by constants or nullif(column, 0).",
            )


def _all_secret(source: Source) -> Source:
    columns = tuple(replace(one, role=Role.SECRET) for one in source.relation.columns)
    return replace(source, relation=replace(source.relation, columns=columns))


def bounds_of(tree: Tree, column: Callable[[Tree], Bounds], number: Callable[[Tree], float]) -> Bounds | None:
    """Return between which bounds an expression is if its columns are; None if it is always NULL."""
    bounds = _bounds(tree, column, number)
    if bounds is not None and not max(map(abs, bounds)) < _LARGEST:
        raise _unbounded(tree)
    return bounds


def _bounds(tree: Tree, column: Callable[[Tree], Bounds], number: Callable[[Tree], float]) -> Bounds | None:
    parts: tuple[Tree, ...] = tree.operands
    if tree.kind == "Case" and not parts:
        parts = tuple(one for when in tree.children("ifs") for one in when.children("true"))
        parts += tree.children("default")
    elif tree.kind == "Coalesce":
        parts += tree.arguments
    elif tree.kind in {"Column", "Literal"}:
        return column(tree) if tree.kind == "Column" else (number(tree),) * 2
    if tree.kind == "Null":
        return None
    if tree.kind not in _CALCULATED or (tree.kind == "Case" and tree.child("this") is not None):
        raise _unbounded(tree)
    bounds = [_bounds(one, column, number) for one in parts]
    if tree.kind in {"Paren", "Cast"}:
        return bounds[0]
    if tree.kind in {"Case", "Coalesce"}:
        known = [one for one in bounds if one is not None]
        return (min(low for low, _ in known), max(high for _, high in known)) if known else None
    return _calculated(tree, *([(-1.0, -1.0), *bounds] if tree.kind == "Neg" else bounds))


def _calculated(tree: Tree, one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None or other is None:
        return None
    if tree.kind == "Add":
        return one[0] + other[0], one[1] + other[1]
    if tree.kind == "Sub":
        return one[0] - other[1], one[1] - other[0]
    if tree.kind == "Div" and other[0] <= 0 <= other[1]:
        raise _unbounded(tree)
    ends = [a * b if tree.kind != "Div" else a / b for a in one for b in other]
    return min(ends), max(ends)


def _unbounded(tree: Tree) -> Refusal:
    return Refusal(
        "Q601",
        tree.place,
        "With noise, numbers have bounds, and those of this expression are unknown.",
        "Calculate of columns with bounds by +, -, *, CASE and division by constants.",
    )
