"""The further tables of a release: the rows of each, before and after, with what is known of their people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_pg.before_after.counting import (
    BucketCounts,
    Buckets,
    ComparedColumn,
    Side,
    buckets_of,
    sets_to_count,
)
from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Row
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.statements import render
from kanon_pg.release.plan.base import OWNER


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A further table, before and after."""

    columns: tuple[tuple[ComparedColumn, Buckets], ...]
    """Its published columns but keys."""
    base: tuple[Side, BucketCounts]
    release: tuple[Side, BucketCounts]
    """`base`, `release`: its rows with the person of each, and how many are in which buckets."""
    pairs: tuple[tuple[int, ...], ...]
    """A quasi-identifier of the people and a column each that were counted together."""


def compared_table(
    table: Row,
    tables: Mapping[str, Row],
    people: Sequence[tuple[ComparedColumn, Buckets]],
    base: Side,
    release: Side,
    k: int,
    *,
    with_models: bool,
) -> ComparedTable:
    """Count a further table.

    Columns of which privacy models suppress cells are left out: what the table has of a value less what is
    shown would be what classes have that do not satisfy them.

    Parameters
    ----------
    table : Row
        As ``before_after/linked_tables`` has it.
    tables : mapping of str to Row
        By the names of their views, it and those that it hangs on.
    people : sequence of (ComparedColumn, Buckets)
        Quasi-identifiers of the people.
    base, release : Side
        The people.
    with_models : bool
        Whether privacy models constrain its sensitive columns.

    Raises
    ------
    UnknownName
        If a column has another name now.
    """
    facts = describe(release.db, str(table["relation"]), OWNER)
    roles = {facts.column(name).name: role for role in ("sensitive", "insensitive") for name in table[role]}
    stored = enumerate([column for column in facts.columns if column.name in roles], 1)
    kept = {f"c{n}": one for n, one in stored if not (with_models and roles[one.name] == "sensitive")}
    shown = [*kept.values()]
    ways = [json.loads(table["foreign_keys"])[0]]
    while ways[-1]["view"] in tables:
        ways.append(json.loads(tables[ways[-1]["view"]]["foreign_keys"])[0])
    key = Identifier.of(ways[-1]["refers_to"][0])
    above = [{"relation": base.relation, "own": Identifier.of(f"kanon_above_{len(ways)}"), "key": key}]
    chain = [
        {
            "relation": Identifier.of("safe", way["view"]) if way["view"] in tables else release.relation,
            # all columns of a key show the same pseudonym
            "own": Identifier.of(way["columns"][0]),
            "key": Identifier.of(way["refers_to"][0]),
        }
        for way in ways
    ]
    source, view = Identifier.of(BASES_SCHEMA, table["source"]), Identifier.of("safe", table["name"])
    numbered, named = [*kept], [column.name for column in shown]
    rows = _side(base, source, numbered, above), _side(release, view, named, chain)
    columns = [replace(column, place=place) for place, (column, _) in enumerate(people, 1)]
    columns += [
        ComparedColumn(len(people) + number, column, roles[column.name], source=_cell(number))
        for number, column in enumerate(shown, 1)
    ]
    own = columns[len(people) :]
    buckets = [*(one for _, one in people), *(buckets_of(column, *rows, k, 0) for column in own)]
    pairs = [pair for pair in sets_to_count(columns, buckets)[0] if pair[0] <= len(people) < pair[1]]
    before, after = (
        _side(*side, with_people=True).tables(columns, buckets, pairs)
        for side in ((base, source, numbered, above), (release, view, named, chain))
    )
    return ComparedTable(
        tuple(zip(own, buckets[len(people) :], strict=True)),
        (rows[0], before),
        (rows[1], after),
        tuple(pairs),
    )


def _cell(number: int) -> Identifier:
    return Identifier.of(f"kanon_cell_{number}")


def _side(
    people: Side,
    rows: Identifier,
    names: Sequence[str],
    ways: Sequence[Mapping[str, object]],
    *,
    with_people: bool = False,
) -> Side:
    aliases = [Identifier.of(f"t{number}") for number in range(len(ways) + 1)]
    steps = [
        {**way, "alias": alias, "below": below}
        for way, alias, below in zip(ways, aliases[1:], aliases, strict=False)
    ]
    relation = render(
        "before_after/linked_rows",
        rows=rows,
        columns=[
            {"value": Identifier.of(name), "name": _cell(number)} for number, name in enumerate(names, 1)
        ],
        steps=steps if with_people else steps[:-1],
        last=steps[-1],
        people=with_people,
    )
    return replace(people, relation=relation, entity=Fragment("kanon_person"))
