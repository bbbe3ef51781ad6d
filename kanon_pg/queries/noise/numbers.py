"""What numbers of a block may be: bounds of what is calculated of bounded columns, and what fails for nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kanon_pg.queries.blocks import Block
from kanon_pg.queries.facts import Role
from kanon_pg.queries.findings import Refusal
from kanon_pg.queries.forms import never_fails
from kanon_pg.queries.trees import Tree

Bounds = tuple[float, float]

_LARGEST = 1e15


def require_no_failure(block: Block) -> None:
    """Refuse a block of which an expression could fail for the values of somebody: errors would tell.

    Known columns are secrets here, too: that somebody is in the table at all is one.

    Raises
    ------
    Refusal
        With the form that passes.
    """
    all_secret = replace(
        block,
        sources=tuple(
            replace(
                source,
                relation=replace(
                    source.relation,
                    columns=tuple(replace(one, role=Role.SECRET) for one in source.relation.columns),
                ),
            )
            for source in block.sources
        ),
        inner=tuple(
            replace(
                source,
                relation=replace(
                    source.relation,
                    columns=tuple(replace(one, role=Role.SECRET) for one in source.relation.columns),
                ),
            )
            for source in block.inner
        ),
    )
    for tree in all_secret.trees:
        if not never_fails(tree, all_secret):
            raise Refusal(
                "Q311",
                tree.place,
                "With noise, no expression may fail for the values of any row.",
                "Compare columns with constants, and divide by constants or nullif(column, 0).",
            )


def bounds_of(tree: Tree, column: Callable[[Tree], Bounds], number: Callable[[Tree], float]) -> Bounds | None:
    """Return between which bounds an expression is if its columns are; None if it is always NULL.

    Parameters
    ----------
    column : callable
        Returns the declared bounds of a column.
    number : callable
        Returns the value of a constant.

    Raises
    ------
    Refusal
        If its bounds are unknown.
    """
    found = _bounds(tree, column, number)
    if found is not None and not max(map(abs, found)) < _LARGEST:
        raise _unbounded(tree)
    return found


def _bounds(tree: Tree, column: Callable[[Tree], Bounds], number: Callable[[Tree], float]) -> Bounds | None:
    def inner(one: Tree | None) -> Bounds | None:
        return None if one is None else _bounds(one, column, number)

    left, right = tree.child("this"), tree.child("expression")
    if tree.kind == "Column":
        return column(tree)
    if tree.kind == "Literal":
        value = number(tree)
        return value, value
    if tree.kind == "Null":
        return None
    if tree.kind in {"Paren", "Cast"}:
        return inner(left)
    if tree.kind == "Neg":
        found = inner(left)
        return None if found is None else (-found[1], -found[0])
    if tree.kind == "Case" and left is None:
        values = [one for when in tree.children("ifs") for one in when.children("true")]
        return _around([inner(one) for one in (*values, *tree.children("default"))])
    if tree.kind == "Coalesce":
        return _around([inner(one) for one in (*tree.children("this"), *tree.children("expressions"))])
    if tree.kind == "Anonymous" and tree.text("this").lower() == "abs":
        found = inner(tree.children("expressions")[0])
        return None if found is None else (0.0, max(map(abs, found)))
    if tree.kind in {"Add", "Sub", "Mul", "Div"}:
        one, other = inner(left), inner(right)
        if one is None or other is None:
            return None
        return _calculated(tree, one, other)
    raise _unbounded(tree)


def _calculated(tree: Tree, one: Bounds, other: Bounds) -> Bounds:
    if tree.kind == "Add":
        return one[0] + other[0], one[1] + other[1]
    if tree.kind == "Sub":
        return one[0] - other[1], one[1] - other[0]
    if tree.kind == "Div" and other[0] <= 0 <= other[1]:
        raise _unbounded(tree)
    ends = [a * b if tree.kind == "Mul" else a / b for a in one for b in other]
    return min(ends), max(ends)


def _around(values: list[Bounds | None]) -> Bounds | None:
    known = [one for one in values if one is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _unbounded(tree: Tree) -> Refusal:
    return Refusal(
        "Q311",
        tree.place,
        "With noise, numbers have bounds, and those of this expression are unknown.",
        "Calculate of columns with bounds by +, -, *, CASE and division by constants.",
    )
