"""A policy says what a database has, makes another the same, and changes all or nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from ruamel.yaml import YAML
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.cli import app
from kanon_pg.errors import InfeasibleError, InputError
from tests.fixtures.databases import Server, role

pytestmark = pytest.mark.slow

ODD = '"odd ""schema"" x"."a \'table\'\nof two lines"'
"""A table whose name would be SQL, or YAML, if somebody forgot to quote it."""

TABLES = f"""
create schema "odd ""schema"" x";
create table people (id integer primary key, zip text, age integer, ward text, note text);
insert into people
    select i, 'z' || i % 3, 20 + i % 20, 'secret' || i % 4, 'n' from generate_series(1, 80) as i;
create table visits (person integer not null references people, day integer);
create table {ODD} as
    select i as "a: ""column"" # 1", i % 2 as "no", i % 3 as "b'" from generate_series(1, 30) as i;
"""

MADE = [
    "select kanon_declare('people', '{id}', '{zip,age}', '{ward}', weights => '{\"zip\": 2}')",
    "select kanon_link('visits', 'people')",
    "select kanon_declare('visits', quasi_identifiers => '{day}')",
    """select kanon_hierarchy_build('ages', 'people', 'age', '{"builder": "intervals", "width": [5, 10]}',
        '{"shared": true, "description": "in fives"}')""",
    """select kanon_hierarchy_define('wards', '[["secret0", "x"], ["secret1", "x"]]')""",
    """select kanon_anonymize('people', 4, hierarchies => '{"age": {"hierarchy": "ages", "lowest": 1}}',
        options => '{"remember": 2}', time_limit => '5 seconds')""",
    'select kanon_protect(\'visits\', 3, \'{"queries": 10, "beside_releases": "allow"}\')',
]
ODD_ONES = [
    ("select kanon_declare(%s, quasi_identifiers => %s)", [ODD, ['a: "column" # 1', "no"]]),
    ("select kanon_anonymize(%s, 5, release => %s)", [ODD, "on: 'a\nb\"#"]),
    ("""select kanon_hierarchy_define(%s, '[["1"]]')""", ["null"]),
]


class Policy:
    """The commands of ``kanon policy`` on a database."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn, self.folder = dsn, folder

    def run(self, *arguments: str, code: int = 0) -> str:
        answer = CliRunner().invoke(app, ["policy", *arguments, "--dsn", self.dsn])
        assert answer.exit_code == code, (answer.stdout, answer.stderr)
        notes = [line for line in answer.stderr.splitlines() if line.startswith("note: ")]
        assert len(notes) == len(set(notes)), notes
        assert not [line for line in notes if line.startswith("note: kanon: ")]  # phases
        return answer.stdout if code in (0, 4) else answer.stderr

    def export(self, *options: str) -> Any:
        return YAML(typ="safe").load(self.run("export", *options))

    def file(self, policy: Any) -> str:
        path = self.folder / "policy.yaml"
        path.write_text(policy if isinstance(policy, str) else json.dumps(policy))
        return str(path)

    def apply(self, policy: Any, *options: str, code: int = 0) -> list[str]:
        return self.run("apply", self.file(policy), *options, code=code).splitlines()

    def differs(self, policy: Any) -> list[str]:
        """Return what --check finds; changes nothing."""
        before = self.export("--values")
        arguments = ["apply", self.file(policy), "--check", "--dsn", self.dsn, "--json"]
        answer = CliRunner().invoke(app, ["policy", *arguments])
        found = [" ".join(one.values()).strip() for one in json.loads(answer.stdout)]
        assert answer.exit_code == (4 if found else 0)
        assert self.export("--values") == before
        return found


@pytest.fixture
def policy(dsn: str, tmp_path: Path) -> Policy:
    return Policy(dsn, tmp_path)


@pytest.fixture
def made(policy: Policy, connection: psycopg.Connection[Any]) -> Policy:
    connection.execute(TABLES.encode())
    for command in MADE:
        connection.execute(command.encode())
    return policy


@pytest.fixture
def elsewhere(server: Server, kanon_template: str, tmp_path: Path) -> Iterator[Policy]:
    """Yield a database with the same tables, of which kanon knows nothing."""
    with server.database("elsewhere", kanon_template) as name:
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            connection.execute(TABLES.encode())
        yield Policy(server.dsn(name), tmp_path)


