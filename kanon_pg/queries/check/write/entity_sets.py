"""Statements for the ledger: the rows behind the groups of every protected level, packed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.aggregates import is_spread, participation
from kanon_pg.queries.check.plan.divisions import negation
from kanon_pg.queries.check.plan.joins import equalities, fact_instance
from kanon_pg.queries.check.plan.known import (
    chooses_by_secrets,
    is_everybody,
    is_union_of_groups,
    known_level,
    level_alone,
    secret_level,
)
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance, Plan
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, columns_in
from kanon_pg.queries.check.verdict import CombinedSql, EntitySet, RowPartition, SetComposition
from kanon_pg.queries.check.write.canonical import CanonicalWriter, base_of, equal_keys, groups_of, parameters
from kanon_pg.queries.check.write.compositions import PartitionKind, composition_of
from kanon_pg.queries.check.write.percentiles import Windows, ranked_sql, window_masks, windows_of
from kanon_pg.queries.check.write.sources import from_and_where
from kanon_pg.queries.check.write.table_snapshot import EMPTY, concatenated_sql, content_hash_sql, has_tids


def entity_sets(plan: Plan, canonical: CanonicalWriter, options: Options) -> tuple[EntitySet, ...]:
    """Return one statement per level and protected instance, then those of windows, known and secret levels.

    Parameters
    ----------
    canonical : CanonicalWriter
        After its ``sql`` was written.
    options : Options
        In the mode 'suppress' only the groups that are shown count.
    """
    found = [item.entity_set() for item in _writers(plan, canonical, options)]
    found += (item.entity_set() for item in _window_writers(plan, canonical, options))
    found += _known_sets(plan, canonical, options)
    return tuple(found)


def combined_sql(plan: Plan, options: Options) -> CombinedSql | None:
    """Return the statement that reads the answer and the sets behind it in one scan.

    That works for tables without partitions and children, where the TID alone identifies a row.

    Returns
    -------
    CombinedSql or None
        None if no set can be read so, or the statement would be too long.
    """
    writers: list[_SetWriter] = []

    def extra_columns(level: GroupingLevel) -> list[str]:
        return [part for item in writers if item.level is level for part in item.columns()]

    canonical = CanonicalWriter(plan, options, extra_columns)
    found = _writers(plan, canonical, options)
    writers += (item for item in found if item.is_combinable())
    tables, body = canonical.parts()
    sets = {number: item.sets_sql() for number, item in enumerate(found) if item in writers}
    if not sets or len(tables) + len(body) > options.limits.rendered:
        return None
    return CombinedSql(tables, body, sets)


def _writers(plan: Plan, canonical: CanonicalWriter, options: Options) -> list[_SetWriter]:
    suppresses = options.mode == "suppress"
    return [
        _SetWriter(plan, canonical, level, instance, suppresses)
        for level in plan.levels()
        for instance in level.protected()
    ]


def _known_sets(plan: Plan, canonical: CanonicalWriter, options: Options) -> Iterator[EntitySet]:
    for level in plan.all_lists():
        for instance in level.protected():
            found = _SetWriter(plan, canonical, level, instance, suppresses=False).entity_set()
            yield replace(found, kind="known", narrowed=True, covered_by=_cover(level, instance))
    for level in plan.levels():
        narrowed = bool(level.protected()) and chooses_by_secrets(level)
        for instance in level.protected():
            known = known_level(level, instance)
            if known is not None:
                found = _SetWriter(plan, canonical, known, instance, suppresses=False).entity_set()
                yield replace(
                    found,
                    kind="known",
                    narrowed=narrowed,
                    everybody=is_everybody(known),
                    union=options.mode == "reject" and found.disjoint and is_union_of_groups(known, level),
                    covered_by=_cover(level, instance),
                )
                if not is_everybody(known):
                    yield from _secret_sets(plan, canonical, level, instance)
            alone = level_alone(level, instance)
            if alone is not None and alone != known and not is_everybody(alone):
                found = _SetWriter(plan, canonical, alone, instance, suppresses=False).entity_set()
                yield replace(found, kind="known", covered_by=_cover(level, instance))


def _secret_sets(
    plan: Plan, canonical: CanonicalWriter, level: GroupingLevel, instance: Instance
) -> Iterator[EntitySet]:
    secret = secret_level(level, instance)
    if secret.is_whole and is_everybody(secret.level):
        return
    found = _SetWriter(plan, canonical, secret.level, instance, suppresses=False).entity_set()
    yield replace(
        found,
        kind="secret",
        everybody=is_everybody(secret.level),
        is_whole=secret.is_whole,
        covered_by=_cover(level, instance),
    )


def _window_writers(plan: Plan, canonical: CanonicalWriter, options: Options) -> list[_WindowWriter]:
    suppresses = options.mode == "suppress"
    return [
        _WindowWriter(plan, canonical, windows, instance, suppresses)
        for level in plan.levels()
        for windows in windows_of(level)
        for instance in level.protected()
    ]


def _masks(level: GroupingLevel) -> dict[Bound | None, tuple[str, ...]]:
    masks: dict[Bound | None, list[str]] = {None: []}
    for aggregate in level.aggregates():
        masks.setdefault(participation(aggregate), []).append(_figure(aggregate))
    return {mask: tuple(figures) for mask, figures in masks.items()}


def _figure(aggregate: Aggregate) -> str:
    name = getattr(aggregate.argument, "name", None)
    shown = "*" if aggregate.argument is None else name or "expression"
    return f"{aggregate.function}({'distinct ' if aggregate.distinct else ''}{shown})"


class _SetWriter:
    """Writes the statements of one instance of a level."""

    def __init__(
        self,
        plan: Plan,
        canonical: CanonicalWriter,
        level: GroupingLevel,
        instance: Instance,
        suppresses: bool,
    ) -> None:
        self.level = level
        self._plan = plan
        self._canonical = canonical
        self._instance = instance
        self._suppresses = suppresses
        self._parameters = parameters(plan, canonical.numbers())
        self._writer = canonical.writer(level)
        masks = _masks(level)
        self._figures = masks.pop(None)
        self._filters = [(mask, figures) for mask, figures in masks.items() if mask is not None]
        rows = fact_instance(level)
        self._disjoint = rows is not None and rows.number == instance.number

    def entity_set(self) -> EntitySet:
        level, instance = self.level, self._instance
        assert instance.relation is not None  # noqa: S101 - protected instances are relations
        by_content = not has_tids(instance.relation)
        before = (
            self._canonical.tables_through(level)
            if self._suppresses
            else self._canonical.tables_before(level)
        )
        sql = self._packed(self._numbered())
        return EntitySet(
            relation=instance.oid,
            instance=instance.alias,
            level=level.number,
            sql=f"WITH {', '.join(before)} {sql}" if before else sql,
            figures=self._figures,
            filters=tuple(figures for _, figures in self._filters),
            spreads=self._spreads(),
            disjoint=self._disjoint,
            seed=self._seed() if by_content else None,
            covered_by=_cover(level, instance),
            composition=self._composition(),
        )

    def _composition(self) -> SetComposition | None:
        if self._suppresses or not self._disjoint:
            # which groups are shown follows from none of their parts
            return None

        def partition_of(level: GroupingLevel, kind: PartitionKind, most: int | None) -> RowPartition:
            return _PartitionWriter(self._plan, self._canonical, level, self._instance).partition(kind, most)

        masks = [mask for mask, _ in self._filters]
        conditions = list(self._conditions())
        return composition_of(self.level, masks, self._writer, conditions, self._seed(), partition_of)

    def _spreads(self) -> tuple[int, ...]:
        masks = [None, *(mask for mask, _ in self._filters)]
        behind = {participation(item) for item in self.level.aggregates() if is_spread(item)}
        return tuple(place for place, mask in enumerate(masks) if mask in behind)

    def is_combinable(self) -> bool:
        """Return whether the sets can be read in the same scan as the groups."""
        relation = self._instance.relation
        # a set that another one covers is hardly ever wanted
        return relation is not None and relation.single_table and _cover(self.level, self._instance) is None

    def columns(self) -> list[str]:
        """Return the columns that the groups of the level have for `concatenated_sql`."""
        return [f'{sql} AS "{self._column(suffix)}"' for suffix, sql in self._row_id_aggregates()]

    def sets_sql(self) -> str:
        """Return the statement that reads the sets from the groups of the level."""
        columns = [
            (f'"t"."{self._column(suffix)}"', f"row_ids{suffix}") for suffix, _ in self._row_id_aggregates()
        ]
        shown = ", ".join(f'{column} AS "{name}"' for column, name in columns)
        table = groups_of(self.level) if self._suppresses else base_of(self.level)
        return self._packed(
            'SELECT pg_catalog.row_number() OVER () AS "g",'
            f' CAST({self._instance.oid} AS pg_catalog.oid) AS "leaf", {shown}'
            f' FROM {table} AS "t" WHERE {columns[0][0]} IS NOT NULL'
        )

    def _column(self, suffix: str) -> str:
        return f"p{self._instance.number}{suffix}"

    def _seed(self) -> int:
        return 1 + max((item.number for item in self._parameters), default=0)

    def _packed(self, pieces: str, more: str = "") -> str:
        parts = [('pg_catalog.int8send("g")', "groups"), ('pg_catalog.oidsend("leaf")', "leaves")]
        for suffix in ("", *(f"_{number}" for number in range(1, len(self._filters) + 1))):
            row_ids = f'COALESCE("row_ids{suffix}", {EMPTY})'
            parts.append((f"pg_catalog.int8send(pg_catalog.octet_length({row_ids}))", f"lengths{suffix}"))
            parts.append((row_ids, f"row_ids{suffix}"))
        shown = ", ".join(f'COALESCE({concatenated_sql(sql)}, {EMPTY}) AS "{name}"' for sql, name in parts)
        return f'SELECT {shown}{more} FROM ({pieces}) AS "n"'

    def _numbered(self) -> str:
        keys = [f'"p"."k{position}"' for position in range(len(self.level.keys))]
        number = "CAST(1 AS pg_catalog.int8)"
        if keys:
            # exact where a hash of the keys might give two groups, chosen by the analyst, the same number
            number = f"pg_catalog.dense_rank() OVER (ORDER BY {', '.join(keys)})"
        kept = self._kept() if self._suppresses else ""
        return (
            f'SELECT {number} AS "g", "p".* FROM ({self._pieces()}) AS "p"{kept}'
            ' WHERE "p"."row_ids" IS NOT NULL'
        )

    def _kept(self) -> str:
        """Return the join that keeps the groups that are shown."""
        positions = range(len(self.level.keys))
        table = f'"kanon_groups_{self.level.number}"'
        if not positions:
            return f' CROSS JOIN {table} AS "t"'
        return f' JOIN {table} AS "t" ON {equal_keys(self.level, "p", "t")}'

    def _pieces(self) -> str:
        keys = [f'{self._writer.write(key)} AS "k{position}"' for position, key in enumerate(self.level.keys)]
        leaf, _ = self._row_id()
        parts = [*keys, f'{leaf} AS "leaf"']
        parts += [f'{sql} AS "row_ids{suffix}"' for suffix, sql in self._row_id_aggregates()]
        conditions = tuple(self._conditions())
        rows = from_and_where(self.level, self._writer, self._canonical.answers(), conditions)
        # the one table of all rows is no part of what groups them
        by_leaf = 0 if self._instance.relation is not None and self._instance.relation.single_table else 1
        grouping = ", ".join(str(position + 1) for position in range(len(keys) + by_leaf))
        return f"SELECT {', '.join(parts)}{rows}{f' GROUP BY {grouping}' if grouping else ''}"

    def _row_id_aggregates(self) -> Iterator[tuple[str, str]]:
        """Yield aggregates of the rows of a group, and of those of each filter, with suffixes of names."""
        _, row_id = self._row_id()
        yield "", concatenated_sql(row_id)
        for number, (mask, _) in enumerate(self._filters, 1):
            # most filters are columns without NULLs, which leave nobody out
            condition = self._writer.write(negation(mask) if self._disjoint else mask)
            yield f"_{number}", f"{concatenated_sql(row_id)} FILTER (WHERE {condition})"

    def _row_id(self) -> tuple[str, str]:
        alias, relation = f'"{self._instance.alias}"', self._instance.relation
        assert relation is not None  # noqa: S101 - protected instances are relations
        if has_tids(relation):
            leaf = f"{alias}.tableoid"
            if relation.single_table:
                leaf = f"CAST({relation.oid} AS pg_catalog.oid)"
            return leaf, f"pg_catalog.tidsend({alias}.ctid)"
        hashed = content_hash_sql(relation, alias, f"CAST(${self._seed()} AS pg_catalog.int8)")
        if self._instance.outer:
            # a row that found no partner has no content either
            hashed = f"CASE WHEN {alias} IS DISTINCT FROM NULL THEN {hashed} END"
        return "CAST(0 AS pg_catalog.oid)", f"pg_catalog.int8send({hashed})"

    def _conditions(self) -> Iterator[str]:
        for item in self._parameters:
            # true; the server has to know the type of every parameter, used or not
            yield f"(CAST(${item.number} AS pg_catalog.{item.type_name}) IS NULL) IS NOT NULL"


class _PartitionWriter(_SetWriter):
    """Writes the statement that reads all rows of a table by one key, whatever the query."""

    def __init__(
        self, plan: Plan, canonical: CanonicalWriter, level: GroupingLevel, instance: Instance
    ) -> None:
        super().__init__(plan, canonical, level, instance, suppresses=False)
        self._parameters = ()

    def partition(self, kind: PartitionKind, most: int | None) -> RowPartition:
        """Return the partition by the key, or by the truth of what the level's condition denies."""
        if kind == "truth":
            return RowPartition(self._packed(self._numbered()), kind)
        number = '(SELECT pg_catalog.count(*) FROM "kanon_pieces")'
        more, values_sql = f', {number} AS "count"', None
        if kind == "values":
            more += ', pg_catalog.array_agg(CAST("k0" AS pg_catalog.text) ORDER BY "g") AS "values"'
            values_sql = self._values()
        # unless so few, nothing of them is put together
        few = "" if most is None else f" WHERE {number} OPERATOR(pg_catalog.<=) {most}"
        packed = self._packed(f'SELECT * FROM "kanon_pieces"{few}', more)
        sql = f'WITH "kanon_pieces" AS MATERIALIZED ({self._numbered()}) {packed}'
        return RowPartition(sql, kind, most, values_sql)

    def _values(self) -> str:
        """Return the statement that reads the values of the key in the order in which groups are numbered."""
        (key,) = self.level.keys
        rows = from_and_where(self.level, self._writer, self._canonical.answers())
        return (
            'SELECT pg_catalog.array_agg(CAST("k0" AS pg_catalog.text) ORDER BY "k0") AS "values"'
            f' FROM (SELECT {self._writer.write(key)} AS "k0"{rows} GROUP BY 1) AS "p"'
        )


