"""The sets that the ledger gets hold exactly the people whom the canonical SQL counts."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Literal

import psycopg
import pytest
from psycopg.rows import dict_row

from kanon_pg.queries.check.catalog import Column, Relation, RelationKind
from kanon_pg.queries.check.checker import Options, Verdict, check
from kanon_pg.queries.check.verdict import ChosenValues, EntitySet
from kanon_pg.queries.check.write.table_snapshot import fingerprint_sql, table_snapshot_sql
from tests.fixtures.databases import Server
from tests.query.honest import HonestQuery
from tests.query.people import World, load
from tests.query.snapshot import accepted_queries, hospital

Connection = psycopg.Connection[Any]
Row = tuple[int, bytes]
SEED = "-77"
EVERYTHING = "3"
"""The first transaction of all."""

OWN = (
    "select ward, count(*) filter (where sex = 'F'), sum(cost) from patients group by ward",
    "select department, kind, count(fee), count(*) from visits group by department, kind",
    "select p.ward, count(*), count(v.fee) from visits v join patients p using (patient_id) group by p.ward",
    "select s.ward, count(*) from stays s join patients p using (patient_id) where p.sex = 'F' group by 1",
    "select test, count(value) filter (where abnormal) from lab_results group by test",
    "select ward, count(*) from patients group by 1 union all select kind, count(*) from visits group by 1",
    "select a.ward, count(*) from patients a join patients b using (patient_id) where b.sex = 'M' group by 1",
    "select sum(n) from (select ward, count(*) n from patients group by ward) x",
)


@pytest.fixture(scope="module")
def connection(server: Server) -> Iterator[Connection]:
    with ExitStack() as stack:
        name = stack.enter_context(server.database("query_sets"))
        made = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        load(made, World.AS_IS)
        made.execute("set search_path = pg_catalog, pg_temp")
        yield made


@pytest.fixture(scope="module")
def owners(connection: Connection) -> dict[int, dict[Row, bytes]]:
    """Return the person of every row of every protected table, by table and place or by content."""
    found: dict[int, dict[Row, bytes]] = {}
    for relation in hospital().relations:
        if relation.protection is not None and relation.protection.declared:
            found[relation.oid] = _owners(connection, relation)
    return found


def run(connection: Connection, sql: str, values: Sequence[str | None]) -> list[dict[str, Any]]:
    cursor = psycopg.RawCursor(connection, row_factory=dict_row)
    return cursor.execute(sql.encode(), values or None, binary=True).fetchall()


def _owners(connection: Connection, relation: Relation) -> dict[Row, bytes]:
    found: dict[Row, bytes] = {}
    for leaf in run(connection, table_snapshot_sql(relation), [SEED, EVERYTHING]):
        people = cut(leaf["people"], 8)
        found.update(zip(((0, content) for content in cut(leaf["contents"], 8)), people, strict=True))
        # the catalog of the tests has OIDs of its own
        oid = relation.oid if relation.single_table else leaf["leaf"]
        found.update(zip(((oid, place) for place in cut(leaf["tids"], 6)), people, strict=False))
    return found


def cut(data: bytes, width: int) -> list[bytes]:
    return [data[start : start + width] for start in range(0, len(data), width)]


def people(
    item: EntitySet, row: dict[str, Any], owners: dict[Row, bytes], suffix: str = ""
) -> dict[int, set[Row]]:
    """Return the rows of every group, or of what a filter leaves out."""
    groups = [struct.unpack(">q", part)[0] for part in cut(row["groups"], 8)]
    leaves = [struct.unpack(">I", part)[0] for part in cut(row["leaves"], 4)]
    lengths = [struct.unpack(">q", part)[0] for part in cut(row[f"lengths{suffix}"], 8)]
    found: dict[int, set[Row]] = defaultdict(set)
    position = 0
    for group, leaf, length in zip(groups, leaves, lengths, strict=True):
        data = row[f"row_ids{suffix}"][position : position + length]
        position += length
        rows = [(leaf, part) for part in cut(data, 8 if item.seed else 6)]
        assert all(one in owners for one in rows)
        if item.disjoint and not item.seed:
            assert len(set(rows)) == len(rows)
        found[group].update(rows)
    assert position == len(row[f"row_ids{suffix}"])
    return found


def compare(
    connection: Connection,
    owners: dict[int, dict[Row, bytes]],
    verdict: Verdict,
    values: Sequence[str | None],
) -> None:
    given = list(values[: max((item.number for item in verdict.parameters), default=0)])
    answer = run(connection, f"select * from ({verdict.canonical_sql}) as q", given)
    counted = [hidden.name for hidden in verdict.hidden if hidden.what == "people"]
    sets = [item for item in verdict.entity_sets if item.kind == "groups"]
    for name, item in zip(counted, sets, strict=True):
        (row,) = run(connection, item.sql, given + ([SEED] if item.seed else []))
        groups = people(item, row, owners[item.relation])
        if item.disjoint and not item.seed:
            assert sum(map(len, groups.values())) == len(set().union(*groups.values()))
        sizes = [len({owners[item.relation][one] for one in rows}) for rows in groups.values()]
        if answer and answer[0][name] is not None:
            assert min(sizes, default=0) == answer[0][name]


@pytest.mark.parametrize("text", OWN)
def test_the_people_of_groups_are_those_counted(
    connection: Connection, owners: dict[int, dict[Row, bytes]], text: str
) -> None:
    verdict = check(text, hospital())
    assert verdict.accepted, verdict.findings
    compare(connection, owners, verdict, ())


@pytest.mark.parametrize(
    "query",
    accepted_queries(),
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_the_people_of_honest_queries_are_those_counted(
    connection: Connection, owners: dict[int, dict[Row, bytes]], query: HonestQuery
) -> None:
    verdict = check(query.text, hospital())
    compare(connection, owners, verdict, [parameter.value for parameter in query.parameters])


def by_group(item: EntitySet, row: dict[str, Any]) -> list[tuple[frozenset[bytes], ...]]:
    """Return for every group its places, and those that each filter leaves out or lets in."""
    suffixes = ("", *(f"_{number}" for number in range(1, len(item.filters) + 1)))
    assert len(row) == item.parts
    found: dict[int, list[frozenset[bytes]]] = defaultdict(list)
    for suffix in suffixes:
        position = 0
        for group, length in zip(cut(row["groups"], 8), cut(row[f"lengths{suffix}"], 8), strict=True):
            end = position + int.from_bytes(length)
            found[int.from_bytes(group)].append(frozenset(cut(row[f"row_ids{suffix}"][position:end], 6)))
            position = end
    return sorted((tuple(sets) for sets in found.values()), key=lambda sets: sorted(sets[0]))


def combined_sets_are_the_same(connection: Connection, verdict: Verdict, values: Sequence[str | None]) -> int:
    """Compare what is read at once with what is read one by one; return the number of sets compared."""
    if verdict.combined_sql is None:
        return 0
    given = list(values[: max((item.number for item in verdict.parameters), default=0)])
    tables = f"with {verdict.combined_sql.tables}"
    both = run(connection, f"{tables} select * from ({verdict.combined_sql.body}) as q", given)
    alone = run(connection, f"select * from ({verdict.canonical_sql}) as q", given)
    assert sorted(map(repr, both)) == sorted(map(repr, alone))
    for number, sql in verdict.combined_sql.sets.items():
        item = verdict.entity_sets[number]
        # with the body, because every parameter has to be used
        rows = f"(select count(*) from ({verdict.combined_sql.body}) as q)"
        (gathered,) = run(connection, f"{tables} select s.*, {rows} as rows from ({sql}) as s", given)
        assert gathered.pop("rows") == len(both)
        (separate,) = run(connection, item.sql, given)
        assert by_group(item, gathered) == by_group(item, separate)
        leaves = [int.from_bytes(leaf) for leaf in cut(gathered["leaves"], 4)]
        assert set(leaves) <= {item.relation}
    return len(verdict.combined_sql.sets)


@pytest.mark.parametrize(
    ("text", "mode", "gathered"),
    [
        (OWN[0], "reject", 1),
        (OWN[0], "suppress", 1),
        ("select birth_date, count(*) from patients group by birth_date", "suppress", 1),
        ("select count(*) from patients where ward = 'nowhere'", "reject", 1),
        # one with children, a partitioned one, a view, and what is covered by one that is looked up from
        (OWN[1], "reject", 0),
        (OWN[4], "reject", 0),
        (OWN[3], "reject", 0),
        (OWN[2], "reject", 0),
        # a level of each kind, the same table twice, and a level inside another one
        (OWN[5], "reject", 1),
        (OWN[6], "reject", 1),
        (OWN[7], "reject", 1),
    ],
)
def test_sets_that_are_read_with_the_answer_are_those_read_by_themselves(
    connection: Connection, text: str, mode: Literal["reject", "suppress"], gathered: int
) -> None:
    verdict = check(text, hospital(), Options(mode=mode))
    assert verdict.accepted, verdict.findings
    assert combined_sets_are_the_same(connection, verdict, ()) == gathered


@pytest.mark.parametrize(
    "query",
    accepted_queries(),
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_sets_of_honest_queries_are_the_same_both_ways(connection: Connection, query: HonestQuery) -> None:
    verdict = check(query.text, hospital())
    combined_sets_are_the_same(connection, verdict, [parameter.value for parameter in query.parameters])


COMPOSED = (
    "select ward, count(*), avg(cost) from patients where sex = 'F' group by ward",
    "select zip, count(*) from patients where zip between '1' and '5' and sex <> 'M' group by zip",
    "select sex, count(*) from patients where sex is not null group by sex",
    "select count(*) from patients where sex in ('F', 'M') and zip like '1%' and readmitted",
    "select ward, count(*) filter (where sex = 'F' and cost > 100) from patients group by ward",
    "select ethnicity, sum(cost), count(discharge_date) filter (where readmitted) from patients group by 1",
    "select count(discharge_date), count(*) from patients where discharge_date is null or zip > '3'",
    "select ward, count(*) from patients where birth_date < '1960-01-01' and not (zip = '0') group by ward",
    "select count(*) from patients where sex = 'nobody'",
)


def composed_sets(
    connection: Connection, item: EntitySet, values: Sequence[str | None]
) -> list[tuple[frozenset[bytes], ...]]:
    """Return what `by_group` returns, from partitions."""
    assert item.composition is not None
    (table,) = (one.name for one in hospital().relations if one.oid == item.relation)
    tids = f"select string_agg(tidsend(ctid), null) as tids from only hospital.{table}"
    everybody = frozenset(cut(run(connection, tids, ())[0]["tids"], 6))
    partitions = []
    texts = []
    for partition in item.composition.partitions:
        (row,) = run(connection, partition.sql, ())
        numbers = [int.from_bytes(group) for group in cut(row["groups"], 8)]
        sets: dict[int, frozenset[bytes]] = {}
        position = 0
        for number, length in zip(numbers, cut(row["lengths"], 8), strict=True):
            end = position + int.from_bytes(length)
            sets[number] = frozenset(cut(row["row_ids"][position:end], 6))
            position = end
        if partition.kind == "truth":
            false = frozenset().union(*sets.values())
            sets = {1: everybody - false, 2: false}
        else:
            assert row["count"] == len(sets)
        assert frozenset().union(*sets.values()) == everybody
        assert sum(map(len, sets.values())) == len(everybody)
        assert (partition.values_sql is not None) == (partition.kind == "values")
        if partition.values_sql is not None:
            assert run(connection, partition.values_sql, ()) == [{"values": row["values"]}]
        partitions.append(sets)
        texts.append(row.get("values"))

    def holding(choices: Sequence[ChosenValues]) -> frozenset[bytes]:
        found = everybody
        for choice in choices:
            places = [1]
            if choice.sql is not None:
                chosen = run(connection, choice.sql, [*values, texts[choice.partition] or []])
                places = [row["place"] for row in chosen]
            found &= frozenset().union(*(partitions[choice.partition][place] for place in places))
        return found

    groups = [holding(item.composition.where)]
    if item.composition.groups is not None:
        groups = [units & part for units in groups for part in partitions[item.composition.groups].values()]
    masks = [holding(choices) for choices in item.composition.filters]
    # what is sent says whom a filter leaves out
    found = [(units, *(units - mask for mask in masks)) for units in groups if units]
    return sorted(found, key=lambda sets: sorted(sets[0]))


def composed_sets_are_the_same(connection: Connection, verdict: Verdict, values: Sequence[str | None]) -> int:
    """Compare sets that are composed with those that are read; return the number of sets compared."""
    items = [item for item in verdict.entity_sets if item.composition is not None]
    given = list(values[: max((item.number for item in verdict.parameters), default=0)])
    for item in items:
        (row,) = run(connection, item.sql, given)
        assert composed_sets(connection, item, given) == by_group(item, row)
    return len(items)


@pytest.mark.parametrize("text", COMPOSED)
def test_sets_that_are_composed_are_those_that_are_read(connection: Connection, text: str) -> None:
    verdict = check(text, hospital())
    assert verdict.accepted, verdict.findings
    assert composed_sets_are_the_same(connection, verdict, ()) == len(verdict.entity_sets)


@pytest.mark.parametrize(
    "query",
    accepted_queries(),
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_composed_sets_of_honest_queries_are_the_same(connection: Connection, query: HonestQuery) -> None:
    verdict = check(query.text, hospital())
    composed_sets_are_the_same(connection, verdict, [parameter.value for parameter in query.parameters])


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("select ward, count(*) from patients where sex = 'F' group by ward", "suppress"),
        (
            "select p.ward, count(*) from visits v join patients p using (patient_id) group by p.ward",
            "reject",
        ),
        ("select date_trunc('month', birth_date), count(*) from patients group by 1", "reject"),
        ("select sex, ward, count(*) from patients group by sex, ward", "reject"),
        ("select test, count(*) from lab_results group by test", "reject"),
    ],
    ids=["suppressed", "a join", "a computed key", "two keys", "partitioned"],
)
def test_what_follows_from_no_partition_is_read(text: str, mode: Literal["reject", "suppress"]) -> None:
    verdict = check(text, hospital(), Options(mode=mode))
    assert verdict.accepted, verdict.findings
    assert not [item for item in verdict.entity_sets if item.kind == "groups" and item.composition]


@pytest.mark.parametrize(
    ("condition", "kind", "most"),
    [
        ("sex = 'F'", "values", True),
        # what sensitive columns hold must not decide what is read
        ("ward = 'W1'", "truth", False),
        # equal values that differ in form, or whose text depends on the session
        ("birth_date < '1960-01-01'", "truth", False),
    ],
)
def test_a_condition_is_evaluated_where_its_values_say_all(condition: str, kind: str, most: bool) -> None:
    verdict = check(f"select count(*) from patients where {condition}", hospital())
    composition = verdict.entity_sets[0].composition
    assert composition is not None
    (partition,) = composition.partitions
    assert (partition.kind, partition.most is not None) == (kind, most)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("select count(*) from patients where sex = 'F'", [True]),
        ("select ward, count(*) from patients group by ward", [True]),
        # which column has a value is no more than which column somebody asked about
        ("select count(discharge_date) from patients", [True]),
        ("select count(*) from patients where ward = 'W1'", [False]),
        ("select count(*) from patients where birth_date < '1960-01-01'", [False]),
        ("select count(*) filter (where cost > 100) from patients where sex = 'F'", [True, False]),
    ],
)
def test_other_sessions_have_no_partition_by_a_condition(text: str, shared: list[bool]) -> None:
    composition = check(text, hospital()).entity_sets[0].composition
    assert composition is not None
    assert [partition.is_shared for partition in composition.partitions] == shared


def test_a_child_that_a_table_gets_after_the_check_is_not_read(connection: Connection) -> None:
    verdict = check("select ward, count(*) from patients group by ward", hospital())
    assert verdict.combined_sql is not None
    before = run(connection, str(verdict.canonical_sql), ())
    with connection.transaction(force_rollback=True):
        connection.execute("create table hospital.later () inherits (hospital.patients)")
        connection.execute("insert into hospital.later select * from only hospital.patients")
        assert run(connection, str(verdict.canonical_sql), ()) == before
        assert combined_sets_are_the_same(connection, verdict, ()) == 1


def test_a_filter_leaves_out_the_rows_that_it_does_not_let_in(
    connection: Connection, owners: dict[int, dict[Row, bytes]]
) -> None:
    verdict = check(
        "select kind, count(*), sum(fee) filter (where minutes > 20) from visits group by 1", hospital()
    )
    (item,) = (one for one in verdict.entity_sets if one.kind == "groups")
    (row,) = run(connection, item.sql, ())
    left_out = people(item, row, owners[item.relation], "_1")
    rows = run(
        connection,
        "select count(*) as n from hospital.visits where (minutes > 20 and fee is not null) is not true"
        " group by kind order by kind",
        (),
    )
    assert [len(left_out[group]) for group in sorted(left_out)] == [one["n"] for one in rows]


def test_groups_that_are_left_out_are_not_sent(
    connection: Connection, owners: dict[int, dict[Row, bytes]]
) -> None:
    text = "select birth_date, count(*) from patients group by birth_date"
    verdict = check(text, hospital(), Options(mode="suppress"))
    (item,) = (one for one in verdict.entity_sets if one.kind == "groups")
    (row,) = run(connection, item.sql, ())
    groups = people(item, row, owners[item.relation])
    shown = run(connection, f"select * from ({verdict.canonical_sql}) as q", ())
    assert sorted(len(rows) for rows in groups.values()) == sorted(one["count"] for one in shown)
    assert len(groups) < len(run(connection, "select distinct birth_date from hospital.patients", ()))


@pytest.mark.parametrize("is_late", [False, True])
def test_a_fingerprint_is_that_of_the_census(connection: Connection, is_late: bool) -> None:
    horizon = now(connection) if is_late else EVERYTHING
    for relation in hospital().relations:
        text = fingerprint_sql(relation, int(horizon)) if relation.protection is not None else None
        if text is None or not relation.protection or not relation.protection.declared:
            continue
        leaves = run(connection, table_snapshot_sql(relation), [SEED, horizon])
        total = 0
        for leaf in leaves:
            total ^= leaf["fingerprint"]
        (row,) = run(connection, text, ())
        assert (row["rows"], row["fingerprint"]) == (sum(leaf["rows"] for leaf in leaves), total)


def now(connection: Connection) -> str:
    """Return the oldest transaction that runs, as rows name their writers."""
    (row,) = run(connection, "select pg_snapshot_xmin(pg_current_snapshot())::xid::text as oldest", ())
    return str(row["oldest"])


GAUGE = Relation(
    0, "hospital", "gauge", RelationKind.TABLE, (Column("person", "int4"), Column("value", "int4"))
)


def make_gauge(connection: Connection) -> None:
    """Make a table of 100 rows, written by two transactions, and another table."""
    connection.execute("drop table if exists hospital.gauge, hospital.elsewhere")
    connection.execute("create table hospital.elsewhere (value int)")
    rows = "select i as person, i as value from generate_series(1, 99) i"
    connection.execute(f"create table hospital.gauge as {rows}".encode())
    connection.execute("insert into hospital.gauge values (100, 100)")


@pytest.mark.parametrize("was_open", [False, True], ids=["begun later", "open at the snapshot"])
@pytest.mark.parametrize(
    "commands",
    [
        ("insert into hospital.gauge values (0, 0)",),
        ("delete from hospital.gauge where person = 7",),
        ("update hospital.gauge set value = value where person = 7",),
        ("delete from hospital.gauge where person = 7", "insert into hospital.gauge values (7, 7)"),
        ("delete from hospital.gauge where person = 100", "insert into hospital.gauge values (100, 100)"),
        ("delete from hospital.gauge where person > 50", "vacuum hospital.gauge", "fill"),
    ],
)
def test_every_change_is_in_the_fingerprint(
    connection: Connection, commands: Sequence[str], was_open: bool
) -> None:
    make_gauge(connection)
    with psycopg.connect(connection.info.dsn) as writer:
        if was_open:
            # has a number that is older than the snapshot
            writer.execute("insert into hospital.elsewhere values (1)")
        horizon = now(connection)
        before = run(connection, str(fingerprint_sql(GAUGE, int(horizon))), ())
        connection.execute("insert into hospital.elsewhere values (2)")
        assert run(connection, str(fingerprint_sql(GAUGE, int(horizon))), ()) == before
        for command in commands:
            if command.startswith("vacuum"):
                writer.commit()
                connection.execute(command)
            else:
                filling = "insert into hospital.gauge select i, i from generate_series(51, 100) i"
                writer.execute(filling if command == "fill" else command)
        writer.commit()
    assert run(connection, str(fingerprint_sql(GAUGE, int(horizon))), ()) != before


def test_a_recent_row_that_changes_is_in_the_fingerprint(connection: Connection) -> None:
    make_gauge(connection)
    with psycopg.connect(connection.info.dsn) as older:
        older.execute("insert into hospital.elsewhere values (1)")
        # written and visible, and yet younger than the oldest that runs
        connection.execute("insert into hospital.gauge values (100, 100)")
        horizon = now(connection)
        before = run(connection, str(fingerprint_sql(GAUGE, int(horizon))), ())
        connection.execute("update hospital.gauge set value = 101 where person = 100")
        assert run(connection, str(fingerprint_sql(GAUGE, int(horizon))), ()) != before