def test_an_exported_policy_is_what_the_database_is(made: Policy) -> None:
    for options in ((), ("--values",)):
        text = made.run("export", *options)
        assert made.differs(text) == []
        assert made.apply(text, "--prune") == ["The database is what the policy says."]


def test_another_database_becomes_the_same(
    made: Policy, elsewhere: Policy, connection: psycopg.Connection[Any]
) -> None:
    for command, arguments in ODD_ONES:
        connection.execute(command.encode(), arguments)
    text = made.run("export", "--values")
    assert len(elsewhere.differs(text)) == 12
    said = elsewhere.apply(text)
    assert "+ release people" in said
    assert elsewhere.export("--values") == made.export("--values")
    assert elsewhere.differs(text) == []
    rows = "select age, zip, kanon_suppressed from safe.people limit 1"
    with psycopg.connect(elsewhere.dsn) as other:
        assert other.execute(rows).description is not None


def test_no_value_of_a_table_is_in_it_unless_asked_for(made: Policy) -> None:
    assert "secret" not in made.run("export")
    assert "secret0" in made.run("export", "--values")


def test_a_hierarchy_that_is_only_named_has_to_be_there(made: Policy, elsewhere: Policy) -> None:
    refusal = "\n".join(elsewhere.apply(made.run("export"), code=1))
    assert 'no hierarchy "wards"' in refusal


Edit = Callable[[dict[str, Any]], Any]


def _set(*path: Any) -> Edit:
    *keys, last, value = path

    def edit(document: dict[str, Any]) -> None:
        for key in keys:
            document = document[key]
        document[last] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            _set("tables", "public.people", "insensitive", ["note"]),
            ["table public.people: insensitive", "release people: insensitive"],
        ),
        (_set("releases", "people", "k", 5), ["release people: k"]),
        (_set("releases", "people", "remember", 3), ["release people: remember"]),
        (_set("releases", "people", "seed", 0), ["release people: seed"]),
        (_set("releases", "people", "sensitive", []), ["release people: sensitive"]),
        (_set("protections", "public.visits", "k", 4), ["protection public.visits: k"]),
        (_set("hierarchies", "ages", "spec", "width", [10]), ["hierarchy ages: spec"]),
        (
            _set("hierarchies", "wards", "rows", [["secret0", "y"], ["secret1", "z"]]),
            ["hierarchy wards: rows"],
        ),
    ],
)
def test_what_differs_is_changed_and_nothing_else(made: Policy, edit: Edit, expected: list[str]) -> None:
    document = made.export("--values")
    edit(document)
    assert made.differs(document) == [f"change {one.replace(':', '')}" for one in expected]
    assert made.apply(document) == [f"~ {one}" for one in expected]
    assert made.differs(document) == []


def test_a_release_whose_arguments_are_the_same_is_not_published_anew(
    made: Policy, connection: psycopg.Connection[Any]
) -> None:
    document = made.export()
    document["protections"]["public.visits"]["k"] = 4
    made.apply(document)
    published = "select count(*) from kanon.history where operation = 'anonymize'"
    assert connection.execute(published).fetchone() == (1,)


def test_the_order_of_columns_and_the_way_names_are_written_do_not_matter(made: Policy) -> None:
    document = made.export()
    document["tables"]["people"] = document["tables"].pop("public.people")
    document["tables"]["people"]["quasi_identifiers"].reverse()
    document["releases"]["people"]["table"] = '"people"'
    assert made.differs(document) == []


def test_what_the_policy_does_not_have_stays_until_it_is_pruned(made: Policy) -> None:
    empty = {"policy": 1, "tables": {}, "links": {}, "hierarchies": {}, "releases": {}, "protections": {}}
    assert len(made.differs(empty)) == 7
    assert all(line.endswith("stays without --prune)") for line in made.apply(empty))
    assert len(made.differs(empty)) == 7
    made.apply(empty, "--prune")
    assert made.differs(empty) == []
    assert made.export() == {**empty, "grants": made.export()["grants"]}


def test_a_section_that_is_missing_is_not_looked_at(made: Policy) -> None:
    before = made.export("--values")
    made.apply({"policy": 1, "releases": before["releases"]}, "--prune")
    assert made.export("--values") == before


