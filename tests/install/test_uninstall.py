import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.admin.install.facts import ROLES
from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.errors import InstallError
from tests.fixtures.databases import Server, role
from tests.install.catalog import picture
from tests.install.conftest import as_role, create_patients

pytestmark = pytest.mark.usefixtures("probed_once")


@pytest.fixture
def dsn(lonely_server: Server) -> Iterator[str]:
    with lonely_server.database("uninstall") as name:
        yield lonely_server.dsn(name)


@pytest.fixture
def connection(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("plpython", [True, False])
@pytest.mark.parametrize("open_public", [True, False])
@pytest.mark.parametrize("api_schema", ["public", "Own Schema"])
def test_nothing_stays_but_the_users_own_tables(
    dsn: str, connection: psycopg.Connection, plpython: bool, open_public: bool, api_schema: str
) -> None:
    connection.execute("CREATE SCHEMA clinic")
    create_patients(connection)
    connection.execute("ALTER TABLE public.patients SET SCHEMA clinic")
    if open_public:
        connection.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO PUBLIC")
    before = picture(connection)
    rows = connection.execute("SELECT * FROM clinic.patients ORDER BY id").fetchall()
    install(dsn, plpython=plpython, api_schema=api_schema)
    client.declare(dsn, "clinic.patients", identifiers=["id"], quasi_identifiers=["age"], sensitive=["sex"])
    client.anonymize(dsn, "clinic.patients", 3)
    client.anonymize(dsn, "clinic.patients", 4, release="another")
    assert picture(connection) != before
    report = uninstall(dsn)
    assert (report.was_installed, report.releases, report.notes) == (True, ("another", "patients"), ())
    assert picture(connection) == before
    assert connection.execute("SELECT * FROM clinic.patients ORDER BY id").fetchall() == rows


def test_an_extension_and_its_functions_that_were_there_before_stay(
    dsn: str, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE EXTENSION plpython3u")
    connection.execute("CREATE FUNCTION public.mine() RETURNS integer LANGUAGE plpython3u AS 'return 1'")
    before = picture(connection)
    install(dsn)
    uninstall(dsn)
    assert picture(connection) == before


def test_an_extension_that_is_in_use_meanwhile_stays_and_is_mentioned(
    dsn: str, connection: psycopg.Connection
) -> None:
    install(dsn)
    connection.execute("CREATE FUNCTION public.mine() RETURNS integer LANGUAGE plpython3u AS 'return 1'")
    assert any("plpython3u stays" in note for note in uninstall(dsn).notes)
    assert connection.execute("SELECT public.mine()").fetchone() == (1,)


def test_uninstalling_nothing_says_so(dsn: str) -> None:
    assert not uninstall(dsn).was_installed


def test_views_and_functions_of_users_are_listed_and_kept_unless_cascade(
    dsn: str, connection: psycopg.Connection
) -> None:
    create_patients(connection)
    install(dsn)
    connection.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}')")
    connection.execute("CREATE VIEW public.on_release AS SELECT age FROM safe.patients")
    connection.execute("CREATE VIEW public.on_function AS SELECT k FROM public.kanon_measure('patients')")
    connection.execute("CREATE VIEW safe.guest AS SELECT 1 AS one")
    connection.execute(
        "CREATE FUNCTION public.reader() RETURNS bigint LANGUAGE sql BEGIN ATOMIC "
        "SELECT count(*) FROM safe.patients; END"
    )
    before = picture(connection)
    with pytest.raises(InstallError) as caught:
        uninstall(dsn)
    for name in (
        "view public.on_release",
        "view public.on_function",
        "view safe.guest",
        "function public.reader()",
    ):
        assert name in (caught.value.detail or "")
    assert picture(connection) == before
    uninstall(dsn, cascade=True)
    left = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')"
    )
    assert connection.execute(left).fetchall() == [("patients",)]


