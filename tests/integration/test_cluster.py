"""The life of a private server, on real servers."""

import os
import pwd
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from kanon_pg.admin.cluster import Cluster, State
from kanon_pg.errors import ClusterError

pytestmark = pytest.mark.slow

FAST = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "10"}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kanon clusters ") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def cluster(home: Path) -> Iterator[Cluster]:
    cluster = Cluster("one", home=home, settings=FAST)
    yield cluster
    cluster.down(delete=True)


@pytest.fixture
def running(cluster: Cluster) -> Cluster:
    cluster.up()
    return cluster


def ask(dsn: str, query: str) -> str:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return str(row[0])


def has_ended(pid: int) -> bool:
    """Whether a process is gone or only waits for its parent to take notice."""
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_absent_server_is_described_without_making_anything(home: Path) -> None:
    status = Cluster("nowhere", home=home).status()
    assert status.state is State.ABSENT
    assert status.dsn is None
    assert not (home / "nowhere").exists()


def test_up_gives_a_server_of_an_unprivileged_account(running: Cluster) -> None:
    status = running.status()
    assert status.state is State.RUNNING
    assert status.pid is not None
    assert status.dsn is not None
    owner = Path(f"/proc/{status.pid}").stat().st_uid
    assert owner != 0
    assert owner == pwd.getpwnam(status.server_user).pw_uid
    assert ask(status.dsn, "select current_user") == "postgres"


def test_superuser_may_act_for_any_role(running: Cluster) -> None:
    running.instance.run_sql("create role visitor login")
    assert ask(running.dsn() + "&user=visitor", "select current_user") == "visitor"
    running.instance.run_sql("drop role visitor")


def test_encoding_and_locale_do_not_depend_on_the_machine(running: Cluster) -> None:
    assert ask(running.dsn(), "show server_encoding") == "UTF8"
    query = "select datcollate from pg_database where datname = current_database()"
    assert ask(running.dsn(), query) == "C.UTF-8"


def test_nothing_listens_on_tcp_unless_asked(running: Cluster) -> None:
    assert running.status().tcp_port is None
    assert ask(running.dsn(), "show listen_addresses") == ""
    with pytest.raises(ClusterError, match="does not listen on TCP"):
        running.tcp_dsn()


def test_only_the_account_of_the_server_can_reach_data_and_socket(running: Cluster) -> None:
    uid = running.instance.account.uid
    for path in (running.instance.folder, running.instance.data, running.instance.sockets):
        found = path.stat()
        assert found.st_uid == uid
        assert stat.S_IMODE(found.st_mode) & 0o077 == 0


def test_up_again_leaves_the_running_server_alone(running: Cluster) -> None:
    before = running.status()
    assert running.up() == before


def test_down_can_be_repeated_and_data_survive(running: Cluster) -> None:
    running.instance.run_sql("create table kept as select 7 as number")
    assert running.down().state is State.STOPPED
    assert running.down().state is State.STOPPED
    with pytest.raises(ClusterError, match="is not running") as raised:
        running.dsn()
    assert raised.value.hint == "Start it with 'kanon up --name one'."
    running.up()
    assert ask(running.dsn("postgres"), "select number from kept") == "7"
    running.instance.run_sql("drop table kept")


def test_tcp_needs_the_password_and_lasts_until_down(running: Cluster) -> None:
    port = free_port()
    assert running.up(tcp_port=port).tcp_port == port
    assert ask(running.tcp_dsn(), "select current_user") == "postgres"
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/kanon")
    assert ask(running.dsn(), "show listen_addresses") == "127.0.0.1"
    assert running.up().tcp_port == port
    running.down()
    assert running.up().tcp_port is None


def test_recovers_when_the_server_was_killed_under_a_session(running: Cluster) -> None:
    status = running.status()
    assert status.pid is not None
    assert status.dsn is not None
    with psycopg.connect(status.dsn, autocommit=True) as session:
        session.execute("create table survivor as select 1 as number")
        backend = session.info.backend_pid
        # a stopped backend cannot notice that its server died, and keeps the shared memory in use
        os.kill(backend, signal.SIGSTOP)
        os.kill(status.pid, signal.SIGKILL)
        again = running.up()
        assert again.pid != status.pid
        assert ask(running.dsn(), "select number from survivor") == "1"
    assert has_ended(backend)


