"""Bound expressions and FROM to SQL: quoted names, qualified functions and operators, explicit casts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon_pg.queries.check.catalog import ENUM
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.plan.levels import Instance
from kanon_pg.queries.check.plan.typed import (
    PAIR,
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    KeyRef,
    ParameterRef,
    TypedConstant,
)
from kanon_pg.queries.check.types import AS_TEXT, LABEL


def quoted(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a string literal that no setting reads differently."""
    body = text.replace("'", "''")
    return "E'" + body.replace("\\", "\\\\") + "'" if "\\" in text else f"'{body}'"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the expressions of one level.

    Parameters
    ----------
    numbers : Mapping
        Numbers of the parameters in the canonical SQL by those in the text.
    aggregates : dict
        Position of every aggregate among those of the level.
    """

    numbers: Mapping[int, int]
    limit: int
    aggregates: Mapping[Aggregate, int]

    def write(self, expression: Bound) -> str:
        """Return the SQL of an expression over rows, or over keys and aggregates of a level."""
        if isinstance(expression, ColumnRef):
            return _column(expression)
        if isinstance(expression, TypedConstant):
            return _fixed(expression)
        if isinstance(expression, ParameterRef):
            return f"CAST(${self.numbers[expression.number]} AS pg_catalog.{expression.type})"
        if isinstance(expression, KeyRef):
            return f'"l"."k{expression.position}"'
        if isinstance(expression, Aggregate):
            return f'"l"."a{self.aggregates[expression]}"'
        return self._operation(expression)

    def _operation(self, operation: AllowedCall) -> str:
        parts = [self.write(operand) for operand in operation.operands]
        if operation.name == "extract" and isinstance(operation.operands[0], TypedConstant):
            parts[0] = literal(operation.operands[0].text or "")
        text = operation.template.format(*parts)
        if len(text) > self.limit:
            raise Refusal("Q001", operation.span, "The query grows too large.", "Write a simpler query.")
        return text

    def aggregate(self, aggregate: Aggregate) -> str:
        """Return the SQL that computes an aggregate of a group."""
        argument = self._arguments(aggregate.argument)
        condition = (
            f" FILTER (WHERE {self.write(aggregate.condition)})" if aggregate.condition is not None else ""
        )
        distinct = "DISTINCT " if aggregate.distinct else ""
        if aggregate.is_spelled:
            return decimals(aggregate.function, f"{distinct}{argument}", condition)
        if aggregate.function == "mode":
            order = " DESC" if aggregate.descending else ""
            call = f"pg_catalog.mode() WITHIN GROUP (ORDER BY {argument}{order})"
        elif aggregate.fraction is not None:
            order = " DESC" if aggregate.descending else ""
            inner = f"CAST({literal(aggregate.fraction)} AS pg_catalog.float8)"
            call = f"pg_catalog.{aggregate.function}({inner}) WITHIN GROUP (ORDER BY {argument}{order})"
        elif aggregate.separator is not None:
            order = " DESC" if aggregate.descending else ""
            separator = f"CAST({literal(aggregate.separator)} AS pg_catalog.text)"
            listed = f"DISTINCT {argument}, {separator} ORDER BY {argument}{order}"
            call = f"pg_catalog.{aggregate.function}({listed})"
        else:
            call = f"pg_catalog.{aggregate.function}({distinct}{argument})"
        return f"{call}{condition}"

    def _arguments(self, argument: Bound | None) -> str:
        if isinstance(argument, AllowedCall) and argument.name == PAIR:
            return ", ".join(map(self.write, argument.operands))
        return self.write(argument) if argument is not None else "*"


def decimals(function: str, argument: str, condition: str) -> str:
    """Return the SQL of a sum or mean of decimals, spelled by the sum and the number of values alone.

    Parameters
    ----------
    condition : str
        A FILTER clause with a space before it, or nothing.
    """
    total = f"pg_catalog.trim_scale(pg_catalog.sum({argument}){condition})"
    if function == "sum":
        return total
    # without values the sum is NULL, and so is what is divided by 0
    number = f"CAST(pg_catalog.count({argument}){condition} AS pg_catalog.numeric)"
    return f"({total} OPERATOR(pg_catalog./) {number})"


def _column(column: ColumnRef) -> str:
    name = f'"s{column.instance}".{quoted(column.name)}'
    if column.stored_type == ENUM:
        # a cast of an enum could be somebody's function; its output function is PostgreSQL's own
        return f"CAST(pg_catalog.textin(pg_catalog.enum_out({name})) AS pg_catalog.{LABEL})"
    if column.is_domain or column.stored_type in AS_TEXT:
        return f"CAST({name} AS pg_catalog.{column.type})"
    return name


def _fixed(constant: TypedConstant) -> str:
    value = "NULL" if constant.text is None else literal(constant.text)
    return f"CAST({value} AS pg_catalog.{constant.type})"


def people_count_sql(
    instance: Instance, *, single: bool, mask: str | None, present: str | None = None
) -> str:
    """Return the SQL that counts the people of an instance in a group.

    Parameters
    ----------
    single : bool
        Whether the rows of the level stand for the rows of the instance.
    mask : str or None
        SQL of a condition on the rows that count.
    present : str, optional
        SQL of a column, if the condition is that it is not NULL.
    """
    condition = f" FILTER (WHERE {mask})" if mask is not None else ""
    relation, protection = instance.relation, instance.protection
    if relation is None or protection is None:
        raise Refusal("Q108", instance.span, "People cannot be counted here.")
    entity = protection.entity
    if single and (entity is None or frozenset({entity}) in relation.unique_keys):
        # the server computes this once, with the same number for a mean
        return f"pg_catalog.count({present})" if present is not None else f"pg_catalog.count(*){condition}"
    if entity is not None:
        return f'pg_catalog.count(DISTINCT "{instance.alias}".{quoted(entity)}){condition}'
    return f"pg_catalog.count(DISTINCT {row_identity_sql(instance)}){condition}"


def row_identity_sql(instance: Instance) -> str:
    """Return the SQL of what identifies a row of a table."""
    alias = f'"{instance.alias}"'
    parts = (f"CAST({alias}.tableoid AS pg_catalog.text)", f"CAST({alias}.ctid AS pg_catalog.text)")
    return f"({parts[0]} OPERATOR(pg_catalog.||) {parts[1]})"


def entity_sql(instance: Instance) -> str:
    """Return the SQL of what identifies a person in an instance."""
    protection = instance.protection
    if protection is None or protection.entity is None:
        return row_identity_sql(instance)
    return f'"{instance.alias}".{quoted(protection.entity)}'
