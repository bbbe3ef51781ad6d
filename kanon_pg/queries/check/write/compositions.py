"""Sets of rows as intersections of partitions of a table, which need not be read again for every query.

The rows for which a condition on one column is true are those whose value makes it true. So once the rows of
every value are known, the server evaluates the condition for each value instead of each row, and what WHERE,
group keys and FILTERs choose are unions and intersections of sets that the ledger's worker has.

That is exact where equal values are the same in every respect: whole numbers, bool, uuid, and text of the
database's collation if that one tells all texts apart. Decimals, floats and intervals have equal values that
differ in form. Where a column is of another type, or sensitive, the truth of the condition itself is the
value. A sensitive column has no partition by its values unless it is a group key: how many values it has must
not decide what is read.

The parts are evaluated one by one for all rows, so only operations that fail for no value are composed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kanon_pg.queries.check.catalog import Column, ColumnRole
from kanon_pg.queries.check.plan.divisions import negation
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance
from kanon_pg.queries.check.plan.typed import (
    AllowedCall,
    Bound,
    ColumnRef,
    ParameterRef,
    TypedConstant,
    columns_in,
    present_column,
    walk,
)
from kanon_pg.queries.check.types import INTEGERS
from kanon_pg.queries.check.verdict import ChosenValues, RowPartition, SetComposition
from kanon_pg.queries.check.write.expressions import Writer, quoted
from kanon_pg.queries.check.write.table_snapshot import has_tids

_MOST_VALUES = 1000
"""Of a known column; more are as many sets, each of its own size."""

_DEFAULT_COLLATION = 100

_IDENTICAL = frozenset({*INTEGERS, "bool", "uuid"})
"""Types whose equal values are the same in every respect; text is looked at by itself."""

PartitionKind = Literal["values", "groups", "truth"]

_CANNOT_FAIL = frozenset(
    {
        *("=", "<>", "<", "<=", ">", ">=", "between", "in", "any", "like", "ilike"),
        *("is null", "not null", "is true", "is false", "is not true", "and", "or", "not"),
        *("is distinct from", "is not distinct from"),
    }
)


def composition_of(
    level: GroupingLevel,
    filters: Sequence[Bound],
    writer: Writer,
    conditions: Sequence[str],
    values: int,
    partition_of: Callable[[GroupingLevel, PartitionKind, int | None], RowPartition],
) -> SetComposition | None:
    """Return how the sets of a level follow from partitions, None if they do not.

    Parameters
    ----------
    filters : sequence of Bound
        Conditions under which a row takes part in each part of the figures.
    conditions : sequence of str
        SQL conditions, all true, that tell the server the types of the parameters.
    values : int
        Number of the parameter that holds the values of a partition.
    partition_of : callable
        Returns the partition of a kind and of so many values that a level of one key or condition makes.
    """
    # with two keys every value of one would meet every value of the other, while others wait for the ledger:
    # with a sensitive one the time would tell how many values nobody chose
    if len(level.instances) != 1 or len(level.keys) > 1:
        return None
    (instance,) = level.instances
    (key,) = level.keys or (None,)
    if not _is_single_table(instance) or not (key is None or isinstance(key, ColumnRef)):
        return None
    found = _Composer(level, instance, writer, conditions, values, partition_of)
    where = found.chosen(level.where)
    masks = [found.chosen((mask,)) for mask in filters]
    if where is None or None in masks:
        return None
    groups = None if key is None else found.partition_by(key)
    lets_in = tuple(mask for mask in masks if mask is not None)
    return SetComposition(tuple(found.partitions), groups, where, lets_in)


def _is_single_table(instance: Instance) -> bool:
    relation = instance.relation
    return relation is not None and relation.single_table and has_tids(relation) and not instance.outer


@dataclass
class _Composer:
    level: GroupingLevel
    instance: Instance
    writer: Writer
    conditions: Sequence[str]
    values: int
    partition_of: Callable[[GroupingLevel, PartitionKind, int | None], RowPartition]
    partitions: dict[RowPartition, int] = field(default_factory=dict)

    def chosen(self, parts: Sequence[Bound]) -> tuple[ChosenValues, ...] | None:
        """Return conditions that hold together exactly where all parts do, None if there are none such."""
        found = []
        for part in (one for whole in parts for one in conjuncts(whole)):
            if not all(map(_cannot_fail, walk(part))):
                return None
            columns = set(columns_in(part))
            column = columns.pop() if len(columns) == 1 else None
            if column is not None and self._says_all(column):
                found.append(ChosenValues(self.partition_by(column), self._condition_sql(part, column)))
            elif any(isinstance(item, ParameterRef) for item in walk(part)):
                return None
            else:
                found.append(ChosenValues(self._truth(part), None))
        return tuple(found)

    def partition_by(self, column: ColumnRef) -> int:
        """Return the position of the partition by a column."""
        most = None if self._role(column) is ColumnRole.SENSITIVE else _MOST_VALUES
        kind: PartitionKind = "values" if self._says_all(column) else "groups"
        return self._position(self.partition_of(self._all_rows(keys=(column,)), kind, most))

    def _truth(self, part: Bound) -> int:
        partition = self.partition_of(self._all_rows(where=(negation(part),)), "truth", None)
        return self._position(replace(partition, is_shared=present_column(part) is not None))

    def _all_rows(self, *, keys: tuple[Bound, ...] = (), where: tuple[Bound, ...] = ()) -> GroupingLevel:
        return replace(
            self.level, where=where, keys=keys, outputs=(), having=None, sorting=(), repeated=False
        )

    def _position(self, partition: RowPartition) -> int:
        return self.partitions.setdefault(partition, len(self.partitions))

    def _says_all(self, column: ColumnRef) -> bool:
        """Return whether the values of a column decide conditions on it, and may be looked at."""
        stored = self._stored(column)
        if stored is None or self._role(column) in {None, ColumnRole.SENSITIVE}:
            return False
        is_plain = stored.deterministic and stored.collation == _DEFAULT_COLLATION
        return column.type in _IDENTICAL or (column.type == "text" and is_plain)

    def _role(self, column: ColumnRef) -> ColumnRole | None:
        """Return the role of a column, None if it names a person."""
        stored = self._stored(column)
        return None if stored is None or self.instance.is_personal(column) else stored.role

    def _stored(self, column: ColumnRef) -> Column | None:
        return None if self.instance.relation is None else self.instance.relation.column(column.name)

    def _condition_sql(self, part: Bound, column: ColumnRef) -> str:
        kept = " AND ".join([self.writer.write(part), *self.conditions])
        return (
            f'SELECT "u"."place" FROM pg_catalog.unnest(CAST(${self.values} AS pg_catalog.text[]))'
            f' WITH ORDINALITY AS "u" ("value", "place") CROSS JOIN LATERAL (SELECT CAST("u"."value" AS'
            f' pg_catalog.{column.type}) AS {quoted(column.name)}) AS "{self.instance.alias}" WHERE {kept}'
        )


def _cannot_fail(item: Bound) -> bool:
    if isinstance(item, AllowedCall):
        widens = item.name == "cast" and item.type == "numeric"
        return item.name in _CANNOT_FAIL or (widens and all(one.type in INTEGERS for one in item.operands))
    return isinstance(item, ColumnRef | TypedConstant | ParameterRef)
