"""Queries to plans: levels, keys, outputs, order."""

from __future__ import annotations

from dataclasses import replace

from kanon_pg.query.aggregates import holds_aggregate
from kanon_pg.query.bind_expressions import bind_expression
from kanon_pg.query.bind_windows import WINDOW
from kanon_pg.query.bound import Bound, Fixed, Given, Operation, walk
from kanon_pg.query.catalog import CatalogSnapshot
from kanon_pg.query.conversion import as_type, together
from kanon_pg.query.findings import Refusal, Span
from kanon_pg.query.level import Level, Output, Plan, Sorting
from kanon_pg.query.scope import Groups, Rows
from kanon_pg.query.sources import Environment, SourceBinder, named_outputs, output_name
from kanon_pg.query.syntax import (
    Constant,
    Expression,
    Item,
    Name,
    OrderItem,
    Placeholder,
    Query,
    Select,
    Star,
)
from kanon_pg.query.types import UNKNOWN

_MOST_INSTANCES = 24
_MOST_OUTPUTS = 200


class Binder:
    """Binds one query against one snapshot.

    Parameters
    ----------
    snapshot : CatalogSnapshot
        What names mean.
    """

    def __init__(self, snapshot: CatalogSnapshot) -> None:
        self._snapshot = snapshot
        self._instances = 0
        self._levels = 0

    def plan(self, query: Query, environment: Environment | None = None, *, outermost: bool = False) -> Plan:
        """Bind a query.

        Parameters
        ----------
        query : Query
            Syntax.
        environment : Environment, optional
            Common table expressions in sight.
        outermost : bool
            Whether ORDER BY and LIMIT may stand here.

        Returns
        -------
        Plan
            Levels in order.

        Raises
        ------
        Refusal
            Codes Q100 to Q599.
        """
        if not outermost and (query.order or query.limit is not None or query.offset is not None):
            hint = "Sort and cut the whole query at its end."
            raise Refusal(
                "Q500", query.span, "ORDER BY and LIMIT are allowed at the end of the query only.", hint
            )
        inner = (environment or Environment()).extended(query)
        selects = [item for branch in query.branches for item in self._flat(branch, inner)]
        single = len(selects) == 1
        levels = [self._level(item, where, query.order if single else ()) for item, where in selects]
        return Plan(
            branches=_united(levels, query.span),
            sorting=() if single else tuple(_position(item, levels[0]) for item in query.order),
            limit=_row_count(query.limit),
            offset=_row_count(query.offset),
        )

    def _flat(self, branch: Select | Query, environment: Environment) -> list[tuple[Select, Environment]]:
        if isinstance(branch, Select):
            return [(branch, environment)]
        if branch.order or branch.limit is not None or branch.offset is not None:
            hint = "Sort and cut the whole query at its end."
            raise Refusal("Q500", branch.span, "A branch of UNION ALL may not be sorted or cut.", hint)
        inner = environment.extended(branch)
        return [item for part in branch.branches for item in self._flat(part, inner)]

    def _count(self, span: Span) -> None:
        self._instances += 1
        if self._instances > _MOST_INSTANCES:
            raise Refusal(
                "Q001", span, f"The query reads more than {_MOST_INSTANCES} tables.", "Ask a simpler query."
            )

    def _level(self, select: Select, environment: Environment, order: tuple[OrderItem, ...]) -> Level:
        binder = SourceBinder(self._snapshot, self.plan, self._count)
        collected = binder.bind(select.sources, environment)
        if not select.items:
            raise Refusal("Q501", select.span, "The query returns nothing.", "Name at least one output.")
        if select.where is not None:
            collected.where.append(as_type(bind_expression(select.where, collected.rows), "bool"))
        self._levels += 1
        number = self._levels
        grouped = bool(select.group) or select.having is not None
        grouped = grouped or any(holds_aggregate(item.expression) for item in select.items)
        if grouped and select.distinct:
            hint = "Leave DISTINCT out: groups are distinct already."
            raise Refusal("Q502", select.span, "DISTINCT and GROUP BY together are not allowed.", hint)
        keys = _keys(select, collected.rows) if grouped else _tuple(select, collected.rows)
        groups = Groups(collected.rows, keys)
        outputs = _outputs(select, groups) if grouped else _tuple_outputs(select, collected.rows, groups)
        if len(outputs) > _MOST_OUTPUTS:
            raise Refusal("Q001", select.span, f"The query returns more than {_MOST_OUTPUTS} columns.")
        having = (
            as_type(bind_expression(select.having, groups), "bool") if select.having is not None else None
        )
        _check_having(having)
        return Level(
            number=number,
            instances=tuple(binder.found),
            where=tuple(collected.where),
            keys=keys,
            outputs=outputs,
            having=having,
            sorting=tuple(_sorting(item, outputs, groups) for item in order),
            repeated=not grouped and not select.distinct,
            span=select.span,
        )


def _check_having(having: Bound | None) -> None:
    for item in walk(having) if having is not None else ():
        if isinstance(item, Operation) and item.name == WINDOW:
            raise Refusal(
                "Q217", item.span, "A window function has no place in HAVING.", "Return it instead."
            )


