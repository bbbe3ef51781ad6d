"""The forms that expressions of a block may have: half a page of rules, checked before anything is read.

Known columns may stand in any expression of PostgreSQL's own functions and operators that depends on nothing but its
arguments and settings that are pinned. A secret column may be compared with a constant, be a key, and be the argument
of a figure, plain or multiplied by a constant.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.blocks import EXTREMES, PERCENTILES, SPREADS, Block, Figure, column_name
from kanon_pg.queries.facts import Facts, Role, Volatility
from kanon_pg.queries.findings import Refusal
from kanon_pg.queries.people import People
from kanon_pg.queries.trees import Tree

_CONNECTIVES = frozenset({"And", "Or", "Not", "Paren"})
_COMPARISONS = frozenset(
    "EQ NEQ LT LTE GT GTE Between In Like ILike Is NullSafeEQ NullSafeNEQ".split()
)
_EXPRESSIONS = (
    _CONNECTIVES
    | _COMPARISONS
    | frozenset(
        "Column Identifier Literal Null Boolean Add Sub Mul Div Mod Pow Neg DPipe Cast DataType DataTypeParam Case If Coalesce"
        " Anonymous Extract Var AtTimeZone Substring Trim StrPosition Any Array RegexpLike RegexpILike"
        " BitwiseAnd BitwiseOr BitwiseXor BitwiseNot Escape Tuple".split()
    )
)
"""Kinds of nodes whose meaning is PostgreSQL's own operators, casts and functions."""

_QUERY = frozenset("Exists Select From Table TableAlias Join Where".split())
_NUMBER_FIGURES = frozenset({"sum", "avg"}) | SPREADS | PERCENTILES


def check_forms(block: Block, people: People, facts: Facts) -> None:
    """Refuse a block with an expression that may not be answered.

    Raises
    ------
    Refusal
        With the form that passes.
    """
    links = {id(node) for condition in _conditions(block) for node in _linked(condition, block)}
    for condition in _conditions(block):
        _check_expression(condition, block, facts, links)
        _check_secret_condition(condition, block)
    _check_secrets_above(block, people)
    for key in block.keys:
        _check_expression(key, block, facts, set())
        if block.secrets([key]) and key.kind != "Column":
            raise Refusal("Q303", key.place, "A sensitive column is a key as it is.", "Write GROUP BY column.")
    for figure in block.figures:
        _check_figure(figure, block, people, facts)


def _conditions(block: Block) -> Iterator[Tree]:
    yield from block.conditions
    for source in block.sources:
        yield from source.on or ()
    for figure in block.figures:
        yield from figure.conditions


def _linked(condition: Tree, block: Block) -> Iterator[Tree]:
    """Yield the columns of people that a condition compares with each other, as links are joined."""
    protected = {
        source.alias for source in (*block.sources, *block.inner) if source.relation.protection is not None
    }
    for node in condition.walk():
        sides = [side for side in (node.child("this"), node.child("expression")) if side is not None]
        columns = [side for side in sides if side.kind == "Column" and column_name(side)[0] in protected]
        if node.kind == "EQ" and len(columns) == 2:
            yield from columns


def _check_expression(tree: Tree, block: Block, facts: Facts, may_be_withheld: set[int]) -> None:
    for node in tree.walk():
        if node.kind not in _EXPRESSIONS | _QUERY:
            raise Refusal("Q302", node.place, f"{node.kind} has no place in a query about people.", "Leave it out.")
        if node.kind == "Column":
            role = block.column(node).role
            if role is Role.WITHHELD and id(node) not in may_be_withheld:
                raise Refusal(
                    "Q304", node.place, "This column is withheld.", "Name other columns; links may be joined by it."
                )
        elif node.kind == "Anonymous":
            _check_function(node, facts)
        elif node.kind == "Cast":
            target = node.child("to")
            if target is None or target.text("this").upper() in {"USERDEFINED", "USER-DEFINED"}:
                raise Refusal("Q203", node.place, "Only PostgreSQL's own types are cast to.", "Leave the cast out.")


