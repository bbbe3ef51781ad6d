"""Percentiles of people: the mean over k + 2 people nearest in rank, with everybody of equal value.

An order statistic is somebody's value, and the difference of two lists of order statistics is a list of
values: no rule about sets keeps an attacker from intersecting such lists. So what is shown is the mean of a
*window*: of n rows in order of the value, those whose ranks are nearest to ``1 + f * (n - 1)``, as many as
belong to k + 2 people for certain, and all rows whose value equals that of one of these. So a window is a
set of rows that a condition on the value chooses, whatever the order of equal values is. The percentile is a
sum over the window divided by its number of rows, and the ledger gets the window as a set behind the answer:
everything that it proves of sums over sets holds for percentiles.

Days and moments have infinite values, which have no part in a mean: of a window with one of them, also with
finite values of fewer than k people beside it, nothing is shown but NULL.

Where a person may have many rows, a window has k + 2 times as many rows as the person who has most, and where
a level reads several protected relations, the people of each in every window are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.aggregates import participation, uneven_percentiles
from kanon_pg.queries.check.plan.divisions import k_of
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance, Plan
from kanon_pg.queries.check.plan.typed import Aggregate, Bound
from kanon_pg.queries.check.types import FLOATS, INTEGERS
from kanon_pg.queries.check.write.expressions import Writer, decimals, entity_sql, literal
from kanon_pg.queries.check.write.sources import from_and_where

_EPOCH = "CAST('2000-01-01' AS pg_catalog.{0})"
_WITH_INFINITY = frozenset({"date", "timestamp", "timestamptz"})
_MORE_THAN_K = 2
"""People in a window beyond k: of exactly k the ledger may take two for one, and withhold at random.

