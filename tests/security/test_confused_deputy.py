"""Nobody gets at a table through the functions that have a role's rights.

The attacker is a curator who owns a schema and may read nothing of the victim's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg.cli.interfaces import ServerInterface
from kanon_pg.errors import NotPermitted
from tests.fixtures.interfaces import ClientInterface, Interface, interface_of

_numbers = count(1)


@dataclass(frozen=True)
class Cast:
    """Names of roles that can log in."""

    victim: str
    attacker: str


@pytest.fixture
def cast(interface: Interface) -> Iterator[Cast]:
    """Create the roles, the victim's table, published once, and the attacker's schema."""
    number = next(_numbers)
    names = Cast(f"victim_{number}", f"attacker_{number}")
    run = interface.connection.execute
    more = ", kanon_owner" if isinstance(interface, ClientInterface) else ""
    run(
        f"""
        create role {names.victim} login in role kanon_curator{more};
        create role {names.attacker} login in role kanon_curator;
        create schema clinic authorization {names.victim};
        grant usage on schema clinic to public;
        create schema trap authorization {names.attacker};
        create table clinic.patients as
            select i as id, 'Name ' || i as name, i % 4 as age from generate_series(1, 50) as i;
        alter table clinic.patients owner to {names.victim};
        """.encode()
    )
    with interface_of(names.victim, interface) as own:
        own.anonymize("clinic.patients", 5, quasi_identifiers=["age"], release="victims")
    with psycopg.connect(make_conninfo(interface.dsn, user=names.attacker), autocommit=True) as connection:
        connection.execute(
            """
            create table trap.loot (who text, what text);
            grant insert on trap.loot to public;
            grant usage on schema trap to public;
            create function trap.take(i integer) returns integer language plpgsql as $$ begin
                insert into trap.loot select current_user, name from clinic.patients;
                return i;
            exception when insufficient_privilege then return i;
            end $$;
            create function trap.run(i integer) returns integer language plpgsql immutable as
                'begin return trap.take(i); end'
            """
        )
    yield names
    with psycopg.connect(interface.dsn, autocommit=True) as connection:
        for name in (names.attacker, names.victim):
            connection.execute(f"drop owned by {name} cascade; drop role {name}".encode())


def test_functions_of_a_superuser_may_be_part_of_a_view(interface: Interface) -> None:
    run = interface.connection.execute
    run("create function public.decade(i integer) returns integer language sql immutable return i / 10")
    run("create view public.decades as select public.decade(i) as d from generate_series(1, 29) as i")
    assert interface.anonymize("decades", 5).rows == 29


TRAPS = {
    "reindex": ("create index on trap.bait (trap.hidden(one))", "reindex table trap.bait"),
    "refresh": (
        "create view trap.hiding as select trap.hidden(1) as one;"
        " create materialized view trap.stored as select * from trap.hiding with no data",
        "refresh materialized view trap.stored",
    ),
    "definer function": (
        "create function trap.harmless() returns void language sql security definer"
        " as 'select trap.hidden(1)'",
        "select trap.harmless()",
    ),
}


@pytest.mark.parametrize(("prepare", "maintain"), TRAPS.values(), ids=TRAPS)
def test_code_that_a_superuser_runs_with_its_owners_rights_has_no_more_of_them(
    interface: Interface, cast: Cast, prepare: str, maintain: str
) -> None:
    """The login is a superuser, but the code is the attacker's, and so are its rights."""
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        connection.execute(
            """
            create table trap.bait as select 1 as one;
            create table trap.tried (sqlstate text);
            create function trap.publish() returns void language plpgsql as $$ begin
                perform public.kanon_anonymize('clinic.patients', 2, quasi_identifiers => '{age}',
                    sensitive => '{name}', release => 'stolen');
            exception when others then insert into trap.tried values (sqlstate);
            end $$;
            create function trap.hidden(i integer) returns integer language plpgsql immutable as $$ begin
                if current_user <> session_user then perform trap.publish(); end if;
                return i;
            end $$
            """
        )
        connection.execute(prepare.encode())
    interface.connection.execute(maintain.encode())
    assert interface.connection.execute("select distinct sqlstate from trap.tried").fetchall() == [
        (NotPermitted.sqlstate,)
    ]
    assert interface.connection.execute("select release from kanon.releases").fetchall() == [("victims",)]


def test_an_inner_function_serves_nobody_who_did_not_come_through_the_outer_one(
    interface: Interface, cast: Cast
) -> None:
    inner = {
        "kanon.anonymize('clinic.patients', 2, null, null, 'auto', null, null, null, null, null, 30,"
        " null, null, null, null, null)",
        "kanon.declare('clinic.patients', '{}', '{}', '{}', '{}', null, null)",
        "kanon.undeclare('clinic.patients')",
    }
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        for call in inner:
            with pytest.raises(psycopg.Error, match="called directly"):
                connection.execute(f"select {call}".encode())
        for forged in (
            "(operation, role) values ('anonymize', 'postgres')",
            "(operation, number) overriding system value values ('anonymize', 1)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"insert into kanon.request {forged}".encode())
        for operation in ("anonymize", "declare"):
            connection.execute(f"insert into kanon.request (operation) values ('{operation}')".encode())
    # what was left behind is good for no other transaction
    with interface_of(cast.victim, interface) as own, pytest.raises(psycopg.Error, match="called directly"):
        own.connection.execute("select kanon.undeclare('clinic.patients')")


@pytest.mark.only_through("server")
def test_commands_call_no_function_of_somebody_else(interface: Interface, cast: Cast) -> None:
    """A schema that is named as a role is searched first for that role."""
    run = interface.connection.execute
    run(f"create schema {cast.victim} authorization {cast.attacker}".encode())
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        connection.execute(
            f"""
            grant usage on schema {cast.victim} to public;
            create function {cast.victim}.kanon_drop(release text) returns void
                language sql as 'insert into trap.loot values (current_user, release)';
            comment on function {cast.victim}.kanon_drop is E'Drops.\nExample: none.'
            """.encode()
        )
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.victim)) as connection:
        ServerInterface(connection).run("kanon_drop", "victims")
    assert run("select * from trap.loot").fetchall() == []
    assert run("select release from kanon.releases").fetchall() == []


def test_no_function_of_the_search_path_counts_people(interface: Interface, cast: Cast) -> None:
    """What fits better than PostgreSQL's own, which take any type, would run as who publishes."""
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        for kind in ("bigint", "integer", "text"):
            connection.execute(
                f"""
                create function trap.counted(so_far bigint, one {kind}) returns bigint
                    language plpgsql as $$ begin
                    insert into trap.loot values (current_user, one);
                    return coalesce(so_far, 0) + 1000;
                end $$;
                create aggregate trap.count({kind}) (sfunc = trap.counted, stype = bigint);
                create function trap.same(one {kind}[], other {kind}[]) returns boolean
                    language plpgsql as $$ begin
                    insert into trap.loot values (current_user, one::text);
                    return true;
                end $$;
                create operator trap.= (leftarg = {kind}[], rightarg = {kind}[], function = trap.same)
                """.encode()
            )
    with interface_of(cast.victim, interface) as own:
        own.connection.execute("set search_path = trap, clinic, public")
        own.declare("patients", quasi_identifiers=["age"], sensitive=["name"], entity="id")
        assert own.anonymize("patients", 5, release="victims").people == 50
        assert own.measure("patients").people == 50
        own.refresh("victims")
        assert own.connection.execute("show search_path").fetchone() == ("trap, clinic, public",)
    assert interface.connection.execute("select * from trap.loot").fetchall() == []
