"""The ledger of queries through the real functions: what attackers try with several queries."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import Statement
from kanon_pg.errors import AnswerWithheld, InputError, LedgerError, QueryRefused, UnsuitableRelation
from kanon_pg.queries import recording
from kanon_pg.queries.check.catalog import Relation, RelationKind
from kanon_pg.queries.check.write import compositions
from kanon_pg.queries.check.write.table_snapshot import table_snapshot_sql
from kanon_pg.queries.ledgers import LedgerContext
from kanon_pg.queries.outcome_cache import outcome_cache, shown_state, version_of
from kanon_pg.queries.partitions import partition_register
from kanon_pg.queries.run import without_statistics
from kanon_pg.runner import launch, ledger_parent
from tests.fixtures.databases import Server

Connection = psycopg.Connection[Any]

ANN, BOB = "ledger_ann", "ledger_bob"
PEOPLE = 60
_numbers = count(1)


@dataclass
class Hall:
    """A database with analysts, and tables of one person per age from 1 to `PEOPLE`."""

    dsn: str
    admin: Connection
    sessions: dict[str, Connection] = field(default_factory=dict)

    def session(self, login: str = ANN, number: int = 1) -> Connection:
        """Return a session of an analyst; the same one for the same number."""
        key = f"{login} {number}"
        if key not in self.sessions:
            made = psycopg.connect(self.dsn, autocommit=True)
            made.execute(f"set session authorization {login}")
            self.sessions[key] = made
        return self.sessions[key]

    def table(
        self, k: int = 5, *, entity: str | None = None, extra: str | None = None, **options: Any
    ) -> str:
        """Create a protected table; return its name."""
        name = f"people_{next(_numbers)}"
        self.admin.execute(
            f"create table {name} (id int primary key, person int, age int, city text, income numeric,"
            f" touched timestamptz default now())"
        )
        self.admin.execute(
            f"insert into {name} select i, i, i, 'c' || i % 3, 100 + i * i % 17"
            f" from generate_series(1, {PEOPLE}) as i"
        )
        if extra is not None:
            self.admin.execute(f"alter table {name} add column {extra}")
        self.declare(name, entity, () if extra is None else (extra.split()[0],))
        self.protect(name, k, **options)
        return name

    def declare(self, name: str, entity: str | None = None, extra: Sequence[str] = ()) -> None:
        self.admin.execute(
            "select kanon_declare(%s, identifiers => %s, quasi_identifiers => array['age', 'city']::name[],"
            " sensitive => %s::name[], entity => %s)",
            [name, ["id"] if entity else ["id", "person"], ["income", *extra], entity],
        )

    def protect(self, name: str, k: int = 5, **options: Any) -> None:
        self.admin.execute("select kanon_protect(%s, %s, %s)", [name, k, json.dumps(options)])

    def folder(self, name: str) -> Path:
        """Return the folder of a table's ledger."""
        row = self.admin.execute(
            "select current_setting('data_directory'), d.oid, l.name from pg_database d, kanon.ledger l"
            " where d.datname = current_database() and l.relation = %s::regclass",
            [name],
        ).fetchone()
        assert row is not None
        return Path(row[0], "kanon_ledger", str(row[1]), row[2])

    def log(self, name: str) -> list[tuple[str, str, str | None]]:
        rows = self.admin.execute(
            "select login, outcome, reason from kanon.query_log() where relation = %s", [f"public.{name}"]
        )
        return [tuple(row) for row in rows.fetchall()]

    def new_sessions(self) -> None:
        """End all sessions, and their workers with them."""
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()


@pytest.fixture(scope="module")
def hall(server: Server, kanon_template: str) -> Iterator[Hall]:
    with ExitStack() as stack:
        name = stack.enter_context(server.database("ledger", kanon_template))
        admin = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        admin.execute("select kanon.add_readers(400)")
        for login in (ANN, BOB):
            admin.execute(f"create role {login} login in role kanon_analyst")
            stack.callback(admin.execute, f"drop role {login}")
        made = Hall(server.dsn(name), admin)
        stack.callback(made.new_sessions)
        yield made


def ask(session: Connection, text: str, parameters: Sequence[str] = ()) -> list[Any] | None:
    """Return the rows of an answer, None if it is withheld."""
    arguments = [text, list(parameters)]
    try:
        return [row[0] for row in session.execute("select kanon_query(%s, %s)", arguments).fetchall()]
    except psycopg.Error as error:
        if error.sqlstate != AnswerWithheld.sqlstate:
            raise
        return None


def among(table: str, condition: str, figure: str = "sum(income)") -> str:
    return f"select count(*), {figure} from {table} where {condition}"


Reads = Callable[..., list[bool]]


@pytest.fixture
def watched(hall: Hall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Reads]]:
    """Return a table, and what asks about it and says of every statement whether it collects rows."""
    table, folder = f"people_{next(_numbers)}", str(tmp_path / "ledgers")
    hall.admin.execute(f"create table {table} as select i as age, i as income from generate_series(1, 60) i")
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => '{age}', sensitive => '{income}')", [table]
    )
    client.protect(hall.dsn, table, ledger_folder=folder)
    texts: list[str] = []
    read = PsycopgDatabase.read

    def noting(db: PsycopgDatabase, command: Statement, *arguments: Any) -> Any:
        # whether a table changed is asked in any case
        if "hashtidextended" not in command.text:
            texts.append(command.text)
        return read(db, command, *arguments)

    monkeypatch.setattr(PsycopgDatabase, "read", noting)

    def reads(condition: str, *, answered: bool = True, figure: str = "sum(income)") -> list[bool]:
        texts.clear()
        try:
            client.query(hall.dsn, among(table, condition, figure), ledger_folder=folder)
            assert answered
        except AnswerWithheld:
            assert not answered
        return ["tidsend" in text for text in texts]

    yield table, reads
    ledger_parent.ledger_session.stop()


@pytest.mark.parametrize(
    ("condition", "meanwhile"),
    [
        ("person <= current_setting('app.most', true)::int", "set app.most = '29'"),
        ("person <> 30 or current_setting('application_name') <> 'other'", "set application_name = 'other'"),
        ("touched > statement_timestamp()", "select pg_sleep_until('{gone}')"),
    ],
)
def test_a_view_that_loses_somebody_without_a_write_tells_no_difference(
    hall: Hall, condition: str, meanwhile: str
) -> None:
    table, seen = hall.table(), f"seen_{next(_numbers)}"
    hall.admin.execute("select kanon_unprotect(%s)", [table])
    hall.admin.execute(f"create view {seen} as select * from {table} where {condition}")
    hall.declare(seen, "person")
    hall.protect(seen)
    session = hall.session(ANN, 80)
    session.execute("set app.most = '30'; set application_name = 'first'")
    ask(session, f"select count(*) from {seen} where age > 12")  # the worker has started
    gone = datetime.now(UTC) + timedelta(seconds=2)
    hall.admin.execute(
        f"update {table} set touched = case person when 30 then %s else 'infinity' end", [gone]
    )
    sums = f"select count(*), sum(income) from {seen}"
    assert ask(session, sums)
    assert ask(session, sums)
    assert datetime.now(UTC) < gone
    session.execute(meanwhile.format(gone=gone.isoformat()))
    assert ask(session, sums) is None
    session.execute("reset application_name")


@pytest.mark.parametrize(
    ("definition", "cause"),
    [
        ("select * from {} where random() < 0.5", "random"),
        ("select * from {} where touched < clock_timestamp()", "clock_timestamp"),
        (
            "select * from {} where person > (select 60 * random())",
            "random",
        ),
        ("select * from {} tablesample bernoulli (50)", "TABLESAMPLE"),
        ("select * from halves_of_{}", "random"),
    ],
)
def test_a_view_whose_rows_change_while_it_is_read_answers_no_queries(
    hall: Hall, definition: str, cause: str
) -> None:
    table, seen = hall.table(), f"seen_{next(_numbers)}"
    hall.admin.execute("select kanon_unprotect(%s)", [table])
    hall.admin.execute(f"create view halves_of_{table} as select * from {table} where random() < 0.5")
    hall.admin.execute(f"create view {seen} as select * from {table} where person < 60")
    hall.declare(seen, "person")
    hall.protect(seen)
    text = f"select count(*), sum(income) from {seen}"
    assert ask(hall.session(), text)
    hall.admin.execute(f"create or replace view {seen} as {definition.format(table)}")
    for query in (lambda: hall.session().execute("select kanon_query(%s)", [text]).fetchall(),
                  lambda: client.query(hall.dsn, text)):  # fmt: skip
        with pytest.raises((psycopg.Error, QueryRefused), match=f"its definition calls {cause}"):
            query()
    with pytest.raises(psycopg.Error, match=f"its definition calls {cause}") as refusal:
        hall.protect(seen)
    assert refusal.value.sqlstate == UnsuitableRelation.sqlstate
    with pytest.raises(UnsuitableRelation, match=f"its definition calls {cause}"):
        client.protect(hall.dsn, seen, 5, options={"ledger": "off"})


