"""The forms that expressions of a block may have: half a page of rules, checked before anything is read.

Known columns may stand in any expression of PostgreSQL's own functions and operators that depends on
nothing but its arguments and settings that are pinned. Expressions of secret columns never fail, whatever
the values: they compare columns with constants, divide values into classes, and are numbers of figures.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import BIGINT, EXTREMES, PERCENTILES, SPREADS, Block, Figure, column_name
from kanon_pg.queries.reading.facts import Facts, Role, Volatility
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import NUMBER_MARK, PLACE
from kanon_pg.queries.reading.trees import Tree

_CONNECTIVES = frozenset({"And", "Or", "Not", "Paren"})
_PATTERNS = frozenset({"Like", "ILike", "RegexpLike", "RegexpILike"})
COMPARISONS = frozenset(
    [
        "EQ",
        "NEQ",
        "LT",
        "LTE",
        "GT",
        "GTE",
        "Between",
        "In",
        "Like",
        "ILike",
        "RegexpLike",
        "RegexpILike",
        "Is",
        "NullSafeEQ",
        "NullSafeNEQ",
    ]
)
"""What is true, false or unknown, and fails for no value."""

_EXPRESSIONS = (
    _CONNECTIVES
    | COMPARISONS
    | frozenset(
        [
            "Column",
            "Identifier",
            "Literal",
            "Null",
            "Boolean",
            "Add",
            "Sub",
            "Mul",
            "Div",
            "Mod",
            "Pow",
            "Neg",
            "DPipe",
            "Cast",
            "DataType",
            "DataTypeParam",
            "Case",
            "If",
            "Coalesce",
            "Anonymous",
            "Extract",
            "Var",
            "AtTimeZone",
            "Substring",
            "Trim",
            "StrPosition",
            "Any",
            "Array",
            "RegexpLike",
            "RegexpILike",
            "CurrentDate",
            "CurrentTimestamp",
            "Localtimestamp",
            "BitwiseAnd",
            "BitwiseOr",
            "BitwiseXor",
            "BitwiseNot",
            "Escape",
            "Tuple",
        ]
    )
)
"""Kinds of nodes whose meaning is PostgreSQL's own operators, casts and functions."""

_QUERY = frozenset(["Exists", "Select", "From", "Table", "TableAlias", "Join", "Where"])
_NUMBER_FIGURES = frozenset({"sum", "avg"}) | SPREADS | PERCENTILES


def check_forms(block: Block, people: People, facts: Facts) -> None:
    """Refuse a block with an expression that may not be answered.

    Raises
    ------
    Refusal
        With the form that passes.
    """
    links = {id(node) for condition in _conditions(block) for node in _linked(condition, block)}
    links |= {id(node) for figure in block.figures for node in _counted(figure, people)}
    for condition in _conditions(block):
        _check_expression(condition, block, facts, links)
        if block.depends_on_secrets(condition):
            _check_secret_condition(condition, block)
    _check_secrets_above(block, people)
    for key in block.keys:
        _check_expression(key, block, facts, set())
        if block.depends_on_secrets(key) and not _is_safe(key, block):
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
        sides = [side for side in (node.child("this"), node.child("expression")) if side is not None]
        columns = [side for side in sides if side.kind == "Column" and column_name(side)[0] in protected]
        if node.kind == "EQ" and len(columns) == 2:
            yield from columns


def _counted(figure: Figure, people: People) -> Iterator[Tree]:
    """Yield the columns of people that a figure asks for a value of, as count(person) does."""
    for condition in figure.conditions:
        column, value = condition.child("this"), condition.child("expression")
        is_counted = condition.kind == "Is" and condition.args.get("negate") and value == Tree("Null", {})
        if (
            is_counted
            and column is not None
            and column.kind == "Column"
            and column_name(column) in people.same
        ):
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
    name = node.text("this").lower()
    found = Volatility.IMMUTABLE if name == "nullif" else facts.functions.get(name, Volatility.OTHER)
    if node.child("this") is not None or found is Volatility.OTHER:
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
    weighted = [one for one in block.figures if not _counts_people(one, people)]
    if weighted:
        raise Refusal(
            "Q308",
            weighted[0].written.place,
            "Where a sensitive column of a linked table is read, only people are counted.",
            "Write count(DISTINCT person), or ask about that table alone, with EXISTS for the other one.",
        )
    for key in block.keys:
        if any(node.kind == "Column" and column_name(node)[0] == people.finest.alias for node in key.walk()):
            raise Refusal(
                "Q308",
                key.place,
                "Where a sensitive column of a linked table is read, keys are columns of that table.",
                "Leave this key out, and choose one value of it at a time: WHERE column = value.",
            )


