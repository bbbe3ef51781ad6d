"""What may be the base of a release: every relation that has rows of its own or of others."""

from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, NotPermitted, ReleaseError, UnsuitableRelation
from kanon_pg.relations import counting
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import people_by_class, published

_ROWS = "select i as id, i % 4 as a, 'x' || i % 3 as b from generate_series(1, 40) as i"

BASES = {
    "view": f"create view base as {_ROWS}",
    "view over a view": f"create view below as {_ROWS}; create view base as select * from below where id > 0",
    "materialized view": f"create materialized view base as {_ROWS}",
    "partitioned table": "create table base (id integer, a integer, b text) partition by list (a);"
    " create table base_0 partition of base for values in (0, 1);"
    " create table base_1 (b text, gone integer, a integer, id integer);"
    " alter table base_1 drop column gone; alter table base attach partition base_1 default;"
    f" insert into base {_ROWS}",
    "inherited table": "create table base (id integer, a integer, b text);"
    f" create table child (more text) inherits (base); insert into base {_ROWS} offset 20;"
    f" insert into child (id, a, b) {_ROWS} limit 20",
    "unlogged table": f"create unlogged table base as {_ROWS}",
    "table with dropped columns": "create table base (gone text, id integer, lost date, a integer, b text);"
    f" alter table base drop column gone; alter table base drop column lost; insert into base {_ROWS}",
    "table with generated columns": "create table base (id integer, a integer, a_too integer generated always"
    " as (a) stored, b text generated always as ('x' || a % 3) stored);"
    " insert into base (id, a) select i, i % 4 from generate_series(1, 40) as i",
}


@pytest.mark.parametrize("definition", BASES.values(), ids=BASES)
def test_a_release_of_a(interface: Interface, definition: str) -> None:
    interface.connection.execute(definition.encode())
    check_release(interface)


@pytest.fixture
def loopback(interface: Interface) -> None:
    """Make a server for foreign tables that is this database, without any user mapping."""
    connection = interface.connection
    here = conninfo_to_dict(interface.dsn)
    connection.execute(f"create schema remote; create table remote.base as {_ROWS}".encode())
    connection.execute("create extension postgres_fdw")
    connection.execute(
        f"create server itself foreign data wrapper postgres_fdw options"
        f" (host '{here['host']}', port '{here['port']}', dbname '{here['dbname']}')".encode()
    )


def test_a_release_of_a_foreign_table(interface: Interface, loopback: None) -> None:
    interface.connection.execute(
        "create user mapping for public server itself options (user 'postgres', password_required 'false')"
    )
    interface.connection.execute(
        "import foreign schema remote limit to (base) from server itself into public"
    )
    check_release(interface)


def test_a_foreign_table_needs_a_user_mapping_with_a_password(interface: Interface, loopback: None) -> None:
    connection = interface.connection
    connection.execute("create table base (id integer, a integer, b text) partition by list (a)")
    connection.execute(
        "create foreign table base_all partition of base default server itself"
        " options (schema_name 'remote', table_name 'base')"
    )
    with pytest.raises(NotPermitted, match="has no user mapping for its server") as without:
        interface.declare("base", quasi_identifiers=["a", "b"])
    hint = without.value.hint or ""
    role = hint.split()[4]
    assert role.startswith("kanon_base_")
    assert hint.startswith(f'CREATE USER MAPPING FOR {role} SERVER "itself" OPTIONS')
    connection.execute(f"create user mapping for {role} server itself options (user 'postgres')".encode())
    with pytest.raises(DatabaseError, match="reached without a password") as open_to_all:
        interface.anonymize("base", 5, quasi_identifiers=["a", "b"])
    assert "password_required 'false'" in (open_to_all.value.hint or "")
    connection.execute(
        f"alter user mapping for {role} server itself options (add password_required 'false')".encode()
    )
    assert interface.anonymize("base", 5, quasi_identifiers=["a", "b"]).rows == 40


@pytest.fixture
def shards(interface: Interface, loopback: None) -> None:
    """Make a table whose partitions lie on another server; a third is here."""
    connection = interface.connection
    connection.execute(
        "create user mapping for public server itself"
        " options (user 'postgres', password_required 'false');"
        "create user mapping for current_user server itself options (user 'postgres');"
        "create table base (id integer, a integer, b text) partition by list (id)"
    )
    for number in (1, 2):
        connection.execute(
            f"create table remote.shard_{number} as select 100 * {number} + id as id, a, b from remote.base;"
            f"create foreign table shard_{number} partition of base for values in ({1000 + number})"
            f" server itself options (schema_name 'remote', table_name 'shard_{number}')".encode()
        )
    connection.execute("create table here partition of base default")
    connection.execute(f"insert into base {_ROWS}".encode())


