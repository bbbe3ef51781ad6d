"""Whatever statement fails or is cancelled, the whole call does, says so, and has no effect."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.failures import QUERY_CANCELED
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import PackedColumn
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import Statement
from kanon_pg.errors import DatabaseError, ReleaseBusy, ReleaseError
from tests.fixtures.audits import COLUMNS, PEOPLE
from tests.fixtures.databases import Server
from tests.fixtures.services import THINGS, Services

Operation = Callable[[Services], Any]

READING: dict[str, Operation] = {
    "measure": lambda s: s.measure("of_persons"),
    "audit": lambda s: s.audit("of_persons", 3),
    "identify": lambda s: s.identify("of_persons"),
    "is_anonymous": lambda s: s.is_anonymous("of_persons", 3),
    "suggest": lambda s: s.suggest("of_persons"),
    "risk": lambda s: s.risk("of_persons"),
    "curve": lambda s: s.curve("of_persons", ks=[3], method="greedy"),
    "groups": lambda s: s.groups("things", "name", 25),
    "intervals": lambda s: s.intervals("things", "age", 25),
    "regions": lambda s: s.regions("things", "name", "roads", 25),
    "rectangles": lambda s: s.rectangles("things", "place", None, 25),
}
WRITING: dict[str, Operation] = {
    "declare": lambda s: s.declare("people", quasi_identifiers=COLUMNS, sensitive=["illness"]),
    "undeclare": lambda s: s.undeclare("of_persons"),
    "anonymize": lambda s: s.anonymize("of_persons", 4, method="greedy"),
    "anonymize again": lambda s: s.anonymize("of_persons", 6, release="before", method="greedy"),
    "anonymize with other columns": lambda s: s.anonymize(
        "of_persons", 4, release="before", quasi_identifiers=["age", "sex"], method="greedy"
    ),
    "certificate": lambda s: s.certificate("plain", time_limit=1),
    "refresh": lambda s: s.refresh("before"),
    "drop": lambda s: s.drop("before"),
}


class Failing(PsycopgDatabase):
    """A database on which the statement of a number fails, by an error of the server."""

    state = ""
    at: int | str = 0
    ran = 0
    depth = 0
    failed_in_savepoint = False

    def _count(self, name: str = "") -> None:
        cls = type(self)
        cls.ran += 1
        if cls.at in (cls.ran, name):
            cls.failed_in_savepoint = self.depth > 0
            text = f"DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '{cls.state}'; END $$"
            super().execute(Statement(text))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.depth += 1
        try:
            with super().savepoint():
                yield
        finally:
            self.depth -= 1

    def rows(self, statement: Statement, *arguments: Any) -> Sequence[Any]:
        self._count(statement.name)
        return super().rows(statement, *arguments)

    def row(self, statement: Statement, *arguments: Any) -> Any:
        self._count(statement.name)
        return super().row(statement, *arguments)

    def read(self, command: Statement, *arguments: Any) -> Sequence[Any]:
        self._count(command.name)
        return super().read(command, *arguments)

    def execute(self, statement: Statement, *arguments: Any) -> int:
        self._count(statement.name)
        return super().execute(statement, *arguments)

    def lock(self, relation: Identifier) -> None:
        self._count()
        super().lock(relation)

    def load(self, table: Identifier, columns: Sequence[PackedColumn]) -> None:
        self._count()
        super().load(table, columns)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> type[Failing]:
    """Return the kind of database that the client then uses, with a count of its own."""
    kind = type("OneFailing", (Failing,), {})
    monkeypatch.setattr(client, "PsycopgDatabase", kind)
    return kind


@pytest.fixture(scope="module")
def template(server: Server, kanon_template: str) -> Iterator[str]:
    """Yield the name of a database with releases, which nobody uses."""
    with server.database("faults", kanon_template) as name:
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            connection.execute((PEOPLE + THINGS).encode())
            connection.execute("select kanon.grant_read('things'), kanon.grant_read('roads')")
            services = Services(connection)
            declared = {"quasi_identifiers": COLUMNS, "sensitive": ["illness"], "entity": "person"}
            services.declare("of_persons", identifiers=["id"], **declared)
            services.anonymize("of_persons", 5, release="before", method="greedy")
            services.anonymize("people", 5, release="plain", quasi_identifiers=COLUMNS, method="greedy")
            connection.execute("grant select on safe.before to pg_monitor")
        yield name


@pytest.fixture
def services(server: Server, template: str) -> Iterator[Services]:
    with (
        server.database("faulty", template) as name,
        psycopg.connect(server.dsn(name), autocommit=True) as connection,
    ):
        yield Services(connection)


@pytest.mark.parametrize(
    ("state", "step"),
    [("XX000", 9), pytest.param("XX000", 1, marks=pytest.mark.thorough), (QUERY_CANCELED, 31)],
)
@pytest.mark.parametrize("name", READING | WRITING)
def test_whatever_statement_fails_the_call_does_and_has_no_effect(
    services: Services, failing: type[Failing], name: str, state: str, step: int
) -> None:
    """What fails in a savepoint may be survived: it serves what is said, not what is done."""
    before, failing.state = services.recorded(), state
    for failing.at in range(1, 1000, step):
        failing.ran = 0
        try:
            (READING | WRITING)[name](services)
        except (DatabaseError, psycopg.errors.QueryCanceled) as error:
            failed_with = error.server_state if isinstance(error, DatabaseError) else error.sqlstate
            assert (failed_with, failing.ran, services.recorded()) == (state, failing.at, before)
        else:
            if failing.ran < failing.at:
                break
            assert failing.failed_in_savepoint
            assert state != QUERY_CANCELED
            before = services.recorded()


@pytest.mark.parametrize("name", READING)
def test_what_only_reads_works_where_nothing_can_be_written(services: Services, name: str) -> None:
    services.execute("set default_transaction_read_only = on")
    READING[name](services)


# --- failures that mean something ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "state", "kind", "sentence"),
    [
        ("lock_release_name", "40001", ReleaseBusy, "another call|Another call|at the same time"),
        ("index_mapping", "23505", ReleaseError, "same 64-bit hash"),
    ],
)
def test_failures_that_mean_something(
    services: Services, failing: type[Failing], at: str, state: str, kind: type[Exception], sentence: str
) -> None:
    failing.at, failing.state = at, state
    with pytest.raises(kind, match=sentence):
        services.anonymize("of_persons", 4, release="before", method="greedy")


def test_what_others_made_of_a_release_keeps_it(services: Services) -> None:
    services.execute("create view safe.built_on_it as select age from safe.before")
    before = services.recorded()
    for call in (
        lambda: services.drop("before"),
        lambda: services.anonymize(
            "of_persons", 4, release="before", quasi_identifiers=["age"], method="greedy"
        ),
    ):
        with pytest.raises(ReleaseError, match="Other objects depend on"):
            call()
        assert services.recorded() == before
