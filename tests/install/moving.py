"""A database with something of everything, and what must be true of it in another server.

``.ci/move-database`` furnishes one in a system and checks it in another, after a dump and a restore::

    python -m tests.install.moving furnish DSN
    python -m tests.install.moving check DSN
"""

import sys
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

K = 3
ANALYST = "moving_analyst"
QUERY = "SELECT insured, count(*) AS n FROM public.visits GROUP BY insured"

_FURNISHING = """
    CREATE TYPE public.sexes AS ENUM ('F', 'M');
    CREATE DOMAIN public.zip AS text CHECK (value <> '');
    CREATE TABLE public.people (
        id int PRIMARY KEY, person int, sex public.sexes, zip public.zip, age int, born date,
        seen timestamptz, at time, weight numeric(5, 1), height numeric, dose double precision,
        insured boolean, big bigint, small smallint, code char(4), name varchar(10), device inet, card uuid,
        photo bytea, span interval, tags text[], diagnosis text
    );
    INSERT INTO public.people SELECT
        i, i / 2, (ARRAY['F', 'M'])[1 + i % 2]::public.sexes, (ARRAY['Zürich', 'zurich', '8001'])[1 + i % 3],
        20 + 3 * (i % 5), date '1960-01-01' + i % 2,
        timestamptz '2024-01-01 00:00+00' + (i % 2) * interval '1 hour',
        time '08:00' + (i % 2) * interval '1 minute',
        60.5 + i % 2, 1.70 + (i % 2) * 0.1, 0.1 * (i % 2), i % 2 = 0,
        i % 2 - 5000000000, i % 2, 'c' || i % 2, 'n' || i % 2, ('10.0.0.' || i % 2)::inet,
        ('00000000-0000-0000-0000-00000000000' || i % 2)::uuid, ('\\x0' || i % 2)::bytea,
        (i % 2) * interval '1 day', ARRAY['t' || i % 2], (ARRAY['flu', 'asthma', 'gout', 'angina'])[1 + i % 4]
    FROM generate_series(1, 300) AS i;
    UPDATE public.people SET zip = NULL, weight = NULL WHERE id % 50 = 0;
    CREATE TABLE public.visits (LIKE public.people INCLUDING ALL);
    INSERT INTO public.visits TABLE public.people;
    SELECT kanon_declare('people', '{id}', '{sex,zip,age}', '{diagnosis}');
    SELECT kanon_declare('visits', '{id}', '{sex,zip,age,insured}', '{diagnosis}', entity => 'person');
    SELECT kanon_hierarchy_build('ages', 'people', 'age', '{"builder": "intervals", "width": [5, 10, 20]}');
    ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe REVOKE SELECT ON TABLES FROM kanon_analyst;
    SELECT kanon_anonymize('people', 3, method => 'greedy', release => 'plain');
    SELECT kanon_anonymize('visits', 3, method => 'greedy', release => 'persons');
    SELECT kanon_anonymize('people', 3, method => 'greedy', p => 2, release => 'diverse');
    SELECT kanon_anonymize('people', 3, method => 'greedy', release => 'ranged',
        hierarchies => '{"age": "ages"}');
    SELECT kanon_anonymize('people', 3, method => 'greedy', release => 'types', sensitive => '{diagnosis}',
        quasi_identifiers =>
            '{sex,born,seen,at,weight,height,dose,insured,big,small,code,name,device,card,photo,span,tags}');
    SELECT kanon_protect('visits', 3);
    GRANT USAGE ON SCHEMA public TO kanon_analyst;
"""

_ANEW = """
    SELECT kanon_hierarchy_build('tens', 'people', 'age', '{"builder": "intervals", "width": [10]}');
    SELECT kanon_anonymize('people', 3, method => 'greedy', release => 'plain');
    SELECT kanon_anonymize('people', 3, method => 'greedy', release => 'ranged',
        hierarchies => '{"age": "tens"}');
    SELECT kanon_hierarchy_drop('tens');
"""


def furnish(connection: psycopg.Connection[Any]) -> None:
    """Make tables, declarations, a hierarchy, releases of each kind and a protected table with a record.

    Parameters
    ----------
    connection : psycopg.Connection
        Of a superuser, in autocommit mode, to a database with kanon. The role `ANALYST` exists.
    """
    connection.execute(_FURNISHING)
    if not _answered(connection):
        raise AssertionError("the query has no answer before the move")
    connection.execute("CREATE TABLE public.expected (subject text PRIMARY KEY, found text NOT NULL)")
    for subject, found in _state(connection).items():
        connection.execute("INSERT INTO public.expected VALUES (%s, %s)", [subject, found])


