"""The dbt package, with the real dbt where there is one: releases as models, and tests without values."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.docs.pages import ROOT
from tests.fixtures.databases import Server, role

DBT = Path(os.environ.get("KANON_DBT", ROOT / "build/dbt/bin/dbt"))
pytestmark = pytest.mark.skipif(
    not DBT.exists(), reason="there is no dbt: `make dbt` installs it and runs this"
)

RELEASE = """{{ config(materialized="kanon_release", k=5, quasi_identifiers=["age", "zip"],
    sensitive=["diagnosis"], entity="id", grants={"select": [env_var("READER")]}) }}
select id, age, zip, diagnosis from {{ source("raw", "people") }}
"""
TESTS = """
version: 2
sources: [{name: raw, schema: raw, tables: [{name: people}]}]
models:
  - name: people
    data_tests:
      - kanon_pg.k_anonymous: {arguments: {k: 5, quasi_identifiers: [age, zip]}}
      - kanon_pg.l_diverse: {arguments: {l: 2, sensitive: [diagnosis], quasi_identifiers: [age, zip]}}
"""
"""With the model 18 lines: what a user writes."""

FAILING = """
version: 2
models:
  - name: copied
    data_tests:
      - kanon_pg.k_anonymous: {arguments: {k: 5, quasi_identifiers: [age, zip]}}
      - kanon_pg.l_diverse: {arguments: {l: 3, sensitive: [diagnosis], quasi_identifiers: [age, zip]}}
      - kanon_pg.no_quasi_identifiers
