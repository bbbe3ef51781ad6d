"""Nobody gets at a table through the owner role, which can read all tables that it was ever granted.

The attacker is a curator who owns a schema and may read nothing of the victim's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg.errors import NotPermitted, UnsuitableRelation
from tests.fixtures.interfaces import ClientInterface, Interface, interface_of

_numbers = count(1)

SECRET = "select 1 as one, name from clinic.patients"

BASES = {
    "a view with the reader's rights": f"create view trap.base with (security_invoker) as {SECRET}",
    "such a view below another view": f"""
        create view trap.inner_view with (security_invoker = on) as {SECRET};
        create view trap.base as select * from trap.inner_view""",
    "a function as a view's table": f"""
        create function trap.secret() returns table (one integer, name text) language sql as '{SECRET}';
        create view trap.base as select * from trap.secret()""",
    "a function in a view's column": """
        create view trap.base as select trap.run(1) as one""",
    "an operator in a view": """
        create operator trap.@@ (function = trap.run, rightarg = integer);
        create view trap.base as select operator(trap.@@) 1 as one""",
    "an aggregate in a view": """
        create function trap.step(a integer, b integer) returns integer language sql return trap.run(b);
        create aggregate trap.total(integer) (sfunc = trap.step, stype = integer);
        create view trap.base as select trap.total(i) as one from generate_series(1, 9) as i group by i""",
    "a check of a domain": """
        create domain trap.checked as numeric check (trap.run(1) = 1);
        create table trap.base (one trap.checked)""",
    "a check of a domain inside an array": """
        create domain trap.checked as numeric check (trap.run(1) = 1);
        create table trap.base (one trap.checked[])""",
    "a cast of a type": """
        create type trap.label as enum ('a', 'b');
        create function trap.spell(trap.label) returns text language sql return trap.run(1)::text;
        create cast (trap.label as text) with function trap.spell(trap.label);
        create table trap.base (one trap.label)""",
    "an index expression that looks constant": """
        create table trap.base as select i % 2 as one from generate_series(1, 9) as i;
        create index on trap.base ((one + trap.run(1)))""",
    "a partition's index": """
        create table trap.base (one integer) partition by list (one);
        create table trap.part partition of trap.base for values in (1);
        create index on trap.part (one) where trap.run(1) = 1""",
    "a check constraint": """
        create table trap.base (one integer check (one = trap.run(1)))""",
    "a policy below a view": """
        create table trap.rows as select i % 2 as one from generate_series(1, 9) as i;
        alter table trap.rows enable row level security, force row level security;
        create policy everybody on trap.rows using (trap.run(1) = 1);
        create view trap.base as select * from trap.rows""",
}


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


@pytest.mark.parametrize("definition", BASES.values(), ids=BASES)
def test_no_code_of_others_runs_with_the_rights_of_the_owner_role(
    interface: Interface, cast: Cast, definition: str
) -> None:
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        connection.execute(definition.encode())
        connection.execute("grant select on trap.base to kanon_owner")
    # by the client's interface the owner role's members; what matters is whose code runs, not who calls
    role = cast.victim if isinstance(interface, ClientInterface) else cast.attacker
    interface.connection.execute(f"grant select on trap.base to {role}; truncate trap.loot".encode())
    with interface_of(role, interface) as own:
        for call in (
            lambda: own.anonymize("trap.base", 2, quasi_identifiers=["one"], sensitive=[]),
            lambda: own.declare("trap.base", quasi_identifiers=["one"]),
        ):
            with pytest.raises(UnsuitableRelation, match="kanon_owner") as raised:
                call()
            assert raised.value.hint is not None
    assert (
        interface.connection.execute("select who from trap.loot where who = 'kanon_owner'").fetchall() == []
    )


def test_a_view_that_was_exchanged_after_publishing_is_not_refreshed(
    interface: Interface, cast: Cast
) -> None:
    run = interface.connection.execute
    run("create view trap.base as select i % 2 as one from generate_series(1, 9) as i")
    run(f"alter view trap.base owner to {cast.attacker}".encode())
    interface.anonymize("trap.base", 2)
    with psycopg.connect(make_conninfo(interface.dsn, user=cast.attacker), autocommit=True) as connection:
        connection.execute("create or replace view trap.base as select trap.run(1) as one")
        connection.execute("truncate trap.loot")
    with pytest.raises(UnsuitableRelation, match=r"trap\.run"):
        interface.refresh("base")
    assert run("select * from trap.loot").fetchall() == []


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
        " null, null, null)",
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