def test_all_or_nothing(made: Policy) -> None:
    before = made.export("--values")
    document = made.export("--values")
    document["tables"]["public.people"]["insensitive"] = ["note"]
    document["releases"]["people"]["k"] = 1000
    del document["hierarchies"]["wards"]
    refusal = "\n".join(made.apply(document, "--prune", code=1))
    assert "error KA200" in refusal
    assert made.export("--values") == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("policy: 1\ntables: [people]", '"tables" has to be of type object'),
        ("policy: 2", '"policy" has to be 1'),
        ("tables: {}", "lacks policy"),
        ("policy: 1\nrelease: {}", "has a key that is none of: policy, tables"),
        ("policy: 1\nreleases: {a: {table: people, k: 3}, a: {table: people, k: 5}}", "twice, at line 2"),
        ("policy: 1\nreleases: {a: {table: people, k: 1}}", "releases: a: k must be at least 2"),
        ("policy: 1\nreleases: {a: {table: people, k: three}}", '"k" has to be of type integer'),
        ("policy: 1\nreleases: {a: {table: nobody, k: 3}}", 'no table or view "nobody"'),
        ("policy: 1\nprotections: {people: {k: 101}}", "protections: public.people: k must be"),
        ("policy: 1\nhierarchies: {a: {table: people, rows: 5}}", '"rows" has to be of type array'),
        ("policy: 1\nhierarchies: {a: {table: people}}", "has to have table, column and spec"),
        ("policy: 1\ntables: {people: {entity: id}, public.people: {entity: id}}", "about one table"),
        ("policy: 1\ngrants: {schema: [nobody at all]}", 'no role "nobody at all"'),
        ("policy: 1\ntables: &x\n  a: *x", "none of"),
        ("policy: 1\n\ttables: {}", "no YAML"),
        ("!!python/object/apply:os.system ['true']", "the policy"),
        ("", "the file has to be of type object"),
        ("policy: 1\nhierarchies: {a: {rows: [[secret0, 5]]}}", "has to be of type"),
    ],
)
def test_a_file_that_is_none_is_refused_without_its_values(made: Policy, text: str, says: str) -> None:
    before = made.export("--values")
    refusal = "\n".join(made.apply(text, code=1))
    assert says.lower() in refusal.lower()
    assert "secret0" not in refusal
    assert made.export("--values") == before


def test_a_file_that_is_not_there_is_refused(policy: Policy) -> None:
    assert "cannot be read" in policy.run("apply", str(policy.folder / "none.yaml"), code=1)


@pytest.fixture
def analyst(made: Policy) -> Iterator[str]:
    name = f'an "analyst"; -- {secrets.token_hex(4)}'
    quoted = sql.Identifier(name)
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("create role {}").format(quoted))
        yield name
        connection.execute(sql.SQL("drop owned by {}").format(quoted))
        connection.execute(sql.SQL("drop role {}").format(quoted))


def grants(connection: psycopg.Connection[Any], name: str) -> tuple[Any, ...]:
    row = connection.execute(
        "select has_schema_privilege(%s, 'safe', 'USAGE'), has_table_privilege(%s, 'safe.people', 'SELECT'),"
        " has_table_privilege('kanon_analyst', 'safe.people', 'SELECT')",
        [name, name],
    ).fetchone()
    assert row is not None
    return row


def test_grants_are_given_and_taken_by_prune_alone(
    made: Policy, analyst: str, connection: psycopg.Connection[Any]
) -> None:
    document = made.export()
    assert document["grants"] == {
        "schema": ["kanon_analyst"],
        "new_releases": ["kanon_analyst"],
        "releases": {"people": ["kanon_analyst"]},
    }
    document["grants"]["releases"]["people"] = [analyst]
    document["grants"]["schema"].append(analyst)
    made.apply(document)
    assert grants(connection, analyst) == (True, True, True)
    made.apply(document, "--prune")
    assert grants(connection, analyst) == (True, True, False)
    assert made.differs(document) == []
    document["grants"]["releases"]["people"] = []
    document["grants"]["schema"].remove(analyst)
    made.apply(document, "--prune")
    assert grants(connection, analyst) == (False, False, False)


def test_a_release_that_is_new_is_read_by_those_alone_who_are_named(
    made: Policy, analyst: str, connection: psycopg.Connection[Any]
) -> None:
    document = made.export()
    connection.execute("select kanon_drop('people')")
    document["grants"]["releases"]["people"] = [analyst]
    made.apply(document)
    assert grants(connection, analyst)[1:] == (True, False)


