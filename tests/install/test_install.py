import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import kanon_pg
from kanon_pg import client
from kanon_pg.admin.install import installer, python_path
from kanon_pg.admin.install.installer import install, release_numbers
from kanon_pg.db.statements import sql_root, statement
from kanon_pg.errors import InstallError, VersionMismatch
from tests.docs.references import FUNCTIONS
from tests.fixtures.databases import Server, role
from tests.install.catalog import picture
from tests.install.conftest import as_role, create_patients, private_server


def test_installing_again_changes_nothing_and_keeps_declarations_and_releases(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    db.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    db.execute("SELECT kanon_anonymize('patients', 5)")
    kept = [
        "TABLE kanon.declarations",
        "SELECT release, storage, published_at FROM kanon.releases",
        "SELECT * FROM safe.patients ORDER BY 1, 2, 3",
    ]
    before = picture(db), [db.execute(query).fetchall() for query in kept]
    report = install(installed_dsn)
    assert report.previous_version == kanon_pg.__version__
    assert (picture(db), [db.execute(query).fetchall() for query in kept]) == before


def test_a_living_series_goes_on_after_installing_again(installed_dsn: str, db: psycopg.Connection) -> None:
    db.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', options => '{\"over_time\": {}}')")
    db.execute("DELETE FROM patients WHERE id = (SELECT min(id) FROM patients)")
    install(installed_dsn)
    assert db.execute("SELECT count(*) FROM safe.patients").fetchone() == (60,)
    db.execute("SELECT kanon_refresh('patients')")
    version = "SELECT version, rows, retained_rows FROM kanon.releases"
    assert db.execute(version).fetchone() == (2, 60, 1)


def test_a_session_that_was_open_during_an_install_goes_on(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    call = "SELECT release, rows, smallest_class >= 5 FROM kanon_anonymize('patients', 5, '{age,sex}')"
    published = "SELECT published_at FROM kanon.releases"
    before = db.execute(call).fetchall(), db.execute(published).fetchall()
    install(installed_dsn)
    assert db.execute(call).fetchall() == before[0] == [('"safe"."patients"', 60, True)]
    assert db.execute(published).fetchall() != before[1], "it was published anew"


def test_a_function_that_a_view_of_a_user_needs_survives(installed_dsn: str, db: psycopg.Connection) -> None:
    db.execute("CREATE VIEW public.mine AS SELECT m.k FROM public.kanon_measure('public.patients') AS m")
    install(installed_dsn)
    assert db.execute("SELECT k FROM public.mine").fetchone() == (5,)


def test_functions_of_an_earlier_version_with_another_signature_go(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    db.execute("CREATE FUNCTION public.kanon_drop(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    db.execute(
        r"COMMENT ON FUNCTION public.kanon_drop(integer) IS E'Drop it.\nExample: SELECT kanon_drop(1)'"
    )
    db.execute("CREATE FUNCTION public.kanon_mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    install(installed_dsn)
    assert db.execute("SELECT to_regprocedure('public.kanon_drop(integer)')").fetchone() == (None,)
    assert db.execute("SELECT to_regprocedure('public.kanon_mine()')::text").fetchone() == ("kanon_mine()",)


def test_an_overload_of_a_user_stays_and_is_in_nobodys_way(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    db.execute("CREATE FUNCTION public.kanon_drop(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    install(installed_dsn)
    owners = "SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE proname = 'kanon_drop' ORDER BY 1"
    assert [owner for (owner,) in db.execute(owners)] == ["postgres", "postgres"]
    assert db.execute("SELECT kanon_drop(7)").fetchone() == (1,)


_EARLIER_ANONYMIZE = """
    DROP FUNCTION public.kanon_anonymize;
    DROP FUNCTION kanon.anonymize;
    CREATE FUNCTION kanon.anonymize(relation regclass, k integer) RETURNS kanon.release_report
        LANGUAGE plpython3u AS 'return None';
    CREATE FUNCTION public.kanon_anonymize(relation regclass, k integer) RETURNS kanon.release_report
        LANGUAGE sql BEGIN ATOMIC SELECT * FROM kanon.anonymize(relation, k); END;
    ALTER FUNCTION kanon.anonymize(regclass, integer) OWNER TO kanon_owner;
    COMMENT ON FUNCTION public.kanon_anonymize IS E'\nExample: SELECT kanon_anonymize(''a'', 5)';
"""
"""The functions as a version with fewer arguments had them."""


def test_a_call_means_the_new_function_after_an_upgrade(installed_dsn: str, db: psycopg.Connection) -> None:
    db.execute(_EARLIER_ANONYMIZE)
    install(installed_dsn)
    count = "SELECT count(*) FROM pg_proc WHERE proname IN ('anonymize', 'kanon_anonymize')"
    assert db.execute(count).fetchone() == (2,)
    assert db.execute("SELECT (kanon_anonymize('patients', 5)).smallest_class >= 5").fetchone() == (True,)


def test_objects_that_use_an_earlier_signature_are_named_and_nothing_changes(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    db.execute(_EARLIER_ANONYMIZE)
    db.execute("CREATE VIEW public.mine AS SELECT a.k FROM kanon_anonymize('public.patients', 5) AS a")
    before = picture(db)
    with pytest.raises(InstallError, match="whose arguments have changed") as caught:
        install(installed_dsn)
    assert caught.value.detail == "They are: view public.mine."
    assert "Drop these objects" in (caught.value.hint or "")
    assert picture(db) == before


def test_functions_that_come_and_go_with_plpython_are_known(db: psycopg.Connection) -> None:
    """A signature that changes is one that `CREATE OR REPLACE` refuses, unless the function was dropped."""
    known = [function for function, *_ in db.execute(statement("own_functions").text.encode())]
    names = {name.rpartition(".")[2].partition("(")[0] for name in known}
    created = "".join(path.read_text("utf-8") for path in (sql_root() / "functions/plpython").glob("*.sql"))
    assert set(re.findall(r"^CREATE OR REPLACE FUNCTION kanon\.(\w+)\(", created, re.MULTILINE)) <= names


def test_a_later_version_is_not_overwritten(installed_dsn: str, db: psycopg.Connection) -> None:
    db.execute("UPDATE kanon.version SET version = '999.0'")
    with pytest.raises(VersionMismatch, match=r"999\.0"):
        install(installed_dsn)


def test_an_earlier_version_is_brought_up_to_date(installed_dsn: str, db: psycopg.Connection) -> None:
    db.execute("UPDATE kanon.version SET version = '0.0.1'")
    assert install(installed_dsn).previous_version == "0.0.1"
    assert db.execute("SELECT sql_version FROM kanon_version()").fetchone() == (kanon_pg.__version__,)


@pytest.mark.parametrize(("older", "newer"), [("0.9", "0.10"), ("1", "1.0.1"), ("0.1.0", "0.2.0.dev1")])
def test_versions_compare_as_numbers(older: str, newer: str) -> None:
    assert release_numbers(older) < release_numbers(newer)


@pytest.mark.parametrize("name", ['My "API"', "größe", "select", "x" * 63])
def test_functions_work_from_a_schema_of_any_name(
    empty_dsn: str, empty_connection: psycopg.Connection, name: str
) -> None:
    report = install(empty_dsn, api_schema=name)
    assert report.api_schema == name
    create_patients(empty_connection)
    api = sql.Identifier(name)
    call = sql.SQL("SELECT smallest_class FROM {}.kanon_anonymize('patients', 5, '{{age,sex}}')")
    (smallest,) = empty_connection.execute(call.format(api)).fetchone()
    assert smallest >= 5
    (functions,) = empty_connection.execute(
        sql.SQL("SELECT count(*) FROM {}.kanon_help()").format(api)
    ).fetchone()
    assert functions == len(FUNCTIONS)
    assert install(empty_dsn).api_schema == name, "a repeated install stays where it was"


def test_functions_move_to_another_schema(installed_dsn: str, db: psycopg.Connection) -> None:
    install(installed_dsn, api_schema="anonymity")
    query = (
        "SELECT DISTINCT pronamespace::regnamespace::text FROM pg_proc WHERE starts_with(proname, 'kanon_')"
    )
    assert db.execute(query).fetchall() == [("anonymity",)]


def test_without_plpython_the_client_can_do_everything(
    empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    report = install(empty_dsn, plpython=False)
    assert not report.plpython
    create_patients(empty_connection)
    client.declare(empty_dsn, "patients", identifiers=["id"], quasi_identifiers=["age", "sex"])
    assert client.anonymize(empty_dsn, "patients", 5).smallest_class >= 5
    languages = "SELECT count(*) FROM pg_extension WHERE extname = 'plpython3u'"
    assert empty_connection.execute(languages).fetchone() == (0,)
    own = "SELECT count(*) FROM pg_proc WHERE starts_with(proname, 'kanon_')"
    assert empty_connection.execute(own).fetchone() == (0,)


def test_the_client_part_can_be_completed_and_reduced_again(
    empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    install(empty_dsn, plpython=False)
    assert install(empty_dsn).plpython
    assert empty_connection.execute("SELECT count(*) FROM kanon_help()").fetchone() == (len(FUNCTIONS),)
    reduced = install(empty_dsn, plpython=False)
    assert not reduced.plpython
    assert "taken out of the server" in reduced.notes[0]
    left = (
        "SELECT count(*) FROM pg_proc JOIN pg_language AS l ON l.oid = prolang WHERE lanname = 'plpython3u'"
    )
    assert empty_connection.execute(f"{left} AND proname NOT LIKE 'plpython3%'").fetchone() == (0,)


def test_a_role_with_createrole_installs_for_the_client(
    lonely_server: Server,
) -> None:
    with lonely_server.database("createrole") as name:
        dsn = lonely_server.dsn(name)
        with psycopg.connect(dsn, autocommit=True) as superuser:
            superuser.execute("CREATE ROLE builder LOGIN CREATEROLE")
            superuser.execute(f"GRANT CREATE ON DATABASE {name} TO builder")
            superuser.execute("CREATE SCHEMA work AUTHORIZATION builder")
        mine = as_role(dsn, "builder")
        report = install(mine)
        assert not report.plpython
        assert [problem.what for problem in report.missing if "superuser" in problem.what]
        assert any(note.startswith("PUBLIC keeps TEMPORARY") for note in report.notes)
        with psycopg.connect(mine, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE work.people AS SELECT i % 3 AS a, i % 5 AS b FROM generate_series(1, 90) AS i"
            )
        assert client.anonymize(mine, "work.people", 5).smallest_class >= 5
        assert install(mine).previous_version == kanon_pg.__version__


def test_a_weaker_role_cannot_remove_functions_by_installing_again(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    with role(installed_dsn, "weak", "IN ROLE kanon_owner") as weak:
        before = picture(db)
        with pytest.raises(InstallError) as caught:
            install(as_role(installed_dsn, weak))
        assert "no superuser" in (caught.value.detail or "")
        assert "--client" not in (caught.value.hint or "")  # which would remove them
        assert picture(db) == before


def test_everything_missing_is_said_at_once_and_nothing_changes(lonely_server: Server) -> None:
    with lonely_server.database("rights") as name:
        dsn = lonely_server.dsn(name)
        with psycopg.connect(dsn, autocommit=True) as superuser, role(dsn, "nobody") as nobody:
            before = picture(superuser)
            with pytest.raises(InstallError) as caught:
                install(as_role(dsn, nobody), plpython=True)
            text = str(caught.value)
            assert f'GRANT CREATE ON DATABASE "{name}"' in text
            assert "CREATEROLE" in text or "GRANT kanon_owner" in text
            assert "only superusers create functions in plpython3u" in text
            assert picture(superuser) == before


def test_two_databases_of_a_server_without_the_roles_can_be_installed_into_at_once() -> None:
    with private_server("at-once") as server, server.database("one") as one, server.database("two") as two:
        with ThreadPoolExecutor(2) as pool:
            reports = list(pool.map(install, [server.dsn(one), server.dsn(two)]))
        assert [report.database for report in reports] == [one, two]
        for name in (one, two):
            with psycopg.connect(server.dsn(name)) as connection:
                assert connection.execute("SELECT count(*) FROM kanon_help()").fetchone() == (len(FUNCTIONS),)


@pytest.mark.parametrize("schema", ["kanon", "safe", "kanon_bases", "kanon_shown"])
def test_a_schema_of_somebody_else_is_not_taken_over(
    empty_dsn: str, empty_connection: psycopg.Connection, schema: str
) -> None:
    empty_connection.execute(f"CREATE SCHEMA {schema}".encode())
    with pytest.raises(InstallError) as caught:
        install(empty_dsn)
    assert f"Schema {schema} exists already" in (caught.value.detail or "")


def test_code_that_others_added_to_tables_is_not_run_by_installing_again(
    empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    """Earlier versions let members of kanon_owner add it; whoever writes there runs it."""
    install(empty_dsn)
    run = empty_connection.execute
    run("CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''it ran''; END'")
    run("CREATE TRIGGER planted BEFORE INSERT ON kanon.version FOR EACH ROW EXECUTE FUNCTION fires()")
    with pytest.raises(InstallError) as caught:
        install(empty_dsn)
    assert "trigger planted on table kanon.version, which is not kanon's" in (caught.value.detail or "")
    run("DROP TRIGGER planted ON kanon.version")
    run("CREATE TRIGGER planted BEFORE INSERT ON kanon.request FOR EACH ROW EXECUTE FUNCTION fires()")
    run("ALTER TABLE kanon.request OWNER TO kanon_owner")
    with pytest.raises(InstallError):
        install(empty_dsn)
    run("DROP TRIGGER planted ON kanon.request")
    install(empty_dsn)


@pytest.mark.parametrize("attribute", ["SUPERUSER", "LOGIN", "CREATEROLE"])
def test_an_owner_role_with_too_many_rights_is_refused(lonely_server: Server, attribute: str) -> None:
    with (
        lonely_server.database("unsafe") as name,
        psycopg.connect(lonely_server.dsn(name), autocommit=True) as superuser,
    ):
        exists = superuser.execute("SELECT FROM pg_roles WHERE rolname = 'kanon_owner'").fetchall()
        superuser.execute(f"{'ALTER' if exists else 'CREATE'} ROLE kanon_owner {attribute}")
        try:
            with pytest.raises(InstallError) as caught:
                install(lonely_server.dsn(name))
            assert "Role kanon_owner exists" in (caught.value.detail or "")
        finally:
            superuser.execute(f"ALTER ROLE kanon_owner NO{attribute}")


def test_a_package_the_server_lacks_is_named_and_nothing_changes(
    empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    before = picture(empty_connection)
    only_kanon = str(Path(kanon_pg.__file__).resolve().parents[1])
    with pytest.raises(InstallError) as caught:
        install(empty_dsn, python_path=[only_kanon])
    for module in python_path.SERVER_MODULES:
        assert f"cannot import {module}" in (caught.value.detail or "")
    assert "cannot import kanon_pg" not in (caught.value.detail or "")
    assert picture(empty_connection) == before


def test_a_folder_the_server_cannot_enter_is_named(empty_dsn: str) -> None:
    with pytest.raises(InstallError) as caught:
        install(empty_dsn, python_path=["/nonexistent/kanon"])
    assert "/nonexistent is missing or closed" in (caught.value.detail or "")


def test_a_folder_that_everybody_can_write_to_is_refused(empty_dsn: str, tmp_path_factory: object) -> None:
    with pytest.raises(InstallError) as caught:
        install(empty_dsn, python_path=[*python_path.own_folders(), "/tmp"])
    assert "Everybody can write to /tmp" in (caught.value.detail or "")


def test_the_package_is_copied_where_the_server_can_read_it(
    empty_dsn: str, empty_connection: psycopg.Connection, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # stands for a checkout below a home that is closed to the server's account
    monkeypatch.setattr(python_path, "own_folders", lambda: ["/nonexistent/closed-home"])
    runtime = Path(server.host).parent / "runtime" if Path(server.host).is_dir() else None
    assert runtime is not None
    report = install(empty_dsn, runtime_folder=runtime)
    (folder,) = report.python_path
    assert Path(folder).parent == runtime
    assert any(folder in note for note in report.notes)
    create_patients(empty_connection)
    # The backend and its worker both run from the copy; solvers would be compiled there first.
    query = "SELECT min(size) >= 5 FROM kanon_groups('patients', 'age', 5)"
    assert empty_connection.execute(query).fetchone() == (True,)


def test_no_session_can_change_the_python_path(db: psycopg.Connection) -> None:
    db.execute("""SET kanon.python_path = '["/tmp/evil"]'""")
    db.execute("SELECT kanon_version()")
    db.execute("CREATE TABLE public.path (folder text)")
    db.execute(
        "DO $$import sys\nfor folder in sys.path: plpy.execute(plpy.prepare("
        "'insert into public.path values ($1)', ['text']), [folder])$$ LANGUAGE plpython3u"
    )
    folders = {folder for (folder,) in db.execute("TABLE public.path")}
    assert python_path.own_folders()[0] in folders
    assert "/tmp/evil" not in folders


def test_another_version_of_the_package_is_refused_by_every_function(
    installed_dsn: str, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer.kanon_pg, "__version__", "0.2.1")
    # the server's Python has the version of the checkout
    with pytest.raises(InstallError, match="something is missing") as caught:
        install(installed_dsn)
    assert "would use kanon_pg" in (caught.value.detail or "")
    db.execute("ALTER FUNCTION kanon.boot() SET kanon.version = '0.2.1'")
    for call in ("kanon_version()", "kanon_measure('patients')", "kanon_anonymize('patients', 5)"):
        with pytest.raises(psycopg.Error) as refused:
            db.execute(f"SELECT {call}")
        assert refused.value.sqlstate == "KA501"
