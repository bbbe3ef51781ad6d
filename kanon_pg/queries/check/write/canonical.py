"""The plan as one statement: levels, what is checked, the answer.

Every level is a MATERIALIZED common table expression that groups and counts; conditions on groups,
calculations with aggregates, sorting and cutting happen above it, so that nothing of a group is looked
at before its people are counted, and errors up there depend on counted groups only.

The least numbers of people of a query and of every inner query are each one row, its *minimums*. An inner
query passes groups on to the one around it only if all of its minimums are as large as demanded: what the
outer query does, and how long, must not depend on a figure of fewer people. The outermost query starts from
its minimums, which read every table behind them whether there are groups or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.aggregates import (
    dominance_aggregates,
    participation,
    percentile_minimum,
    secret_values,
    spreads_alone,
    uneven_percentiles,
)
from kanon_pg.queries.check.plan.divisions import cells_of, k_of, negation
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.known import chooses_by_secrets
from kanon_pg.queries.check.plan.levels import GroupingLevel, Plan, Sorting, parameter_uses
from kanon_pg.queries.check.plan.named_groups import NamedGroups, named_groups
from kanon_pg.queries.check.plan.people import PeopleCount, cell_counts, people_counts
from kanon_pg.queries.check.plan.spellings import in_one_spelling, shows_one_spelling
from kanon_pg.queries.check.plan.typed import Bound, present_column
from kanon_pg.queries.check.verdict import HiddenColumn, Parameter
from kanon_pg.queries.check.write.expressions import Writer, people_count_sql, quoted
from kanon_pg.queries.check.write.percentiles import Windows, counted_minimums, percentiles_sql, windows_of
from kanon_pg.queries.check.write.shares import largest_shares, person_ratio, share_check
from kanon_pg.queries.check.write.sources import from_and_where


class CanonicalWriter:
    """Writes the canonical SQL of one plan.

    Parameters
    ----------
    plan : Plan
        Checked by all rules.
    extra_columns : callable, optional
        Returns additional columns of a level's groups, as SQL with names.
    """

    def __init__(
        self,
        plan: Plan,
        options: Options,
        extra_columns: Callable[[GroupingLevel], Sequence[str]] = lambda level: (),
    ) -> None:
        self._plan = plan
        self._options = options
        self._extra_columns = extra_columns
        self._suppresses = options.mode == "suppress"
        self._answers: dict[Plan, str] = {}
        self._tables: list[str] = []
        self._numbers = _numbers(plan)
        self.hidden: list[HiddenColumn] = []
        self._hidden_sql: list[str] = []
        self._minimums: list[str] = []
        self._minimum_tables: list[str] = []
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}

    def sql(self) -> str:
        """Return the statement; fills ``hidden``."""
        tables, body = self.parts()
        return f"WITH {tables} {body}"

    def parts(self) -> tuple[str, str]:
        """Return the statement's common table expressions, and what reads them; fills ``hidden``."""
        self._inner(self._plan)
        self._levels(self._plan)
        self._end_minimums()
        body = self._single() if len(self._plan.branches) == 1 else self._several()
        return ", ".join(self._tables), body

    def writer(self, level: GroupingLevel) -> Writer:
        """Return the writer of a level's expressions."""
        positions = {aggregate: position for position, aggregate in enumerate(level.aggregates())}
        return Writer(self._numbers, self._options.limits.rendered, positions)

    def answers(self) -> Mapping[Plan, str]:
        """Return the names under which answers of inner queries stand."""
        return self._answers

    def tables_before(self, level: GroupingLevel) -> tuple[str, ...]:
        """Return the common table expressions that the FROM of a level needs."""
        if all(instance.plan is None for instance in level.instances):
            return ()
        return tuple(self._tables[: self._starts[level.number]])

    def tables_through(self, level: GroupingLevel) -> tuple[str, ...]:
        """Return the common table expressions up to the groups of a level that are shown."""
        return tuple(self._tables[: self._ends[level.number]])

    def numbers(self) -> Mapping[int, int]:
        """Return the numbers of parameters in the canonical SQL by those in the text."""
        return self._numbers

    def _inner(self, plan: Plan) -> None:
        for branch in plan.branches:
            for instance in branch.instances:
                if instance.plan is not None:
                    self._answer(instance.plan)

    def _answer(self, plan: Plan) -> None:
        if plan in self._answers:
            return
        self._inner(plan)
        start = len(self.hidden)
        self._levels(plan)
        groups = self._passed_groups(plan, self.hidden[start:])
        name = f"kanon_answer_{len(self._answers) + 1}"
        names = [output.name for output in plan.branches[0].outputs]
        selects = " UNION ALL ".join(
            self._select(branch, names, table) for branch, table in zip(plan.branches, groups, strict=True)
        )
        if plan.limit is not None or plan.offset is not None:
            (branch,) = plan.branches
            writer = self.writer(branch)
            order = [_sorted(item, writer.write(_expression(item))) for item in branch.sorting]
            # in one order, whoever reads them
            order += [f'"l"."k{position}"' for position in range(len(branch.keys))]
            selects += self._end(plan, order)
        self._tables.append(f"{quoted(name)} AS MATERIALIZED ({selects})")
        self._answers[plan] = name

    def _passed_groups(self, plan: Plan, hidden: Sequence[HiddenColumn]) -> list[str]:
        """Return where the groups of an inner query stand that the query around it may see.

        Where one of its minimums is too small these are none, or one row of NULLs if the query has one row
        whatever the data: the same for everybody.
        """
        if not self._end_minimums():
            return [groups_of(branch) for branch in plan.branches]
        minimums = self._minimum_tables[-1]
        enough = " AND ".join(
            f'COALESCE("m".{quoted(item.name)} OPERATOR(pg_catalog.>=) {item.minimum}, false)'
            for item in hidden
        )
        found = []
        for branch in plan.branches:
            table = quoted(f"kanon_passed_{branch.number}")
            columns = [f"k{position}" for position in range(len(branch.keys))]
            columns += [f"a{position}" for position in range(len(branch.aggregates()))]
            shown = ", ".join(f'"l"."{column}"' for column in [*columns, "n"])
            join = "LEFT JOIN" if plan.has_one_row() else "JOIN"
            query = f'SELECT {shown} FROM {minimums} AS "m" {join} {groups_of(branch)} AS "l" ON {enough}'
            # materialized, so that nothing of a group is looked at before
            self._tables.append(f"{table} AS MATERIALIZED ({query})")
            found.append(table)
        return found

    def _end_minimums(self) -> bool:
        """Write what was counted since the last time as one row; return whether there is one."""
        if not self._minimums:
            return False
        table = quoted(f"kanon_minimums_{len(self._minimum_tables) + 1}")
        self._tables.append(f"{table} AS MATERIALIZED (SELECT {', '.join(self._minimums)})")
        self._minimum_tables.append(table)
        self._minimums = []
        return True

    def _levels(self, plan: Plan) -> None:
        for level in (*plan.branches, *plan.unshown):
            self._level(level)
        for level in plan.sides:
            self._level(level, is_named=False)
        for level in plan.lists:
            self._listed(level)
        for family in plan.families():
            if family[0].protected() and not self._suppresses:
                self._cells(family)
                alone = tuple(found for found in map(spreads_alone, family) if found is not None)
                if alone:
                    self._cells(alone, of_spreads=True)

    def _cells(self, family: tuple[GroupingLevel, ...], *, of_spreads: bool = False) -> None:
        cells = cells_of(family)
        if cells is None:
            return
        level = cells.level
        writer = self.writer(level)
        keys = [f'{writer.write(key)} AS "k{place}"' for place, key in enumerate(cells.keys)]
        keys += [
            f'({writer.write(item)}) IS TRUE AS "d{place}"' for place, item in enumerate(cells.divisions)
        ]
        counts = cell_counts(cells, of_spreads=of_spreads)
        parts = _numbers_of_people(counts, level, writer)
        rows = from_and_where(level, writer, self._answers)
        grouping = ", ".join(str(place + 1) for place in range(len(keys)))
        table = quoted(f"kanon_cells_{level.family}{'_of_spreads' if of_spreads else ''}")
        query = f"SELECT {', '.join(keys + parts)}{rows} GROUP BY {grouping}"
        self._tables.append(f"{table} AS MATERIALIZED ({query})")
        self._hide(counts, f'(SELECT pg_catalog.min("h{{0}}") FROM {table})')

    def _listed(self, level: GroupingLevel) -> None:
        self._starts[level.number] = len(self._tables)
        writer = self.writer(level)
        keys = [f'{writer.write(key)} AS "k{place}"' for place, key in enumerate(level.keys)]
        counts = tuple(replace(item, what="listed") for item in people_counts(level, strict=False))
        parts = [*keys, *_numbers_of_people(counts, level, writer)]
        grouping = ", ".join(str(place + 1) for place in range(len(keys)))
        rows = from_and_where(level, writer, self._answers)
        query = f"SELECT {', '.join(parts)}{rows} GROUP BY {grouping}"
        table = quoted(f"kanon_listed_{level.number}")
        self._tables.append(f"{table} AS MATERIALIZED ({query})")
        self._hide(counts, f'(SELECT pg_catalog.min("h{{0}}") FROM {table})')

    def _level(self, level: GroupingLevel, *, is_named: bool = True) -> None:
        self._starts[level.number] = len(self._tables)
        writer = self.writer(level)
        keys, aggregates = level.keys, level.aggregates()
        if level.protected():
            keys = tuple(map(in_one_spelling, keys))
            aggregates = tuple(map(shows_one_spelling, aggregates))
        parts = [f'{writer.write(key)} AS "k{position}"' for position, key in enumerate(keys)]
        windows = windows_of(level)
        apart = {position for item in windows for _, position in item.percentiles}
        parts += [
            f'{writer.aggregate(item)} AS "a{position}"'
            for position, item in enumerate(aggregates)
            if position not in apart
        ]
        strict = self._suppresses or self._options.strict
        counts = people_counts(level, strict=strict, suppress=self._suppresses)
        parts += _numbers_of_people(counts, level, writer)
        parts.append('pg_catalog.count(*) AS "n"')
        parts += self._extra_columns(level)
        grouping = ""
        if level.keys:
            grouping = " GROUP BY " + ", ".join(str(position + 1) for position in range(len(level.keys)))
        rows = from_and_where(level, writer, self._answers)
        table = quoted(f"kanon_rest_{level.number}") if windows else base_of(level)
        self._tables.append(f"{table} AS MATERIALIZED (SELECT {', '.join(parts)}{rows}{grouping})")
        if windows:
            self._percentiles(level, windows, writer, table)
        # that nobody is on one side says nothing of anybody in particular
        named = self._named(level) if counts and is_named else ()
        if counts and self._suppresses:
            lacking = tuple(f"{sql} OPERATOR(pg_catalog.<) {minimum}" for sql, minimum in named)
            self._tables.extend(kept_groups(level, counts, lacking, base_of(level), groups_of(level)))
            for position, item in enumerate(counts):
                found = HiddenColumn(self._next(), item.minimum, item.instance.oid, item.what)
                self.hidden.append(found)
                self._hidden_sql.append(f'"l"."h{position}" AS {quoted(found.name)}')
            if chooses_by_secrets(level):
                kept, every = (
                    f"(SELECT pg_catalog.count(*) FROM {table})"
                    for table in (groups_of(level), base_of(level))
                )
                hidden = HiddenColumn(self._next(), 0, counts[0].instance.oid, "left out")
                self._hide_one(f"({every} OPERATOR(pg_catalog.-) {kept})", hidden)
        elif counts:
            self._tables.append(f"{groups_of(level)} AS (SELECT * FROM {base_of(level)})")
            self._hide(counts, f'(SELECT pg_catalog.min("h{{0}}") FROM {base_of(level)})')
            self._dominance(level, writer)
            self._sides(level, writer)
            self._values(level, writer)
            for sql, minimum in named:
                self._hide_one(sql, HiddenColumn(self._next(), minimum, counts[0].instance.oid, "value"))
        else:
            self._tables.append(f"{groups_of(level)} AS (SELECT * FROM {base_of(level)})")
        self._ends[level.number] = len(self._tables)

    def _percentiles(
        self, level: GroupingLevel, windows: tuple[Windows, ...], writer: Writer, rest: str
    ) -> None:
        """Add the percentiles, which are computed over rows in order, to the other aggregates of groups."""
        columns, joins = ['"g".*'], ""
        for number, item in enumerate(windows):
            table = quoted(f"kanon_windows_{level.number}_{number}")
            query = percentiles_sql(item, writer, self._answers)
            self._tables.append(f"{table} AS MATERIALIZED ({query})")
            # read, whether there are groups that it is joined to or not
            read = f"read_{level.number}_{number}"
            self._minimums.append(f"(SELECT pg_catalog.count(*) FROM {table}) AS {quoted(read)}")
            columns += [f'"w{number}"."a{position}"' for _, position in item.percentiles]
            joins += f' LEFT JOIN {table} AS "w{number}" ON {equal_keys(level, "g", f"w{number}")}'
            for place, (instance, least) in enumerate(counted_minimums(item)):
                hidden = HiddenColumn(self._next(), least, instance.oid, "percentile")
                self._hide_one(f'(SELECT pg_catalog.min("p{place}") FROM {table})', hidden)
        self._tables.append(
            f'{base_of(level)} AS MATERIALIZED (SELECT {", ".join(columns)} FROM {rest} AS "g"{joins})'
        )

    def _hide(self, counts: tuple[PeopleCount, ...], template: str) -> None:
        for position, item in enumerate(counts):
            hidden = HiddenColumn(self._next(), item.minimum, item.instance.oid, item.what)
            self._hide_one(template.format(position), hidden)

    def _dominance(self, level: GroupingLevel, writer: Writer) -> None:
        if self._options.dominance is None:
            return
        for aggregate in dominance_aggregates(level):
            table = quoted(f"kanon_shares_{len(self._tables)}")
            query = largest_shares(level, aggregate, writer, self._answers)
            self._tables.append(f"{table} AS MATERIALIZED ({query})")
            rows = fact_instance(level)
            hidden = HiddenColumn(self._next(), 1, rows.oid if rows is not None else 0, "dominance")
            self._hide_one(share_check(self._options.dominance, table), hidden)

    def _sides(self, level: GroupingLevel, writer: Writer) -> None:
        for aggregate in uneven_percentiles(level):
            table = quoted(f"kanon_sides_{len(self._tables)}")
            self._tables.append(
                f"{table} AS MATERIALIZED ({person_ratio(level, aggregate, writer, self._answers)})"
            )
            for instance in level.protected():
                least = percentile_minimum(aggregate, k_of(instance))
                hidden = HiddenColumn(self._next(), least, instance.oid, "percentile")
                self._hide_one(f'(SELECT pg_catalog.min("ratio") FROM {table})', hidden)

    def _values(self, level: GroupingLevel, writer: Writer) -> None:
        """Count the people of every value that a number of different values counts."""
        rows = fact_instance(level)
        for aggregate in secret_values(level):
            table = quoted(f"kanon_values_{len(self._tables)}")
            keys = [writer.write(key) for key in level.keys]
            if aggregate.argument is not None:
                keys.append(writer.write(aggregate.argument))
            mask = participation(aggregate)
            more = () if mask is None else (writer.write(mask),)
            text = from_and_where(level, writer, self._answers, more)
            counts = [
                people_count_sql(item, single=rows is not None and rows.number == item.number, mask=None)
                for item in level.protected()
            ]
            shown = ", ".join([*keys, *(f'{sql} AS "p{place}"' for place, sql in enumerate(counts))])
            grouping = ", ".join(str(place + 1) for place in range(len(keys)))
            self._tables.append(f"{table} AS MATERIALIZED (SELECT {shown}{text} GROUP BY {grouping})")
            for place, item in enumerate(level.protected()):
                hidden = HiddenColumn(self._next(), k_of(item), item.oid, "value")
                self._hide_one(f'(SELECT pg_catalog.min("p{place}") FROM {table})', hidden)

    def _next(self) -> str:
        return f"kanon_people_{len(self.hidden) + 1}"

    def _hide_one(self, sql: str, hidden: HiddenColumn) -> None:
        self.hidden.append(hidden)
        self._minimums.append(f"{sql} AS {quoted(hidden.name)}")
        self._hidden_sql.append(f'"m{len(self._minimum_tables) + 1}".{quoted(hidden.name)}')

    def _named(self, level: GroupingLevel) -> tuple[tuple[str, int], ...]:
        found = named_groups(level, strict=self._options.strict)
        return tuple(pair for key in found for pair in _counts_of_named(key, base_of(level)))

    def _select(self, level: GroupingLevel, names: list[str], groups: str) -> str:
        writer = self.writer(level)
        parts = [
            f"{writer.write(output.expression)} AS {quoted(name)}"
            for output, name in zip(level.outputs, names, strict=True)
        ]
        parts += [
            f'{writer.write(_expression(item))} AS "o{position}"'
            for position, item in enumerate(level.sorting)
        ]
        return f"SELECT {', '.join(parts)}{self._groups(level, groups)}"

    def _groups(self, level: GroupingLevel, groups: str) -> str:
        text = f' FROM {groups} AS "l"'
        if level.repeated:
            text += ' CROSS JOIN LATERAL pg_catalog.generate_series(1, "l"."n") AS "r"'
        if level.having is not None:
            text += f" WHERE {self.writer(level).write(level.having)}"
        return text

    def _single(self) -> str:
        level = self._plan.branches[0]
        writer = self.writer(level)
        parts = [f"{writer.write(output.expression)} AS {quoted(output.name)}" for output in level.outputs]
        order = [_sorted(item, writer.write(_expression(item))) for item in level.sorting]
        groups = self._groups(level, groups_of(level))
        if self._minimum_tables:
            groups = self._from_minimums(f'SELECT "l".*, true AS "is_there"{groups}', "l")
        return f"SELECT {', '.join(parts + self._hidden_sql)}{groups}{self._end(self._plan, order)}"

    def _from_minimums(self, rows: str, alias: str) -> str:
        """Return FROM with all minimums, whose row is computed first, and rows with a column ``is_there``.

        The condition is not one that makes an inner join of the outer one, which may begin with the rows.
        """
        minimums = " CROSS JOIN ".join(
            f'{table} AS "m{number}"' for number, table in enumerate(self._minimum_tables, 1)
        )
        return (
            f' FROM {minimums} LEFT JOIN ({rows}) AS "{alias}" ON true'
            f' WHERE COALESCE("{alias}"."is_there", false)'
        )

    def _several(self) -> str:
        names = [f"c{position}" for position in range(len(self._plan.branches[0].outputs))]
        branches = " UNION ALL ".join(
            self._select(branch, names, groups_of(branch)) for branch in self._plan.branches
        )
        outputs = self._plan.branches[0].outputs
        parts = [
            f'"u".{quoted(name)} AS {quoted(output.name)}'
            for name, output in zip(names, outputs, strict=True)
        ]
        order = [_sorted(item, f'"u"."c{int(str(item.expression)) - 1}"') for item in self._plan.sorting]
        sorting = self._plan.branches[0].sorting
        order += [_sorted(item, f'"u"."o{position}"') for position, item in enumerate(sorting)]
        shown = ", ".join(parts + self._hidden_sql)
        rows = f' FROM ({branches}) AS "u"'
        if self._minimum_tables:
            rows = self._from_minimums(f'SELECT "u".*, true AS "is_there"{rows}', "u")
        return f"SELECT {shown}{rows}{self._end(self._plan, order)}"

    def _end(self, plan: Plan, order: list[str]) -> str:
        text = f" ORDER BY {', '.join(order)}" if order else ""
        for word, count in (("LIMIT", plan.limit), ("OFFSET", plan.offset)):
            if count is not None:
                text += f" {word} {Writer(self._numbers, 1000, {}).write(count)}"
        return text