def test_a_curator_applies_all_but_grants(made: Policy, connection: psycopg.Connection[Any]) -> None:
    with role(made.dsn, "curator", "IN ROLE kanon_curator") as name:
        for table in ("people", "visits"):
            connection.execute(f"alter table {table} owner to {name}".encode())
        own = Policy(make_conninfo(made.dsn, user=name), made.folder)
        document = own.export()
        document["releases"]["people"]["k"] = 5
        own.apply(document)
        assert own.differs(document) == []
        document["grants"]["releases"]["people"] = [name]
        assert "may not grant" in "\n".join(own.apply(document, code=1))


def test_the_schema_is_json_schema_and_accepts_what_is_exported(made: Policy) -> None:
    from jsonschema import Draft202012Validator

    answer = CliRunner().invoke(app, ["policy", "schema"])
    schema = json.loads(answer.stdout)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(made.export("--values"))


def test_the_interface_from_the_client_does_the_same(made: Policy, elsewhere: Policy) -> None:
    document = client.policy(made.dsn, values=True)
    assert document == made.export("--values")
    changes = client.apply_policy(elsewhere.dsn, document, check=True)
    assert len(changes) == 8
    assert elsewhere.export()["tables"] == {}
    assert client.apply_policy(elsewhere.dsn, document, ledger_folder=str(elsewhere.folder)) == changes
    assert elsewhere.export("--values") == document
    empty = {section: {} for section in ("tables", "links", "hierarchies", "releases", "protections")}
    assert len(client.apply_policy(elsewhere.dsn, {"policy": 1, **empty}, prune=True)) == 7
    assert elsewhere.differs({"policy": 1, **empty}) == []


def test_from_the_client_it_is_all_or_nothing_and_checked(made: Policy) -> None:
    document = made.export("--values")
    changed = json.loads(json.dumps(document))
    changed["tables"]["public.people"]["insensitive"] = ["note"]
    changed["releases"]["people"]["k"] = 1000
    with pytest.raises(InfeasibleError):
        client.apply_policy(made.dsn, changed)
    with pytest.raises(InputError, match="has to be of type object"):
        client.apply_policy(made.dsn, {"policy": 1, "tables": []})
    assert made.export("--values") == document


def test_calls_in_one_transaction_are_done_together_or_not(made: Policy) -> None:
    before = made.export("--values")

    def fail_at_last() -> None:
        with client.one_transaction(made.dsn) as connection:
            client.drop(connection, "people")
            client.declare(connection, "people", quasi_identifiers=["zip"])
            client.declare(connection, "people", quasi_identifiers=["nothing"])

    with pytest.raises(InputError):
        fail_at_last()
    assert made.export("--values") == before
    with psycopg.connect(made.dsn, autocommit=True) as own, client.one_transaction(own) as connection:
        client.drop(connection, "people")
        client.anonymize(connection, "people", 3)
    client.refresh(made.dsn, "people")
    assert made.export()["releases"]["people"]["k"] == 3


def test_what_is_not_known_of_a_hierarchy_is_not_published_otherwise(
    made: Policy, elsewhere: Policy, connection: psycopg.Connection[Any]
) -> None:
    built = {"zip": {"builder": "prefix", "keep": [1]}}
    connection.execute("select kanon_anonymize('people', 4, hierarchies => %s)", [json.dumps(built)])
    document = made.export("--values")
    assert document["releases"]["people"]["hierarchies"]["zip"]["builder"] == "prefix"
    assert made.differs(document) == []
    assert "complete_by_hand" in "\n".join(elsewhere.apply(document, code=1))
    document["releases"]["people"]["hierarchies"]["zip"] = {"builder": "prefix", "keep": [1]}
    elsewhere.apply(document)
    assert elsewhere.differs(document) == []


def test_a_table_that_is_missing_is_a_difference(made: Policy, connection: psycopg.Connection[Any]) -> None:
    document = made.export()
    connection.execute("drop table visits cascade")
    found = made.differs(document)
    assert any("visits" in line for line in found)
    assert "There is no table or view" in "\n".join(made.apply(document, code=1))
    assert made.differs(document) == found
