"""Statements for the ledger: the people behind the groups of every protected level."""

from __future__ import annotations

from kanon_pg.query.backing import participation
from kanon_pg.query.bound import Aggregate, Bound
from kanon_pg.query.canonical import Canonical, parameters
from kanon_pg.query.level import Instance, Level, Plan
from kanon_pg.query.render import entity, rows_of
from kanon_pg.query.verdict import EntitySet


def entity_sets(plan: Plan, canonical: Canonical) -> tuple[EntitySet, ...]:
    """Return one statement per protected instance, level and set of rows (the groups, every filter).

    Parameters
    ----------
    plan : Plan
        The plan.
    canonical : Canonical
        After its ``sql`` was written.

    Returns
    -------
    tuple of EntitySet
        In the order of levels.
    """
    found = []
    for level in plan.levels():
        for instance in level.protected():
            for mask, figures in _masks(level).items():
                found.append(_entity_set(plan, canonical, level, instance, mask, figures))
    return tuple(found)


def _masks(level: Level) -> dict[Bound | None, tuple[str, ...]]:
    masks: dict[Bound | None, list[str]] = {None: []}
    for aggregate in level.aggregates():
        masks.setdefault(participation(aggregate), []).append(_figure(aggregate))
    return {mask: tuple(figures) for mask, figures in masks.items()}


def _figure(aggregate: Aggregate) -> str:
    name = getattr(aggregate.argument, "name", None)
    shown = "*" if aggregate.argument is None else name or "expression"
    return f"{aggregate.function}({'distinct ' if aggregate.distinct else ''}{shown})"


def _entity_set(
    plan: Plan,
    canonical: Canonical,
    level: Level,
    instance: Instance,
    mask: Bound | None,
    figures: tuple[str, ...],
) -> EntitySet:
    writer = canonical.writer(level)
    keys = ", ".join(writer.write(key) for key in level.keys)
    group = f"pg_catalog.hash_record_extended(ROW({keys}), 0)" if keys else "CAST(0 AS pg_catalog.int8)"
    rows = rows_of(level, writer, canonical.answers())
    conditions = [writer.write(mask)] if mask is not None else []
    declared = parameters(plan, canonical.numbers())
    conditions += [
        f"(CAST(${item.number} AS pg_catalog.{item.type_name}) IS NULL) IS NOT NULL" for item in declared
    ]
    if conditions:
        rows += (" AND " if level.where else " WHERE ") + " AND ".join(conditions)
    sql = f'SELECT DISTINCT {group} AS "kanon_group", {entity(instance)} AS "kanon_entity"{rows}'
    inner = canonical.tables_before(level)
    return EntitySet(
        relation=instance.oid,
        instance=instance.alias,
        level=level.number,
        what="group" if mask is None else "filter",
        sql=f"WITH {', '.join(inner)} {sql}" if inner else sql,
        figures=figures,
    )