def _keys(select: Select, rows: Rows) -> tuple[Bound, ...]:
    aliases = {item.alias: item for item in select.items if item.alias is not None}
    keys: dict[Bound, None] = {}
    for expression in select.group:
        item = _item_of(expression, select, aliases, rows)
        bound = bind_expression(item.expression if item is not None else expression, rows)
        keys[_settled(bound)] = None
    return tuple(keys)


def _item_of(expression: Expression, select: Select, aliases: dict[str, Item], rows: Rows) -> Item | None:
    if isinstance(expression, Constant) and expression.kind == "number":
        position = int(expression.text or "0") if (expression.text or "").isdigit() else 0
        if not 1 <= position <= len(select.items):
            raise Refusal(
                "Q503", expression.span, "GROUP BY names no output by this number.", "Count from 1."
            )
        return select.items[position - 1]
    if isinstance(expression, Name) and len(expression.parts) == 1:
        name = expression.parts[0]
        is_column = name in rows.merged or any(name in item.columns for item in rows.visible)
        return None if is_column else aliases.get(name)
    return None


def _settled(bound: Bound) -> Bound:
    return as_type(bound, "text") if bound.type == UNKNOWN else bound


def _tuple(select: Select, rows: Rows) -> tuple[Bound, ...]:
    return tuple(dict.fromkeys(bound for _, bound in named_outputs(select, rows)))


def _tuple_outputs(select: Select, rows: Rows, groups: Groups) -> tuple[Output, ...]:
    found = []
    for name, bound in named_outputs(select, rows):
        key = groups.key(bound)
        found.append(Output(name, key if key is not None else bound))
    return tuple(found)


def _outputs(select: Select, groups: Groups) -> tuple[Output, ...]:
    found = []
    for item in select.items:
        if isinstance(item.expression, Star):
            raise Refusal("Q021", item.span, "A star cannot be grouped.", "Name the columns.")
        bound = _settled(bind_expression(item.expression, groups))
        found.append(Output(item.alias or output_name(item.expression), bound))
    return tuple(found)


def _sorting(item: OrderItem, outputs: tuple[Output, ...], groups: Groups) -> Sorting:
    expression = item.expression
    if isinstance(expression, Constant):
        bound = outputs[_ordinal(expression, len(outputs)) - 1].expression
    else:
        named = [output for output in outputs if _is_name(expression, output.name)]
        bound = named[0].expression if named else _sorted_by(expression, groups)
    return Sorting(bound, item.descending, item.nulls_first)


def _sorted_by(expression: Expression, groups: Groups) -> Bound:
    try:
        return _settled(bind_expression(expression, groups))
    except Refusal as refusal:
        if refusal.finding.code != "Q216":
            raise
        hint = "Sort by an output, a group key or an aggregate."
        raise Refusal(
            "Q504", expression.span, "ORDER BY names something that is not answered.", hint
        ) from None


def _is_name(expression: Expression, name: str) -> bool:
    return isinstance(expression, Name) and expression.parts == (name,)


def _ordinal(expression: Expression, outputs: int) -> int:
    if isinstance(expression, Constant) and expression.kind == "number" and (expression.text or "").isdigit():
        position = int(expression.text or "0")
        if 1 <= position <= outputs:
            return position
    raise Refusal(
        "Q503", expression.span, "ORDER BY names no output by this.", "Sort by an output or its number."
    )


def _position(item: OrderItem, level: Level) -> Sorting:
    names = [output.name for output in level.outputs]
    expression = item.expression
    if isinstance(expression, Name) and len(expression.parts) == 1 and expression.parts[0] in names:
        position = names.index(expression.parts[0]) + 1
    else:
        position = _ordinal(expression, len(names))
    return Sorting(position, item.descending, item.nulls_first)


def _row_count(expression: Expression | None) -> Bound | None:
    if expression is None:
        return None
    hint = "Write LIMIT 10."
    if isinstance(expression, Placeholder):
        return Given(type="int8", number=expression.number, span=expression.span)
    if isinstance(expression, Constant) and expression.kind == "number" and (expression.text or "").isdigit():
        value = int(expression.text or "0")
        if value <= 10**9:
            return Fixed(type="int8", text=str(value), span=expression.span)
    raise Refusal("Q505", expression.span, "LIMIT and OFFSET take a whole-number constant.", hint)


def _united(levels: list[Level], span: Span) -> tuple[Level, ...]:
    if len(levels) == 1:
        return tuple(levels)
    width = len(levels[0].outputs)
    if any(len(level.outputs) != width for level in levels):
        raise Refusal("Q506", span, "The branches of UNION ALL have different numbers of outputs.")
    united = []
    by_column = [
        together(tuple(level.outputs[position].expression for level in levels), span)
        for position in range(width)
    ]
    for index, level in enumerate(levels):
        outputs = tuple(
            Output(levels[0].outputs[position].name, by_column[position][index]) for position in range(width)
        )
        united.append(replace(level, outputs=outputs))
    return tuple(united)