Where people share columns of its vectors (more people than columns, 1,024 at least), a set of k people looks
lighter once in about 100 windows at k = 5, one of k + 2 once in some 700,000 (calculated, for 1,024 columns).
"""

_SECOND = "CAST('00:00:01' AS pg_catalog.interval)"


@dataclass(frozen=True, slots=True)
class Windows:
    """The percentiles of a level that order the same rows by the same value.

    Parameters
    ----------
    argument : Bound
        What the rows are ordered by.
    mask : Bound or None
        Which rows take part, None for all.
    percentiles : tuple of (Aggregate, int)
        With their positions among the aggregates of the level.
    """

    level: GroupingLevel
    argument: Bound
    mask: Bound | None
    percentiles: tuple[tuple[Aggregate, int], ...]

    def is_uneven(self) -> bool:
        """Return whether a person may have several rows."""
        return bool(uneven_percentiles(self.level))

    def counted(self) -> tuple[Instance, ...]:
        """Return the instances whose people in a window the number of its rows does not tell."""
        rows = fact_instance(self.level)
        return tuple(item for item in self.level.protected() if rows is None or item.number != rows.number)


def windows_of(level: GroupingLevel) -> tuple[Windows, ...]:
    """Return the percentiles of a level over people, those of the same values together."""
    if not level.protected():
        return ()
    found: dict[tuple[Bound, Bound | None], list[tuple[Aggregate, int]]] = {}
    for position, aggregate in enumerate(level.aggregates()):
        if aggregate.function in PERCENTILES and aggregate.argument is not None:
            key = (aggregate.argument, participation(aggregate))
            found.setdefault(key, []).append((aggregate, position))
    return tuple(Windows(level, *key, tuple(items)) for key, items in found.items())


def percentiles_sql(windows: Windows, writer: Writer, answers: Mapping[Plan, str]) -> str:
    """Return a SELECT of the percentiles of every group.

    Returns
    -------
    str
        Columns ``k0`` ...; ``a`` with the position of each percentile; for each of `Windows.counted` and each
        percentile ``p`` with a number from 0: how many of its people are in the window.
    """
    level = windows.level
    parts = [f'"k{position}"' for position in range(len(level.keys))]
    for number, (aggregate, position) in enumerate(windows.percentiles):
        inside = f"FILTER (WHERE {_inside(number)})"
        shown = _shown(aggregate, _mean(aggregate, inside))
        if _ordered(aggregate) in _WITH_INFINITY:
            finite = f'pg_catalog.bool_and(pg_catalog.isfinite("x")) {inside}'
            shown = f"CASE WHEN {finite} THEN {shown} END"
        parts.append(f'{shown} AS "a{position}"')
    for place, condition in enumerate(_counts(windows)):
        parts.append(f'{condition} AS "p{place}"')
    return f'SELECT {", ".join(parts)} FROM ({ranked_sql(windows, writer, answers)}) AS "r"{_grouping(level)}'


def _counts(windows: Windows) -> Iterator[str]:
    for instance in windows.counted():
        for number in range(len(windows.percentiles)):
            yield f'pg_catalog.count(DISTINCT "e{instance.number}") FILTER (WHERE {_inside(number)})'


def counted_minimums(windows: Windows) -> list[tuple[Instance, int]]:
    """Return for every column ``p0`` ... of `percentiles_sql` whose people it counts, and the fewest."""
    return [
        (instance, k_of(instance)) for instance in windows.counted() for _ in range(len(windows.percentiles))
    ]


def window_masks(windows: Windows) -> tuple[str, ...]:
    """Return conditions on the rows of `ranked_sql`: which are in the window of each percentile."""
    return tuple(_inside(number) for number in range(len(windows.percentiles)))


def ranked_sql(
    windows: Windows, writer: Writer, answers: Mapping[Plan, str], extra: tuple[str, ...] = ()
) -> str:
    """Return a SELECT of the rows that take part, with their ranks and where the windows are.

    Parameters
    ----------
    extra : tuple of str
        Further columns of rows, as SQL with names.
    """
    level = windows.level
    rows = fact_instance(level)
    keys = [f'{writer.write(key)} AS "k{position}"' for position, key in enumerate(level.keys)]
    people = [f'{entity_sql(item)} AS "e{item.number}"' for item in level.protected()]
    mask = () if windows.mask is None else (writer.write(windows.mask),)
    text = from_and_where(level, writer, answers, mask)
    columns = ", ".join([*keys, *people, f'{writer.write(windows.argument)} AS "x"', *extra])
    groups = ", ".join(f'"k{position}"' for position in range(len(level.keys)))
    group = f"PARTITION BY {groups}" if groups else ""
    order = f'({group} ORDER BY "x")'
    ranks = [f'pg_catalog.rank() OVER {order} AS "first"', f'pg_catalog.count(*) OVER {order} AS "last"']
    ranks.append(f'pg_catalog.count(*) OVER ({group}) AS "c"')
    most = "1"
    if windows.is_uneven() and rows is not None:
        person = f'"e{rows.number}"'
        partition = f"PARTITION BY {groups}, {person}" if groups else f"PARTITION BY {person}"
        ranks.append(f'pg_catalog.count(*) OVER ({partition}) AS "own"')
        most = f'pg_catalog.max("own") OVER ({group})'
    counted = f'SELECT "s".*, {", ".join(ranks)} FROM (SELECT {columns}{text}) AS "s"'
    least = max(k_of(item) for item in level.protected()) + _MORE_THAN_K
    sized = f'SELECT "t".*, {least} OPERATOR(pg_catalog.*) {most} AS "w" FROM ({counted}) AS "t"'
    starts = ", ".join(
        f'{_start(aggregate)} AS "from{number}"' for number, (aggregate, _) in enumerate(windows.percentiles)
    )
    return f'SELECT "u".*, {starts} FROM ({sized}) AS "u"'


def _start(aggregate: Aggregate) -> str:
    """Return the SQL of the first rank of a window: its middle is nearest to the rank that is meant."""
    fraction = Decimal(aggregate.fraction or "0.5")
    share = format(1 - fraction if aggregate.descending else fraction, "f")
    below = f'({_numeric(share)} OPERATOR(pg_catalog.*) ("c" OPERATOR(pg_catalog.-) 1))'
    rank = f"(1 OPERATOR(pg_catalog.+) {below})"
    half = f'(("w" OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) {_numeric("2")})'
    middle = f"CAST(pg_catalog.ceil({rank} OPERATOR(pg_catalog.-) {half}) AS pg_catalog.int8)"
    last = '(("c" OPERATOR(pg_catalog.-) "w") OPERATOR(pg_catalog.+) 1)'
    return f"GREATEST(1, LEAST({middle}, {last}))"


def _inside(number: int) -> str:
    start = f'"from{number}"'
    return (
        f'("last" OPERATOR(pg_catalog.>=) {start})'
        f' AND ("first" OPERATOR(pg_catalog.<) ({start} OPERATOR(pg_catalog.+) "w"))'
    )


def _grouping(level: GroupingLevel) -> str:
    if not level.keys:
        return ""
    return " GROUP BY " + ", ".join(f'"k{position}"' for position in range(len(level.keys)))


def _numeric(text: str) -> str:
    return f"CAST({literal(text)} AS pg_catalog.numeric)"


def _ordered(aggregate: Aggregate) -> str:
    return aggregate.argument.type if aggregate.argument is not None else ""


def _number(aggregate: Aggregate) -> str:
    """Return the SQL of the value ``x`` as a number."""
    kind = _ordered(aggregate)
    if kind in FLOATS:
        return 'CAST("x" AS pg_catalog.float8)'
    if kind == "date":
        days = f'"x" OPERATOR(pg_catalog.-) {_EPOCH.format("date")}'
        return f'CASE WHEN pg_catalog.isfinite("x") THEN CAST({days} AS pg_catalog.numeric) END'
    if kind in {"timestamp", "timestamptz"}:
        seconds = f'EXTRACT(epoch FROM ("x" OPERATOR(pg_catalog.-) {_EPOCH.format(kind)}))'
        return f'CASE WHEN pg_catalog.isfinite("x") THEN {seconds} END'
    if kind == "time":
        return 'EXTRACT(epoch FROM "x")'
    return 'CAST("x" AS pg_catalog.numeric)'


def _mean(aggregate: Aggregate, inside: str) -> str:
    """Return the SQL of the mean over a window, whose decimals follow from the values' sum and number."""
    number = _number(aggregate)
    if _ordered(aggregate) in FLOATS:
        return f"pg_catalog.avg({number}) {inside}"
    return decimals("avg", number, f" {inside}")


def _shown(aggregate: Aggregate, mean: str) -> str:
    """Return the SQL of a mean in the type of the percentile."""
    kind = aggregate.type
    if kind == "date":
        return (
            f"{_EPOCH.format(kind)} OPERATOR(pg_catalog.+) CAST(pg_catalog.round({mean}) AS pg_catalog.int4)"
        )
    if kind in {"timestamp", "timestamptz", "time"}:
        start = "CAST('00:00' AS pg_catalog.time)" if kind == "time" else _EPOCH.format(kind)
        passed = f"CAST({mean} AS pg_catalog.float8) OPERATOR(pg_catalog.*) {_SECOND}"
        return f"{start} OPERATOR(pg_catalog.+) ({passed})"
    if kind in INTEGERS:
        rounded = f"pg_catalog.round({mean})"
        return rounded if aggregate.as_numeric else f"CAST({rounded} AS pg_catalog.{kind})"
    return mean if kind == "numeric" else f"CAST({mean} AS pg_catalog.{kind})"
