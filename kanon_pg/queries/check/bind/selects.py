"""One SELECT to its levels: keys, outputs, conditions on groups, order.

ROLLUP, CUBE and GROUPING SETS give one level for every grouping, over the same rows.
Each level is a grouping SELECT like any other: its groups are counted by themselves. What the levels say
together is counted, too: totals and details of one answer are equations about the same rows, so the
groups by all keys at once are counted even where they are not answered (see `plan.divisions`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

from kanon_pg.queries.check.bind.aggregates import WINDOW
from kanon_pg.queries.check.bind.conversion import as_type, check_order
from kanon_pg.queries.check.bind.expressions import bind_expression
from kanon_pg.queries.check.bind.scopes import GROUPING, GroupScope, PublicRowScope, RowScope
from kanon_pg.queries.check.bind.sources import FromClause, named_outputs
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.levels import GroupingLevel, Output, Sorting
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, KeyRef, TypedConstant, walk
from kanon_pg.queries.check.read.selects import MOST_GROUPINGS
from kanon_pg.queries.check.read.syntax import (
    Constant,
    Expression,
    Name,
    OrderItem,
    OutputItem,
    Select,
    Star,
    holds_aggregate,
    holds_window,
    scalar_queries,
)
from kanon_pg.queries.check.types import UNKNOWN


def groupings(
    keys: tuple[Bound, ...], sets: tuple[tuple[tuple[Bound, ...], ...], ...], span: Span
) -> tuple[tuple[Bound, ...], ...]:
    """Return the key lists of all groupings.

    Parameters
    ----------
    sets : tuple
        For every ROLLUP, CUBE or GROUPING SETS the lists that it stands for; one of each is combined.

    Raises
    ------
    Refusal
        Q507 for too many groupings, Q509 for a grouping that occurs twice.
    """
    found = []
    for chosen in product(*sets):
        found.append(tuple(dict.fromkeys((*keys, *(key for part in chosen for key in part)))))
        if len(found) > MOST_GROUPINGS:
            sentence = f"GROUP BY stands for more than {MOST_GROUPINGS} groupings."
            raise Refusal("Q507", span, sentence, "Ask for fewer totals at a time.")
    if len({frozenset(item) for item in found}) != len(found):
        raise Refusal("Q509", span, "GROUP BY names one grouping twice.", "Name each grouping once.")
    return tuple(found)


def grouped_by(level: GroupingLevel, keys: tuple[Bound, ...], number: int) -> GroupingLevel:
    """Return a level by some of its keys; the other ones are NULL.

    Returns
    -------
    Level
        Over the same rows, with outputs, condition and order in terms of the keys that are left.
    """
    places = {level.keys.index(key): place for place, key in enumerate(keys)}
    outputs = tuple(Output(item.name, _restricted(item.expression, places)) for item in level.outputs)
    sorting = tuple(
        item
        if isinstance(item.expression, int)
        else replace(item, expression=_restricted(item.expression, places))
        for item in level.sorting
    )
    having = _restricted(level.having, places) if level.having is not None else None
    return replace(level, number=number, keys=keys, outputs=outputs, sorting=sorting, having=having)


def _restricted(expression: Bound, places: Mapping[int, int]) -> Bound:
    if isinstance(expression, KeyRef):
        place = places.get(expression.position)
        return _null(expression) if place is None else replace(expression, position=place)
    if not isinstance(expression, AllowedCall):
        return expression
    if expression.name == GROUPING:
        bits = "".join("1" if _position(key) not in places else "0" for key in expression.operands)
        return TypedConstant(type="int4", text=str(int(bits, 2)), span=expression.span)
    operands = tuple(_restricted(operand, places) for operand in expression.operands)
    return replace(expression, operands=operands) if expression.operands else expression


def _position(key: Bound) -> int:
    return key.position if isinstance(key, KeyRef) else -1


def _null(key: KeyRef) -> Bound:
    computed_type = "numeric" if key.as_numeric else key.type
    template = f"CAST(NULL AS pg_catalog.{computed_type})"
    return AllowedCall(
        type=key.type, as_numeric=key.as_numeric, name="cast", template=template, operands=(), span=key.span
    )


_MOST_OUTPUTS = 200
_MOST_FIGURES = 400


def bind_select(
    select: Select, collected: FromClause, order: tuple[OrderItem, ...], number: Callable[[], int]
) -> list[GroupingLevel]:
    """Bind a SELECT whose FROM and WHERE are bound.

    Parameters
    ----------
    order : tuple of OrderItem
        ORDER BY, empty if it is bound elsewhere.

    Raises
    ------
    Refusal
        Codes Q100 to Q599.
    """
    if not select.items:
        raise Refusal("Q501", select.span, "The query returns nothing.", "Name at least one output.")
    grouped = is_grouped(select)
    if grouped and select.distinct:
        hint = "Leave DISTINCT out: groups are distinct already."
        raise Refusal("Q502", select.span, "DISTINCT and GROUP BY together are not allowed.", hint)
    windowed = any(holds_window(item.expression) for item in select.items)
    if not grouped and windowed and not collected.rows.protected and not select.distinct:
        level = _windowed(select, collected, order, number())
    elif grouped:
        return _groupings(select, collected, order, number)
    else:
        level = _rows(select, collected, order, number())
    return [_checked(level)]


def is_grouped(select: Select) -> bool:
    """Return whether the SELECT groups rows."""
    grouped = bool(select.group) or bool(select.sets) or select.having is not None
    return grouped or any(holds_aggregate(item.expression) for item in select.items)


def _level(select: Select, collected: FromClause, number: int, keys: tuple[Bound, ...]) -> GroupingLevel:
    return GroupingLevel(
        number=number,
        instances=tuple(collected.instances),
        where=tuple(collected.where),
        keys=keys,
        outputs=(),
        having=None,
        sorting=(),
        repeated=False,
        family=number,
        span=select.span,
    )


def _rows(select: Select, collected: FromClause, order: tuple[OrderItem, ...], number: int) -> GroupingLevel:
    """Bind a selection of rows: groups of equal tuples, each as often as it occurs."""
    named = named_outputs(select, collected.rows)
    groups = GroupScope(collected.rows, tuple(dict.fromkeys(bound for _, bound in named)))
    outputs = tuple(Output(name, groups.key(bound) or bound) for name, bound in named)
    return replace(
        _level(select, collected, number, groups.keys),
        outputs=outputs,
        sorting=tuple(_sorting(item, outputs, groups) for item in order),
        repeated=not select.distinct,
    )


def _windowed(
    select: Select, collected: FromClause, order: tuple[OrderItem, ...], number: int
) -> GroupingLevel:
    """Bind a selection of rows that belong to nobody, with window functions over them."""
    tuples = PublicRowScope(collected.rows)
    found: list[Output] = []
    for item in select.items:
        if isinstance(item.expression, Star):
            named = collected.rows.star(item.expression.table, item.span)
            found.extend(Output(name, tuples.key(bound)) for name, bound in named)
        else:
            bound = _settled(bind_expression(item.expression, tuples))
            found.append(Output(item.name, bound))
    outputs = tuple(found)
    sorting = tuple(_sorting(item, outputs, tuples) for item in order)
    level = _level(select, collected, number, tuple(tuples.keys))
    return replace(level, outputs=outputs, sorting=sorting, repeated=True)


def _groupings(
    select: Select, collected: FromClause, order: tuple[OrderItem, ...], number: Callable[[], int]
) -> list[GroupingLevel]:
    """Bind a SELECT that groups, once for every grouping."""
    keys, sets = _keys(select, collected.rows)
    keys = tuple(dict.fromkeys((*keys, *_answers(select, order, collected))))
    every = dict.fromkeys((*keys, *(key for lists in sets for part in lists for key in part)))
    groups = GroupScope(collected.rows, tuple(every))
    outputs = _outputs(select, groups)
    having = as_type(bind_expression(select.having, groups), "bool") if select.having is not None else None
    _check_having(having)
    sorting = tuple(_sorting(item, outputs, groups) for item in order)
    first = number()
    level = replace(
        _level(select, collected, first, groups.keys), outputs=outputs, having=having, sorting=sorting
    )
    _checked(level)
    if not sets and not _holds(level, GROUPING):
        return [level]
    if sets and _holds(level, WINDOW):
        hint = "Put the query into FROM and write the window around it."
        raise Refusal("Q217", select.span, "Window functions over grouping sets are not allowed.", hint)
    lists = groupings(keys, sets, select.span)
    if len(lists) * (len(outputs) + len(sorting)) > _MOST_FIGURES:
        sentence = f"The groupings have more than {_MOST_FIGURES} outputs together."
        raise Refusal("Q001", select.span, sentence, "Ask for fewer outputs or totals at a time.")
    return [grouped_by(level, part, number() if place else first) for place, part in enumerate(lists)]


def _answers(select: Select, order: tuple[OrderItem, ...], collected: FromClause) -> tuple[Bound, ...]:
    """Return the answers of queries in the place of values that outputs, HAVING and ORDER BY read.

    They are the same for every row, so that groups by them, too, are the same groups.
    """
    roots = [item.expression for item in select.items] + [item.expression for item in order]
    roots += [select.having] if select.having is not None else []
    found = [collected.rows.scalar(item) for root in roots for item in scalar_queries(root)]
    if found and not collected.rows.protected and not select.group:
        # groups by an answer would have no row where there are none, an aggregate alone has one
        hint = "Put the query into FROM or WITH, and join it."
        raise Refusal("Q021", found[0].span, "A query has no place as a value here.", hint)
    return tuple(replace(item, span=Span(0, 0)) for item in found)


def _checked(level: GroupingLevel) -> GroupingLevel:
    if not level.outputs:
        raise Refusal("Q501", level.span, "The query returns nothing.", "Name at least one output.")
    if len(level.outputs) > _MOST_OUTPUTS:
        raise Refusal("Q001", level.span, f"The query returns more than {_MOST_OUTPUTS} columns.")
    return level


def _holds(level: GroupingLevel, name: str) -> bool:
    roots = [output.expression for output in level.outputs]
    roots += [level.having] if level.having is not None else []
    roots += [item.expression for item in level.sorting if not isinstance(item.expression, int)]
    return any(isinstance(item, AllowedCall) and item.name == name for root in roots for item in walk(root))


def _check_having(having: Bound | None) -> None:
    for item in walk(having) if having is not None else ():
        if isinstance(item, AllowedCall) and item.name == WINDOW:
            raise Refusal(
                "Q217", item.span, "A window function has no place in HAVING.", "Return it instead."
            )


def _keys(
    select: Select, rows: RowScope
) -> tuple[tuple[Bound, ...], tuple[tuple[tuple[Bound, ...], ...], ...]]:
    names = Counter(item.name for item in select.items)
    aliases = {item.name: item for item in select.items if names[item.name] == 1}

    def bound(expression: Expression) -> Bound:
        item = _item_of(expression, select, aliases, rows)
        return _settled(bind_expression(item.expression if item is not None else expression, rows))

    keys = tuple(dict.fromkeys(map(bound, select.group)))
    sets = tuple(tuple(tuple(map(bound, part)) for part in lists) for lists in select.sets)
    return keys, sets


def _item_of(
    expression: Expression, select: Select, aliases: dict[str, OutputItem], rows: RowScope
) -> OutputItem | None:
    if isinstance(expression, Constant) and expression.kind == "number":
        position = int(expression.text or "0") if (expression.text or "").isdigit() else 0
        if not 1 <= position <= len(select.items):
            raise Refusal(
                "Q503", expression.span, f"GROUP BY {expression.text} names no output.", "Count from 1."
            )
        return select.items[position - 1]
    if isinstance(expression, Name) and len(expression.parts) == 1:
        name = expression.parts[0]
        is_column = name in rows.merged or any(name in item.columns for item in rows.visible)
        return None if is_column else aliases.get(name)
    return None


def _settled(bound: Bound) -> Bound:
    return as_type(bound, "text") if bound.type == UNKNOWN else bound


def _outputs(select: Select, groups: GroupScope) -> tuple[Output, ...]:
    found = []
    for item in select.items:
        if isinstance(item.expression, Star):
            raise Refusal("Q021", item.span, "A star cannot be grouped.", "Name the columns.")
        bound = _settled(bind_expression(item.expression, groups))
        found.append(Output(item.name, bound))
    return tuple(found)


def _sorting(item: OrderItem, outputs: tuple[Output, ...], scope: GroupScope | PublicRowScope) -> Sorting:
    expression = item.expression
    if isinstance(expression, Constant):
        bound = outputs[ordinal(expression, len(outputs)) - 1].expression
    else:
        named = [output for output in outputs if _is_name(expression, output.name)]
        bound = named[0].expression if named else _sorted_by(expression, scope)
    check_order(replace(bound, span=expression.span))
    return Sorting(bound, item.descending, item.nulls_first)


def _sorted_by(expression: Expression, scope: GroupScope | PublicRowScope) -> Bound:
    try:
        return _settled(bind_expression(expression, scope))
    except Refusal as refusal:
        if refusal.finding.code != "Q216":
            raise
        hint = "Sort by an output, a group key or an aggregate."
        raise Refusal(
            "Q504", expression.span, "ORDER BY names something that is not answered.", hint
        ) from None


def _is_name(expression: Expression, name: str) -> bool:
    return isinstance(expression, Name) and expression.parts == (name,)


def ordinal(expression: Expression, outputs: int) -> int:
    """Return the number of the output that ORDER BY names by its position."""
    if isinstance(expression, Constant) and expression.kind == "number" and (expression.text or "").isdigit():
        position = int(expression.text or "0")
        if 1 <= position <= outputs:
            return position
    raise Refusal(
        "Q503", expression.span, "ORDER BY names no output by this.", "Sort by an output or its number."
    )