def _numbers_of_people(counts: tuple[PeopleCount, ...], level: GroupingLevel, writer: Writer) -> list[str]:
    """Return the hidden columns of a level; nobody counts as enough where nobody is allowed."""
    rows = fact_instance(level)
    found = []
    for position, item in enumerate(counts):
        condition = negation(item.mask) if item.mask is not None and item.negated else item.mask
        mask = writer.write(condition) if condition is not None else None
        column = present_column(item.mask) if item.mask is not None and not item.negated else None
        present = writer.write(column) if column is not None else None
        single = rows is not None and rows.number == item.instance.number
        number = people_count_sql(item.instance, single=single, mask=mask, present=present)
        if item.may_be_none:
            number = f"CASE WHEN {number} OPERATOR(pg_catalog.=) 0 THEN {item.minimum} ELSE {number} END"
        found.append(f'{number} AS "h{position}"')
    return found


def _numbers(plan: Plan) -> dict[int, int]:
    written = sorted({item.number for item in parameter_uses(plan)})
    return {number: number if number < 100 else position for position, number in enumerate(written, 1)}


def parameters(plan: Plan, numbers: Mapping[int, int]) -> tuple[Parameter, ...]:
    """Return the parameters of the canonical SQL in the order of their numbers."""
    found = {numbers[item.number]: item.type for item in parameter_uses(plan)}
    return tuple(Parameter(number, found[number]) for number in sorted(found))


