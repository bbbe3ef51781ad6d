"""Expressions of secret columns that fail for no values: an error would tell of a value.

They compare columns with constants, divide values into classes, and are numbers of figures.
"""

from __future__ import annotations

from kanon_pg.queries.reading.blocks import BIGINT, Block
from kanon_pg.queries.reading.scanner import NUMBER_MARK, PLACE, words
from kanon_pg.queries.reading.trees import Tree

CONNECTIVES = words("And Or Not Paren")
COMPARISONS = words(
    "EQ NEQ LT LTE GT GTE Between In Like ILike RegexpLike RegexpILike Is NullSafeEQ NullSafeNEQ"
)
"""What is true, false or unknown, and fails for no value."""

_PATTERNS = words("Like ILike RegexpLike RegexpILike")
_CONSTANTS = words(
    "Add Sub Mul Div Literal Null Boolean Neg Paren Tuple Array Any Cast DataType DataTypeParam Identifier"
)
_TOTAL = words(
    "floor ceil ceiling round trunc abs width_bucket coalesce nullif greatest least"
    " date_trunc upper lower left"
)
"""Functions that fail for no value of the argument that `_VALUES` names, of the first one else."""

_VALUES = {"date_trunc": 1, **dict.fromkeys(["coalesce", "nullif", "greatest", "least"])}
"""Which argument of a function may be a value; None for all."""

_LONGEST = 64
_BITS = {"smallint": 15, "integer": 31}


def is_condition(tree: Tree) -> bool:
    """Return whether a condition consists of comparisons with constants."""
    return all(map(is_condition, tree.parts)) if tree.kind in CONNECTIVES else is_comparison(tree)


def is_comparison(tree: Tree) -> bool:
    """Return whether a condition compares columns with constants or each other; patterns are constants."""
    return tree.kind == "Column" or (
        tree.kind in COMPARISONS
        and all(part.kind == "Column" or is_constant(part) for part in tree.parts)
        and _has_constant_pattern(tree)
    )


def _has_constant_pattern(tree: Tree) -> bool:
    return tree.kind not in _PATTERNS or all(map(is_constant, tree.children("expression")))


def is_constant(tree: Tree) -> bool:
    """Return whether an expression is a constant; a text becomes another type before anything is read."""
    return all(
        node.kind in _CONSTANTS and (node.kind != "Cast" or (node.child("this") or node).kind == "Literal")
        for node in tree.walk()
    )


def never_fails_of_secrets(tree: Tree, block: Block) -> bool:
    """Return whether an expression of secret columns and constants never fails, whatever the values."""
    if tree.kind == "Column" or is_constant(tree):
        return tree.kind != "Column" or block.depends_on_secrets(tree)
    if tree.kind != "Paren" and tree.kind in CONNECTIVES | COMPARISONS:
        # what known columns decide, too, is another choice of rows than the one that is compared
        return is_condition(tree) and all(map(block.depends_on_secrets, tree.columns))
    parts = tree.parts
    if tree.kind == "Case" and tree.child("this") is not None:
        cases = (*tree.children("ifs"), tree)
        parts = tuple(
            part for one in cases for name in ("this", "true", "default") for part in one.children(name)
        )
    elif tree.kind == "Cast":
        parts = tree.children("this")
        if not parts or not (
            _bits(tree, block) < _LONGEST or _widens(parts[0], tree.child("to") or tree, block)
        ):
            return False
    elif tree.kind in {"Add", "Sub", "Mul", "Div"} and len(tree.operands) == 2:
        left, right = parts = tree.operands
        is_bounded = _has_no_bounds(tree, block) or _is_divided(left, right) or _bits(tree, block) < _LONGEST
        if not is_bounded or (tree.kind == "Div" and not _is_no_zero(right)):
            return False
    elif not (tree.kind in {"Paren", "Neg", "Case", "If", "Coalesce"} or _is_total(tree)):
        return False
    return all(never_fails_of_secrets(part, block) for part in parts)