def test_rows_of_a_sample_that_are_stored_answer_queries(hall: Hall) -> None:
    table, seen = hall.table(), f"seen_{next(_numbers)}"
    hall.admin.execute("select kanon_unprotect(%s)", [table])
    hall.admin.execute(f"create materialized view {seen} as select * from {table} where random() < 2")
    hall.declare(seen, "person")
    hall.protect(seen)
    assert ask(hall.session(), f"select count(*), sum(income) from {seen}")


def test_two_analysts_cannot_ask_for_a_difference_of_one(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(ANN), among(table, "age <= 30"))
    assert ask(hall.session(BOB), among(table, "age <= 29")) is None
    assert ask(hall.session(BOB), among(table, "age <= 25"))
    assert hall.log(table) == [
        (ANN, "answered", None),
        (BOB, "withheld", "difference"),
        (BOB, "answered", None),
    ]


def test_everybody_but_one_is_not_disclosed(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <> 7")) is None
    assert ask(hall.session(), among(table, "age > 5"))


@pytest.mark.parametrize("mode", ["pairwise", "linear"])
def test_a_tracker_across_roles_and_sessions_fails(hall: Hall, mode: str) -> None:
    table = hall.table(ledger=mode)
    assert ask(hall.session(ANN, 1), among(table, "age <= 20"))
    assert ask(hall.session(BOB, 1), among(table, "age between 21 and 40"))
    # the first two less this one would be the person of age 20
    assert ask(hall.session(ANN, 2), among(table, "age <= 40 and age <> 20")) is None
    assert [reason for _, _, reason in hall.log(table)] == [None, None, "combination"]


def test_groups_of_one_answer_cannot_be_added_up_to_a_difference(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), f"select city, count(*), avg(income) from {table} group by city")
    condition = "(city = 'c0' or city = 'c1') and age <> 7"
    assert ask(hall.session(), among(table, condition)) is None


def at_once(sessions: Sequence[Connection], texts: Sequence[str]) -> list[list[Any] | None]:
    start = threading.Barrier(len(texts))

    def run(session: Connection, text: str) -> list[Any] | None:
        start.wait()
        return ask(session, text)

    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(run, sessions, texts))


def test_every_level_of_a_query_is_recorded(hall: Hall) -> None:
    table = hall.table()
    levels = (
        f"select sum(income), count(*) from {table} where age <= 40",
        f"select 0, count(*) from {table} where age > 20",
    )
    assert ask(hall.session(), " union all ".join(levels))
    assert ask(hall.session(), f"select count(*) from {table} where age <= 39") is None
    assert ask(hall.session(), f"select count(*) from {table} where age > 21") is None
    assert ask(hall.session(), f"select count(*) from {table} where age <= 35")


def test_racing_sessions_are_never_both_answered(hall: Hall) -> None:
    sessions = [hall.session(ANN, number) for number in range(4)]
    for _ in range(3):
        table = hall.table()
        texts = [among(table, f"age <= {age}") for age in (30, 29, 28, 31)]
        answers = at_once(sessions, texts)
        assert sum(answer is not None for answer in answers) == 1
        assert len(hall.log(table)) == len(texts)


