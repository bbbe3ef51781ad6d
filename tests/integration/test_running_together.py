"""Several sessions at once: calls for one release queue, others run in parallel, readers notice nothing."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from kanon_pg.errors import KanonError, ReleaseBusy, VerificationFailed
from kanon_pg.release.publish.report import ReleaseReport
from tests.fixtures.interfaces import ClientInterface, Interface
from tests.fixtures.phases import GATED_TABLE, Watched, wait_until
from tests.fixtures.releases import everything, people_by_class, published

K = 4


@pytest.fixture
def prepared(interface: Interface) -> Interface:
    interface.connection.execute(GATED_TABLE.encode())
    interface.declare("patients", quasi_identifiers=["age", "tag"], sensitive=["id"])
    interface.anonymize("patients", K)
    return interface


@pytest.fixture
def watched(prepared: Interface) -> Iterator[Watched]:
    with psycopg.connect(prepared.dsn, autocommit=True) as watcher:
        yield Watched(prepared, watcher)


@pytest.fixture
def second(prepared: Interface) -> Iterator[Interface]:
    with psycopg.connect(prepared.dsn, autocommit=True) as connection:
        yield type(prepared)(prepared.dsn, connection)  # type: ignore[call-arg]


@contextmanager
def running(watched: Watched, phase: str) -> Iterator[Future[ReleaseReport]]:
    """Let a call stay in a phase while the block runs; its outcome is there after the block."""
    with ThreadPoolExecutor(1) as pool:
        with watched.holding(phase):
            call = pool.submit(watched.interface.anonymize, "patients", K)
            watched.wait_for_phase(phase)
            yield call
        call.exception()


def queued(watched: Watched, second: Interface) -> Watched:
    other = Watched(second, watched.watcher)
    other.wait_for_phase("queued")
    return other


def test_calls_for_one_release_queue_up(watched: Watched, second: Interface) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(watched, "counting") as first:
            later = pool.submit(second.anonymize, "patients", K + 1)
            queued(watched, second)
        assert first.result().k == K
        if isinstance(second, ClientInterface):
            with pytest.raises(ReleaseBusy, match="Another call published the same release") as raised:
                later.result()
            assert raised.value.hint
        else:
            assert later.result().k == K + 1
    last = K if isinstance(second, ClientInterface) else K + 1
    assert watched.watcher.execute("select k from kanon.releases").fetchall() == [(last,)]
    assert leftovers(watched) == 2
    rows = published(watched.watcher, "patients", ["age", "tag"], "id")
    assert min(people_by_class(rows).values()) >= last


def leftovers(watched: Watched) -> int:
    """Count storages and mappings."""
    row = watched.watcher.execute(
        "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace and relname ~ '^patients_'"
        " and relkind in ('r', 'm')"
    ).fetchone()
    assert row is not None
    count: int = row[0]
    return count


@pytest.mark.parametrize("operation", ["drop", "refresh"])
def test_other_operations_on_a_release_wait_for_its_publication(
    watched: Watched, second: Interface, operation: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(watched, "counting") as first:
            later = pool.submit(getattr(second, operation), "patients")
            queued(watched, second)
        first.result()
        if isinstance(second, ClientInterface):
            with pytest.raises(ReleaseBusy):
                later.result()
        else:
            later.result()
    expected = 0 if operation == "drop" and not isinstance(second, ClientInterface) else 2
    assert leftovers(watched) == expected


def test_calls_for_different_releases_run_side_by_side(watched: Watched, second: Interface) -> None:
    second.connection.execute("create table visits as select i % 3 as day from generate_series(1, 30) as i")
    with running(watched, "counting") as first:
        assert second.anonymize("visits", K).rows == 30
        assert not first.done()
    assert first.result().rows == 60


def test_two_releases_of_one_table_run_side_by_side(watched: Watched, second: Interface) -> None:
    with running(watched, "waiting for readers") as first:
        assert second.anonymize("patients", K, release="others").rows == 60
        assert not first.done()
    assert first.result().rows == 60


def test_readers_of_a_release_notice_no_republication(watched: Watched) -> None:
    """No error, no empty view, no class below k, whatever moment they read in."""
    finished = threading.Event()

    def read() -> int:
        reads = 0
        with psycopg.connect(watched.interface.dsn, autocommit=True) as connection:
            connection.prepare_threshold = 2
            while not finished.is_set() or not reads:
                rows = published(connection, "patients", ["age", "tag"], "id")
                assert len(rows) == 60
                assert min(people_by_class(rows).values()) >= K
                reads += 1
        return reads

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for number in range(12):
                watched.interface.anonymize("patients", K + number % 3, seed=number)
        finally:
            finished.set()
        assert min(reader.result() for reader in readers) > 1


def test_a_reader_that_stays_keeps_its_release_and_no_other_reader_waiting(watched: Watched) -> None:
    with psycopg.connect(watched.interface.dsn) as staying:
        before = staying.execute("select age, id from safe.patients order by id").fetchall()
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(watched.interface.anonymize, "patients", 20)
            watched.wait_for_phase("waiting for readers")
            for _ in range(5):
                assert watched.watcher.execute("select count(*) from safe.patients").fetchone() == (60,)
            assert staying.execute("select age, id from safe.patients order by id").fetchall() == before
            assert not call.done()
            staying.commit()
            assert call.result().k == 20
        assert staying.execute("select count(*) from safe.patients where age is not null").fetchone() == (0,)


def test_rows_that_come_after_counting_are_published_safely(watched: Watched) -> None:
    """The server's interface sees them and claims no bound; the client's transaction does not see them."""
    with running(watched, "writing") as call:
        watched.watcher.execute("insert into patients values (61, 99, 9), (62, 0, 0)")
        watched.watcher.execute("delete from patients where id < 3")
    report = call.result()
    rows = published(watched.watcher, "patients", ["age", "tag"], "id")
    assert min(people_by_class(rows).values()) >= K
    if isinstance(watched.interface, ClientInterface):
        assert sorted(row.carried for row in rows) == list(range(1, 61))
        assert report.lower_bound is not None
    else:
        # The new row type is alone in the suppressed class, which is withheld.
        assert sorted(row.carried for row in rows) == [*range(3, 61), 62]
        assert (report.rows, report.lower_bound, report.gap, report.optimal) == (59, None, None, False)
        assert report.bound_method == "none: the table changed during the call"
        assert any("The table changed during the call" in notice for notice in watched.interface.notices)


@pytest.mark.only_through("server")  # the client's transaction does not see it
def test_a_table_that_is_emptied_after_counting_is_not_published(watched: Watched) -> None:
    before = everything(watched.watcher)
    with running(watched, "writing") as call:
        watched.watcher.execute("delete from patients")
    with pytest.raises(VerificationFailed, match="The release is empty") as raised:
        call.result()
    assert raised.value.hint
    assert everything(watched.watcher) == before


def test_a_base_that_is_dropped_during_the_call_stays_until_its_end(watched: Watched) -> None:
    """The call holds a lock on it from the first look on."""
    with (
        running(watched, "counting") as call,
        psycopg.connect(watched.interface.dsn, autocommit=True) as connection,
        ThreadPoolExecutor(1) as pool,
    ):
        dropping = pool.submit(connection.execute, "drop view patients cascade")
        other = Watched(type(watched.interface)(watched.interface.dsn, connection), watched.watcher)  # type: ignore[call-arg]
        wait_until(other.waits_for_lock, "the drop to wait")
        watched.watcher.execute("select pg_cancel_backend(%s)", [other.pid])
        assert isinstance(dropping.exception(), psycopg.errors.QueryCanceled)
    assert call.result().rows == 60


def test_a_failed_call_lets_the_next_one_in_the_queue_go_on(watched: Watched, second: Interface) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(watched, "counting") as first:
            later = pool.submit(second.anonymize, "patients", K + 1)
            queued(watched, second)
            watched.watcher.execute("select pg_cancel_backend(%s)", [watched.pid])
            assert isinstance(first.exception(), psycopg.errors.QueryCanceled | KanonError)
        assert later.result().k == K + 1


@pytest.mark.only_through("server")
def test_declarations_of_one_schema_are_made_and_forgotten_side_by_side(interface: Interface) -> None:
    """As a tool does that builds models at once: each changes rights of the schema, and waits for others."""
    interface.connection.execute("create schema models")
    for number in range(6):
        interface.connection.execute(f"create table models.t{number} as select 1 as age".encode())

    def model(number: int) -> None:
        for call in ("declare('models.t{}', quasi_identifiers => '{{age}}')", "undeclare('models.t{}')"):
            with psycopg.connect(interface.dsn) as own:
                start.wait()
                own.execute(f"select kanon_{call.format(number)}, pg_sleep(0.1)".encode())

    start = threading.Barrier(6, timeout=30)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(model, range(6)))
    readers = (
        "select from pg_namespace, aclexplode(nspacl)"
        " where nspname = 'models' and grantee::regrole::text ~ 'base'"
    )
    assert not interface.connection.execute(readers).fetchall()
