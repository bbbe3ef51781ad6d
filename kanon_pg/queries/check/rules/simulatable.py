"""Refusals that do not depend on sensitive columns.

Whoever knows the query, the earlier ones and everybody's other columns can then work out for themselves
whether a query is refused, so the refusal tells them nothing (Kenthapadi, Mishra, Nissim, "Simulatable
auditing", PODS 2005). That is so if sensitive columns do not take part in choosing rows, and the figures that
read them cannot fail:

* WHERE, GROUP BY, FILTER and joins read known columns only, hence so do all sets of people behind an answer,
  which are all that counting and the ledger look at;
* a sensitive column is counted, summed up or averaged by itself, has no NULLs, whose number would be counted,
  and no floating point numbers, which overflow;
* nothing is left out by a figure over it (HAVING, a query above), because an answer without rows is refused;
* one protected relation is read: whether a person has a row in another one may be a secret itself.

Known columns are quasi-identifiers and insensitive ones.

Codes: Q350.

Refused with simulatable true::

    SELECT count(*) FROM answers WHERE grade > 3

    SELECT stddev(grade) FROM answers

Accepted with simulatable true::

    SELECT question, avg(grade) FROM answers GROUP BY question
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.functions import SUMS
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.divisions import ColumnKinds
from kanon_pg.queries.check.plan.levels import GroupingLevel, Plan
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, ColumnRef, columns_in, walk
from kanon_pg.queries.check.types import INTEGERS

_EXACT = frozenset({*INTEGERS, "numeric"})
_HINT = "Refusals must not depend on sensitive columns here: "


def simulatable(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield a finding for everything through which sensitive columns could influence a refusal."""
    if not options.simulatable:
        return
    levels = [level for level in plan.levels() if level.protected()]
    for level in levels:
        if level not in (*plan.branches, *plan.sides):
            yield _finding(
                level, "A query over the groups of a protected table is refused.", "query them directly."
            )
        if len(level.protected()) > 1 or level.protected()[0].oid != levels[0].protected()[0].oid:
            yield _finding(level, "The query reads several protected tables.", "query each by itself.")
        yield from _level(level)


def _level(level: GroupingLevel) -> Iterator[Finding]:
    kinds = ColumnKinds(level)
    conditions = [item.condition for item in level.aggregates() if item.condition is not None]
    for part in (*level.conditions(), *level.keys, *conditions):
        if "sensitive" in kinds.of(part):
            yield _finding(part, "A sensitive column chooses rows or groups.", "choose by other columns.")
    for aggregate in level.aggregates():
        if aggregate.argument is not None and "sensitive" in kinds.of(aggregate.argument):
            yield from _aggregate(aggregate, aggregate.argument)
    for item in walk(level.having) if level.having is not None else ():
        if (
            isinstance(item, Aggregate)
            and item.argument is not None
            and "sensitive" in kinds.of(item.argument)
        ):
            yield _finding(item, "HAVING reads a sensitive column.", "leave groups out yourself.")


def _aggregate(aggregate: Aggregate, argument: Bound) -> Iterator[Finding]:
    if aggregate.function not in SUMS | {"count"} or aggregate.distinct:
        hint = "use count, sum and avg."
        yield _finding(aggregate, f"{aggregate.function} looks at values of a sensitive column.", hint)
    for column in columns_in(argument):
        if column.nullable:
            hint = f"let the owner of the table set {column.name} to NOT NULL."
            yield _finding(column, f"{column.name} is sensitive and may be NULL.", hint)
    for item in walk(argument):
        if item.type not in _EXACT and isinstance(item, ColumnRef) and aggregate.function != "count":
            hint = "let the owner of the table store it as numeric."
            yield _finding(item, f"{item.name} is sensitive and not an exact number.", hint)


def _finding(item: GroupingLevel | Bound, sentence: str, hint: str) -> Finding:
    return finding_at("Q350", item, sentence, _HINT + hint)