def _check_function(node: Tree, facts: Facts) -> None:
    name = node.text("this").lower()
    found = facts.functions.get(name, Volatility.OTHER)
    if node.child("this") is not None or found is Volatility.OTHER:
        raise Refusal(
            "Q202",
            node.place,
            f"{name or 'This function'}() has no place in a query about people.",
            "Functions of PostgreSQL that depend on their arguments alone are answered.",
        )


def _check_secrets_above(block: Block, people: People) -> None:
    """Refuse keys that divide the rows of a table above the finest one, if a secret of that table is read.

    Its rows are compared as a set then, and sets of several rows of the answer do not add up.
    """
    read = block.secrets(
        [
            *_conditions(block),
            *block.keys,
            *(figure.argument for figure in block.figures if figure.argument is not None),
        ]
    )
    above = {alias for alias, _ in read} - {people.finest.alias}
    for key in block.keys if above else ():
        if any(node.kind == "Column" and column_name(node)[0] == people.finest.alias for node in key.walk()):
            raise Refusal(
                "Q308",
                key.place,
                "Where a sensitive column of a linked table is read, rows are grouped by columns of that table.",
                "Leave this key out, and choose one value of it at a time: WHERE column = value.",
            )


def _check_secret_condition(tree: Tree, block: Block) -> None:
    """Refuse a condition in which a secret column is not compared with a constant, or meets known ones."""
    if not block.secrets([tree]):
        return
    if any(node.kind == "Column" and not block.column(node).is_secret for node in tree.walk()):
        raise Refusal(
            "Q309",
            tree.place,
            "A condition on a sensitive column is joined to others by AND only.",
            "Ask once for each side of OR.",
        )
    if tree.kind in _CONNECTIVES:
        for part in tree.parts:
            _check_secret_condition(part, block)
        return
    if tree.kind == "Exists":
        raise Refusal(
            "Q307", tree.place, "A sensitive column has no place in a subquery.", "Join its table along the link."
        )
    left, others = tree.child("this"), [part for part in tree.parts if part is not tree.child("this")]
    if tree.kind in _COMPARISONS and left is not None:
        if left.kind == "Column" and not any(node.kind == "Column" for part in others for node in part.walk()):
            return
        (right, *_) = others or [left]
        if right.kind == "Column" and not any(node.kind == "Column" for node in left.walk()):
            return
    raise Refusal(
        "Q303", tree.place, "A sensitive column is compared with constants only.", "For example: cost > 100."
    )


def _check_figure(figure: Figure, block: Block, people: People, facts: Facts) -> None:
    place = figure.written.place
    argument = figure.argument
    if argument is None:
        return
    names = {column_name(node) for node in argument.walk() if node.kind == "Column"}
    if figure.function == "count_distinct" and argument.kind == "Column" and names <= people.same:
        return
    _check_expression(argument, block, facts, set())
    if figure.fraction is not None and any(node.kind == "Column" for node in figure.fraction.walk()):
        raise Refusal("Q301", place, "The fraction of a percentile is a constant.", "For example 0.5.")
    protected = {source.alias for source in block.sources if source.relation.protection is not None}
    if figure.function in EXTREMES and any(alias in protected for alias, _ in names):
        raise Refusal(
            "Q305", place, "The least and the greatest value is one person's.", "Ask for percentile_cont(0.05)."
        )
    secrets = block.secrets([argument])
    if secrets and figure.function == "count_distinct":
        raise Refusal("Q305", place, "Values of a sensitive column are not counted.", "Group by it.")
    if secrets and not _is_scaled(argument):
        raise Refusal(
            "Q306", place, "A sensitive column stands alone in a figure.", "Calculate with the figure: sum(cost) / 7."
        )


def _is_scaled(tree: Tree) -> bool:
    """Return whether a tree is a column, or one multiplied by a constant."""
    if tree.kind in {"Paren", "Neg"}:
        inner = tree.child("this")
        return inner is not None and _is_scaled(inner)
    if tree.kind == "Cast":
        inner = tree.child("this")
        return inner is not None and inner.kind == "Column"
    if tree.kind in {"Mul", "Div"}:
        left, right = tree.child("this"), tree.child("expression")
        if left is None or right is None:
            return False
        sides = [(left, right)] if tree.kind == "Div" else [(left, right), (right, left)]
        return any(_is_scaled(one) and other.kind == "Literal" for one, other in sides)
    return tree.kind == "Column"
