"""A living 0.1.0 becomes this version, by `kanon install` and by the extension; everything in it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

import kanon_pg
from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.admin.install.extension import write_extension
from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.errors import InstallError
from tests.fixtures.databases import role
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.extension_servers import ExtensionServer, extension_server
from tests.fixtures.generalizing_solver import generalizing
from tests.install.catalog import picture
from tests.install.conftest import as_role
from tests.install.upgrade.living_again import bring_to_life, install_earlier

EARLIER = "0.1.0"
LATEST_OF_EARLIER = 15
"""PostgreSQL 16 and newer refuse the functions of the earlier version."""


@pytest.fixture(scope="module")
def own_server() -> Iterator[ExtensionServer]:
    if newest_with_python().major > LATEST_OF_EARLIER:
        pytest.skip(f"{EARLIER} can be installed up to PostgreSQL {LATEST_OF_EARLIER}")
    with extension_server("upgrades") as started:
        write_extension(started.folders)
        yield started


def _by_install(dsn: str, db: psycopg.Connection) -> None:
    report = install(dsn)
    assert report.previous_version == EARLIER
    assert not [note for note in report.notes if "missing" in note or "dropped" in note]


def _by_extension(dsn: str, db: psycopg.Connection) -> None:
    db.execute("CREATE EXTENSION kanon_pg VERSION 'unpackaged' CASCADE")
    db.execute("ALTER EXTENSION kanon_pg UPDATE")


_WAYS = {"kanon install": _by_install, "extension": _by_extension}


@pytest.fixture(params=_WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[str, psycopg.Connection], None]:
    return _WAYS[request.param]


@pytest.fixture
def living(own_server: ExtensionServer) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection to a living database of the earlier version."""
    with (
        own_server.server.database("living") as name,
        psycopg.connect(own_server.server.dsn(name), autocommit=True) as db,
    ):
        bring_to_life(own_server.server, db, EARLIER)
        yield db


def _dsn(own_server: ExtensionServer, db: psycopg.Connection) -> str:
    return own_server.server.dsn(db.info.dbname)


def test_everything_in_a_living_database_goes_on(
    own_server: ExtensionServer, living: psycopg.Connection, way: Callable[[str, psycopg.Connection], None]
) -> None:
    dsn = _dsn(own_server, living)
    published = {
        name: living.execute(f"SELECT * FROM {name}").fetchall()
        for name in ("safe.patients", 'safe."Visits, 2"', "safe.diverse", "safe.ranged")
    }
    way(dsn, living)
    for name, rows in published.items():
        assert living.execute(f"SELECT * FROM {name}").fetchall() == rows, name
    assert living.execute("SELECT sql_version FROM kanon_version()").fetchone() == (kanon_pg.__version__,)
    _is_protected_anew(dsn, living)
    _releases_go_on(living)
    assert (
        living.execute(
            "SELECT item, detail FROM kanon_install_check() WHERE NOT ok AND item <> 'trial release'"
            " AND item <> 'solver process'"
        ).fetchall()
        == []
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELECT question FROM kanon.query_log", "whose column question is called query now"),
        ("SELECT question FROM kanon.query_log()", "whose column question is called query now"),
        ("SELECT line FROM kanon.ask('SELECT 1')", "kanon.ask, which is gone"),
        (
            "SELECT statement FROM kanon.record_query('SELECT 1', '{public}')",
            "kanon.record_query, which is gone",
        ),
    ],
)
def test_views_over_what_has_another_name_have_to_be_dropped_first(
    query: str,
    sentence: str,
    own_server: ExtensionServer,
    living: psycopg.Connection,
    way: Callable[[str, psycopg.Connection], None],
) -> None:
    living.execute(f"CREATE VIEW public.mine AS {query}".encode())
    with pytest.raises((InstallError, psycopg.Error), match=sentence):
        way(_dsn(own_server, living), living)
    assert living.execute("SELECT count(*) FROM kanon.version WHERE version = %s", [EARLIER]).fetchone() == (
        1,
    )


def test_a_view_over_storage_runs_no_code_when_it_is_read_anew(
    own_server: ExtensionServer, living: psycopg.Connection, way: Callable[[str, psycopg.Connection], None]
) -> None:
    """The constant in its text becomes a value where the text is read, and its type may check it."""
    run = living.execute
    (storage,) = run("SELECT storage::text FROM kanon.release WHERE name = 'patients'").fetchone() or ("",)
    spy = "CREATE OR REPLACE FUNCTION spy(i integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN {} END'"
    run(spy.format("RETURN true;").encode())
    run("CREATE DOMAIN small AS integer CHECK (spy(value)); CREATE TYPE pair AS (x small, y integer)")
    run(f"CREATE VIEW public.mine AS SELECT '(1,2)'::pair AS p, age FROM {storage}".encode())
    run(spy.format("RAISE ''it ran'';").encode())
    with pytest.raises((InstallError, psycopg.Error), match=r"View public\.mine reads what is stored"):
        way(_dsn(own_server, living), living)


def _is_protected_anew(dsn: str, living: psycopg.Connection) -> None:
    """Rules and records of before mean nothing any more: nothing is answered until a table is protected."""
    for gone in ("protection", "record", "query_log", "record_states"):
        assert living.execute(f"SELECT count(*) FROM kanon.{gone}").fetchone() == (0,), gone
    with (
        role(dsn, "analyst", "IN ROLE kanon_analyst") as analyst,
        psycopg.connect(as_role(dsn, analyst), autocommit=True) as asking,
    ):
        query, other = (
            f"SELECT kanon_query('SELECT count(*) FROM patients{which}')"
            for which in ("", " WHERE age >= 20")
        )
        with pytest.raises(psycopg.Error) as refused:
            asking.execute(query)
        assert refused.value.sqlstate == "KA901"
        living.execute("SELECT kanon_protect('patients', 5, '{\"beside_releases\": \"allow\"}')")
        assert asking.execute(query).fetchone() == ({"count": 60},)
        living.execute("DELETE FROM patients WHERE id = 2")
        assert not asking.execute(other).fetchall(), "it differs from the other answer by one"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            asking.execute("SELECT * FROM kanon.record_states")


