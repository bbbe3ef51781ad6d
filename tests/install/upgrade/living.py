"""A small database that lives: every kind of release, hierarchies, a declaration of each sort, records.

The files beside this module were made from it with version 0.1.0: check out commit 0fc841f, copy this file
there, and run ``python -m tests.install.upgrade.living FOLDER``.

``install-0.1.0.sql``
    All that ``kanon install`` ran, in its order. ``%(api)s``, ``%(python_path)s`` and ``%(version)s`` stand
    for the schema of the functions, the folders and the version.
``living-0.1.0.sql``
    What `populate` made with it, as ``pg_dump`` writes it: tables, storage of releases, views, then the rows
    of the tables in schema ``kanon``.
``ledger-0.1.0.tar.gz``
    The ledgers of queries, a folder for each.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import psycopg

from kanon_pg.admin.cluster.programs import newest_with_python
from tests.fixtures.databases import Server, private_server
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.generalizing_solver import generalizing

HERE = Path(__file__).parent

_ANALYST = "living_analyst"

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
    "SELECT kanon_hierarchy_define('codes', '[[\"1\"]]', '{\"shared\": true}')",
    "SELECT kanon_hierarchy_load('sexes', 'codes', '{\"columns\": [\"sex\", \"parent\"]}')",
)

_QUERIES = (
    "SELECT count(*) FROM patients",
    "SELECT diagnosis, count(*) FROM patients GROUP BY diagnosis",
    "SELECT count(*) FROM patients WHERE age > 21",
)


def populate(db: psycopg.Connection, analyst: str) -> None:
    """Make tables, declarations, hierarchies, releases of each kind and a ledger of queries.

    Parameters
    ----------
    db : psycopg.Connection
        A superuser's, in autocommit mode, to a database with kanon.
    analyst : str
        A role that asks; a member of kanon_analyst.
    """
    db.execute(_TABLES)
    for text in _DECLARED:
        db.execute(text)
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, seed => 1)")
        db.execute("""SELECT kanon_anonymize('"Visits, 2"', 3, release => 'Visits, 2', seed => 1)""")
        db.execute("SELECT kanon_anonymize('patients', 2, p => 2, l => 2, release => 'diverse', seed => 1)")
    with generalizing(db):
        db.execute(
            "SELECT kanon_anonymize('patients', 2, release => 'ranged', seed => 1,"
            """ hierarchies => '{"age": "ages"}')"""
        )
        # a second version of each name: the storage of the first is gone, the numbers go on
        db.execute(
            "SELECT kanon_anonymize('patients', 3, release => 'ranged', seed => 2,"
            """ hierarchies => '{"age": {"builder": "intervals", "width": [5, 20]}, "sex": "sexes"}')"""
        )
    db.execute("SELECT kanon_protect('patients', 5)")
    db.execute("""SELECT kanon_protect('"Visits, 2"', 3, '{"mode": "suppress", "ledger": "linear"}')""")
    db.execute(f"SET ROLE {analyst}")
    for query in _QUERIES:
        db.execute("SELECT kanon_query(%s)", [query])
    db.execute("RESET ROLE")


def _dumped(server: Server, database: str, *arguments: str) -> str:
    program = newest_with_python().program("pg_dump")
    where = ["-h", server.host, "-p", str(server.port), "-U", server.user, database]
    text = subprocess.run(
        [program, *where, "--inserts", *arguments], capture_output=True, text=True, check=True
    ).stdout
    kept = [line for line in text.splitlines() if not line.startswith(("--", "\\")) and line]
    return "\n".join(kept) + "\n"


def _installed_by_this_version() -> str:
    from kanon_pg.admin.install.scripts import script_names, script_text
    from kanon_pg.db.identifiers import Fragment

    parts = {part: Fragment(f"@{part}@") for part in ("api", "python_path", "version")}
    texts = []
    for name in [*script_names(True), *script_names(True, last=True)]:
        found = script_text(name, plpython=True, **parts)
        texts.append(found.rstrip().removesuffix(";") + ";\n")
    return re.sub(f"@({'|'.join(parts)})@", r"%(\1)s", "\n".join(texts))


def main(folder: Path) -> None:
    """Write the three files with the version that runs."""
    from kanon_pg import __version__
    from kanon_pg.admin.install.installer import install

    with private_server("living") as server, server.database("living") as name:
        install(server.dsn(name))
        with psycopg.connect(server.dsn(name), autocommit=True) as db:
            db.execute(f"CREATE ROLE {_ANALYST} IN ROLE kanon_analyst")
            populate(db, _ANALYST)
            (ledgers,) = db.execute(
                "SELECT current_setting('data_directory') || '/kanon_ledger/' || oid FROM pg_database"
                " WHERE datname = current_database()"
            ).fetchone()
        tables = (
            "declaration",
            "hierarchy",
            "hierarchy_value",
            "ledger",
            "protection",
            "release",
            "release_lock",
        )
        living = _dumped(
            server,
            name,
            "-t",
            "public.*",
            "-t",
            "safe.*",
            "-t",
            "kanon.*_v[0-9]*",
            "-t",
            "kanon.*_storage",
            "-t",
            "kanon.*_row_types",
        )
        rows = _dumped(
            server, name, "--data-only", *(part for one in tables for part in ("-t", f"kanon.{one}"))
        )
        # Rows of tables that others refer to come first; a setting that a later server has not is not needed.
        settings = re.compile(r"^(SET|SELECT pg_catalog\.set_config).*\n", re.MULTILINE)
        (folder / f"living-{__version__}.sql").write_text(settings.sub("", living + rows), encoding="utf-8")
        (folder / f"install-{__version__}.sql").write_text(_installed_by_this_version(), encoding="utf-8")
        with tarfile.open(folder / f"ledger-{__version__}.tar.gz", "w:gz") as archive:
            archive.add(ledgers, arcname="", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uname = member.gname = ""
    member.uid = member.gid = member.mtime = 0
    return member


if __name__ == "__main__":
    main(Path(sys.argv[1]))