"""
VALUES = ("Melanoma", "Angina", "90001", "rarest")


@dataclass(frozen=True)
class Project:
    """A user's project and the database that it works on."""

    folder: Path
    environment: dict[str, str]
    admin: psycopg.Connection[Any]
    reader: str

    def write(self, name: str, text: str) -> None:
        (self.folder / "models" / name).write_text(text)

    def dbt(self, *arguments: str, fails: bool = False) -> str:
        done = subprocess.run(
            [DBT, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (1 if fails else 0), done.stdout + done.stderr
        return done.stdout + done.stderr

    def may_read(self, relation: str) -> bool:
        query = "select has_table_privilege(%s, %s, 'select')"
        return self.admin.execute(query, [self.reader, relation]).fetchone() == (True,)

    def rows(self, query: str) -> list[Any]:
        return self.admin.execute(query.encode()).fetchall()


@pytest.fixture(scope="module")
def project(
    server: Server, kanon_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("dbt")
    with server.database("dbt", kanon_template) as name:
        dsn = server.dsn(name)
        with (
            role(dsn, "reader") as reader,
            role(dsn, "dbt", "IN ROLE kanon_curator, kanon_analyst") as user,
            psycopg.connect(dsn, autocommit=True) as admin,
        ):
            admin.execute(
                f"""create schema raw authorization {user}; create schema marts authorization {user};
                grant create on database {name} to {user}; grant usage on schema marts to {reader};
                alter default privileges for role {user} grant select on tables to {reader};
                create table raw.people as select i as id, 20 + i % 7 as age, '9000' || i % 5 as zip,
                    (array['Angina', 'Melanoma', 'Fall'])[1 + i % 3] as diagnosis
                from generate_series(1, 200) as i;
                insert into raw.people values (1000, 99, 'rarest', 'Melanoma');
                alter table raw.people owner to {user};"""
            )
            where = conninfo_to_dict(dsn)
            (folder / "models").mkdir()
            (folder / "dbt_project.yml").write_text(
                "name: clinic\nprofile: clinic\nflags: {send_anonymous_usage_stats: false}\n"
            )
            (folder / "packages.yml").write_text(f"packages: [{{local: {ROOT / 'integrations/dbt'}}}]\n")
            output = {"type": "postgres", "user": user, "password": "x", "dbname": name, "schema": "marts"}
            output |= {"host": where["host"], "port": int(str(where["port"])), "threads": 2}
            profiles = {"clinic": {"target": "dev", "outputs": {"dev": output}}}
            (folder / "profiles.yml").write_text(json.dumps(profiles))
            environment = {**os.environ, "READER": reader, "DBT_PROFILES_DIR": str(folder), "NO_COLOR": "1"}
            made = Project(folder, environment, admin, reader)
            made.write("people.sql", RELEASE)
            made.write("people.yml", TESTS)
            made.dbt("deps")
            yield made
            admin.execute(f"drop owned by {user} cascade")


def test_a_build_publishes_and_verifies_a_release(project: Project) -> None:
    project.dbt("build")
    assert project.rows("select count(*), count(distinct diagnosis) from marts.people") == [(201, 3)]
    assert project.rows("select count(*) from marts.people where zip = 'rarest'") == [(0,)]
    assert project.may_read("marts.people")
    # nobody reads the private table, whatever default privileges say
    assert not project.may_read("marts__private.people")
    assert project.rows("select k, base::text from kanon.releases") == [(5, "marts__private.people")]


def test_the_next_build_keeps_what_depends_on_it(project: Project) -> None:
    project.dbt("build")
    project.admin.execute("create view marts.below as select age from marts.people")
    project.admin.execute(f"grant usage on schema safe to {project.reader}")
    project.admin.execute(f"grant select on safe.people to {project.reader}")
    before = project.rows("select oid from pg_class where oid = 'marts__private.people'::regclass")
    project.admin.execute("insert into raw.people select * from raw.people where id < 50")
    project.dbt("build")
    assert project.rows("select oid from pg_class where oid = 'marts__private.people'::regclass") == before
    assert project.rows("select count(*) from marts.below") == [(250,)]
    assert project.may_read("safe.people")
    assert project.may_read("marts.people")


CHANGES = {
    "other columns": (
        RELEASE.replace("select id", "select 1 as one, id").replace("k=5", 'k=5, insensitive=["one"]')
    ),
    "other roles": RELEASE.replace('["age", "zip"]', '["zip"]'),
    "a full refresh": RELEASE,
}


@pytest.mark.parametrize("model", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_release_publishes_anew(project: Project, model: str) -> None:
    project.dbt("run")
    project.write("people.sql", model)
    try:
        project.dbt("run", *(("--full-refresh",) if model == RELEASE else ()))
        columns = (
            "select array_agg(attname::text) from pg_attribute where attrelid = 'marts.people'::regclass"
        )
        ((found,),) = project.rows(columns)
        assert ("one" in found) == ("one" in model)
        assert ("age" in found) == ('"age"' in model)
        assert project.may_read("marts.people")
        assert not project.may_read("marts__private.people")
    finally:
        project.write("people.sql", RELEASE)


def test_a_build_that_fails_changes_nothing(project: Project) -> None:
    project.dbt("build")
    before = project.rows("select * from marts.people order by 1, 2, 3")
    project.write("people.sql", RELEASE.replace("k=5", "k=5000"))
    try:
        said = project.dbt("run", fails=True)
    finally:
        project.write("people.sql", RELEASE)
    assert "5000" in said
    assert not any(value in said for value in VALUES)
    assert project.rows("select * from marts.people order by 1, 2, 3") == before
    assert project.rows("select to_regclass('marts__private.people__dbt_tmp')") == [(None,)]


def test_a_release_of_another_name_replaces_the_one_before(project: Project) -> None:
    project.dbt("run")
    project.write("people.sql", RELEASE.replace("k=5", 'k=5, release="renamed"'))
    try:
        project.dbt("run")
        assert project.rows("select release from kanon.releases") == [("renamed",)]
        assert project.rows("select to_regclass('safe.people')") == [(None,)]
    finally:
        project.write("people.sql", RELEASE)
        project.dbt("run", "--full-refresh")


def test_no_row_goes_into_a_table_of_somebody_else(project: Project) -> None:
    project.dbt("run")
    user = project.rows("select tableowner from pg_tables where schemaname = 'marts__private'")[0][0]
    project.admin.execute("alter table marts__private.people owner to current_user")
    project.admin.execute(f"grant all on marts__private.people to {user}; truncate marts__private.people")
    try:
        assert "belongs to somebody else" in project.dbt("run", fails=True)
        assert project.rows("select count(*) from marts__private.people") == [(0,)]
    finally:
        project.admin.execute(f"alter table marts__private.people owner to {user}")


def test_no_row_goes_into_a_schema_of_somebody_else(project: Project) -> None:
    project.dbt("run")
    project.admin.execute(f"create schema others authorization {project.reader}")
    project.admin.execute("grant all on schema others to public")
    project.write("people.sql", RELEASE.replace("k=5", 'k=5, private_schema="others"'))
    try:
        assert "Schema others belongs to somebody else" in project.dbt("run", fails=True)
        assert project.rows("select to_regclass('others.people')") == [(None,)]
        assert project.rows("select base::text from kanon.releases") == [("marts__private.people",)]
    finally:
        project.write("people.sql", RELEASE)
        project.admin.execute("drop schema others cascade")


def test_no_function_of_somebody_else_is_called(project: Project) -> None:
    """A schema that is named as a role is searched first for that role."""
    ((user,),) = project.rows("select nspowner::regrole::text from pg_namespace where nspname = 'marts'")
    project.admin.execute(
        f"""create schema {user} authorization {project.reader}; grant usage on schema {user} to public;
        create function {user}.kanon_is_anonymous(relation regclass, k integer) returns boolean
            language plpgsql as $$ begin raise 'called by %', current_user; end $$;
        alter function {user}.kanon_is_anonymous owner to {project.reader}"""
    )
    try:
        project.dbt("run")
    finally:
        project.admin.execute(f"drop schema {user} cascade")


def test_failing_tests_name_columns_and_no_values(project: Project) -> None:
    project.write("copied.sql", "select age, zip, diagnosis from {{ source('raw', 'people') }}")
    project.write("copied.yml", FAILING)
    try:
        said = project.dbt("build", "--select", "copied", "--store-failures", fails=True)
    finally:
        (project.folder / "models/copied.sql").unlink()
        (project.folder / "models/copied.yml").unlink()
    assert said.count("FAIL ") >= 3
    found = project.rows(
        "select table_name from information_schema.tables where table_schema = 'marts_dbt_test__audit'"
    )
    stored = [
        str(row) for (name,) in found for row in project.rows(f'select * from marts_dbt_test__audit."{name}"')
    ]
    # each of the two singles people out by itself
    assert {"('age',)", "('zip',)", "('diagnosis',)"} <= set(stored)
    logged = (project.folder / "logs/dbt.log").read_text()
    assert not any(value in text for value in VALUES for text in (said, logged, *stored))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("k_anonymous: {arguments: {quasi_identifiers: [age]}}", "needs the argument k"),
        ("l_diverse: {arguments: {l: 2, quasi_identifiers: [age]}}", "needs the argument sensitive"),
        (
            "l_diverse: {arguments: {l: 2, sensitive: [], quasi_identifiers: [age]}}",
            "needs the argument sensitive",
        ),
        ("k_anonymous: {arguments: {k: 5, quasi_identifiers: age}}", "are a list"),
    ],
)
def test_a_test_without_what_it_is_about_fails(project: Project, given: str, said: str) -> None:
    project.write("copied.sql", "select age, diagnosis from {{ source('raw', 'people') }}")
    project.write("copied.yml", f"models: [{{name: copied, data_tests: [{{kanon_pg.{given}}}]}}]")
    try:
        assert said in project.dbt("build", "--select", "copied", fails=True)
    finally:
        (project.folder / "models/copied.sql").unlink()
        (project.folder / "models/copied.yml").unlink()