def differences(connection: psycopg.Connection[Any]) -> list[str]:
    """Return what differs from the database that was dumped, and what does not work; no words if all is well.

    Parameters
    ----------
    connection : psycopg.Connection
        Of a superuser, in autocommit mode, to the restored database, after ``kanon install``.
    """
    expected = dict(connection.execute("SELECT subject, found FROM public.expected").fetchall())
    found = _different("restored", connection, expected)
    if _answered(connection):
        found.append("queries are answered although their record stayed behind")
    # other cells of a row type that is known keep their rule; the rows of new ones are suppressed
    for (release,) in connection.execute("SELECT release::text FROM kanon.releases").fetchall():
        connection.execute("SELECT kanon_refresh(%s)", [release])
    found += _different("refreshed", connection, expected)
    connection.execute("SELECT kanon.restart_record('public.visits')")
    if not _answered(connection):
        found.append("queries are not answered after their record was begun anew")
    connection.execute(_ANEW)
    found += _too_small("published anew", connection)
    return found


def _different(when: str, connection: psycopg.Connection[Any], expected: dict[str, str]) -> list[str]:
    now = _state(connection)
    found = [
        f"{when}: {subject}"
        for subject in expected.keys() | now.keys()
        if expected.get(subject) != now.get(subject)
    ]
    return sorted(found) + _too_small(when, connection)


def _state(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Return a digest of each thing that must not change."""
    queries = {
        "declarations": "SELECT * FROM kanon.declarations",
        "hierarchies": "SELECT v::text FROM kanon_hierarchy_values('ages') AS v",
        "releases": "SELECT release, view::text, base::text, parameters, k, p, classes FROM kanon.releases",
        "readers": "SELECT c.relname, a.grantee::regrole, a.privilege_type FROM pg_class AS c,"
        " aclexplode(c.relacl) AS a WHERE c.relnamespace = 'safe'::regnamespace",
        "readers of new releases": "SELECT d.defaclobjtype, a.grantee::regrole, a.privilege_type"
        " FROM pg_default_acl AS d, aclexplode(d.defaclacl) AS a",
        "protected": "SELECT relation::text, k, mode, refusals FROM kanon.protection",
    }
    for release, view in _views(connection):
        queries[f"rows of {release}"] = f"SELECT v::text FROM {view} AS v"
    digest = (
        "SELECT md5(coalesce(string_agg(q::text, E'\\n' ORDER BY q::text COLLATE \"C\"), '')) FROM ({}) AS q"
    )
    with connection.transaction():
        connection.execute("SET LOCAL timezone = 'UTC'")
        return {
            name: connection.execute(digest.format(query)).fetchall()[0][0] for name, query in queries.items()
        }


def _views(connection: psycopg.Connection[Any]) -> Sequence[tuple[str, str]]:
    return connection.execute("SELECT release::text, view::text FROM kanon.releases ORDER BY 1").fetchall()


def _too_small(when: str, connection: psycopg.Connection[Any]) -> list[str]:
    """Count the rows that look alike, with nothing but SQL."""
    found = []
    for release, view in _views(connection):
        (columns,) = connection.execute(
            "SELECT quasi_identifiers::text[] FROM kanon.releases WHERE release = %s", [release]
        ).fetchall()[0]
        cells = sql.SQL(", ").join(map(sql.Identifier, columns))
        count = sql.SQL(
            "SELECT count(*), min(n) FROM (SELECT count(*) AS n FROM {} GROUP BY {}) AS c"
        ).format(
            sql.SQL(view),
            cells,  # type: ignore[arg-type]
        )
        classes, smallest = connection.execute(count).fetchall()[0]
        if not classes or smallest < K:
            found.append(f"{when}: {release} has {classes} classes, the smallest of {smallest}")
    return found


def _answered(connection: psycopg.Connection[Any]) -> bool:
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(ANALYST)))
        try:
            with connection.transaction():
                return len(connection.execute("SELECT * FROM kanon_query(%s)", [QUERY]).fetchall()) == 2
        except psycopg.Error as error:
            if error.sqlstate != "KA902":
                raise
            return False


if __name__ == "__main__":
    action, dsn = sys.argv[1:]
    with psycopg.connect(dsn, autocommit=True) as session:
        if action == "furnish":
            furnish(session)
        else:
            wrong = differences(session)
            sys.stderr.writelines(f"{line}\n" for line in wrong)
            sys.exit(bool(wrong))
