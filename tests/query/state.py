"""What an attack could leave behind: in the database, in the server, in the session, in files."""

from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

MARK = Path("/tmp/kanon-attack")
"""Where attacks that write files write them."""

_OWN = ("kanon", "pg_catalog", "information_schema", "pg_toast")
"""Schemas that change while queries run, or that show up in the lists below."""

_LISTS = {
    "relations": "select oid, relname, relnamespace, relkind, relowner, relacl::text, relpersistence,"
    " relrowsecurity, reloptions from pg_class where relnamespace <> 'pg_toast'::regnamespace",
    "functions": "select oid, proname, proowner, proacl::text, prosrc from pg_proc",
    "types": "select oid, typname from pg_type",
    "operators": "select oid, oprname from pg_operator",
    "casts": "select oid, castsource, casttarget from pg_cast",
    "collations": "select oid, collname from pg_collation",
    "schemas": "select oid, nspname, nspowner, nspacl::text from pg_namespace where"
    " nspname !~ '^pg_(toast_)?temp'",
    "rules": "select oid, rulename from pg_rewrite",
    "triggers": "select oid, tgname from pg_trigger",
    "policies": "select oid, polname from pg_policy",
    "roles": "select rolname, rolsuper, rolpassword from pg_authid",
    "memberships": "select roleid, member from pg_auth_members",
    "settings of databases and roles": "select setdatabase, setrole, setconfig::text from pg_db_role_setting",
    "settings of the server": "select name, reset_val from pg_settings where source in"
    " ('configuration file', 'database', 'user')",
    "default rights": "select defaclrole, defaclacl::text from pg_default_acl",
    "large objects": "select oid from pg_largeobject_metadata",
    "foreign servers": "select srvname from pg_foreign_server",
    "publications": "select pubname from pg_publication",
    "extensions": "select extname, extversion from pg_extension",
    "extended statistics": "select stxname from pg_statistic_ext",
    "prepared transactions": "select gid from pg_prepared_xacts",
    "advisory locks": "select classid, objid, mode from pg_locks where locktype = 'advisory'",
    "comments": "select objoid, classoid, description from pg_description where objoid >= 16384",
    "security labels": "select objoid, label from pg_seclabels",
}

_SESSION = {
    "prepared statements": "select name from pg_prepared_statements where from_sql",
    "cursors": "select name from pg_cursors where name <> ''",
    "channels": "select pg_listening_channels()",
    "temporary objects": "select relname from pg_class where relnamespace = pg_my_temp_schema()",
    "settings": "select name, setting from pg_settings where context in ('user', 'superuser')"
    " and name not in ('application_name', 'transaction_isolation', 'transaction_read_only',"
    " 'transaction_deferrable')",
    "role": "select current_user, session_user",
}


def of_database(admin: psycopg.Connection[Any]) -> dict[str, str]:
    """Return everything that must be the same after an attack, as a digest for each subject.

    Parameters
    ----------
    admin : psycopg.Connection
        Of a superuser, outside any transaction.

    Returns
    -------
    dict of str to str
        Subject to digest; `changes` compares two of them.
    """
    state = {subject: _digest(admin, sql.SQL(query)) for subject, query in _LISTS.items()}  # type: ignore[arg-type]
    relations = admin.execute(
        "select n.nspname, c.relname, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where c.relkind in ('r', 'S', 'm') and not n.nspname = any (%s) and n.nspname !~ '^pg_'",
        [list(_OWN)],
    ).fetchall()
    for schema, name, kind in relations:
        columns = sql.SQL("last_value, is_called") if kind == "S" else sql.SQL("*")
        query = sql.SQL("select {} from {}").format(columns, sql.Identifier(schema, name))
        state[f"content of {schema}.{name}"] = _digest(admin, query)
    state["files"] = str(MARK.exists())
    return state


def of_session(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Return what a session remembers, as a digest for each subject."""
    return {subject: _digest(connection, sql.SQL(query)) for subject, query in _SESSION.items()}  # type: ignore[arg-type]


def _digest(connection: psycopg.Connection[Any], query: sql.Composable) -> str:
    statement = sql.SQL(
        "select pg_catalog.md5(coalesce(string_agg(line, E'\\n' order by line), ''))"
        " from (select pg_catalog.md5(q::text) as line from ({}) as q) as lines"
    ).format(query)
    row = connection.execute(statement).fetchone()
    if row is None:
        raise AssertionError("an aggregate has one row")
    return str(row[0])


def changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the subjects that differ."""
    return sorted(
        subject for subject in before.keys() | after.keys() if before.get(subject) != after.get(subject)
    )