@pytest.mark.parametrize(("declared", "people"), [({}, 120), ({"entity": "id"}, 40)])
def test_partitions_on_other_servers_are_grouped_there(
    interface: Interface, shards: None, declared: dict[str, str], people: int
) -> None:
    """If ids name people, each person has a row on either server and one here."""
    connection = interface.connection
    connection.execute("update remote.shard_1 set id = id - 100; update remote.shard_2 set id = id - 200")
    interface.declare("base", quasi_identifiers=["a", "b"], **declared)
    report = interface.anonymize("base", 5)
    assert (report.rows, report.people) == (120, people)
    connection.execute("create table whole as table base")
    interface.declare("whole", quasi_identifiers=["a", "b"], **declared)
    whole = interface.anonymize("whole", 5)
    assert (report.row_types, report.weighted_cost, report.lower_bound) == (
        whole.row_types,
        whole.weighted_cost,
        whole.lower_bound,
    )


@pytest.mark.parametrize("entity", [{}, {"entity": "id"}], ids=["rows", "people"])
@pytest.mark.parametrize(
    "options",
    [{"l": 2}, {"t": 0.9, "p": 2}, {"hierarchies": {"a": {"builder": "intervals", "width": 2}}}],
    ids=["diverse", "close", "generalized"],
)
def test_partitions_on_other_servers_are_released_like_one_table(
    interface: Interface, shards: None, options: dict[str, Any], entity: dict[str, str]
) -> None:
    connection = interface.connection
    connection.execute("update remote.shard_1 set id = id - 100; update remote.shard_2 set id = id - 200")
    for name in ("remote.shard_1", "remote.shard_2", "base"):
        connection.execute(f"alter table {name} add c integer".encode())
        connection.execute(f"update {name} set c = id % 3".encode())
    connection.execute("create table whole as table base")
    found = []
    for name in ("base", "whole"):
        interface.declare(name, quasi_identifiers=["a", "b"], sensitive=["c"], **entity)
        report = interface.anonymize(name, 5, **options)
        found.append((report.rows, report.people, report.row_types, report.weighted_cost, report.classes))
    assert found[0] == found[1]
    assert found[0][:2] == (120, 40 if entity else 120)


def test_a_release_over_time_of_partitions_on_other_servers(interface: Interface, shards: None) -> None:
    interface.declare("base", quasi_identifiers=["a", "b"], entity="id")
    # No key can be made over rows elsewhere.
    with pytest.raises(UnsuitableRelation, match="no primary key"):
        interface.anonymize("base", 5, over_time={})


def test_partitions_on_other_servers_are_granted_with_their_table(interface: Interface, shards: None) -> None:
    def readers() -> set[tuple[str, str]]:
        found = interface.connection.execute(
            "select r.rolname, c.relname from pg_class as c cross join pg_roles as r"
            " where r.rolname ~ '^kanon_' and has_table_privilege(r.oid, c.oid, 'select')"
            " and c.relname in ('base', 'here', 'shard_1', 'shard_2')"
            " and c.relnamespace = 'public'::regnamespace"
        ).fetchall()
        return {(role, name) for role, name in found}

    assert readers() == set()
    interface.declare("base", quasi_identifiers=["a", "b"])
    ((reader, _), *_) = granted = readers()
    assert reader.startswith("kanon_base_")
    assert granted == {(reader, name) for name in ("base", "here", "shard_1", "shard_2")}
    interface.undeclare("base")
    assert readers() == set()


