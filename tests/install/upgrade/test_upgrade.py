"""A living database becomes the next version's, by `kanon install` and as the extension: all goes on."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

import kanon_pg
from kanon_pg.admin.install.extension import write_extension
from kanon_pg.admin.install.installer import install
from kanon_pg.db.statements import sql_root
from tests.fixtures.databases import role
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.extension_servers import ExtensionServer, extension_server
from tests.fixtures.generalizing_solver import generalizing
from tests.install.catalog import picture
from tests.install.conftest import as_role

NEXT = "999.0"

_TABLES = """
CREATE TABLE public.patients AS SELECT i AS id, 20 + i % 6 AS age, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
    'd' || i % 4 AS diagnosis FROM generate_series(1, 60) AS i;
ALTER TABLE public.patients ADD PRIMARY KEY (id);
CREATE TABLE public."Visits, 2" AS SELECT i / 2 AS person, i % 4 AS "Über", 1000 + i % 3 AS zip,
    make_date(2020 + i % 5, 1, 1) AS day FROM generate_series(1, 80) AS i;
CREATE TABLE public.codes AS SELECT * FROM (VALUES ('f', 'all'), ('m', 'all')) AS v (sex, parent);
"""
_DECLARED = (
    "SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')",
    """SELECT kanon_declare('"Visits, 2"', quasi_identifiers => '{Über,zip}', entity => 'person',"""
    """ weights => '{"zip": 2}')""",
    "SELECT kanon_hierarchy_build('ages', 'patients', 'age',"
    """ '{"builder": "intervals", "width": [5, 20]}')""",
    "SELECT kanon_hierarchy_load('sexes', 'codes', '{\"columns\": [\"sex\", \"parent\"]}')",
)
_RELEASES = ("patients", "Visits, 2", "diverse", "ranged", "nightly")
_ANSWERED, _NEARLY = (
    f"SELECT kanon_query('SELECT count(*) FROM patients{which}')" for which in ("", " WHERE age >= 20")
)


@pytest.fixture(scope="module")
def next_version() -> Iterator[Path]:
    """Make a folder with a version of the package in which a table, a function and a view have changed."""
    with TemporaryDirectory(prefix="kanon-next-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignored = shutil.ignore_patterns("__pycache__", "_compiled", "_sql")
        shutil.copytree(Path(kanon_pg.__file__).parent, folder / "kanon_pg", ignore=ignored)
        shutil.copytree(sql_root(), folder / "sql")
        for file, old, new in (
            ("kanon_pg/__init__.py", f'"{kanon_pg.__version__}"', f'"{NEXT}"'),
            ("kanon_pg/admin/install/extension.py", "...] = ()", f'...] = ("{kanon_pg.__version__}",)'),
            (
                "sql/tables.sql",
                "\nCOMMENT ON TABLE kanon.release IS",
                "\nALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS mood text;"
                "\nCOMMENT ON TABLE kanon.release IS",
            ),
            (
                "sql/functions/plpython/installation.sql",
                "kanon.versions()",
                "kanon.versions(mood text DEFAULT '')",
            ),
        ):
            path = folder / file
            text = path.read_text(encoding="utf-8")
            assert old in text, file
            path.write_text(text.replace(old, new), encoding="utf-8")
        yield folder


def _run_next(folder: Path, code: str, *arguments: str) -> None:
    """Run code with the next version of the package."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", f"import sys\n{code}", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def own_server(next_version: Path) -> Iterator[ExtensionServer]:
    with extension_server("upgrades") as started:
        write_extension(started.folders)
        _run_next(
            next_version,
            "from pathlib import Path\n"
            "from kanon_pg.admin.install.extension import ServerFolders, write_extension\n"
            "write_extension(ServerFolders(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))",
            *map(str, (started.folders.major, started.folders.shared, started.folders.libraries)),
        )
        yield started


class ByInstall:
    """`kanon install` of the package as it is, then of the next version."""

    @staticmethod
    def begin(dsn: str, db: psycopg.Connection) -> None:
        install(dsn)

    @staticmethod
    def go_on(dsn: str, db: psycopg.Connection, folder: Path) -> None:
        _run_next(
            folder,
            "from kanon_pg.admin.install.installer import install\n"
            "report = install(sys.argv[1])\n"
            "assert report.previous_version == sys.argv[2]\n"
            "assert not [note for note in report.notes if 'missing' in note or 'dropped' in note]",
            dsn,
            kanon_pg.__version__,
        )

    @staticmethod
    def afresh(dsn: str, db: psycopg.Connection, folder: Path) -> None:
        _run_next(folder, "from kanon_pg.admin.install.installer import install\ninstall(sys.argv[1])", dsn)


class ByExtension:
    """The extension, then its update."""

    @staticmethod
    def begin(dsn: str, db: psycopg.Connection) -> None:
        db.execute(f"CREATE EXTENSION kanon_pg VERSION '{kanon_pg.__version__}' CASCADE".encode())

    @staticmethod
    def go_on(dsn: str, db: psycopg.Connection, folder: Path) -> None:
        db.execute("ALTER EXTENSION kanon_pg UPDATE")

    @staticmethod
    def afresh(dsn: str, db: psycopg.Connection, folder: Path) -> None:
        db.execute("CREATE EXTENSION kanon_pg CASCADE")


Way = type[ByInstall] | type[ByExtension]


@pytest.fixture(params=[ByInstall, ByExtension])
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def connected(own_server: ExtensionServer) -> Iterator[Callable[[str], psycopg.Connection]]:
    """Yield a function that returns a superuser's connection to a new database."""
    with own_server.server.database("living") as name, own_server.server.database("fresh") as other:
        names = {"living": name, "fresh": other}
        made: list[psycopg.Connection] = []

        def connect(which: str) -> psycopg.Connection:
            made.append(psycopg.connect(own_server.server.dsn(names[which]), autocommit=True))
            return made[-1]

        yield connect
        for one in made:
            one.close()


