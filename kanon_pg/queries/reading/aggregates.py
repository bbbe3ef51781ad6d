"""Aggregates as they are written: which calls are some, and those that are calculated of plainer ones.

A truth about all rows is told by numbers of rows; what pairs of numbers have in common by sums of products;
an aggregate of a multiple is a multiple of an aggregate. So `Figure` has few functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kanon_pg.queries.reading.blocks import FIGURES, PERCENTILES, column_name
from kanon_pg.queries.reading.facts import Column
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import scan, take_out_constants, words
from kanon_pg.queries.reading.selects import QUERIES, all_of, has_value, in_parentheses, number
from kanon_pg.queries.reading.trees import Tree, parse

ColumnOf = Callable[[Tree], "Column | None"]
"""Returns the column that a node means, None for one of a subquery that is calculated."""

_TRUTHS = words("bool_or bool_and every")
_SXX = "(n * CAST(xx AS numeric) - CAST(x AS numeric) * x)"
_SYY = "(n * CAST(yy AS numeric) - CAST(y AS numeric) * y)"
_SXY = "(n * CAST(xy AS numeric) - CAST(x AS numeric) * y)"
_PAIRS = {
    "regr_count": "n",
    **{
        name: f"CAST({of} AS double precision)"
        for name, of in {
            "corr": f"{_SXY} / nullif(sqrt({_SXX}) * sqrt({_SYY}), 0)",
            "covar_pop": f"{_SXY} / nullif(CAST(n AS numeric) * n, 0)",
            "covar_samp": f"{_SXY} / nullif(CAST(n AS numeric) * (n - 1), 0)",
            "regr_slope": f"{_SXY} / nullif({_SXX}, 0)",
            "regr_intercept": f"(y - x * {_SXY} / nullif({_SXX}, 0)) / n",
            "regr_r2": f"CASE WHEN {_SXX} <> 0 AND {_SYY} = 0 THEN 1"
            f" ELSE {_SXY} * {_SXY} / nullif({_SXX} * {_SYY}, 0) END",
        }.items()
    },
}
"""What pairs (y, x) of numbers have in common, by their number and sums."""

_AGGREGATES = (FIGURES | _TRUTHS | _PAIRS.keys()) - {"count_distinct"}
OTHER_AGGREGATES = {
    "mode": "Group by the column, and take the first of each: count(*) ... ORDER BY count(*) DESC.",
    **dict.fromkeys(["regr_avgx", "regr_avgy", "regr_sxx", "regr_sxy", "regr_syy"], "Ask for regr_slope."),
    **dict.fromkeys(
        words("string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg xmlagg"),
        "Values of single people are not listed. Group by the column.",
    ),
    **dict.fromkeys(words("bit_and bit_or bit_xor any_value range_agg"), "Group by the column."),
}
"""What to write instead of aggregates that are no figures."""


def is_aggregate(tree: Tree) -> bool:
    """Return whether a node is a call of an aggregate."""
    if tree.kind in {"Filter", "WithinGroup"}:
        return any(map(is_aggregate, tree.children("this")))
    return tree.called in _AGGREGATES


def has_aggregate(tree: Tree) -> bool:
    """Return whether an output has an aggregate in it, of whatever kind; one over a window is none."""
    return tree.kind != "Window" and any(
        is_aggregate(node) or node.called in OTHER_AGGREGATES
        for node in tree.walk(lambda node: node.kind not in QUERIES)
    )


def is_plain(query: Tree) -> bool:
    """Return whether a query only returns rows."""
    if query.kind == "Subquery":
        inner = query.child("this")
        return inner is not None and is_plain(inner)
    clauses = words("group having distinct limit offset windows locks sample qualify into")
    return (
        query.kind == "Select"
        and not any(map(query.args.get, clauses))
        and not any(
            has_aggregate(tree) or any(node.kind == "Window" for node in tree.walk())
            for tree in query.arguments
        )
    )


def call_of(tree: Tree) -> tuple[str, Tree | None, Tree | None]:
    """Return the name, the argument (None for a star) and the fraction of an aggregate without FILTER."""
    if tree.kind == "WithinGroup":
        call, order = tree.child("this"), tree.child("expression")
        parts = () if order is None else order.arguments
        if call is None or len(parts) != 1 or parts[0].args.get("desc"):
            raise Refusal("Q301", tree.place, "A percentile is over one column, in ascending order.")
        return call.called, parts[0].child("this"), next(iter(call.arguments), None)
    if len(tree.arguments) != 1 or tree.called in PERCENTILES:
        raise Refusal("Q301", tree.place, "This aggregate has one argument.")
    (argument,) = tree.arguments
    if argument.kind == "Distinct":
        if tree.called != "count" or len(argument.arguments) != 1:
            raise Refusal("Q301", tree.place, "DISTINCT stands in count only.", "Leave it out.")
        return "count_distinct", argument.arguments[0], None
    return tree.called, None if argument.kind == "Star" else argument, None


def calculated_of_others(tree: Tree, column: ColumnOf) -> Tree | None:
    """Return what an aggregate is, calculated of plainer ones; None if it is plain."""
    call = tree.child("this") if tree.kind == "Filter" else tree
    if call is None:
        return None
    return (
        _multiple(tree, call, column) or _truth(tree, call) or _several(tree, call) or _of_pairs(tree, call)
    )


def _with_call(tree: Tree, call: Tree) -> Tree:
    """Return an aggregate with another call, and the same FILTER."""
    return tree.having(this=call) if tree.kind == "Filter" else call


def _also_filtered(tree: Tree, call: Tree, *conditions: Tree) -> Tree:
    """Return a call with conditions and those of an aggregate's FILTER."""
    where = tree.child("expression") if tree.kind == "Filter" else None
    chosen = all_of([*conditions, *(() if where is None else where.children("this"))])
    return Tree("Filter", {"this": call, "expression": Tree("Where", {"this": chosen})}, tree.place)