def base_of(level: GroupingLevel) -> str:
    """Return the name under which all groups of a level stand."""
    return f'"kanon_level_{level.number}"'


def equal_keys(level: GroupingLevel, one: str, other: str) -> str:
    """Return the condition that two aliases of groups of a level have the same keys."""
    positions = range(len(level.keys))
    if not positions:
        return "true"
    sides = [", ".join(f'"{side}"."k{position}"' for position in positions) for side in (one, other)]
    # the hash finds the groups fast, the comparison is exact
    hashes = [f"pg_catalog.hash_record_extended(ROW({side}), 0)" for side in sides]
    equal = [f'"{one}"."k{position}" IS NOT DISTINCT FROM "{other}"."k{position}"' for position in positions]
    return " AND ".join([f"{hashes[0]} OPERATOR(pg_catalog.=) {hashes[1]}", *equal])


def groups_of(level: GroupingLevel) -> str:
    """Return the name under which the groups of a level stand that are shown."""
    return f'"kanon_groups_{level.number}"'


def _expression(item: Sorting) -> Bound:
    if isinstance(item.expression, int):
        raise TypeError("a number of an output stands after UNION ALL only")
    return item.expression


def _sorted(item: Sorting, sql: str) -> str:
    return f"{sql} {'DESC' if item.descending else 'ASC'} NULLS {'FIRST' if item.nulls_first else 'LAST'}"