def _releases_go_on(living: psycopg.Connection) -> None:
    living.execute("DELETE FROM public.patients WHERE age = 20")
    living.execute("INSERT INTO public.patients VALUES (1000, 99, 'x', 'd0')")
    shown = living.execute("SELECT count(*) FROM safe.patients").fetchone()
    for release in ("patients", "diverse", "ranged", "Visits, 2"):
        with pytest.raises(psycopg.Error, match="published by an earlier version"):
            living.execute("SELECT kanon_refresh(%s)", [release])
    # nothing of it reads the table any more
    assert living.execute("SELECT count(*) FROM safe.patients").fetchone() == shown
    assert living.execute(
        "SELECT count(*) FROM pg_class WHERE has_any_column_privilege('kanon_owner', oid, 'SELECT')"
        " AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'm')"
    ).fetchone() == (0,)
    assert living.execute("SELECT count(*) FROM safe.patients WHERE age = 99").fetchone() == (0,)
    classes = "SELECT count(*) AS n FROM safe.patients GROUP BY age, sex, kanon_suppressed"
    (smallest,) = living.execute(f"SELECT min(n) FROM ({classes}) AS c").fetchone()
    assert smallest >= 5
    living.execute("DELETE FROM public.patients WHERE id = 1000")
    living.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    with dividing(living):
        again = "SELECT smallest_class >= 4 FROM kanon_anonymize('patients', 4, seed => 3)"
        assert living.execute(again).fetchone() == (True,)
    with generalizing(living):
        again = (
            "SELECT smallest_class >= 3 FROM kanon_anonymize('patients', 3, release => 'ranged', seed => 3,"
            """ hierarchies => '{"age": "ages"}')"""
        )
        assert living.execute(again).fetchone() == (True,)
    living.execute("SELECT kanon_hierarchy_drop('codes')")
    for release in ("diverse", "Visits, 2", "ranged"):
        living.execute("SELECT kanon_drop(%s)", [release])
    living.execute("""SELECT kanon_undeclare('"Visits, 2"')""")
    left = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'kanon'::regnamespace AND relname ~ '_v\\d|_stor'"
    )
    names = {name for (name,) in living.execute(left)}
    assert {name.partition("_")[0] for name in names} == {"patients"}


_COLUMNS = """
    SELECT c.oid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace IN ('kanon'::regnamespace, 'safe'::regnamespace) AND c.relkind IN ('r', 'v', 'c')
    ORDER BY c.oid::regclass::text, a.attnum
"""
_DEFINITIONS = """
    SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.proowner::regrole::text,
        obj_description(p.oid)
    FROM pg_proc AS p
    WHERE p.pronamespace IN ('kanon'::regnamespace, 'public'::regnamespace) AND p.proname !~ '^plpython'
    UNION ALL
    SELECT v.oid::regclass::text, pg_get_viewdef(v.oid), v.relowner::regrole::text, obj_description(v.oid)
    FROM pg_class AS v
    WHERE v.relkind = 'v' AND v.relnamespace IN ('kanon'::regnamespace, 'safe'::regnamespace)
    UNION ALL
    SELECT conrelid::regclass::text || ' ' || conname, pg_get_constraintdef(oid), NULL, NULL
    FROM pg_constraint
    WHERE connamespace = 'kanon'::regnamespace
"""
_MEMBERS = """
    SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend AS d
    JOIN pg_extension AS x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
    WHERE x.extname = 'kanon_pg' AND d.deptype = 'e'
    UNION ALL
    SELECT 'dumped ' || table_::regclass::text
    FROM pg_extension AS x CROSS JOIN LATERAL unnest(x.extconfig) AS table_ WHERE x.extname = 'kanon_pg'
"""


def _whole(db: psycopg.Connection) -> dict[str, set[object]]:
    """Return everything that an installation makes, in words."""
    objects = {line.replace(db.info.dbname, "the database") for line in picture(db)}
    queries = {"columns": _COLUMNS, "definitions": _DEFINITIONS, "members": _MEMBERS}
    return {
        "objects": objects,
        **{name: set(db.execute(query).fetchall()) for name, query in queries.items()},
    }


def test_an_upgraded_database_has_what_a_fresh_one_has(
    own_server: ExtensionServer, way: Callable[[str, psycopg.Connection], None]
) -> None:
    with own_server.server.database("earlier") as name, own_server.server.database("fresh") as other:
        with (
            psycopg.connect(own_server.server.dsn(name), autocommit=True) as earlier,
            psycopg.connect(own_server.server.dsn(other), autocommit=True) as fresh,
        ):
            install_earlier(earlier, EARLIER)
            way(own_server.server.dsn(name), earlier)
            if way is _by_extension:
                fresh.execute("CREATE EXTENSION kanon_pg CASCADE")
            else:
                install(own_server.server.dsn(other))
            upgraded, new = _whole(earlier), _whole(fresh)
            for part, lines in new.items():
                assert upgraded[part] == lines, part
        assert uninstall(own_server.server.dsn(name)).was_installed