def _populate(db: psycopg.Connection, dsn: str, analyst: str) -> None:
    """Make tables, declarations, hierarchies, releases of each kind and a record of queries."""
    db.execute(_TABLES)
    for text in _DECLARED:
        db.execute(text)
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, seed => 1)")
        db.execute("""SELECT kanon_anonymize('"Visits, 2"', 3, release => 'Visits, 2', seed => 1)""")
        db.execute("SELECT kanon_anonymize('patients', 2, p => 2, l => 2, release => 'diverse', seed => 1)")
        db.execute(
            "SELECT kanon_anonymize('patients', 3, release => 'nightly', seed => 1,"
            """ options => '{"over_time": {}}')"""
        )
    with generalizing(db):
        db.execute(
            "SELECT kanon_anonymize('patients', 3, release => 'ranged', seed => 2,"
            """ hierarchies => '{"age": {"builder": "intervals", "width": [5, 20]}, "sex": "sexes"}')"""
        )
    db.execute("SELECT kanon_protect('patients', 5, '{\"beside_releases\": \"allow\"}')")
    with psycopg.connect(as_role(dsn, analyst), autocommit=True) as asking:
        assert asking.execute(_ANSWERED).fetchone() == ({"count": 60},)


def test_everything_in_a_living_database_goes_on(
    connected: Callable[[str], psycopg.Connection], way: Way, next_version: Path, own_server: ExtensionServer
) -> None:
    before = connected("living")
    dsn = own_server.server.dsn(before.info.dbname)
    way.begin(dsn, before)
    with role(dsn, "analyst", "IN ROLE kanon_analyst") as analyst:
        _populate(before, dsn, analyst)
        shown = {name: _rows(before, name) for name in _RELEASES}
        declared = before.execute("SELECT * FROM kanon.declarations ORDER BY 1").fetchall()
        before.close()  # sessions that have loaded a version stay with it
        db = connected("living")
        way.go_on(dsn, db, next_version)
        assert db.execute("SELECT sql_version FROM kanon_version()").fetchone() == (NEXT,)
        assert {name: _rows(db, name) for name in _RELEASES} == shown
        assert db.execute("SELECT * FROM kanon.declarations ORDER BY 1").fetchall() == declared
        _answers_go_on(db, dsn, analyst)
        _releases_go_on(db)
    assert (
        db.execute(
            "SELECT item, detail FROM kanon_install_check() WHERE NOT ok AND item <> 'trial release'"
            " AND item <> 'solver process'"
        ).fetchall()
        == []
    )


def _rows(db: psycopg.Connection, release: str) -> list[tuple[object, ...]]:
    return sorted(db.execute(f'SELECT * FROM safe."{release}"'.encode()).fetchall(), key=repr)


def _answers_go_on(db: psycopg.Connection, dsn: str, analyst: str) -> None:
    """What was answered before the upgrade is still compared with new answers."""
    with psycopg.connect(as_role(dsn, analyst), autocommit=True) as asking:
        db.execute("DELETE FROM patients WHERE id = 2")
        assert not asking.execute(_NEARLY).fetchall(), "it differs from the earlier answer by one"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            asking.execute("SELECT * FROM kanon.record_states")


def _releases_go_on(db: psycopg.Connection) -> None:
    db.execute("DELETE FROM public.patients WHERE age = 20")
    with dividing(db):
        for release in _RELEASES:
            db.execute("SELECT kanon_refresh(%s)", [release])
    assert db.execute("SELECT version FROM kanon.releases WHERE release = 'nightly'").fetchone() == (2,)
    assert db.execute("SELECT count(*) FROM safe.patients WHERE age = 20").fetchone() == (0,)
    classes = "SELECT count(*) AS n FROM safe.patients GROUP BY age, sex, kanon_suppressed"
    (smallest,) = db.execute(f"SELECT min(n) FROM ({classes}) AS c".encode()).fetchone()
    assert smallest >= 5
    with generalizing(db):
        again = (
            "SELECT smallest_class >= 3 FROM kanon_anonymize('patients', 3, release => 'ranged', seed => 3,"
            """ hierarchies => '{"age": "ages"}')"""
        )
        assert db.execute(again).fetchone() == (True,)
    for release in _RELEASES:
        db.execute("SELECT kanon_drop(%s)", [release])
    left = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'kanon'::regnamespace AND relname ~ '_v\\d|_stor'"
    )
    assert db.execute(left.encode()).fetchall() == []


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
    objects = {re.sub(db.info.dbname, "the database", line) for line in picture(db)}
    queries = {"columns": _COLUMNS, "definitions": _DEFINITIONS, "members": _MEMBERS}
    return {
        "objects": objects,
        **{name: set(db.execute(query).fetchall()) for name, query in queries.items()},
    }


def test_an_upgraded_database_has_what_a_fresh_one_has(
    connected: Callable[[str], psycopg.Connection], way: Way, next_version: Path, own_server: ExtensionServer
) -> None:
    for step in (way.begin, partial(way.go_on, folder=next_version)):
        with connected("living") as living:  # a session's own temporary functions end with it
            step(own_server.server.dsn(living.info.dbname), living)
    with connected("fresh") as other:
        way.afresh(own_server.server.dsn(other.info.dbname), other, next_version)
    upgraded, fresh = connected("living"), connected("fresh")
    before, new = _whole(upgraded), _whole(fresh)
    for part, lines in new.items():
        assert before[part] == lines, part
    assert any("mood" in line for line in map(str, new["columns"]))
    assert any("versions(text)" in line for line in map(str, new["definitions"]))
