"""Queries to plans: levels, keys, outputs, order.

Tools ask for the columns of an answer by ``WHERE 1 = 0`` and ``LIMIT 0``. Such an answer has no rows
whatever the data; what runs instead reads no relation at all, so nothing has to be counted.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from kanon_pg.queries.check.bind.conversion import check_order, in_common_type
from kanon_pg.queries.check.bind.correlated import correlated
from kanon_pg.queries.check.bind.empty_groups import empty_groups
from kanon_pg.queries.check.bind.per_person import per_person
from kanon_pg.queries.check.bind.selects import bind_select, ordinal
from kanon_pg.queries.check.bind.sources import CommonTables, SourceBinder
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.classes import unshown_level
from kanon_pg.queries.check.plan.levels import GroupingLevel, Output, Plan, Sorting
from kanon_pg.queries.check.plan.lists import levels_of_lists
from kanon_pg.queries.check.plan.sides import levels_of_sides
from kanon_pg.queries.check.plan.sums import with_safe_sums
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ParameterRef, TypedConstant, number_type
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Cast,
    Constant,
    Expression,
    Name,
    OrderItem,
    Placeholder,
    Query,
    Select,
)
from kanon_pg.queries.check.types import FLOATS

_WHOLE_NUMBERS = ("int", "int2", "int4", "int8", "smallint", "integer", "bigint")


def is_never(condition: Expression | None) -> bool:
    """Return whether the text alone says that a condition of WHERE never holds."""
    if isinstance(condition, Constant):
        return condition.kind == "boolean" and condition.text == "false"
    if not isinstance(condition, Apply):
        return False
    if condition.operator == "and":
        return any(map(is_never, condition.operands))
    return condition.operator == "=" and _differ(*condition.operands)


def _differ(left: Expression, right: Expression) -> bool:
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return False
    if left.kind != "number" or right.kind != "number":
        return False
    return Decimal(left.text or "0") != Decimal(right.text or "0")


def is_zero(limit: Expression | None) -> bool:
    """Return whether a LIMIT is the constant 0."""
    return isinstance(limit, Constant) and limit.kind == "number" and limit.text == "0"


def without_rows(level: GroupingLevel) -> GroupingLevel:
    """Return a level with the columns of another one, which reads nothing and has no rows."""
    outputs = []
    for output in level.outputs:
        kind = number_type(output.expression)
        template = f"CAST(NULL AS pg_catalog.{kind})"
        null = AllowedCall(type=kind, name="cast", template=template, operands=(), span=level.span)
        outputs.append(Output(output.name, null))
    never = TypedConstant(type="bool", text="false", span=level.span)
    one = TypedConstant(type="int4", text="1", span=level.span)
    return replace(
        level,
        instances=(),
        where=(never,),
        keys=(one,),
        outputs=tuple(outputs),
        having=None,
        sorting=(),
        repeated=False,
    )


_MOST_INSTANCES = 24


class Binder:
    """Binds one query against one snapshot."""

    def __init__(self, snapshot: CatalogSnapshot) -> None:
        self._snapshot = snapshot
        self._instances = 0
        self._levels = 0

    def plan(self, query: Query, environment: CommonTables | None = None, *, outermost: bool = False) -> Plan:
        """Bind a query.

        Parameters
        ----------
        outermost : bool
            Whether rows may be sorted and cut here; elsewhere only finished groups may be.

        Raises
        ------
        Refusal
            Codes Q100 to Q599.
        """
        inner = (environment or CommonTables()).extended(query)
        selects = [item for branch in query.branches for item in self._flat(branch, inner)]
        single = len(selects) == 1
        never = is_zero(query.limit)
        levels = [
            level
            for select, where in selects
            for level in self._levels_of(select, where, query.order if single else (), never=never)
        ]
        branches = _united(
            [with_safe_sums(level, in_utc=self._snapshot.in_utc) for level in levels], query.span
        )
        if not outermost:
            _check_cut(query, branches)
        return Plan(
            branches=branches,
            unshown=self._unshown(branches),
            sides=tuple(side for branch in branches for side in levels_of_sides(branch, self._number)),
            lists=tuple(found for branch in branches for found in levels_of_lists(branch, self._number)),
            sorting=() if single else tuple(_position(item, levels[0]) for item in query.order),
            limit=_row_count(query.limit),
            offset=_row_count(query.offset),
        )

    def _unshown(self, branches: tuple[GroupingLevel, ...]) -> tuple[GroupingLevel, ...]:
        found = []
        for branch in branches:
            level = unshown_level(branch, self._levels + 1)
            if level is not None:
                self._number()
                found.append(level)
        return tuple(found)

    def _flat(self, branch: Select | Query, environment: CommonTables) -> list[tuple[Select, CommonTables]]:
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
                "Q001", span, f"The query reads more than {_MOST_INSTANCES} tables.", "Write a simpler query."
            )

    def _levels_of(
        self, select: Select, environment: CommonTables, order: tuple[OrderItem, ...], *, never: bool
    ) -> list[GroupingLevel]:
        simpler = per_person(select, environment, self._snapshot)
        select = simpler if simpler is not None else select
        select, order = correlated(select, order, environment, self._snapshot)
        rewritten = empty_groups(select, order, environment, self._snapshot)
        select, order = rewritten if rewritten is not None else (select, order)
        binder = SourceBinder(self._snapshot, self.plan, self._count)
        collected = binder.bind(select.sources, environment)
        binder.scalars(select, order, environment, collected)
        if select.where is not None:
            binder.where(select.where, environment, collected)
        collected.rows.protected = any(item.protection is not None for item in binder.found)
        levels = bind_select(select, collected, order, self._number)
        nothing = is_never(select.where)
        return [without_rows(item) if never or (nothing and item.keys) else item for item in levels]

    def _number(self) -> int:
        self._levels += 1
        return self._levels


def _position(item: OrderItem, level: GroupingLevel) -> Sorting:
    names = [output.name for output in level.outputs]
    expression = item.expression
    if isinstance(expression, Name) and len(expression.parts) == 1 and expression.parts[0] in names:
        position = names.index(expression.parts[0]) + 1
    else:
        position = ordinal(expression, len(names))
    check_order(replace(level.outputs[position - 1].expression, span=expression.span))
    return Sorting(position, item.descending, item.nulls_first)


def _check_cut(query: Query, branches: tuple[GroupingLevel, ...]) -> None:
    """Refuse LIMIT inside the query unless it cuts finished groups in an order that is always the same.

    What runs for the ledger reads the groups again and has to find the same ones.
    """
    counts = [count for count in (query.limit, query.offset) if count is not None]
    level = branches[0]
    floats = any(getattr(item.expression, "type", "") in FLOATS for item in level.sorting)
    rows = len(branches) > 1 or level.repeated
    if counts and (rows or floats or any(isinstance(count, Placeholder) for count in counts)):
        sentence = "Inside the query, ORDER BY and LIMIT may cut groups by exact figures only."
        raise Refusal(
            "Q500", query.span, sentence, "Group there, or sort and cut the whole query at its end."
        )


def _row_count(expression: Expression | None) -> Bound | None:
    if expression is None:
        return None
    hint = "Write LIMIT 10."
    if isinstance(expression, Cast) and expression.type_name in _WHOLE_NUMBERS:
        expression = expression.operand  # drivers give the types of parameters so: LIMIT $1::INTEGER
    if isinstance(expression, Placeholder):
        return ParameterRef(type="int8", number=expression.number, span=expression.span)
    if isinstance(expression, Constant) and expression.kind == "number" and (expression.text or "").isdigit():
        value = int(expression.text or "0")
        if value <= 10**9:
            return TypedConstant(type="int8", text=str(value), span=expression.span)
    raise Refusal("Q505", expression.span, "LIMIT and OFFSET take a whole-number constant.", hint)


def _united(levels: list[GroupingLevel], span: Span) -> tuple[GroupingLevel, ...]:
    if len(levels) == 1:
        return tuple(levels)
    width = len(levels[0].outputs)
    if any(len(level.outputs) != width for level in levels):
        raise Refusal("Q506", span, "The branches of UNION ALL have different numbers of outputs.")
    united = []
    by_column = [
        in_common_type(tuple(level.outputs[position].expression for level in levels), span)
        for position in range(width)
    ]
    for index, level in enumerate(levels):
        outputs = tuple(
            Output(levels[0].outputs[position].name, by_column[position][index]) for position in range(width)
        )
        united.append(replace(level, outputs=outputs))
    return tuple(united)