def _counts_people(figure: Figure, people: People) -> bool:
    argument = figure.argument
    return (
        figure.function == "count_distinct"
        and argument is not None
        and argument.kind == "Column"
        and column_name(argument) in people.same
    )


# --- secrets: nothing here may fail, whatever the values ----------------------------------------------------

_CONSTANTS = frozenset(
    [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Literal",
        "Null",
        "Boolean",
        "Neg",
        "Paren",
        "Tuple",
        "Array",
        "Any",
        "Cast",
        "DataType",
        "DataTypeParam",
        "Identifier",
    ]
)


def _check_secret_condition(tree: Tree, block: Block) -> None:
    """Refuse a condition on secret columns in which they meet known ones, or that could fail."""
    if tree.kind in _CONNECTIVES:
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
    columns = [node for node in tree.walk() if node.kind == "Column" and column_name(node)[0] in own]
    if any(not block.depends_on_secrets(node) for node in columns):
        raise Refusal(
            "Q309",
            tree.place,
            "A condition on a sensitive column is joined to others by AND only.",
            "Ask once for each side of OR.",
        )
    if tree.kind != "Exists" and not _is_comparison(tree):
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
    found = [node for node in exists.walk() if node.kind == "Table"]
    aliases = {
        alias.text("this") for one in found for alias in [(one.child("alias") or one).child("this")] if alias
    }
    return aliases <= public and (where is None or all(map(_is_condition, where.parts)))


def _is_condition(tree: Tree) -> bool:
    return all(map(_is_condition, tree.parts)) if tree.kind in _CONNECTIVES else _is_comparison(tree)


def _is_comparison(tree: Tree) -> bool:
    """Return whether a condition compares columns with constants or each other; patterns are constants."""
    patterns = tree.children("expression") if tree.kind in _PATTERNS else ()
    return tree.kind == "Column" or (
        tree.kind in COMPARISONS
        and all(part.kind == "Column" or _is_constant(part) for part in tree.parts)
        and all(map(_is_constant, patterns))
    )


def _is_constant(tree: Tree) -> bool:
    """Return whether an expression is a constant; a text becomes another type before anything is read."""
    return all(
        node.kind in _CONSTANTS and (node.kind != "Cast" or (node.child("this") or node).kind == "Literal")
        for node in tree.walk()
    )


def _is_safe(tree: Tree, block: Block) -> bool:
    """Return whether an expression of secret columns and constants never fails, whatever the values."""
    left, right = tree.child("this"), tree.child("expression")
    if tree.kind == "Column" or _is_constant(tree):
        return tree.kind != "Column" or block.depends_on_secrets(tree)
    if tree.kind in _CONNECTIVES | COMPARISONS - {"Paren"} and tree.kind != "Paren":
        # what known columns decide, too, is another choice of rows than the one that is compared
        return _is_condition(tree) and all(
            block.depends_on_secrets(node) for node in tree.walk() if node.kind == "Column"
        )
    if tree.kind == "Case" and left is not None:
        whens = tree.children("ifs")
        parts = [
            part
            for one in (*whens, tree)
            for name in ("this", "true", "default")
            for part in one.children(name)
        ]
        return all(_is_safe(part, block) for part in parts)
    if tree.kind == "Cast":
        is_wide = _bits(tree, block) < _LONGEST or _widens(left or tree, tree.child("to") or tree, block)
        return left is not None and is_wide and _is_safe(left, block)
    if tree.kind in {"Add", "Sub", "Mul", "Div"} and left is not None and right is not None:
        return (
            all(_is_safe(part, block) for part in (left, right))
            and (_has_no_bounds(tree, block) or _is_divided(left, right) or _bits(tree, block) < _LONGEST)
            and (tree.kind != "Div" or _is_no_zero(right))
        )
    return (
        tree.kind in {"Paren", "Neg", "Case", "If", "Anonymous", "Coalesce"}
        and (tree.kind != "Anonymous" or _is_total(tree))
        and all(_is_safe(part, block) for part in tree.parts)
    )


def never_fails(tree: Tree, block: Block) -> bool:
    """Return whether an expression fails for no values, in a block all of whose columns are secret."""
    if tree.kind == "Exists":
        select = tree.child("this")
        where = None if select is None else select.child("where")
        return where is None or all(never_fails(part, block) for part in where.parts)
    if tree.kind in _CONNECTIVES | COMPARISONS:
        patterns = tree.children("expression") if tree.kind in _PATTERNS else ()
        return all(map(_is_constant, patterns)) and all(
            _is_constant(part) or never_fails(part, block) for part in tree.parts
        )
    if tree.kind == "Extract":
        columns = [node for node in tree.walk() if node.kind == "Column"]
        return tree.child("expression") in columns and block.column(columns[0]).type_name.startswith(
            ("date", "timestamp", "interval", "time")
        )
    return _is_safe(tree, block)