def test_a_rollback_removes_nothing(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    session.execute("begin")
    assert ask(session, among(table, "age <= 30"))
    session.execute("rollback")
    assert ask(session, among(table, "age <= 29")) is None
    session.execute("begin; savepoint before")
    assert ask(session, among(table, "age <= 20"))
    session.execute("rollback to before; commit")
    assert ask(hall.session(BOB), among(table, "age <= 19")) is None


@pytest.mark.parametrize("undo", ["rollback", "rollback to before; commit"])
def test_rows_that_come_back_by_a_rollback_are_not_those_of_a_later_writer(hall: Hall, undo: str) -> None:
    table, session = hall.table(), hall.session()
    hall.admin.execute(f"grant select, delete on {table} to {ANN}")
    session.execute("begin; savepoint before")
    session.execute(f"delete from {table} where age = 13")
    assert ask(session, among(table, "age <= 55"))
    assert ask(session, among(table, "age <= 50"))
    session.execute(undo)
    hall.admin.execute(f"revoke select, delete on {table} from {ANN}")
    # as many rows as in the transaction, none of them younger
    hall.admin.execute(f"delete from {table} where age = 20")
    # the person of age 13 more, the one of age 20 less
    assert ask(session, among(table, "age <= 55")) is None
    assert [reason for _, _, reason in hall.log(table)] == [None, None, "difference"]


def test_only_a_table_that_the_transaction_wrote_to_is_in_no_later_state(hall: Hall) -> None:
    table, other = hall.table(), hall.table()
    oid = hall.admin.execute("select %s::regclass::oid", [table]).fetchone()
    assert oid is not None
    relation = Relation(oid[0], "public", table, RelationKind.TABLE, ())
    context = LedgerContext("1:1:", False, "", "", "UTC")

    def is_kept() -> bool:
        return version_of(shown_state(db, relation, context, [1, 2, "files", 3])) is not None

    with psycopg.connect(hall.dsn) as connection:
        db = PsycopgDatabase(connection)
        with without_statistics(db):
            connection.execute(f"select from {table}")
        connection.execute(f"delete from {other} where age = 13")
        assert is_kept()
        connection.execute("savepoint before")
        connection.execute(f"delete from {table} where age = 13")
        assert not is_kept()
        connection.execute("rollback to before")
        assert is_kept()
        connection.execute(f"update {table} set age = age where age = 13")
        with without_statistics(db):
            assert not is_kept()
        connection.rollback()


def test_a_setting_that_reads_arrays_otherwise_makes_no_two_sets_one(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    condition = "not (city = any($1)) and age <="
    # all of them have a city, and none is known to be other than NULL
    for age in (50, 49):
        for setting, figures in (("on", "count(*), sum(income) as y"), ("off", "sum(income) as x, count(*)")):
            session.execute(f"set array_nulls = {setting}")
            query = f"select {figures} from {table} where {condition} {age}"
            assert ask(session, query, ['{NULL,"zzz"}']) is None
    assert {reason for _, _, reason in hall.log(table)} == {"size"}


def test_a_query_that_comes_again_is_compared_as_it_is_now(hall: Hall) -> None:
    table = hall.table()
    grouped = f"select city, count(*), sum(income) from {table} group by city"
    for _ in range(3):
        assert ask(hall.session(), grouped)
    # nobody but the one person moves
    hall.admin.execute(f"update {table} set city = 'c1' where age = 3")
    for _ in range(3):
        assert ask(hall.session(), grouped) is None
    assert [reason for _, _, reason in hall.log(table)] == [None] * 3 + ["difference"] * 3


CAUGHT = "caught"
"""A function around a query, whose refusal it catches."""


def blocks_of(session: Connection, text: str) -> int:
    """Ask, and catch a refusal; return how many blocks that read."""
    explained = session.execute(
        f"explain (analyze, buffers, format json) select {CAUGHT}(%s)".encode(), [text]
    ).fetchone()
    return int(explained[0][0]["Plan"]["Shared Hit Blocks"])


def large_table(hall: Hall) -> tuple[str, int]:
    """Return a table, and of how many blocks it is at least."""
    hall.admin.execute(
        f"create or replace function {CAUGHT}(asked text) returns bool language plpgsql as $$"
        " begin perform kanon_query(asked); return true;"
        f" exception when sqlstate '{AnswerWithheld.sqlstate}' then return false; end $$".encode()
    )
    # what the server does by itself makes sessions read the catalog anew
    hall.admin.execute("create table if not exists elsewhere (one int) with (autovacuum_enabled = off)")
    table = hall.table()
    hall.admin.execute(f"alter table {table} set (autovacuum_enabled = off)")
    hall.admin.execute(
        f"insert into {table} select i, i, i, repeat('c', 200), 100 from generate_series(61, 9060) as i"
    )
    pages = hall.admin.execute(f"select pg_relation_size('{table}') / 8192").fetchone()[0]
    assert pages > 250  # many more than the catalog needs
    return table, pages


def test_attack_by_blocks_on_whose_row_was_written(hall: Hall) -> None:
    """A query that comes again reads as much, whether a row that it chooses was written or another one."""
    (table, pages), session = large_table(hall), hall.session()
    texts = [among(table, "age <= 30"), among(table, "age between 31 and 60")]
    blocks: dict[tuple[str, int], int] = {}
    # the first round reads the catalog, too
    for age in (3, 45) * 2:
        for text in texts:
            # the ledger knows both sets
            assert all(ask(session, one) for one in texts * 2)
            hall.admin.execute(f"update {table} set touched = now() where age = {age}")
            blocks[text, age] = blocks_of(session, text)
    assert all(blocks[text, 3] == blocks[text, 45] > 2 * pages for text in texts)


def test_a_query_that_comes_again_reads_its_table_only_to_see_whether_it_changed(hall: Hall) -> None:
    (table, pages), session = large_table(hall), hall.session()
    text = among(table, "age <= 30")
    # the first query of a session starts the ledger's process
    assert all(ask(session, one) for one in (among(table, "age <= 20"), text))
    rounds: list[tuple[int, int, int]] = []
    for number in range(4):
        new = blocks_of(session, f"{text} and age > -{number + 1}")
        again = blocks_of(session, text)
        hall.admin.execute("insert into elsewhere values (1)")
        rounds.append((new, again, blocks_of(session, text)))
    # the first round reads the catalog, too, and so may others
    new, again, after_a_write = map(min, zip(*rounds, strict=True))
    assert new - again >= pages
    assert pages <= after_a_write - again < 2 * pages


def test_a_query_that_comes_again_has_the_outcome_of_its_own_rules_and_time_zone(hall: Hall) -> None:
    table = hall.table(extra="seen timestamptz default '2024-01-01 23:30+00'")
    session = hall.session()
    text, by_day = among(table, "age <= 30"), f"select seen::date, count(*) from {table} group by 1"
    days = {"UTC": "2024-01-01", "Asia/Tokyo": "2024-01-02"}
    for zone in [*days, *days]:
        session.execute(f"set timezone = '{zone}'".encode())
        assert ask(session, by_day) == [{"seen": days[zone], "count": PEOPLE}]
    session.execute("reset timezone")
    assert all(ask(session, text) for _ in range(3))
    hall.protect(table, 31)
    assert ask(session, text) is None
    hall.protect(table, 5)
    assert ask(session, text)


@pytest.mark.parametrize("write", ["insert into elsewhere values (1)", "update {} set touched = now()"])
def test_attack_by_blocks_on_why_an_answer_is_withheld(hall: Hall, write: str) -> None:
    (table, _), session = large_table(hall), hall.session()
    assert ask(session, among(table, "age <= 30"))
    withheld = [among(table, f"age <= {age}") for age in (3, 29)]
    assert all(ask(session, text) is None for text in withheld * 2)
    blocks = {}
    for text in withheld * 2:
        hall.admin.execute(f"{write.format(table)} {'where age = 50' if 'update' in write else ''}".encode())
        blocks[text] = blocks_of(session, text)
    assert [reason for _, _, reason in hall.log(table)[1:]] == ["size", "difference"] * 4
    assert len(set(blocks.values())) == 1


@pytest.mark.parametrize(
    ("change", "answered"),
    [
        ("insert into elsewhere values (1)", True),
        ("update {0} set income = income + 1 where age = 50", True),
        ("insert into {0} values (200, 200, 90, 'c1', 100)", True),
        ("delete from {0} where age = 51", True),
        ("vacuum full {0}", True),
        # twelve people are enough to differ in
        ("insert into {0} select 500 + i, 500 + i, 9, 'c2', 100 from generate_series(1, 12) as i", True),
        ("delete from {0} where age between 12 and 25", True),
        ("update {0} set income = income + 1 where age = 3", False),
        ("insert into {0} values (300, 300, 5, 'c1', 100)", False),
        ("delete from {0} where age = 4", False),
        ("delete from {0} where age = 6; insert into {0} values (400, 400, 6, 'c1', 100)", False),
        ("update {0} set age = case age when 7 then 55 else 7 end where age in (7, 55)", False),
    ],
)
def test_what_changed_is_seen_by_a_query_that_comes_again(hall: Hall, change: str, answered: bool) -> None:
    table, session, bob = hall.table(), hall.session(), hall.session(BOB)
    hall.admin.execute("create table if not exists elsewhere (one int)")
    text = among(table, "age <= 30")
    assert all(ask(session, text) for _ in range(2))
    assert all(ask(bob, f"select stddev(age), count(*) from {table} where age <= 30") for _ in range(2))
    for statement in change.format(table).split("; "):
        hall.admin.execute(statement.encode())
    direct = hall.admin.execute(
        f"select jsonb_build_object('count', count(*), 'sum', sum(income)) from {table} where age <= 30"
    ).fetchone()
    for _ in range(2):
        assert ask(session, text) == ([direct[0]] if answered else None)
        spread = ask(bob, f"select stddev(age), count(*) from {table} where age <= 30")
        assert (spread is not None) == answered


@pytest.mark.parametrize(
    "change",
    [
        "alter table {0} rename income to former; alter table {0} rename fresh to income;"
        " alter table {0} rename former to fresh",
        "alter table {0} rename income to former; alter table {0} add column income numeric default 100",
    ],
)
def test_attack_by_a_column_that_takes_the_name_of_another(hall: Hall, change: str) -> None:
    """No row is written and no file is made, and one person's value is another one."""
    table, session = hall.table(extra="fresh numeric"), hall.session()
    hall.admin.execute(f"update {table} set fresh = 100, income = 100 + (age = 3)::int")
    text = among(table, "age <= 30")
    assert all(ask(session, text) for _ in range(2))
    hall.admin.execute(change.format(table).encode())
    direct = hall.admin.execute(f"select sum(income) from {table} where age <= 30").fetchone()
    assert direct == (3000,)
    for one in (session, hall.session(BOB)):
        assert ask(one, text) is None


def test_attack_by_labels_of_an_enum_that_exchange_their_names(hall: Hall) -> None:
    """No row is written, no file is made, the column is the same, and one label means other people."""
    mood = f"mood_{next(_numbers)}"
    hall.admin.execute(f"create type {mood} as enum ('sad', 'glad')")
    table, session = hall.table(extra=f"mood {mood} default 'sad'"), hall.session()
    hall.admin.execute(f"update {table} set mood = 'glad' where age <= 29")
    text = f"select count(*) from {table} where mood = 'glad'"
    assert all(ask(session, text) == [{"count": 29}] for _ in range(2))
    hall.admin.execute(f"alter type {mood} rename value 'glad' to 'other'")
    hall.admin.execute(f"alter type {mood} rename value 'sad' to 'glad'")
    for one in (session, hall.session(BOB)):
        assert ask(one, text) == [{"count": PEOPLE - 29}]
        # one person less than those who were glad before
        assert ask(one, f"select count(*) from {table} where age <= 28") is None


def test_attack_by_who_changed_elsewhere_while_one_answer_comes_again(hall: Hall) -> None:
    """An answer that comes again does not make the ledger take old people for those of now."""
    table, session = hall.table(), hall.session()
    first, second = among(table, "age <= 30"), among(table, "age between 31 and 50")
    for text in (first, second, first):
        assert ask(session, text)
    hall.admin.execute(f"update {table} set income = income + 1 where age = 40")
    assert ask(session, first)
    assert ask(session, second) is None
    assert ask(session, among(table, "age between 31 and 49")) is None
    assert ask(session, first)
    assert [outcome for _, outcome, _ in hall.log(table)] == [
        *["answered"] * 4,
        *["withheld"] * 2,
        "answered",
    ]


def test_a_query_that_was_withheld_and_comes_again_is_recorded_once(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    hall.admin.execute("create table if not exists elsewhere (one int)")
    assert ask(session, among(table, "age <= 30"))
    for _ in range(3):
        hall.admin.execute("insert into elsewhere values (1)")
        assert ask(session, among(table, "age <= 29")) is None
    assert [reason for _, _, reason in hall.log(table)] == [None, *["difference"] * 3]


def test_other_tables_of_a_query_that_comes_again_may_have_changed(hall: Hall) -> None:
    table, areas = hall.table(), f"areas_{next(_numbers)}"
    hall.admin.execute(
        f"create table {areas} as select i as age, i <= 30 as near from generate_series(1, 60) i"
    )
    hall.admin.execute(f"alter table {areas} add primary key (age); grant select on {areas} to kanon_analyst")
    joined = f"select count(*), sum(p.income) from {table} p join {areas} a on a.age = p.age where a.near"
    assert ask(hall.session(), joined)
    assert ask(hall.session(), joined)
    hall.admin.execute(f"update {areas} set near = true where age = 31")
    assert ask(hall.session(), joined) is None


def test_days_of_a_query_that_comes_again_may_begin_at_another_time(hall: Hall) -> None:
    table = hall.table(extra="seen timestamptz default '2024-01-01 12:00+00'")
    hall.admin.execute(f"update {table} set seen = '2024-01-01 23:30+00' where age = 7")
    until, session = (
        f"select count(*), sum(income) from {table} where seen < '2024-01-02'",
        hall.session(),
    )
    session.execute("set timezone = 'UTC'")
    assert ask(session, until)
    session.execute("set timezone = 'Europe/Athens'")
    assert ask(session, until) is None
    session.execute("set timezone = 'UTC'")
    assert ask(session, until)
    session.execute("reset timezone")


@pytest.mark.parametrize("damaged", [False, True])
def test_a_new_session_sees_what_changed_since_the_last_table_snapshot(hall: Hall, damaged: bool) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    snapshot = hall.folder(table) / "census"
    while not snapshot.exists():  # it is written when the answer has left
        assert worker_of(hall.session())
    if damaged:
        flip(snapshot)
    hall.new_sessions()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.new_sessions()
    hall.admin.execute(f"update {table} set income = income + 1 where age = 3")
    assert ask(hall.session(), among(table, "age <= 30")) is None
    assert ask(hall.session(), among(table, "age between 31 and 50"))


def test_the_ledger_outlives_all_sessions(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.new_sessions()
    assert ask(hall.session(), among(table, "age <= 29")) is None
    assert ask(hall.session(), among(table, "age <= 30"))


@contextmanager
def held(file: Path) -> Iterator[None]:
    with file.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def worker_of(session: Connection) -> int | None:
    pid = session.info.backend_pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


def has_open(pid: int, file: Path) -> bool:
    try:
        return any(os.readlink(link) == str(file) for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_a_worker_that_is_killed_while_it_decides_answers_nothing(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    numbers = hall.folder(table) / "numbers"
    answers: list[list[Any] | None] = []
    with held(numbers):
        thread = threading.Thread(target=lambda: answers.append(ask(session, among(table, "age <= 30"))))
        thread.start()
        while (worker := worker_of(session)) is None or not has_open(worker, numbers):
            assert thread.is_alive()
            time.sleep(0.005)
        # it reads the ledger's state first; then nothing but the decision can keep it waiting
        time.sleep(0.5)
        os.kill(worker, signal.SIGKILL)
    thread.join()
    assert answers == [None]
    assert ask(session, among(table, "age <= 30"))
    assert ask(session, among(table, "age <= 29")) is None


def test_a_query_that_cannot_be_written_down_is_withheld_in_time(hall: Hall) -> None:
    """Its workers are killed, and another process keeps the file of what they did not record."""
    table, session = hall.table(), hall.session()
    assert ask(session, among(table, "age <= 20"))
    numbers, unrecorded = (hall.folder(table) / name for name in ("numbers", "unrecorded"))
    unrecorded.touch(mode=0o600)
    os.chown(unrecorded, numbers.stat().st_uid, numbers.stat().st_gid)
    answers: list[list[Any] | None] = []
    with held(numbers), held(unrecorded):
        thread = threading.Thread(target=lambda: answers.append(ask(session, among(table, "age <= 30"))))
        thread.start()
        ends = time.monotonic() + 60
        while thread.is_alive() and time.monotonic() < ends:
            worker = worker_of(session)
            if worker is not None and has_open(worker, numbers):
                # reading the ledger's state is tried again, a decision is not
                time.sleep(0.3)
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            time.sleep(0.005)
        assert not thread.is_alive()
    assert answers == [None]
    assert ask(session, among(table, "age <= 30"))


def test_attack_with_queries_that_kill_their_workers(hall: Hall) -> None:
    """Whether a worker runs out of memory may depend on the data: such queries count, recorded or not.

    The second kill is of the worker that was to record the refusal.
    """
    table, session = hall.table(refusals=1, lockout=3600), hall.session()
    assert ask(session, among(table, "age <= 20"))
    numbers = hall.folder(table) / "numbers"
    answers: list[list[Any] | None] = []
    killed: set[int] = set()
    with held(numbers):
        thread = threading.Thread(target=lambda: answers.append(ask(session, among(table, "age <= 30"))))
        thread.start()
        while thread.is_alive():
            worker = worker_of(session)
            if worker is not None and worker not in killed and has_open(worker, numbers):
                time.sleep(0.3)
                os.kill(worker, signal.SIGKILL)
                killed.add(worker)
            time.sleep(0.005)
    assert answers == [None]
    assert len(killed) > 1
    assert [(outcome, reason) for _, outcome, reason in hall.log(table)] == [
        ("answered", None),
        ("withheld", "error"),
    ]
    assert ask(session, among(table, "age <= 30")) is None
    assert hall.log(table)[1:] == [(ANN, "withheld", "error"), (ANN, "withheld", "budget")]
    assert not (hall.folder(table) / "unrecorded").read_bytes()
    assert ask(hall.session(BOB), among(table, "age <= 30"))


def test_no_query_runs_while_refusals_could_not_be_written_down(
    hall: Hall, watched: tuple[str, Reads], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reads = watched
    assert reads("age <= 30") == [True]
    (folder,) = (tmp_path / "ledgers").glob("*/*")
    file = folder / "unrecorded"
    file.write_bytes(b"x" * 2_000_000)
    file.chmod(0o600)
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise LedgerError("The process fails again.")

        broken.setattr(ledger_parent, "decide", fail)
        for age in (20, 25):
            assert reads(f"age <= {age}", answered=False) == []
    # once the process decides again it moves what was written down, and records the query as not run
    assert reads("age <= 20", answered=False) == []
    assert not file.read_bytes()
    assert reads("age <= 20") == [True]


def interrupt(hall: Hall, table: str, age: int, *, kills: bool) -> str | None:
    """Ask something that takes long, and end it; return the SQLSTATE of what the analyst receives.

    The public table is scanned for long, whatever the figure about people is.
    """
    hall.admin.execute(
        "create table if not exists slow as select 1 as one from generate_series(1, 30000);"
        " grant select on slow to public"
    )
    text = f"{among(table, f'age <= {age}')} union all select count(*), 1 from slow a join slow b using (one)"
    with psycopg.connect(hall.dsn, autocommit=True) as session:
        session.execute(f"set session authorization {ANN}")
        # what a session loads at first takes time, too
        assert ask(session, among(hall.table(), "age <= 30"))
        session.execute("set statement_timeout = '700ms'" if not kills else "select")
        end = threading.Timer(
            0.7, hall.admin.execute, ["select pg_terminate_backend(%s)", [session.info.backend_pid]]
        )
        if kills:
            end.start()
        with pytest.raises(psycopg.Error) as error:
            session.execute("select kanon_query(%s)", [text])
        end.cancel()
        if kills:
            end.join()
    return error.value.sqlstate


@pytest.mark.parametrize(("kills", "state"), [(False, "57014"), (True, "57P01")], ids=["cancel", "terminate"])
def test_attack_by_interrupting_queries(hall: Hall, kills: bool, state: str) -> None:
    """How long a query runs may tell something: what is interrupted counts, and then does not run."""
    table = hall.table(refusals=2, lockout=3600)
    assert interrupt(hall, table, 30, kills=kills) == state
    assert hall.log(table) == [(ANN, "withheld", "interrupted")]
    assert ask(hall.session(), among(table, "age <= 20"))
    assert interrupt(hall, table, 31, kills=kills) == state
    assert ask(hall.session(), among(table, "age <= 20")) is None
    # nothing runs that could be interrupted
    assert interrupt(hall, table, 32, kills=False) == AnswerWithheld.sqlstate
    assert [reason for _, _, reason in hall.log(table)] == [
        *("interrupted", None, "interrupted"),
        *("budget", "budget"),
    ]
    assert ask(hall.session(BOB), among(table, "age <= 20"))


def test_an_interrupted_query_says_no_more_than_that(hall: Hall) -> None:
    table = hall.table()
    interrupt(hall, table, 30, kills=False)
    # it discloses nothing, so nothing is compared with it
    assert ask(hall.session(), among(table, "age <= 29"))
    assert not [path for path in hall.folder(table).iterdir() if path.name.startswith("running-")]


def no_program() -> str:
    return "/dev/null"


def no_file(*_: object) -> int:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize(
    ("module", "name", "broken", "reason"),
    [(launch, "interpreter", no_program, "fault"), (os, "memfd_create", no_file, "record")],
    ids=["no process", "no file to share"],
)
def test_attack_by_what_keeps_the_process_from_being_asked(
    watched: tuple[str, Reads],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    broken: Callable[..., Any],
    reason: str,
) -> None:
    """Nothing is answered, and the query is written down; it is free only if no process was started."""
    _, reads = watched
    assert reads("age <= 30") == [True]
    (folder,) = (tmp_path / "ledgers").glob("*/*")
    ledger_parent.ledger_session.stop()
    with monkeypatch.context() as breaking:
        breaking.setattr(module, name, broken)
        reads("age <= 20", answered=False)
    assert f'"{reason}"' in (folder / "unrecorded").read_text()
    reads("age <= 20")
    log = ledger_parent.read_log(str(folder.parent), [folder.name], lambda: None)
    assert [entry[4:6] for entry in log] == [["answered", ""], ["withheld", reason], ["answered", ""]]


def test_a_ledger_of_a_transaction_that_rolled_back_is_removed_later(hall: Hall) -> None:
    table = hall.table()
    parent = hall.folder(table).parent
    with hall.admin.transaction(force_rollback=True):
        hall.admin.execute(f"select kanon.restart_ledger('{table}')")
        left = hall.folder(table)
    used, now = hall.folder(hall.table()), time.time()
    assert ask(hall.session(), among(table, "age <= 30"))
    assert left.is_dir()
    for folder in (left, used):
        os.utime(folder / "journal", (now - 90_000, now - 90_000))
    hall.table()
    assert not left.exists()
    assert used.is_dir()
    assert hall.folder(table) in parent.iterdir()


@pytest.mark.parametrize("has_row", [True, False])
def test_refusals_do_not_tell_who_has_rows_in_another_table(hall: Hall, *, has_row: bool) -> None:
    """Fifty-two known people, then one more."""
    table, visits, session = hall.table(entity="id"), hall.table(entity="id"), hall.session()
    hall.admin.execute(f"delete from {visits} where age > {53 if has_row else 52}".encode())
    member = f"id in (select id from {visits})"
    assert ask(session, f"select count(*) from {table} where age <= 52 and {member}")
    assert ask(session, f"select count(*) from {table} where age <= 53 and {member}") is None
    assert hall.log(table)[-1] == (ANN, "withheld", "people")


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def cut(file: Path) -> None:
    os.truncate(file, 24)


def remove(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    data, found = file.read_bytes(), file.stat()
    file.unlink()
    file.write_bytes(data)
    file.chmod(0o600)
    os.chown(file, found.st_uid, found.st_gid)


@pytest.mark.parametrize("again", [False, True], ids=["same session", "new session"])
@pytest.mark.parametrize("file", ["journal", "numbers"])
@pytest.mark.parametrize("harm", [flip, cut, remove])
def test_files_that_were_tampered_with_end_answers(
    hall: Hall, harm: Callable[[Path], None], file: str, again: bool
) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    if again:
        end_sessions(hall)
    harm(hall.folder(table) / file)
    if not again and harm is flip:
        # what was read before is not read again by the same process, but by any other
        assert ask(hall.session(), among(table, "age <= 29")) is None
        end_sessions(hall)
    # if the first answer took long there is a checkpoint, with which no journal is read up to there
    (hall.folder(table) / "checkpoint").unlink(missing_ok=True)
    assert ask(hall.session(), among(table, "age > 20")) is None
    assert ask(hall.session(), among(table, "age > 20")) is None
    if file == "journal":
        assert [outcome for _, outcome, _ in hall.log(table)] != ["answered"]


def test_a_file_that_was_exchanged_is_noticed_by_an_open_session(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    replace(hall.folder(table) / "journal")
    assert ask(hall.session(), among(table, "age > 20")) is None


def copied(folder: Path, copy: Path) -> None:
    """Copy a ledger's folder, without the drafts of files that its worker is just writing."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".*"))


def put_back(folder: Path, copy: Path) -> None:
    """Exchange a ledger's folder by an older copy with the same owners and rights."""
    owner, file_owner = folder.stat(), (folder / "journal").stat()
    # in one step: a worker may be writing there
    folder.rename(folder.with_name(uuid.uuid4().hex))
    copied(copy, folder)
    folder.chmod(stat.S_IMODE(owner.st_mode))
    os.chown(folder, owner.st_uid, owner.st_gid)
    for file in folder.iterdir():
        file.chmod(0o600)
        os.chown(file, file_owner.st_uid, file_owner.st_gid)


def end_sessions(hall: Hall) -> None:
    """End all sessions, and wait until their workers are gone."""
    workers = [pid for session in hall.sessions.values() if (pid := worker_of(session)) is not None]
    hall.new_sessions()
    for _ in range(1_000):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            return
        time.sleep(0.01)
    raise AssertionError("a worker outlives its session")


def marks(hall: Hall, table: str) -> list[int]:
    """Return how many records the database knows that a table's journal had."""
    rows = hall.admin.execute(
        "select m.records from kanon.ledger_mark m join kanon.ledger l using (name)"
        " where l.relation = %s::regclass order by m.records",
        [table],
    )
    return [row[0] for row in rows.fetchall()]


@pytest.mark.parametrize("again", [False, True], ids=["same session", "new session"])
@pytest.mark.parametrize("answered_before", [0, 1])
def test_an_older_copy_of_a_ledger_that_is_put_back_ends_answers(
    hall: Hall, tmp_path: Path, answered_before: int, again: bool
) -> None:
    table = hall.table()
    if answered_before:
        assert ask(hall.session(), among(table, "age > 50"))
    end_sessions(hall)
    copied(hall.folder(table), tmp_path / "copy")
    hall.admin.execute("update kanon.ledger_mark set written_at = written_at - interval '1 minute'")
    assert ask(hall.session(), among(table, "age <= 30"))
    assert marks(hall, table) == [answered_before + 1]
    if again:
        end_sessions(hall)
    put_back(hall.folder(table), tmp_path / "copy")
    assert ask(hall.session(), among(table, "age <= 29")) is None
    assert ask(hall.session(), among(table, "age > 20")) is None
    assert ask(hall.session(BOB), among(table, "age > 20")) is None
    ok, problem, remedy = hall.admin.execute(
        "select ok, problem, remedy from kanon.ledger_states() where relation = %s::text::regclass", [table]
    ).fetchone()
    assert not ok
    assert "journal" in problem
    assert "restart_ledger" in remedy
    hall.admin.execute("select kanon.restart_ledger(%s::text::regclass)", [table])
    assert ask(hall.session(), among(table, "age > 20"))


def test_a_ledger_with_another_history_is_noticed_by_a_session_that_has_read_further(
    hall: Hall,
) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 40"))
    hall.admin.execute(
        "update kanon.ledger_mark m set digest = sha256('another') from kanon.ledger l"
        " where l.name = m.name and l.relation = %s::regclass",
        [table],
    )
    assert ask(hall.session(), among(table, "age <= 50")) is None


def test_a_ledger_that_is_ahead_of_the_database_is_the_right_one(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    session.execute("begin")
    assert ask(session, among(table, "age <= 30"))
    session.execute("rollback")
    assert marks(hall, table) == []
    assert ask(session, among(table, "age <= 29")) is None
    assert ask(session, among(table, "age <= 40"))
    assert marks(hall, table) == [3]
    session.execute("begin read only")
    assert ask(session, among(table, "age <= 50"))
    session.execute("commit")
    assert marks(hall, table) == [3]


def test_marks_are_stored_now_and_then_and_earlier_ones_are_forgotten(hall: Hall) -> None:
    table = hall.table()
    for age in (30, 40, 50):
        assert ask(hall.session(), among(table, f"age <= {age}"))
    assert marks(hall, table) == [1]
    hall.admin.execute("update kanon.ledger_mark set written_at = written_at - interval '1 minute'")
    waiting = hall.session(BOB)
    waiting.execute("begin")
    assert ask(waiting, among(table, "age <= 20"))
    # nobody waits for a transaction that has not ended, and it takes nothing back
    assert ask(hall.session(), among(table, "age <= 10"))
    assert marks(hall, table) == [1, 5]
    waiting.execute("commit")
    assert marks(hall, table)[-1] == 5


def test_a_missing_ledger_needs_a_curator(hall: Hall) -> None:
    table = hall.table()
    folder = hall.folder(table)
    folder.rename(folder.with_name("f" * 32))
    assert ask(hall.session(), among(table, "age <= 30")) is None
    with pytest.raises(psycopg.Error, match="ledger of queries is missing"):
        hall.protect(table)
    with pytest.raises(psycopg.Error, match="permission denied"):
        hall.session().execute("select kanon.restart_ledger(%s::text::regclass)", [table])
    hall.admin.execute("select kanon.restart_ledger(%s::text::regclass)", [table])
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 29")) is None


def test_protecting_again_keeps_the_ledger(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute("select kanon_unprotect(%s::text::regclass)", [table])
    hall.protect(table, 4, ledger="linear")
    assert ask(hall.session(), among(table, "age <= 29")) is None
    assert ask(hall.session(), among(table, "age <= 26"))


@pytest.mark.parametrize("entity", [None, "person"])
@pytest.mark.parametrize(
    "change",
    [
        "insert into {} values (1000, 1000, 3, 'c0', 1)",
        "delete from {} where age = 3",
        "update {} set income = income + 1 where age = 3",
    ],
)
def test_a_change_of_one_person_is_not_disclosed(hall: Hall, change: str, entity: str | None) -> None:
    table = hall.table(entity=entity)
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(change.format(table))
    assert ask(hall.session(), among(table, "age <= 30")) is None
    assert ask(hall.session(BOB), among(table, "age <= 30")) is None
    # who is in neither set is not concerned
    assert ask(hall.session(), among(table, "age between 31 and 50"))


def test_changes_of_enough_people_are_disclosed(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(f"delete from {table} where age <= 6")
    assert ask(hall.session(), among(table, "age <= 30"))


@pytest.mark.parametrize("command", ["vacuum full {}", "cluster {} using {}_pkey", "vacuum freeze {}"])
def test_rows_that_only_moved_are_the_same(hall: Hall, command: str) -> None:
    table = hall.table()
    hall.admin.execute(f"delete from {table} where age = 60")
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(f"update {table} set touched = now() where age < 10")
    hall.admin.execute(command.format(table, table))
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 29")) is None


def test_rows_of_one_transaction_that_swap_tids_are_distinguished(hall: Hall) -> None:
    table = hall.table()
    hall.admin.execute(f"create index on {table} (city, age desc)")
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(f"cluster {table} using {table}_city_age_idx")
    assert ask(hall.session(), among(table, "age <= 29")) is None


def test_several_rows_of_a_person_are_one_person(hall: Hall) -> None:
    table = hall.table(entity="person")
    hall.admin.execute(f"update {table} set person = 7 where age in (7, 8, 9, 10, 11, 12)")
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 30 and (age < 7 or age > 12)")) is None


def test_a_partition_shares_the_ledger_of_its_table(hall: Hall) -> None:
    name = f"people_{next(_numbers)}"
    hall.admin.execute(
        f"create table {name} (id int, person int, age int, city text, income numeric)"
        " partition by list (city)"
    )
    for city in range(3):
        hall.admin.execute(f"create table {name}_{city} partition of {name} for values in ('c{city}')")
        hall.admin.execute(f"grant select on {name}_{city} to kanon_reader")
    hall.admin.execute(
        f"insert into {name} select i, i, i, 'c' || i % 3, i from generate_series(1, {PEOPLE}) as i"
    )
    hall.declare(name)
    hall.protect(name)
    assert ask(hall.session(), among(name, "city = 'c1' and age <= 40"))
    assert ask(hall.session(), among(f"{name}_1", "age <= 40"))
    assert ask(hall.session(), among(f"{name}_1", "age < 40")) is None
    assert ask(hall.session(), f"select city, count(*) from {name} where age < 25 group by city")
    hall.admin.execute(f"update {name} set city = 'c2' where age = 1")
    assert ask(hall.session(), f"select city, count(*) from {name} where age < 25 group by city") is None


def test_a_view_is_known_by_the_content_of_its_rows(hall: Hall) -> None:
    table = hall.table(entity="person")
    view = f"{table}_view"
    hall.admin.execute(f"create view {view} as select person, age, city, income from {table}")
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => array['age', 'city']::name[],"
        " sensitive => array['income']::name[], entity => 'person')",
        [view],
    )
    hall.protect(view)
    assert ask(hall.session(), among(view, "age <= 30"))
    assert ask(hall.session(), among(view, "age <= 29")) is None
    assert ask(hall.session(), f"select city, count(*) from {view} group by city")
    hall.admin.execute(f"delete from {table} where age = 2")
    assert ask(hall.session(), f"select city, count(*) from {view} group by city") is None


def test_joined_tables_are_both_recorded(hall: Hall) -> None:
    table, other = hall.table(entity="person"), f"visits_{next(_numbers)}"
    hall.admin.execute(f"create unique index on {table} (person)")
    hall.admin.execute(f"alter table {table} alter person set not null")
    hall.admin.execute(f"create table {other} (person int not null, kind text, fee numeric)")
    hall.admin.execute(
        f"insert into {other} select i % {PEOPLE} + 1, 'k' || i % 2, i from generate_series(1, 240) as i"
    )
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => array['kind']::name[],"
        " sensitive => array['fee']::name[], entity => 'person')",
        [other],
    )
    hall.protect(other)
    joined = f"select count(*), sum(fee) from {other} join {table} using (person) where age"
    assert ask(hall.session(), f"{joined} <= 30")
    assert ask(hall.session(), f"{joined} <= 29") is None
    assert [len(hall.log(name)) for name in (table, other)] == [2, 2]


def test_a_looked_up_table_of_other_people_is_recorded(hall: Hall) -> None:
    one, other = hall.table(entity="person"), hall.table()
    hall.admin.execute(f"create unique index on {other} (person)")
    hall.admin.execute(f"alter table {other} alter person set not null")
    joined = f"select count(*), sum(a.income) from {one} a join {other} b using (person) where b.age <= 30"
    assert ask(hall.session(), joined)
    assert ask(hall.session(), among(other, "age <= 29")) is None


def test_left_out_groups_are_not_recorded_as_disclosed(hall: Hall) -> None:
    table = hall.table(mode="suppress")
    grouped = f"select age < 9, age > 50 and age < 53, count(*) from {table} group by 1, 2"
    assert ask(hall.session(), grouped) is not None
    assert ask(hall.session(), among(table, "age >= 9 and age < 51 or age > 52")) is not None


@pytest.mark.parametrize("mode", ["off", "pairwise"])
def test_a_budget_ends(hall: Hall, mode: str) -> None:
    table = hall.table(ledger=mode, queries=2)
    assert ask(hall.session(ANN), among(table, "age <= 30"))
    assert ask(hall.session(ANN, 2), among(table, "age <= 40"))
    assert ask(hall.session(ANN), among(table, "age <= 30")) is None
    assert ask(hall.session(BOB), among(table, "age <= 30"))
    assert [reason for _, _, reason in hall.log(table)] == [None, None, "budget", None]


def test_refused_queries_lock_a_login_out(hall: Hall) -> None:
    table = hall.table(refusals=2)
    for age in (1, 2):
        assert ask(hall.session(ANN), among(table, f"age <= {age}")) is None
    assert ask(hall.session(ANN), among(table, "age <= 30")) is None
    assert ask(hall.session(BOB), among(table, "age <= 30"))
    reasons = [(login, reason) for login, _, reason in hall.log(table)]
    assert reasons == [(ANN, "size"), (ANN, "size"), (ANN, "budget"), (BOB, None)]


def test_a_role_does_not_hide_the_login(hall: Hall) -> None:
    table = hall.table(queries=1)
    hall.admin.execute(f"grant {BOB} to {ANN}")
    try:
        assert ask(hall.session(ANN), among(table, "age <= 30"))
        hall.session(ANN).execute(f"set role {BOB}")
        assert ask(hall.session(ANN), among(table, "age <= 30")) is None
    finally:
        hall.session(ANN).execute("reset role")
        hall.admin.execute(f"revoke {BOB} from {ANN}")


def test_without_comparison_queries_are_still_recorded(hall: Hall) -> None:
    table = hall.table(ledger="off")
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 29"))
    assert [outcome for _, outcome, _ in hall.log(table)] == ["answered", "answered"]


def test_columns_that_change_need_a_new_ledger(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(f"alter table {table} add column remark text default 'x'")
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(
        "select kanon_declare(%s, identifiers => array['id', 'person']::name[],"
        " quasi_identifiers => array['age', 'city', 'remark']::name[],"
        " sensitive => array['income']::name[])",
        [table],
    )
    assert ask(hall.session(), among(table, "age <= 30")) is None
    before = hall.log(table)
    assert before
    hall.admin.execute("select kanon.restart_ledger(%s::text::regclass)", [table])
    assert ask(hall.session(), among(table, "age <= 30"))
    # who ran it before still gets it
    assert hall.log(table)[:-1] == before


def test_the_ledger_says_what_went_wrong_and_the_analyst_gets_the_same_words(hall: Hall) -> None:
    table = hall.table(extra="share float8 default 1e308")
    large = hall.table(rows=2)
    slow = hall.table(seconds=1e-9)
    withheld = [
        (table, among(table, "age < 3"), "size"),
        (table, f"select sum(share) from {table}", "error"),
        (large, f"select city, count(*) from {large} group by city", "rows"),
        (slow, among(slow, "age > 10"), "time"),
    ]
    for name, text, reason in withheld:
        assert ask(hall.session(), text) is None
        assert hall.log(name)[-1] == (ANN, "withheld", reason)
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.declare(table, "person")
    assert ask(hall.session(), among(table, "age <= 30")) is None
    assert hall.log(table)[-1] == (ANN, "withheld", "record")


def test_a_table_without_a_ledger_says_how_to_begin_one(hall: Hall) -> None:
    table = f"people_{next(_numbers)}"
    hall.admin.execute(f"create table {table} as select i as age, i as income from generate_series(1, 60) i")
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => '{age}', sensitive => '{income}')", [table]
    )
    # a trusted client may keep no ledger; the server always does
    client.protect(hall.dsn, table, 5, {"ledger": "off"})
    assert client.query(hall.dsn, among(table, "age <= 30")).rows
    with pytest.raises(psycopg.Error, match="no ledger of queries") as found:
        ask(hall.session(), among(table, "age <= 30"))
    assert found.value.sqlstate == QueryRefused.sqlstate
    hall.admin.execute(str(found.value.diag.message_hint).partition(": ")[2].encode())
    assert ask(hall.session(), among(table, "age <= 30"))
    assert hall.log(table) == [(ANN, "answered", None)]
    ledger_parent.ledger_session.stop()


def test_nobody_but_curators_reads_the_ledger(hall: Hall) -> None:
    table, session = hall.table(), hall.session()
    assert ask(session, among(table, "age <= 30"))
    for text in (
        "select * from kanon.query_log()",
        "select * from kanon.ledger",
        "select pg_read_file('kanon_ledger')",
        f"select kanon.begin_ledger('{table}')",
        f"select kanon.restart_ledger('{table}')",
    ):
        with pytest.raises(psycopg.Error, match="permission denied"):
            session.execute(text)
    hall.admin.execute(f"grant kanon_curator to {BOB}")
    try:
        with pytest.raises(psycopg.Error):  # a curator without rights on the table
            hall.session(BOB).execute("select kanon.restart_ledger(%s::text::regclass)", [table])
        rows = hall.session(BOB).execute(
            "select * from kanon.query_log() where relation = %s", [f"public.{table}"]
        )
        (row,) = rows.fetchall()
        assert row[2:] == (ANN, ANN, among(table, "age <= 30"), [], "answered", None)
    finally:
        hall.admin.execute(f"revoke kanon_curator from {BOB}")
    folder = hall.folder(table)
    for path in (folder, *folder.iterdir()):
        assert path.stat().st_mode & 0o077 == 0


def test_a_dropped_table_leaves_no_entry_in_the_log(hall: Hall) -> None:
    table = hall.table()
    assert ask(hall.session(), among(table, "age <= 30"))
    hall.admin.execute(f"drop table {table} cascade")
    assert hall.log(table) == []


def test_a_trusted_client_keeps_the_ledger_in_a_folder_of_its_own(hall: Hall, tmp_path: Path) -> None:
    table = f"people_{next(_numbers)}"
    hall.admin.execute(f"create table {table} as select i as age, i as income from generate_series(1, 60) i")
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => '{age}', sensitive => '{income}')", [table]
    )
    folder = str(tmp_path / "ledgers")
    client.protect(hall.dsn, table, ledger_folder=folder)
    for age, answered in ((30, True), (29, False), (25, True)):
        if answered:
            answer = client.query(hall.dsn, among(table, f"age <= {age}"), ledger_folder=folder)
            assert answer.rows[0][0] == str(age)
        else:
            with pytest.raises(AnswerWithheld):
                client.query(hall.dsn, among(table, f"age <= {age}"), ledger_folder=folder)
    with pytest.raises(InputError, match="no folder for ledgers"):
        client.query(hall.dsn, among(table, "age <= 30"))
    with pytest.raises(AnswerWithheld):
        client.query(hall.dsn, among(table, "age <= 30"), ledger_folder=str(tmp_path))
    # the server has no such ledger, and does not begin another one
    assert ask(hall.session(), among(table, "age <= 30")) is None
    ledger_parent.ledger_session.stop()


def test_a_new_query_reads_its_table_once(hall: Hall, watched: tuple[str, Reads]) -> None:
    table, reads = watched
    assert reads("age <= 30") == [True]
    assert reads("age <= 3", answered=False) == [True]
    assert reads("age <= 29", answered=False) == [True]
    # a query that comes again is not run, whatever became of it
    assert reads("age <= 30") == []
    assert reads("age <= 3", answered=False) == []
    assert reads("age <= 29", answered=False) == []
    # what was known is not any more
    hall.admin.execute(f"insert into {table} select i % 20, i from generate_series(61, 90) i")
    assert reads("age <= 30") == [True]


def test_no_rows_are_collected_for_the_later_ones_of_many_queries(
    hall: Hall, watched: tuple[str, Reads]
) -> None:
    table, reads = watched
    for age in (55, 48, 41):
        assert reads(f"age <= {age}") == [True]
    # the answer, the rows by age and those without an income, and which ages are meant
    assert reads("age <= 27") == [False, True, True, False]
    assert reads("age <= 20") == [False, False]
    # whatever becomes of a query, the same is read
    assert reads("age <= 26", answered=False) == [False, False]
    assert reads("age <= 29 and age > -1", answered=False) == [False, False, False]
    assert reads("age <= 3", answered=False) == [False, False]
    assert reads("age <= 27") == []
    # rows that changed are collected again: of one person less, who is at none of the ages asked about
    hall.admin.execute(f"update {table} set age = 100 where age = 13")
    assert reads("age <= 27 and age > -1", answered=False) == [True]
    assert reads("age <= 48 and age > -1", answered=False) == [True]


def test_what_one_session_read_of_columns_serves_others(hall: Hall, watched: tuple[str, Reads]) -> None:
    table, reads = watched
    for age in (55, 48, 41):
        assert reads(f"age <= {age}") == [True]
    assert reads("age <= 27") == [False, True, True, False]
    # what is stored after an answer is there before the next one
    assert reads("age <= 26 or age > 26") == [False, False]
    start_another_session()
    # the answer, which ages there are, and which are meant
    assert reads("age <= 22") == [False, False, False]
    assert reads("age <= 15") == [False, False]
    # whatever becomes of a query, the same is read
    assert reads("age <= 21", answered=False) == [False, False]
    assert reads("age <= 3", answered=False) == [False, False]
    hall.admin.execute(f"update {table} set age = 100 where age = 13")
    start_another_session()
    assert reads("age <= 27 and age > -1", answered=False) == [True]
    assert reads("age <= 48 and age > -1", answered=False) == [True]


def test_a_write_costs_one_reading_of_the_table(
    hall: Hall, watched: tuple[str, Reads], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, reads = watched
    readings: list[Relation] = []

    def noting(relation: Relation) -> str:
        readings.append(relation)
        return table_snapshot_sql(relation)

    monkeypatch.setattr(recording, "table_snapshot_sql", noting)
    with ThreadPoolExecutor(1) as another:  # a thread has a session of its own
        for age in (55, 48, 41, 34):
            reads(f"age <= {age}")
        assert another.submit(reads, "age <= 27").result() == [False, False, False]
        assert len(readings) == 1
        for number, one in enumerate((13, 14, 15), 2):
            hall.admin.execute(f"update {table} set age = 100 where age = {one}")
            reads(f"age <= 55 and age > -{one}", answered=False)
            assert len(readings) == number
            another.submit(reads, f"age <= 48 and age > -{one}", answered=False).result()
            assert len(readings) == number
        another.submit(ledger_parent.ledger_session.stop).result()


def test_damaged_partitions_are_given_up(watched: tuple[str, Reads], tmp_path: Path) -> None:
    _, reads = watched
    for age in (55, 48, 41, 34, 27):
        reads(f"age <= {age}")
    files = list(tmp_path.rglob("partition.*"))
    assert len(files) == 2
    for path in files:
        path.write_bytes(path.read_bytes()[:-1])
    start_another_session()
    # the ages cannot be loaded: who is behind the answer is read, and with the next one
    assert reads("age <= 20") == [False, False, True]
    assert reads("age <= 15") == [True]
    assert reads("age <= 14", answered=False) == [True]


def test_partitions_that_are_gone_when_they_are_needed_are_not_read(
    watched: tuple[str, Reads], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reads = watched
    for age in (55, 48, 41, 34, 27):
        reads(f"age <= {age}")
    start_another_session()
    states, calls = ledger_parent.states, count()

    def forgetful(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
        found = states(*arguments, **options)
        # asked when the query is planned, and when it is recorded
        return [{**one, "stored": []} if next(calls) == 1 else dict(one) for one in found]

    monkeypatch.setattr(ledger_parent, "states", forgetful)
    assert reads("age <= 20") == [False, True]
    assert reads("age <= 15") == [False, False, False]


def test_sessions_of_the_server_share_what_one_read_of_columns(hall: Hall) -> None:
    table = hall.table()
    session = hall.session(ANN, 90)
    session.execute("set timezone = 'Asia/Tokyo'")
    for age in (55, 48, 41, 34, 27):
        assert ask(session, among(table, f"age <= {age}"))
    assert ask(session, among(table, "age <= 27"))
    files = {path.name for path in hall.folder(table).glob("partition.*")}
    assert len(files) == 2
    hall.new_sessions()
    other = hall.session(BOB, 91)
    other.execute("set timezone = 'Asia/Tokyo'")
    assert ask(other, among(table, "age <= 20"))
    assert ask(other, among(table, "age <= 15"))
    assert ask(other, among(table, "age <= 14")) is None
    assert ask(other, among(table, "age <= 26")) is None
    # a state of the table is the same one in all time zones
    third = hall.session(ANN, 92)
    assert ask(third, among(table, "age <= 10"))
    assert ask(third, among(table, "age <= 16")) is None
    assert {path.name for path in hall.folder(table).glob("partition.*")} == files


def test_no_condition_that_somebody_asked_is_stored(watched: tuple[str, Reads], tmp_path: Path) -> None:
    _, reads = watched
    for age in (55, 48, 41, 34, 27, 20):
        collected = reads(f"income < 70 and age <= {age}", answered=age == 55, figure="count(income)")
    assert not any(collected)
    assert reads("income < 70 and age <= 20", answered=False, figure="count(income)") == []
    # the ages and who has an income, not whose is another one
    assert len(list(tmp_path.rglob("partition.*"))) == 2


def start_another_session() -> None:
    """Let this thread's next query be the first of a session."""
    ledger_parent.ledger_session.stop()
    partition_register.__init__()  # type: ignore[misc]
    outcome_cache.__init__()  # type: ignore[misc]


def test_rows_are_collected_where_a_column_has_many_values(
    hall: Hall, watched: tuple[str, Reads], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reads = watched
    monkeypatch.setattr(compositions, "_MOST_VALUES", 59)
    for age in (55, 48, 41):
        assert reads(f"age <= {age}") == [True]
    # the partition is given up, and not tried again
    assert reads("age <= 27") == [False, True, True]
    assert reads("age <= 20") == [True]
    assert reads("age <= 19", answered=False) == [True]


def test_protecting_twice_at_once_begins_one_ledger(hall: Hall) -> None:
    table = f"people_{next(_numbers)}"
    hall.admin.execute(f"create table {table} as select i as age, i as income from generate_series(1, 60) i")
    hall.admin.execute(
        "select kanon_declare(%s, quasi_identifiers => '{age}', sensitive => '{income}')", [table]
    )
    with ExitStack() as stack:
        sessions = [stack.enter_context(psycopg.connect(hall.dsn, autocommit=True)) for _ in range(2)]
        start = threading.Barrier(2)

        def protect(session: Connection) -> None:
            start.wait()
            # rights on a table that are granted twice at once may fail once
            with suppress(psycopg.errors.InternalError):
                session.execute("select kanon_protect(%s::text::regclass, 5)", [table])

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(protect, sessions))
    assert hall.folder(table).is_dir()
    assert ask(hall.session(), among(table, "age <= 30"))
    assert ask(hall.session(), among(table, "age <= 29")) is None


def test_one_more_person_with_a_secret_is_refused_whatever_the_secret_is(hall: Hall) -> None:
    for illness in ("c0", "c1"):
        table = hall.table(margin=2, extra=f"ward text not null default '{illness}'")
        hall.admin.execute(f"update {table} set ward = 'c' || age % 2 where age <> 31")
        hall.admin.execute(
            "select kanon_declare(%s, quasi_identifiers => '{age,city}', sensitive => '{income,ward}')",
            [table],
        )
        hall.admin.execute("select kanon.restart_ledger(%s)", [table])
        assert ask(hall.session(), f"select ward, count(*) from {table} where age <= 30 group by ward")
        assert ask(hall.session(), f"select count(*) from {table} where age <= 31 and ward = 'c1'") is None
        assert ask(hall.session(), f"select count(*) from {table} where age <= 50 and ward = 'c1'")
        assert [reason for _, _, reason in hall.log(table)] == [None, "people", None]


@pytest.mark.parametrize("illness", ["flu", "cold"])
@pytest.mark.parametrize(("last", "reason"), [(31, "size"), (39, "size"), (45, None)])
def test_a_list_has_parts_as_large_as_a_selection_whatever_the_secret_is(
    hall: Hall, last: int, reason: str | None, illness: str
) -> None:
    """Whose cities are known is chosen by spans of ages, so that all but one live in cities of one kind."""
    table = hall.table(margin=2, extra=f"ward text not null default '{illness}'")
    hall.admin.execute(f"update {table} set ward = 'flu' where age <> 31")
    text = f"select count(*), count(distinct city) from {table} where ward = 'flu' and"
    found = ask(hall.session(), f"{text} (age <= 20 or age between 31 and {last})")
    assert (found is None) == (reason is not None)
    assert [why for _, _, why in hall.log(table)] == [reason]


def test_people_that_differ_little_lock_a_login_out_sooner(hall: Hall) -> None:
    table = hall.table(near_refusals=2, margin=2)
    grouped = f"select income > 105, count(*) from {table} where age <= {{}} group by 1"
    assert ask(hall.session(), grouped.format(40))
    for age in (39, 38):
        assert ask(hall.session(), grouped.format(age)) is None
    assert ask(hall.session(), grouped.format(40)) is None
    assert [reason for _, _, reason in hall.log(table)] == [None, "people", "people", "budget"]


def test_groups_that_are_left_out_count_as_refusals(hall: Hall) -> None:
    table = hall.table(mode="suppress", refusals=2, margin=1)
    by_age = f"select age > 30, count(*) from {table} group by 1"
    assert ask(hall.session(), by_age)
    # three people have the smallest income; of those with a very large one there is nobody
    nobody = among(table, "income > 900", "count(income)")
    for text in (f"select income, count(*) from {table} group by 1", nobody):
        assert ask(hall.session(), f"{text} limit 3") is not None
    assert ask(hall.session(), by_age) is None
    reasons = [(outcome, reason) for _, outcome, reason in hall.log(table)]
    assert reasons == [
        ("answered", None),
        ("answered", "suppressed"),
        ("answered", "suppressed"),
        ("withheld", "budget"),
    ]


def test_parts_of_one_query_are_compared_without_a_ledger(hall: Hall) -> None:
    table = hall.table(ledger="off")
    parts = "with a as (select sum(income) s from {0}), b as (select sum(income) s from {0} where age < {1})"
    difference = parts + " select a.s - b.s from a, b"
    assert ask(hall.session(), difference.format(table, 60)) is None
    assert ask(hall.session(), difference.format(table, 56))
    assert [reason for _, _, reason in hall.log(table)] == ["difference", None]


def test_one_login_leaves_the_others_a_share(hall: Hall) -> None:
    table = hall.table(ledger="linear", rank=8)
    for age in (10, 20, 30, 40):
        assert ask(hall.session(ANN), f"select count(*) from {table} where age <= {age}")
    assert ask(hall.session(ANN), f"select count(*) from {table} where age <= 50") is None
    # what was answered, or follows from it, takes nothing
    assert ask(hall.session(ANN), f"select count(*) from {table} where age <= 20")
    assert ask(hall.session(ANN), f"select count(*) from {table} where age between 11 and 30")
    hall.new_sessions()
    assert ask(hall.session(ANN), f"select count(*) from {table} where age <= 50") is None
    for age in (50, 25, 35):
        assert ask(hall.session(BOB), f"select count(*) from {table} where age <= {age}")
    assert [reason for _, _, reason in hall.log(table)] == [None] * 4 + ["share", None, None, "share"] + [
        None
    ] * 3
    state = "select ok, used, problem, remedy from kanon.ledger_states where relation = %s::regclass"
    ((ok, used, problem, remedy),) = hall.admin.execute(state, [table]).fetchall()
    assert (ok, used) == (True, 87)
    assert problem == "87 % of what answers can be compared by is taken."
    assert "rank" in remedy
