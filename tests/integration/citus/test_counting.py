"""What nodes count and what they send: row types, never rows of the base table."""

import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from kanon_pg import client
from kanon_pg.db.catalog import describe
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import Statement
from kanon_pg.relations.canonical import canonical_columns
from kanon_pg.relations.counting import Counted, count_row_types, fingerprint
from kanon_pg.relations.subject import entity_column
from tests.integration.citus.tables import create_patients, create_stays

CASES = {
    "rows": ("patients", ["zip", "age", "sex"], None, "id"),
    "people of one node": ("stays", ["ward", "age"], "person", "person"),
    "people of several nodes": ("stays", ["ward", "age"], "person", "stay"),
}

cases = pytest.mark.parametrize("case", CASES)


class _Listening(PsycopgDatabase):
    """Remembers the statements that read something."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.heard: list[tuple[Statement, tuple[Any, ...]]] = []

    def read(self, command: Statement, *arguments: Any) -> Any:
        self.heard.append((command, arguments))
        return super().read(command, *arguments)


def _create(db: psycopg.Connection[Any], case: str) -> None:
    relation, _, _, distribution = CASES[case]
    if relation == "patients":
        create_patients(db, distribution)
    else:
        create_stays(db, distribution)


def _count(db: PsycopgDatabase, case: str, relation: str) -> tuple[Counted, tuple[int, int]]:
    _, names, person, _ = CASES[case]
    facts = describe(db, relation, "postgres")
    columns = canonical_columns(tuple(map(facts.column, names)), {})
    entity = None if person is None else entity_column(facts.column(person))
    with reading(db, facts):
        counted = count_row_types(db, facts.identifier, columns, entity, memory_bytes=1 << 28)
        return counted, fingerprint(db, facts.identifier, columns, entity)


def _numbers(buffer: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack(">q", buffer)]


def _content(counted: Counted) -> tuple[Any, ...]:
    """Return everything that solvers are told, whatever its order and whichever numbers stand for people."""
    types = counted.row_types
    pairs = set(zip(_numbers(types.pair_keys), _numbers(types.pair_people), strict=True))
    told = defaultdict[int, set[int]](set)
    for key, person in pairs:
        told[person].add(key)
    # pairs that come once for each row come without counts of people, which the solver's process makes
    people = Counter(key for key, _ in pairs)
    if not types.has_entity:
        assert types.people == types.rows
    elif types.people:
        assert _numbers(types.people) == [people[key] for key in _numbers(types.keys)]
    columns = [types.keys, types.rows, *types.cells]
    return (
        people,
        sorted(zip(*map(_numbers, columns), strict=True)),
        Counter(map(frozenset, told.values())),
        (counted.tuples, counted.rows, counted.people, counted.fingerprint),
    )


@cases
def test_nodes_count_what_a_single_server_counts(citus, case):
    _create(citus, case)
    relation = CASES[case][0]
    citus.execute(f"CREATE TABLE plain AS TABLE {relation}")
    with citus.transaction():
        db = PsycopgDatabase(citus)
        on_nodes, mark = _count(db, case, relation)
        here, same_mark = _count(db, case, "plain")
    assert _content(on_nodes) == _content(here)
    assert mark == same_mark == (here.rows, here.fingerprint)


@pytest.mark.parametrize("case", ["rows", "people of one node"])
def test_no_node_sends_a_row_of_the_table(citus, case):
    _create(citus, case)
    relation = CASES[case][0]
    with citus.transaction():
        db = _Listening(citus)
        counted, _ = _count(db, case, relation)
        read = [said for said in db.heard if f'"{relation}"' in said[0].text and "count" in said[0].name]
        assert read
        kinds = len(_numbers(counted.row_types.keys))
        for statement, arguments in read:
            tasks = _tasks(citus, statement, arguments)
            assert tasks
            for query, rows in tasks:
                assert re.search(r"GROUP BY|count\(|sum\(", query), query
                # a row type is sent by each shard that has it, with the numbers of its people who have others
                assert rows <= kinds, query
    assert kinds < counted.rows


ANALYSES: dict[str, Callable[[psycopg.Connection[Any]], Any]] = {
    "measure": lambda db: client.measure(db, "patients"),
    "audit": lambda db: client.audit(db, "patients", 12),
    "risk": lambda db: client.risk(db, "patients"),
    "identify": lambda db: client.identify(db, "patients"),
    "curve": lambda db: client.curve(db, "patients", (2, 12)),
    "intervals": lambda db: client.intervals(db, "patients", "age", 12),
    "groups": lambda db: client.groups(db, "patients", "diagnosis", 12),
}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_no_node_sends_a_row_of_the_table_that_is_analysed(citus, monkeypatch, analysis):
    create_patients(citus)
    databases: list[_Listening] = []

    def listen(*given: Any) -> _Listening:
        databases.append(_Listening(*given))
        return databases[-1]

    monkeypatch.setattr(client, "PsycopgDatabase", listen)
    ANALYSES[analysis](citus)
    # afterwards: what is explained makes Citus connect to the coordinator, too, where no reader may log in
    with citus.transaction():
        read = [
            (command.name, _tasks(citus, command, arguments))
            for db in databases
            for command, arguments in db.heard
            if re.search(r'(FROM|JOIN) ("public"\.)?"patients"', command.text)
        ]
    assert sum(len(tasks) for _, tasks in read) > 0
    for name, tasks in read:
        for query, _ in tasks:
            assert re.search(r"GROUP BY|count\(|sum\(|min\(|max\(|LIMIT", query), (name, query)
        assert sum(rows for _, rows in tasks) < 2000, name


def _tasks(
    db: psycopg.Connection[Any], statement: Statement, arguments: tuple[Any, ...]
) -> list[tuple[str, int]]:
    """Return what each shard is asked and how many rows it answers with."""
    text = statement.text
    for number, argument in enumerate(arguments, 1):
        text = text.replace(f"${number}", sql.Literal(argument).as_string(db))
    db.execute("SET LOCAL citus.explain_all_tasks TO on")
    plan = db.execute("EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off, FORMAT json) " + text).fetchone()  # type: ignore[arg-type]
    assert plan is not None
    found: list[tuple[str, int]] = []
    _collect(plan[0], found)
    return [(query, rows) for query, rows in found if "read_intermediate_result" not in query]


def _collect(node: Any, found: list[tuple[str, int]]) -> None:
    if isinstance(node, list):
        for part in node:
            _collect(part, found)
    elif isinstance(node, dict):
        if "Query" in node and "Remote Plan" in node:
            found.append((node["Query"], node["Remote Plan"][0][0]["Plan"]["Actual Rows"]))
        for part in node.values():
            _collect(part, found)