def test_a_lock_file_of_before_a_reboot_is_not_believed(running: Cluster) -> None:
    lock_file = running.instance.data / "postmaster.pid"
    lines = lock_file.read_text().splitlines()
    running.down()
    # as after a reboot: the process id now belongs to something else of the same account
    account = running.instance.account
    other = subprocess.Popen(["/bin/sleep", "600"], user=account.uid) if os.geteuid() == 0 else None
    pid = other.pid if other else os.getppid()
    account.write(lock_file, "\n".join([str(pid), *lines[1:]]) + "\n")
    try:
        assert running.status().state is State.STOPPED
        assert running.up().state is State.RUNNING
        assert running.status().pid != pid
        assert other is None or other.poll() is None
    finally:
        if other:
            other.kill()
            other.wait()


def test_a_server_without_its_socket_is_started_anew(running: Cluster) -> None:
    before = running.status().pid
    for path in running.instance.sockets.iterdir():
        path.unlink()
    assert running.up().pid != before
    assert ask(running.dsn(), "select 1") == "1"


def test_concurrent_calls_start_one_server(home: Path) -> None:
    def start(_: int) -> int | None:
        return Cluster("crowd", home=home, settings=FAST).up().pid

    try:
        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(start, range(4)))) == 1
    finally:
        Cluster("crowd", home=home).down(delete=True)


def test_two_servers_side_by_side(running: Cluster, home: Path) -> None:
    second = Cluster("two", home=home, settings=FAST)
    try:
        second.up()
        assert second.status().pid != running.status().pid
        assert ask(second.dsn(), "show data_directory") == str(second.instance.data)
        assert ask(running.dsn(), "show data_directory") == str(running.instance.data)
    finally:
        second.down(delete=True)
    assert running.status().state is State.RUNNING


def test_long_path_gets_a_short_private_socket_folder(home: Path) -> None:
    deep = home / ("long" * 20) / ("path" * 10)
    cluster = Cluster("deep", home=deep, settings=FAST)
    try:
        status = cluster.up()
        sockets = cluster.instance.sockets
        assert not sockets.is_relative_to(deep)
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert status.dsn is not None
        assert ask(status.dsn, "select 1") == "1"
    finally:
        cluster.down(delete=True)
    assert not sockets.exists()


def test_delete_leaves_nothing(home: Path) -> None:
    cluster = Cluster("gone", home=home, settings=FAST)
    cluster.up()
    assert cluster.down(delete=True).state is State.ABSENT
    assert not cluster.instance.folder.exists()


def test_prepare_gets_the_dsn_before_others_get_the_server(home: Path) -> None:
    cluster = Cluster("ready", home=home, settings=FAST)
    asked: list[str] = []
    try:
        cluster.up(prepare=lambda dsn: asked.append(ask(dsn, "select current_database()")))
    finally:
        cluster.down(delete=True)
    assert asked == ["kanon"]


def test_wrong_setting_is_reported_with_what_the_server_said(home: Path) -> None:
    cluster = Cluster("wrong", home=home, settings={**FAST, "work_mem": "lots"})
    try:
        with pytest.raises(ClusterError, match="did not start") as raised:
            cluster.up()
        assert raised.value.detail is not None
        assert "work_mem" in raised.value.detail
        assert str(cluster.instance.log) in (raised.value.hint or "")
    finally:
        cluster.down(delete=True)


def test_values_of_the_data_stay_out_of_the_log(running: Cluster) -> None:
    with psycopg.connect(running.dsn(), autocommit=True) as session:
        session.execute("create table secret (ssn text primary key)")
        session.execute("insert into secret values ('123-45-6789')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            session.execute("insert into secret values ('123-45-6789')")
        session.execute("drop table secret")
    log = running.instance.log.read_text()
    assert "duplicate key" in log
    assert "123-45-6789" not in log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another account")
def test_closed_home_is_refused_with_a_hint(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ClusterError, match="cannot reach") as raised:
        Cluster("inside", home=closed).up()
    assert "KANON_CLUSTER_HOME" in (raised.value.hint or "")


def test_home_that_is_a_file_is_refused(home: Path) -> None:
    file = home / "file"
    file.write_text("")
    with pytest.raises(ClusterError, match="cannot be used"):
        Cluster("inside", home=file / "below").up()