def kept_groups(
    level: GroupingLevel, counts: tuple[PeopleCount, ...], lacking: tuple[str, ...], base: str, table: str
) -> tuple[str, ...]:
    """Return the common table expressions that reduce the groups of a level to those that may be shown.

    Parameters
    ----------
    counts : tuple of PeopleCount
        What its columns ``h0`` ... hold.
    lacking : tuple of str
        SQL conditions under which a group that the text names has nobody.
    base, table : str
        Quoted names of the groups and of those kept.

    Returns
    -------
    tuple of str
        In order; both are materialized, so that nothing above looks at groups left out.
    """
    large = " AND ".join(
        f'"h{position}" OPERATOR(pg_catalog.>=) {item.minimum}' for position, item in enumerate(counts)
    )
    short = " OR ".join([*(_short(position, item) for position, item in enumerate(counts)), *lacking])
    order = ", ".join(['"h0"', *(f'"k{position}"' for position in range(len(level.keys)))])
    ranked = (
        f'SELECT *, ({large}) AS "ok",'
        f' pg_catalog.row_number() OVER (PARTITION BY ({large}) ORDER BY {order}) AS "place" FROM {base}'
    )
    short_of_people = f'SELECT ({short}) AS "short" FROM ({ranked}) AS "g" WHERE NOT "ok"'
    kept = (
        f'SELECT "g".* FROM ({ranked}) AS "g" CROSS JOIN ({short_of_people}) AS "d"'
        ' WHERE "g"."ok" AND ("d"."short" IS NOT TRUE OR "g"."place" OPERATOR(pg_catalog.>) 1)'
    )
    return (f"{table} AS MATERIALIZED ({kept})",)


def _counts_of_named(named: NamedGroups, base: str) -> tuple[tuple[str, int], ...]:
    """Return scalar subqueries, each with the smallest value that means "every group is there"."""
    column = f'"k{named.key}"'
    distinct = f"(SELECT pg_catalog.count(DISTINCT {column}) FROM {base})"
    found = [(distinct, named.values)] if named.values else []
    if named.null:
        found.append((f"(SELECT pg_catalog.count(*) FROM {base} WHERE {column} IS NULL)", 1))
    return tuple(found)


def _short(position: int, item: PeopleCount) -> str:
    k = k_of(item.instance) if item.what == "percentile" else item.minimum
    largest = f'pg_catalog.max("h{position}")'
    return f"({largest} OPERATOR(pg_catalog.>) 0 AND {largest} OPERATOR(pg_catalog.<) {k})"