def never_fails(tree: Tree, block: Block) -> bool:
    """Return whether an expression fails for no values, in a block all of whose columns are secret."""
    if tree.kind == "Exists":
        select = tree.child("this")
        where = None if select is None else select.child("where")
        return where is None or all(never_fails(part, block) for part in where.parts)
    if tree.kind in CONNECTIVES | COMPARISONS:
        return _has_constant_pattern(tree) and all(
            is_constant(part) or never_fails(part, block) for part in tree.parts
        )
    if tree.kind == "Extract":
        times = ("date", "timestamp", "interval", "time")
        return tree.child("expression") in tree.columns and block.column(
            tree.columns[0]
        ).type_name.startswith(times)
    return never_fails_of_secrets(tree, block)


def _is_total(tree: Tree) -> bool:
    """Return whether a call fails for no value of what is no constant."""
    value = _VALUES.get(tree.called, 0)
    return tree.called in _TOTAL and all(
        value in {None, place} or is_constant(one) for place, one in enumerate(tree.arguments)
    )


def _widens(tree: Tree, to: Tree, block: Block) -> bool:
    """Return whether a type has all values of an expression."""
    tree, target = tree.bare, to.text("this")
    columns = [block.column(node) for node in tree.columns]
    # texts become numbers and dates, or fail, when they are reached
    has_texts = any(
        node.kind == "Literal" and node.args.get("is_string") and not node.text("this").endswith(NUMBER_MARK)
        for node in tree.walk()
    )
    if to.arguments:
        return False
    if target in {"INT", "BIGINT", "SMALLINT"}:
        is_truth = tree.kind in CONNECTIVES | COMPARISONS
        return is_truth or (not has_texts and all(one.type_name == "boolean" for one in columns))
    if target == "DATE":
        return tree.kind == "Column" and columns[0].type_name.startswith(("date", "timestamp"))
    if target == "DOUBLE":
        return tree.kind == "Column" and columns[0].is_number
    is_numeric = target == "DECIMAL" and not has_texts and all(one.is_number for one in columns)
    return target == "TEXT" or is_numeric


def _is_divided(left: Tree, right: Tree) -> bool:
    """Return whether a class is multiplied by its width, which gives no more than the value itself."""
    left = left.bare
    if left.called in {"floor", "trunc", "ceil", "round"} and left.arguments:
        left = left.arguments[0].bare
    return left.kind == "Div" and left.child("expression") == right and right.kind == "Literal"


def _bits(tree: Tree, block: Block) -> int:
    """Return how many bits an integer of `BIGINT` columns needs; `_LONGEST` where no bound is proven."""
    tree = tree.bare
    sides = tree.operands
    if tree.kind == "Cast" and tree.child("to") == BIGINT and sides and sides[0].kind == "Column":
        return _BITS.get(block.column(sides[0]).type_name, _LONGEST)
    if tree.kind == "Literal" and tree.text("this").isdigit():
        return int(tree.text("this")).bit_length()
    if tree.kind in {"Add", "Sub", "Mul"} and len(sides) == 2:
        sizes = [_bits(side, block) for side in sides]
        return sum(sizes) if tree.kind == "Mul" else max(sizes) + 1
    return _LONGEST


def _has_no_bounds(tree: Tree, block: Block) -> bool:
    """Return whether an expression is numeric, whose numbers are never too large."""
    if tree.kind == "Column":
        return block.column(tree).type_name.startswith("numeric")
    if tree.kind == "Literal":
        return tree.text("this").startswith(PLACE) and tree.text("this").endswith(NUMBER_MARK)
    has_float = any(block.column(one).type_name in {"real", "double precision"} for one in tree.columns)
    return not has_float and any(_has_no_bounds(part, block) for part in (*tree.operands, *tree.arguments))


def _is_no_zero(tree: Tree) -> bool:
    """Return whether a divisor is a constant other than 0, or is missing where it is 0."""
    name = tree.text("this")
    if tree.called == "nullif" and len(tree.arguments) == 2:
        zero = tree.arguments[1]
        return zero.kind == "Literal" and zero.text("this").strip("0") == ""
    return tree.kind == "Literal" and name.strip("0") != "" and (name.isdigit() or name.endswith(NUMBER_MARK))