_TOTAL = frozenset(
    [
        "floor",
        "ceil",
        "ceiling",
        "round",
        "trunc",
        "abs",
        "width_bucket",
        "coalesce",
        "nullif",
        "greatest",
        "least",
        "date_trunc",
        "upper",
        "lower",
        "left",
    ]
)
"""Functions that fail for no value of the argument that `_VALUES` names, of the first one else."""

_VALUES = {"date_trunc": 1, **dict.fromkeys(["coalesce", "nullif", "greatest", "least"])}
"""Which argument of a function may be a value; None for all."""


def _is_total(call: Tree) -> bool:
    """Return whether a function fails for no value of what is no constant."""
    name = call.text("this").lower()
    value = _VALUES.get(name, 0)
    return name in _TOTAL and all(
        value in {None, place} or _is_constant(one) for place, one in enumerate(call.children("expressions"))
    )


def _widens(tree: Tree, to: Tree, block: Block) -> bool:
    """Return whether a type has all values of an expression."""
    tree, target = _inside(tree), to.text("this")
    columns = [block.column(node) for node in tree.walk() if node.kind == "Column"]
    # texts become numbers and dates, or fail, when they are reached
    has_texts = any(
        node.kind == "Literal" and node.args.get("is_string") and not node.text("this").endswith(NUMBER_MARK)
        for node in tree.walk()
    )
    if to.children("expressions"):
        return False
    if target in {"INT", "BIGINT", "SMALLINT"}:
        is_truth = tree.kind in _CONNECTIVES | COMPARISONS
        return is_truth or (not has_texts and all(one.type_name == "boolean" for one in columns))
    if target == "DATE":
        return tree.kind == "Column" and columns[0].type_name.startswith(("date", "timestamp"))
    if target == "DOUBLE":
        return tree.kind == "Column" and columns[0].is_number
    return target == "TEXT" or (
        target == "DECIMAL" and not has_texts and all(one.is_number for one in columns)
    )


def _inside(tree: Tree) -> Tree:
    """Return what parentheses are around."""
    inner = tree.child("this") if tree.kind == "Paren" else None
    return tree if inner is None else _inside(inner)


def _is_divided(left: Tree, right: Tree) -> bool:
    """Return whether a class is multiplied by its width, which gives no more than the value itself."""
    left = _inside(left)
    if left.kind == "Anonymous" and left.text("this").lower() in {"floor", "trunc", "ceil", "round"}:
        left = _inside(next(iter(left.children("expressions")), left))
    return left.kind == "Div" and left.child("expression") == right and right.kind == "Literal"


_LONGEST = 64
_BITS = {"smallint": 15, "integer": 31}


def _bits(tree: Tree, block: Block) -> int:
    """Return how many bits a whole number needs, calculated of `BIGINT` columns; `_LONGEST` if not known."""
    tree = _inside(tree)
    left, right = tree.child("this"), tree.child("expression")
    if tree.kind == "Cast" and tree.child("to") == BIGINT and left is not None and left.kind == "Column":
        return _BITS.get(block.column(left).type_name, _LONGEST)
    if tree.kind == "Literal" and tree.text("this").isdigit():
        return int(tree.text("this")).bit_length()
    if tree.kind in {"Add", "Sub", "Mul"} and left is not None and right is not None:
        sizes = _bits(left, block), _bits(right, block)
        return sum(sizes) if tree.kind == "Mul" else max(sizes) + 1
    return _LONGEST


def _has_no_bounds(tree: Tree, block: Block) -> bool:
    """Return whether an expression is numeric, whose numbers are never too large."""
    if tree.kind == "Column":
        return block.column(tree).type_name.startswith("numeric")
    if tree.kind == "Literal":
        return tree.text("this").startswith(PLACE) and tree.text("this").endswith(NUMBER_MARK)
    has_float = any(
        node.kind == "Column" and block.column(node).type_name in {"real", "double precision"}
        for node in tree.walk()
    )
    sides = [
        part for part in (tree.child("this"), tree.child("expression"), *tree.children("expressions")) if part
    ]
    return not has_float and any(_has_no_bounds(part, block) for part in sides)


def _is_no_zero(tree: Tree) -> bool:
    """Return whether a divisor is a constant other than 0, or is missing where it is 0."""
    name, parts = tree.text("this"), tree.children("expressions")
    if tree.kind == "Anonymous" and name.lower() == "nullif" and len(parts) == 2:
        return parts[1].text("this").strip("0") == "" and parts[1].kind == "Literal"
    return tree.kind == "Literal" and name.strip("0") != "" and (name.isdigit() or name.endswith(NUMBER_MARK))