def test_roles_stay_while_another_database_uses_them(lonely_server: Server, dsn: str) -> None:
    with lonely_server.database("other") as name:
        other = lonely_server.dsn(name)
        install(dsn)
        install(other)
        notes = uninstall(dsn).notes
        assert len(notes) == len(ROLES) + 1  # and the readers
        assert all("another database uses it" in note for note in notes)
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT bool_and(ok) FROM kanon_install_check()").fetchone() == (True,)
            # a right on the whole server, which DROP OWNED takes in whichever database it runs
            hides = "SELECT has_parameter_privilege('kanon_reader', 'track_counts', 'SET')"
            if connection.info.server_version >= 150000:
                assert connection.execute(hides).fetchone() == (True,)
        assert uninstall(other).notes == ()


def test_tables_that_users_gave_to_the_roles_survive(dsn: str, connection: psycopg.Connection) -> None:
    install(dsn)
    connection.execute("CREATE TABLE public.mine AS SELECT 1 AS one")
    connection.execute("ALTER TABLE public.mine OWNER TO kanon_curator")
    connection.execute("CREATE TABLE public.lent AS SELECT 1 AS one")
    connection.execute("GRANT SELECT ON public.lent TO kanon_analyst")
    assert uninstall(dsn).notes == ()
    assert connection.execute("TABLE public.mine").fetchone() == (1,)
    assert connection.execute("TABLE public.lent").fetchone() == (1,)


def test_a_stranger_cannot_uninstall(dsn: str, connection: psycopg.Connection) -> None:
    install(dsn)
    before = picture(connection)
    with role(dsn, "stranger") as stranger, pytest.raises(InstallError, match="may not uninstall"):
        uninstall(as_role(dsn, stranger))
    assert picture(connection) == before
    uninstall(dsn)


def test_the_role_with_createrole_that_installed_can_uninstall(
    dsn: str, connection: psycopg.Connection
) -> None:
    with role(dsn, "builder", "CREATEROLE") as builder:
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {builder}")
        before = picture(connection)
        install(as_role(dsn, builder))
        assert uninstall(as_role(dsn, builder)).notes == ()
        assert picture(connection) == before


def _records(connection: psycopg.Connection) -> tuple[Path, str]:
    """Return the folder of all records of the server, and the name of that of this database in it."""
    (data, number) = connection.execute(
        "SELECT current_setting('data_directory'), oid::text FROM pg_database"
        " WHERE datname = current_database()"
    ).fetchone()
    return Path(data) / "kanon_ledger", number


def _protect(connection: psycopg.Connection) -> None:
    create_patients(connection)
    connection.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    connection.execute("SELECT kanon_protect('patients', 5)")
    connection.execute("SELECT kanon_query('SELECT count(*) FROM patients')")


def test_the_record_of_answers_leaves_the_servers_disk_with_the_last_database(
    lonely_server: Server, dsn: str, connection: psycopg.Connection
) -> None:
    with (
        lonely_server.database("other") as name,
        psycopg.connect(lonely_server.dsn(name), autocommit=True) as other,
    ):
        for one, where in ((connection, dsn), (other, lonely_server.dsn(name))):
            install(where)
            _protect(one)
        folder, own = _records(connection)
        _, others = _records(other)
        assert {path.name for path in folder.iterdir()} == {own, others}
        uninstall(dsn)
        assert {path.name for path in folder.iterdir()} == {others}
        assert uninstall(lonely_server.dsn(name)).notes == ()
        assert not folder.exists()


def test_who_cannot_have_the_record_of_answers_removed_is_told_where_it_stays(
    dsn: str, connection: psycopg.Connection
) -> None:
    install(dsn)
    _protect(connection)
    folder, own = _records(connection)
    # what is no folder cannot be removed as one
    (folder / own).rename(folder / "aside")
    (folder / own).write_text("")
    (note,) = uninstall(dsn).notes
    assert f"kanon_ledger/{own}" in note
    assert "Remove it there." in note
    shutil.rmtree(folder)
