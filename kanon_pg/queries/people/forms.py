"""The forms that expressions of a block may have: half a page of rules, checked before anything is read.

Known columns may stand in any expression of PostgreSQL's own functions and operators that depends on
nothing but its arguments and settings that are pinned. Expressions of secret columns never fail (`failing`).
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.people.failing import (
    COMPARISONS,
    CONNECTIVES,
    is_comparison,
    is_condition,
    never_fails_of_secrets,
)
from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import EXTREMES, Block, Figure, column_name
from kanon_pg.queries.reading.facts import Facts, Role, Volatility
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.trees import Tree

_EXPRESSIONS = (
    CONNECTIVES
    | COMPARISONS
    | words(
        "Column Identifier Literal Null Boolean Add Sub Mul Div Mod Pow Neg DPipe Cast DataType DataTypeParam"
        " Case If Coalesce Anonymous Extract Var AtTimeZone Substring Trim StrPosition Any Array CurrentDate"
        " CurrentTimestamp Localtimestamp BitwiseAnd BitwiseOr BitwiseXor BitwiseNot Escape Tuple"
    )
)
"""Kinds of nodes whose meaning is PostgreSQL's own operators, casts and functions."""

_QUERY = words("Exists Select From Table TableAlias Join Where")
_LENGTHS = words("Column Identifier Literal Paren Sub Add Extract Var Anonymous Cast DataType")


def check_forms(block: Block, people: People, facts: Facts) -> None:
    """Refuse a block with an expression that may not be answered."""
    # withheld columns may link tables, and name the people who are counted
    may_be_withheld = {id(node) for condition in _conditions(block) for node in _linked(condition, block)}
    may_be_withheld |= {id(node) for figure in block.figures for node in _counted(figure, people)}
    for condition in _conditions(block):
        _check_expression(condition, block, facts, may_be_withheld)
        if block.depends_on_secrets(condition):
            _check_secret_condition(condition, block)
    _check_secrets_above(block, people)
    for key in block.keys:
        _check_expression(key, block, facts, set())
        if block.depends_on_secrets(key) and not never_fails_of_secrets(key, block):
            raise Refusal(
                "Q303",
                key.place,
                "A sensitive column is grouped as it is, or by classes of it.",
                "For example: floor(cost / 1000), CASE WHEN cost < 100 THEN 'low' END.",
            )
    for figure in block.figures:
        _check_figure(figure, block, people, facts)
    _check_means(block, people)


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
        columns = [one for one in node.operands if one.kind == "Column" and column_name(one)[0] in protected]
        if node.kind == "EQ" and len(columns) == 2:
            yield from columns


def _counted(figure: Figure, people: People) -> Iterator[Tree]:
    """Yield the columns of people that a figure demands a value of, as count(person) does."""
    for condition in figure.conditions:
        column, value = condition.child("this"), condition.child("expression")
        is_counted = condition.kind == "Is" and condition.args.get("negate") and value == Tree("Null", {})
        if is_counted and column is not None and people.is_named(column):
            yield column


def _check_expression(tree: Tree, block: Block, facts: Facts, may_be_withheld: set[int]) -> None:
    for node in tree.walk():
        if node.kind not in _EXPRESSIONS | _QUERY:
            raise Refusal(
                "Q302", node.place, f"{node.kind} has no place in a query about people.", "Leave it out."
            )
        if node.kind == "Column":
            role = block.column(node).role
            if role is Role.WITHHELD and id(node) not in may_be_withheld:
                raise Refusal(
                    "Q304",
                    node.place,
                    "This column is withheld.",
                    "Name other columns; links may be joined by it.",
                )
        elif node.kind == "Anonymous":
            _check_function(node, facts)
        elif node.kind == "Cast":
            target = node.child("to")
            if target is None or target.text("this").upper() in {"USERDEFINED", "USER-DEFINED"}:
                raise Refusal(
                    "Q203", node.place, "Only PostgreSQL's own types are cast to.", "Leave the cast out."
                )


def _check_function(node: Tree, facts: Facts) -> None:
    name = node.called
    depends_on = Volatility.IMMUTABLE if name == "nullif" else facts.functions.get(name, Volatility.OTHER)
    if node.child("this") is not None or depends_on is Volatility.OTHER:
        raise Refusal(
            "Q202",
            node.place,
            f"{name or 'This function'}() has no place in a query about people.",
            "Functions of PostgreSQL that depend on their arguments alone are answered.",
        )


def _check_secrets_above(block: Block, people: People) -> None:
    """Refuse figures that show rows above the finest table more than once, if a secret of theirs is read."""
    above = {alias for alias, _ in block.secrets(block.trees)} - {people.finest.alias}
    if not above:
        return
    weighted = [one for one in block.figures if not people.are_counted_by(one)]
    if weighted:
        raise Refusal(
            "Q308",
            weighted[0].written.place,
            "Where a sensitive column of a linked table is read, only people are counted.",
            "Write count(DISTINCT person), or ask about that table alone, with EXISTS for the other one.",
        )
    for key in block.keys:
        if any(column_name(node)[0] == people.finest.alias for node in key.columns):
            raise Refusal(
                "Q308",
                key.place,
                "Where a sensitive column of a linked table is read, keys are columns of that table.",
                "Leave this key out, and choose one value of it at a time: WHERE column = value.",
            )


