"""Who owns what, and acts as whom: the tables of docs/privileges.md are true of an installed database."""

import re
from pathlib import Path
from typing import Any

import psycopg

_PAGE = (Path(__file__).parents[2] / "docs" / "privileges.md").read_text(encoding="utf-8")
_DEFINERS = """
    select n.nspname || '.' || p.proname as name, pg_get_userbyid(p.proowner) as owner
    from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema')
"""
_INVOKERS = """
    select n.nspname || '.' || p.proname as name, pg_get_userbyid(p.proowner) as owner
    from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where not p.prosecdef and (n.nspname in ('kanon', 'kanon_bases', 'safe') or p.proname like 'kanon\\_%')
"""


def _documented() -> dict[str, str]:
    section = _PAGE.partition("## Functions with their owner's rights")[2].partition("\n## ")[0]
    found = {}
    for row in re.findall(r"^\| (`kanon.*?) \| `(\w+)`", section, re.MULTILINE):
        for name in re.findall(r"`([\w.]+)`", row[0]):
            found[name] = row[1]
    return found


def _first(name: str) -> str:
    """Let the first reader stand for all."""
    return re.sub(r"_\d+$", "_1", name)


def test_every_definer_function_is_named_with_its_role(connection: psycopg.Connection[Any]) -> None:
    found = {(_first(name), _first(owner)) for name, owner in connection.execute(_DEFINERS)}
    assert found == set(_documented().items())


def test_nothing_acts_as_who_owns_what_people_call(connection: psycopg.Connection[Any]) -> None:
    callers = {owner for _, owner in connection.execute(_INVOKERS)}
    actors = {owner for _, owner in connection.execute(_DEFINERS)}
    assert len(callers) == 1
    assert not callers & actors


def test_nobody_adds_code_to_what_others_write(connection: psycopg.Connection[Any]) -> None:
    """Triggers, defaults and views run with the rights of whoever calls: these belong to who installed."""
    changeable = connection.execute(
        "select c.oid::regclass::text, r.rolname from pg_class as c, pg_roles as r"
        " where c.relnamespace = 'kanon'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')"
        " and not r.rolsuper and (pg_has_role(r.oid, c.relowner, 'MEMBER')"
        " or has_table_privilege(r.oid, c.oid, 'TRIGGER, REFERENCES'))"
    ).fetchall()
    assert changeable == []


def test_readers_own_and_may_nothing_else(connection: psycopg.Connection[Any]) -> None:
    """No member, no login; of relations none but the own ones, until one is given."""
    roles = connection.execute(
        "select rolname, rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls"
        " or rolreplication,"
        " exists (select from pg_auth_members where roleid = r.oid or member = r.oid)"
        " from pg_roles as r where rolname like 'kanon\\_base\\_%'"
    ).fetchall()
    assert len(roles) >= 16
    assert not [role for role in roles if role[1] or role[2]]
    owned = connection.execute(
        "select distinct d.classid::regclass::text from pg_shdepend as d"
        " join pg_roles as r on r.oid = d.refobjid"
        " where r.rolname like 'kanon\\_base\\_%' and d.deptype = 'o'"
        " and d.dbid = (select oid from pg_database where datname = current_database())"
    ).fetchall()
    assert owned == [("pg_proc",)]
    writable = connection.execute(
        "select c.oid::regclass from pg_class as c, pg_roles as r where r.rolname = 'kanon_base_1'"
        " and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace <> 'information_schema'::regnamespace"
        " and has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"
        " and c.relnamespace <> 'pg_catalog'::regnamespace"
    ).fetchall()
    assert writable == []


def test_the_owner_role_reads_no_base_relation(connection: psycopg.Connection[Any]) -> None:
    connection.execute("create table people as select i as id, i % 3 as age from generate_series(1, 30) as i")
    connection.execute("alter table people add primary key (id)")
    connection.execute("select kanon_declare('people', quasi_identifiers => '{age}', insensitive => '{id}')")
    connection.execute("select kanon_anonymize('people', 5)")
    connection.execute("""select kanon_protect('people', 5, '{"beside_releases": "allow"}')""")
    for role in ("kanon_owner", "kanon_curator", "kanon_analyst"):
        (may,) = (
            connection.execute("select has_any_column_privilege(%s, 'people', 'SELECT')", [role]).fetchone()
            or ()
        )
        assert not may, role