@pytest.mark.only_through("client")
def test_only_row_types_come_from_other_servers(
    interface: Interface, shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: dict[str, str] = {}

    def remembered(name: str, **parts: Any) -> Statement:
        made = statement(name, **parts)
        texts[name] = made.text
        return made

    monkeypatch.setattr(counting, "statement", remembered)
    interface.anonymize("base", 5, quasi_identifiers=["a", "b"])
    plan = interface.connection.execute(f"explain (verbose) {texts['count_row_types']}".encode()).fetchall()
    scans = [line for (line,) in plan if "Remote SQL" in line]
    assert len(scans) == 2
    assert all("GROUP BY" in scan for scan in scans), scans


def check_release(interface: Interface) -> None:
    interface.declare("base", quasi_identifiers=["a", "b"], sensitive=["id"])
    report = interface.anonymize("base", 5)
    rows = published(interface.connection, "base", ["a", "b"], "id")
    assert sorted(row.carried for row in rows) == list(range(1, 41))
    assert min(people_by_class(rows).values()) == report.smallest_class >= 5
    interface.refresh("base")
    assert len(published(interface.connection, "base", ["a", "b"], "id")) == 40


def columns_of_release(interface: Interface) -> list[str]:
    rows = interface.connection.execute(
        "select attname from pg_attribute where attrelid = 'safe.base'::regclass and attnum > 0"
        " order by attnum"
    ).fetchall()
    return [name for (name,) in rows]


def test_without_a_declaration_all_but_keys_are_quasi_identifiers(interface: Interface) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.connection.execute("alter table base add primary key (id), add code text unique")
    interface.connection.execute(
        "create unique index on base (b, id); create unique index on base (a) where id < 2"
    )
    interface.anonymize("base", 2, sensitive=["b"])
    assert columns_of_release(interface) == ["a", "b", "kanon_suppressed"]


def test_a_release_with_other_columns_replaces_the_one_before_and_keeps_its_rights(
    interface: Interface,
) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.anonymize("base", 2, quasi_identifiers=["a", "b"])
    interface.connection.execute("grant select on safe.base to pg_monitor")
    interface.anonymize("base", 2, quasi_identifiers=["b"])
    interface.connection.execute("alter table base alter a type bigint")
    interface.anonymize("base", 2, quasi_identifiers=["a"])
    rights = interface.connection.execute(
        "select has_table_privilege('pg_monitor', 'safe.base', 'select'),"
        " has_table_privilege('kanon_analyst', 'safe.base', 'select')"
    ).fetchone()
    assert rights == (True, True)
    leftovers = interface.connection.execute(
        "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace and relname ~ '^base_'"
        " and relkind in ('r', 'm')"
    ).fetchone()
    assert leftovers == (2,), "one storage and one mapping"


def test_with_other_columns_the_same_roles_may_read_a_release(interface: Interface) -> None:
    execute = interface.connection.execute
    execute(f"create table base as {_ROWS}".encode())
    interface.anonymize("base", 2, quasi_identifiers=["a", "b"])
    with role(interface.dsn, "reader") as reader, role(interface.dsn, "column_reader") as column_reader:
        execute("revoke select on safe.base from kanon_analyst")
        execute(f"grant select on safe.base to {reader} with grant option".encode())
        execute(f"grant select (a), select (kanon_suppressed) on safe.base to {column_reader}".encode())
        execute("grant select (b) on safe.base to public")
        rights = (
            "select pg_catalog.array_agg(a::text order by a::text) from pg_class as c,"
            " pg_catalog.unnest(c.relacl) as a where c.oid = 'safe.base'::regclass"
        )
        before = execute(rights).fetchone()
        interface.anonymize("base", 2, quasi_identifiers=["a"])
        assert execute(rights).fetchone() == before
        on_columns = execute(
            "select attname, attacl::text from pg_attribute where attrelid = 'safe.base'::regclass"
            " and attacl is not null order by attname"
        ).fetchall()
        assert [name for name, _ in on_columns] == ["a", "kanon_suppressed"]
        assert all(acl.startswith(f"{{{column_reader}=r/") for _, acl in on_columns)


def test_everybody_who_could_read_a_release_still_can(interface: Interface) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.anonymize("base", 2, quasi_identifiers=["a", "b"])
    interface.connection.execute("grant select on safe.base to public")
    interface.anonymize("base", 2, quasi_identifiers=["a"])
    found = interface.connection.execute("select has_table_privilege('pg_monitor', 'safe.base', 'select')")
    assert found.fetchone() == (True,)


def test_what_depends_on_a_release_keeps_its_columns(interface: Interface) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.anonymize("base", 2, quasi_identifiers=["a", "b"])
    interface.connection.execute("create view report as select a from safe.base")
    interface.anonymize("base", 3, quasi_identifiers=["a", "b"])
    assert interface.connection.execute("select count(*) from report").fetchone() == (40,)


def test_what_depends_on_a_release_is_named_where_it_is_in_the_way(interface: Interface) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.anonymize("base", 2, quasi_identifiers=["a", "b"])
    interface.connection.execute(
        "create view report as select a from safe.base; create view more as table report"
    )
    interface.connection.execute("create function shown(safe.base) returns int language sql as 'select 1'")
    for hint, call in (
        ("or publish under", lambda: interface.anonymize("base", 2, quasi_identifiers=["b"])),
        ("Drop these objects first.", lambda: interface.drop("base")),
    ):
        with pytest.raises(ReleaseError, match="Other objects depend") as refusal:
            call()
        detail = str(refusal.value.detail).replace("public.", "")
        assert detail == "These do: function shown(safe.base), view report."
        assert hint in refusal.value.hint
    assert interface.connection.execute("select count(*) from report").fetchone() == (40,)


@pytest.mark.parametrize("force", ["", "; alter table base force row level security"])
def test_a_refresh_is_refused_once_row_security_would_hide_rows(interface: Interface, force: str) -> None:
    interface.connection.execute(f"create table base as {_ROWS}".encode())
    interface.declare("base", quasi_identifiers=["a", "b"], sensitive=["id"])
    interface.anonymize("base", 5)
    before = published(interface.connection, "base", ["a", "b"], "id")
    interface.connection.execute(f"alter table base enable row level security{force}".encode())
    with pytest.raises(UnsuitableRelation, match="row-level security"):
        interface.refresh("base")
    assert published(interface.connection, "base", ["a", "b"], "id") == before
    interface.connection.execute("alter table base disable row level security")
    interface.refresh("base")