def _check_secret_condition(tree: Tree, block: Block) -> None:
    """Refuse a condition on secret columns in which they meet known ones, or that could fail."""
    if tree.kind in CONNECTIVES:
        for part in tree.parts:
            _check_secret_condition(part, block)
        return
    if tree.kind == "Exists" and not _is_public_lookup(tree, block):
        raise Refusal(
            "Q307",
            tree.place,
            "A sensitive column has no place in a subquery.",
            "Join its table along the link, and write count(DISTINCT person).",
        )
    own = {source.alias for source in block.sources}
    if any(column_name(node)[0] in own and not block.depends_on_secrets(node) for node in tree.columns):
        raise Refusal(
            "Q309",
            tree.place,
            "A condition on a sensitive column is joined to others by AND only.",
            "Ask once for each side of OR.",
        )
    if tree.kind != "Exists" and not is_comparison(tree):
        raise Refusal(
            "Q303",
            tree.place,
            "A sensitive column is compared with constants only.",
            "For example: cost > 100.",
        )


def _is_public_lookup(exists: Tree, block: Block) -> bool:
    """Return whether a subquery asks for rows of public tables that equal secret columns."""
    public = {source.alias for source in block.inner if source.relation.protection is None}
    select = exists.child("this")
    where = None if select is None else select.child("where")
    tables = [node for node in exists.walk() if node.kind == "Table"]
    names = [(table.child("alias") or table).child("this") for table in tables]
    aliases = {name.text("this") for name in names if name}
    return aliases <= public and (where is None or all(map(is_condition, where.parts)))


def _check_figure(figure: Figure, block: Block, people: People, facts: Facts) -> None:
    place, argument = figure.written.place, figure.argument
    if argument is None or people.are_counted_by(figure):
        return
    aliases = {column_name(node)[0] for node in argument.columns}
    _check_expression(argument, block, facts, set())
    if figure.fraction is not None and figure.fraction.kind != "Literal":
        raise Refusal("Q301", place, "The fraction of a percentile is one constant.", "For example 0.5.")
    protected = {source.alias for source in block.sources if source.relation.protection is not None}
    if figure.function in EXTREMES and not aliases.isdisjoint(protected):
        raise Refusal(
            "Q305",
            place,
            "The least and the greatest value is one person's.",
            "Ask for percentile_cont(0.05) or percentile_cont(0.95) WITHIN GROUP (ORDER BY ...).",
        )
    if not block.depends_on_secrets(argument):
        return
    if figure.function == "count_distinct":
        raise Refusal("Q305", place, "Values of a sensitive column are not counted.", "Group by it.")
    if (
        not block.secrets([argument])
        or len(aliases) > 1
        or not never_fails_of_secrets(argument, block)
        or _jumps(argument, block)
    ):
        raise Refusal(
            "Q306",
            place,
            "A number of sensitive columns is calculated of those of one table alone, and never fails.",
            "For example: avg(cost), avg(cost / nullif(days, 0)), avg(CASE WHEN died THEN 1 ELSE 0 END).",
        )


_JUMPING = words("coalesce nullif greatest least")


def _jumps(tree: Tree, block: Block) -> bool:
    """Return whether a number is a secret for some people, and for others something that was chosen.

    What stands for one value alone can be told from a sum of all: a sum of ``least(cost, 60000)`` beside that
    of ``cost`` tells the greatest one. Classes, whose values are constants, do not, nor does 0.
    """
    for node in tree.walk():
        if node.kind == "Case":
            whens = [one for when in (*node.children("ifs"), node) for one in when.children("true")]
            values = [*whens, *node.children("default")]
        elif node.called in _JUMPING or node.kind == "Coalesce":
            values = [*node.children("this"), *node.arguments]
        else:
            continue
        secret = [value for value in values if block.depends_on_secrets(value)]
        others = [value for value in values if not block.depends_on_secrets(value)]
        is_plain = (
            len(secret) <= 1 and node.called not in {"greatest", "least"} and all(map(_is_nothing, others))
        )
        if secret and not is_plain:
            return True
    return False


def _is_nothing(tree: Tree) -> bool:
    return tree.kind == "Null" or (tree.kind == "Literal" and tree.text("this") == "0")


def _check_means(block: Block, people: People) -> None:
    """Refuse numbers of known columns over rows that secrets choose, but for means of one column (E3)."""
    shown: dict[tuple[Tree, ...], Tree] = {}
    for figure in block.figures:
        argument = figure.argument
        if argument is None or block.depends_on_secrets(argument):
            continue
        if not block.is_chosen(figure) or people.are_counted_by(figure):
            continue
        if figure.function not in {"sum", "avg"} or not _is_length(argument):
            raise Refusal(
                "Q310",
                figure.written.place,
                "Where a sensitive column chooses rows, other columns are shown by their rounded mean only.",
                "Write avg(column), or of a difference in a unit: avg(extract(epoch FROM left_on - came)).",
            )
        known, _ = block.divided(figure.conditions)
        if shown.setdefault(known, argument) != argument:
            raise Refusal(
                "Q310",
                figure.written.place,
                "The means of two columns over the same rows are not shown.",
                "Leave one out.",
            )


def _is_length(tree: Tree) -> bool:
    """Return whether an expression is a column, or the distance of two: it can mark no person."""
    if tree.kind == "Anonymous" and tree.called not in {"age", "date_part"}:
        return False
    is_divided = tree.kind == "Div" and (tree.child("expression") or tree).kind == "Literal"
    return (tree.kind in _LENGTHS or is_divided) and all(map(_is_length, tree.parts))