def _count(call: Tree, argument: Tree | None = None) -> Tree:
    return call.having(this="count", expressions=(argument or Tree("Star", {}),))


def _multiple(tree: Tree, call: Tree, column: ColumnOf) -> Tree | None:
    """Return an aggregate of a constant, or of a column times one, as a multiple of a plainer one."""
    if call.called not in {"sum", "avg"} or len(call.arguments) != 1:
        return None
    (argument,) = call.arguments
    if call.called == "sum" and argument.kind == "Literal":
        kind, factor, plain = "Mul", argument, _count(call)
    else:
        product = _product(argument, column)
        if product is None:
            return None
        # a product of single values may be too large for its type, which would tell of them
        kind, factor, scaled = product
        plain = call.having(expressions=(scaled,))
    parts = {"this": _with_call(tree, plain), "expression": factor}
    return in_parentheses(Tree(kind, parts, tree.place))


def _product(tree: Tree, column: ColumnOf) -> tuple[str, Tree, Tree] | None:
    """Return by which constant a secret column is multiplied or divided, and the column."""
    tree = tree.bare
    if tree.kind not in {"Mul", "Div"} or len(tree.operands) != 2:
        return None
    left, right = tree.operands
    if tree.kind == "Mul" and left.kind == "Literal":
        left, right = right, left
    if right.kind != "Literal" or right.text("this").strip("0") == "" or left.kind != "Column":
        return None
    scaled = column(left)
    if scaled is None or not scaled.is_secret:
        return None
    is_exact = tree.kind == "Mul" or not scaled.type_name.startswith(("int", "small", "big"))
    return (tree.kind, right, left) if is_exact else None


def _truth(tree: Tree, call: Tree) -> Tree | None:
    """Return a truth about all rows, or about one of them, as what their numbers say."""
    if call.called not in _TRUTHS or len(call.arguments) != 1:
        return None
    (argument,) = call.arguments
    is_any = call.called == "bool_or"
    told = argument if is_any else Tree("Not", {"this": in_parentheses(argument)})
    columns = argument.columns
    is_strict = len(columns) == 1 and argument.kind in {"EQ", "NEQ", "GT", "GTE", "LT", "LTE"}
    known = _with_call(tree, _count(call, columns[0] if is_strict else argument))
    rows = _also_filtered(tree, _count(call), told)
    says = Tree("GT" if is_any else "EQ", {"this": rows, "expression": number("0")})
    has_some = Tree("GT", {"this": known, "expression": number("0")})
    return Tree("Case", {"ifs": (Tree("If", {"true": says, "this": has_some}),)}, tree.place)


def _several(tree: Tree, call: Tree) -> Tree | None:
    """Return an array of percentiles as percentiles."""
    inner = call.child("this") if call.kind == "WithinGroup" else None
    if inner is None or len(inner.arguments) != 1 or inner.arguments[0].kind != "Array":
        return None
    each = [
        _with_call(tree, call.having(this=inner.having(expressions=(fraction,))))
        for fraction in inner.arguments[0].arguments
    ]
    return Tree("Array", {"expressions": tuple(each)}, tree.place)


def _of_pairs(tree: Tree, call: Tree) -> Tree | None:
    """Return what pairs of numbers have in common as what sums of their products say."""
    if call.called not in _PAIRS or len(call.arguments) != 2:
        return None
    y, x = call.arguments

    def product(one: Tree, other: Tree) -> Tree:
        return Tree("Mul", {"this": in_parentheses(one), "expression": in_parentheses(other)})

    def filtered(name: str, argument: Tree) -> Tree:
        one = call.having(this=name, expressions=(argument,))
        return _also_filtered(tree, one, has_value(y), has_value(x))

    sums = {"x": x, "y": y, "xx": product(x, x), "yy": product(y, y), "xy": product(x, y)}
    made = {name: filtered("sum", one) for name, one in sums.items()} | {
        "n": filtered("count", Tree("Star", {}))
    }
    expression = _pair_formula(call.called)
    return in_parentheses(
        expression.replaced(lambda node: made[column_name(node)[1]] if node.kind == "Column" else None)
    )


@cache
def _pair_formula(name: str) -> Tree:
    return parse(take_out_constants(scan(f"SELECT {_PAIRS[name]}"))).arguments[0]