class _WindowWriter(_SetWriter):
    """Writes the statement of the rows behind the percentiles of an instance."""

    def __init__(
        self, plan: Plan, canonical: CanonicalWriter, windows: Windows, instance: Instance, suppresses: bool
    ) -> None:
        super().__init__(plan, canonical, windows.level, instance, suppresses)
        self._windows = windows
        self._figures = ()
        figures = [(_figure(aggregate),) for aggregate, _ in windows.percentiles]
        self._filters = [(windows.argument, figure) for figure in figures]
        # the windows of two percentiles may share rows
        self._disjoint = False

    def entity_set(self) -> EntitySet:
        return replace(super().entity_set(), kind="windows", spreads=())

    def _pieces(self) -> str:
        keys = [f'"k{position}"' for position in range(len(self.level.keys))]
        leaf, row_id = self._row_id()
        extra = (f'{leaf} AS "leaf"', f'{row_id} AS "row_id"')
        rows = ranked_sql(self._windows, self._writer, self._canonical.answers(), extra)
        masks = window_masks(self._windows)
        shown = [
            *keys,
            '"leaf"',
            f'{concatenated_sql(_NAMED)} FILTER (WHERE {" OR ".join(masks)}) AS "row_ids"',
        ]
        shown += [
            f'{concatenated_sql(_NAMED)} FILTER (WHERE {mask}) AS "row_ids_{number}"'
            for number, mask in enumerate(masks, 1)
        ]
        conditions = " AND ".join(self._conditions()) or "true"
        grouping = ", ".join(str(position + 1) for position in range(len(keys) + 1))
        return f'SELECT {", ".join(shown)} FROM ({rows}) AS "r" WHERE {conditions} GROUP BY {grouping}'


_NAMED = '"row_id"'


def _cover(level: GroupingLevel, instance: Instance) -> int | None:
    """Return the relation whose own sets say all that the sets of an instance would say.

    That is so for a table that is only looked up: every figure is a sum over rows of the fact, each of which
    belongs to the same person here and there, and no figure is made of the instance's own columns.
    """
    rows = fact_instance(level)
    if rows is None or rows.number == instance.number:
        return None
    entities = [item.protection.entity if item.protection else None for item in (rows, instance)]
    same_people = any(
        (one.instance, one.name, other.instance, other.name)
        == (rows.number, entities[0], instance.number, entities[1])
        for one, other in equalities(level)
    )
    arguments = [item.argument for item in level.aggregates() if item.argument is not None]
    measured = {column.instance for argument in arguments for column in columns_in(argument)}
    return rows.oid if same_people and instance.number not in measured else None