def _check_figure(figure: Figure, block: Block, people: People, facts: Facts) -> None:
    place = figure.written.place
    argument = figure.argument
    if argument is None:
        return
    if _counts_people(figure, people):
        return
    names = {column_name(node) for node in argument.walk() if node.kind == "Column"}
    _check_expression(argument, block, facts, set())
    if figure.fraction is not None and figure.fraction.kind != "Literal":
        raise Refusal("Q301", place, "The fraction of a percentile is one constant.", "For example 0.5.")
    protected = {source.alias for source in block.sources if source.relation.protection is not None}
    if figure.function in EXTREMES and any(alias in protected for alias, _ in names):
        raise Refusal(
            "Q305",
            place,
            "The least and the greatest value is one person's.",
            "Ask for percentile_cont(0.05).",
        )
    if not block.depends_on_secrets(argument):
        return
    if figure.function == "count_distinct":
        raise Refusal("Q305", place, "Values of a sensitive column are not counted.", "Group by it.")
    if (
        not block.secrets([argument])
        or len({alias for alias, _ in names}) > 1
        or not _is_safe(argument, block)
        or _jumps(argument, block)
    ):
        raise Refusal(
            "Q306",
            place,
            "A number of sensitive columns is calculated of those of one table alone, and never fails.",
            "For example: avg(cost), avg(cost / nullif(days, 0)), avg(CASE WHEN died THEN 1 ELSE 0 END).",
        )


def _jumps(tree: Tree, block: Block) -> bool:
    """Return whether a number is a secret for some people, and for others something that was chosen.

    What stands for one value alone is found again in a sum of all: a sum of ``least(cost, 60000)`` beside
    that of ``cost`` tells the greatest one. Classes, whose values are constants, do not, nor does 0.
    """
    for node in tree.walk():
        name, parts = node.text("this").lower(), node.children("expressions")
        if not block.depends_on_secrets(node) or (node.kind == "Anonymous" and name not in _JUMPING):
            continue
        if node.kind == "Case":
            whens = [one for when in (*node.children("ifs"), node) for one in when.children("true")]
            values = [*whens, *node.children("default")]
        elif node.kind in {"Anonymous", "Coalesce"}:
            values = [*node.children("this"), *parts]
        else:
            continue
        secret = [value for value in values if block.depends_on_secrets(value)]
        others = [value for value in values if not block.depends_on_secrets(value)]
        is_plain = len(secret) <= 1 and name not in {"greatest", "least"} and all(map(_is_nothing, others))
        if secret and not is_plain:
            return True
    return False


_JUMPING = frozenset({"coalesce", "nullif", "greatest", "least"})


def _is_nothing(tree: Tree) -> bool:
    return tree.kind == "Null" or (tree.kind == "Literal" and tree.text("this") == "0")


def _check_means(block: Block, people: People) -> None:
    """Refuse numbers of known columns over rows that secrets choose, but for means of one column (E3)."""
    by_secrets = any(map(block.depends_on_secrets, (*block.conditions, *block.keys)))
    shown: dict[tuple[Tree, ...], Tree] = {}
    for figure in block.figures:
        argument = figure.argument
        is_chosen = by_secrets or any(map(block.depends_on_secrets, figure.conditions))
        if argument is None or not is_chosen or block.depends_on_secrets(argument):
            continue
        if _counts_people(figure, people):
            continue
        if figure.function not in {"sum", "avg"} or not _is_length(argument):
            raise Refusal(
                "Q310",
                figure.written.place,
                "Where a sensitive column chooses rows, other columns are shown by their rounded mean only.",
                "Write avg(column), or of a difference in a unit: avg(extract(epoch FROM left_on - came)).",
            )
        known = tuple(one for one in figure.conditions if not block.depends_on_secrets(one))
        if shown.setdefault(known, argument) != argument:
            raise Refusal(
                "Q310",
                figure.written.place,
                "The means of two columns over the same rows are not shown.",
                "Leave one out.",
            )


def _is_length(tree: Tree) -> bool:
    """Return whether an expression is a column, or says how far two are apart: it can mark no person."""
    if tree.kind == "Anonymous" and tree.text("this").lower() not in {"age", "date_part"}:
        return False
    kinds = {
        "Column",
        "Identifier",
        "Literal",
        "Paren",
        "Sub",
        "Add",
        "Extract",
        "Var",
        "Anonymous",
        "Cast",
        "DataType",
    }
    is_divided = tree.kind == "Div" and (tree.child("expression") or tree).kind == "Literal"
    return (tree.kind in kinds or is_divided) and all(map(_is_length, tree.parts))
