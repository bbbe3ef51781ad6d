"""Who reaches what of a release: attacks by an analyst and by curators, and what owners do without help."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg.errors import KanonError, NotPermitted
from tests.fixtures.interfaces import ClientInterface, Interface, interface_of
from tests.fixtures.releases import everything

_numbers = count(1)


@dataclass(frozen=True)
class Logins:
    """Names of roles that can log in."""

    analyst: str
    curator: str
    owner: str
    stranger: str


@pytest.fixture
def logins(interface: Interface) -> Iterator[Logins]:
    """Create the roles; through the client's interface, curators act as kanon_owner by being its members."""
    number = next(_numbers)
    names = Logins(*(f"{role}_{number}" for role in ("analyst", "curator", "owner", "stranger")))
    curators = ", ".join(
        ["kanon_curator", *(["kanon_owner"] if isinstance(interface, ClientInterface) else [])]
    )
    run = interface.connection.execute
    run(f"create role {names.analyst} login in role kanon_analyst".encode())
    run(f"create role {names.curator} login in role {curators}".encode())
    run(f"create role {names.owner} login in role {curators}".encode())
    run(f"create role {names.stranger} login".encode())
    run(f"create schema clinic authorization {names.owner}".encode())
    run(
        b"create table clinic.patients as"
        b" select i as id, i % 4 as age, 'd' || i % 3 as diagnosis from generate_series(1, 50) as i"
    )
    run(f"alter table clinic.patients owner to {names.owner}".encode())
    yield names
    with psycopg.connect(interface.dsn, autocommit=True) as connection:
        for name in (names.analyst, names.curator, names.owner, names.stranger):
            connection.execute(f"drop owned by {name} cascade; drop role {name}".encode())


def publish(interface: Interface, login: str) -> None:
    with interface_of(login, interface) as own:
        own.declare("clinic.patients", quasi_identifiers=["age"], sensitive=["diagnosis"])
        own.anonymize("clinic.patients", 5)


def test_an_owner_needs_no_superuser_and_no_grant(interface: Interface, logins: Logins) -> None:
    publish(interface, logins.owner)
    with interface_of(logins.owner, interface) as own:
        own.refresh("patients")
        own.drop("patients")
        own.undeclare("clinic.patients")


ATTACKS = {
    "the base table": "select * from clinic.patients",
    "the storage": "select * from {storage}",
    "the mapping": "select * from {mapping}",
    "the row types": "select * from kanon.clinic_patients_row_types",
    "the records": "select * from kanon.release",
    "the releases": "select * from kanon.releases",
    "the declarations": "select * from kanon.declarations",
    "the locks": "select * from kanon.release_lock",
    "a refresh": "refresh materialized view {storage}",
    "an analysis of the storage": "analyze {storage}",
    "a lock on the storage": "begin; lock table {storage} in access share mode",
    "a lock that keeps others out": "begin; lock table safe.patients in access exclusive mode",
    "a copy of the storage": "copy {storage} to stdout",
    "the place of rows": "select ctid from safe.patients",
    "the age of rows": "select xmin from safe.patients",
    "the relation of rows": "select tableoid from safe.patients",
    "the pattern": "select kanon_pattern from safe.patients",
    "an index on the storage": "create index on {storage} (age)",
    "another view": "create or replace view safe.patients as select 1 as age",
    "another right": "grant select on {storage} to public",
    "booting": "select kanon.boot()",
    "the inner function": "select kanon.anonymize('clinic.patients', 2, null, null, 'auto', null, null, null,"
    " null, null, 30, null, null, null, null, null)",
    "publishing": "select kanon_anonymize('clinic.patients', 2)",
    "declaring": "select kanon_declare('clinic.patients')",
    "refreshing": "select kanon_refresh('patients')",
    "dropping": "select kanon_drop('patients')",
    "measuring the base table": "select kanon_measure('clinic.patients')",
    "granting": "select kanon.grant_read('clinic.patients')",
    "becoming the owner role": "set role kanon_owner",
}


@pytest.fixture
def attacked(interface: Interface, logins: Logins) -> dict[str, str]:
    publish(interface, logins.owner)
    row = interface.connection.execute("select storage::text, mapping::text from kanon.release").fetchone()
    assert row is not None
    return {"storage": row[0], "mapping": row[1]}


def test_an_analyst_reads_the_release_and_nothing_behind_it(
    interface: Interface, logins: Logins, attacked: dict[str, str]
) -> None:
    for login, may_read in ((logins.analyst, True), (logins.stranger, False)):
        with psycopg.connect(make_conninfo(interface.dsn, user=login), autocommit=True) as connection:
            if may_read:
                assert connection.execute("select count(*) from safe.patients").fetchone() == (50,)
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("select count(*) from safe.patients")
            succeeded = {
                what for what, query in ATTACKS.items() if works(connection, query.format(**attacked))
            }
            # Whoever may run queries loads the code that answers them, with their own rights.
            assert succeeded == ({"booting"} if may_read else set())


def works(connection: psycopg.Connection, query: str) -> bool:
    """Say whether a query succeeds.

    PostgreSQL locks no materialized view for anybody (WrongObjectType), and skips with a warning what
    somebody may not analyze.
    """
    refusals = (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.WrongObjectType,
    )
    skipped: list[str] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            skipped.append(notice.message_primary or "")

    connection.add_notice_handler(note)
    try:
        connection.execute(query.encode())
    except refusals:
        return False
    finally:
        connection.remove_notice_handler(note)
        connection.rollback()
    return not skipped


def test_statistics_of_the_storage_are_hidden_from_analysts(
    interface: Interface, logins: Logins, attacked: dict[str, str]
) -> None:
    with psycopg.connect(make_conninfo(interface.dsn, user=logins.analyst), autocommit=True) as connection:
        # which reader has which relation is no secret
        rows = connection.execute(
            "select * from pg_stats where schemaname in ('kanon', 'clinic') and tablename <> 'base'"
        ).fetchall()
    assert attacked
    assert rows == []


def test_a_curator_who_may_not_read_the_base_table_is_refused(interface: Interface, logins: Logins) -> None:
    interface.connection.execute(f"grant usage on schema clinic to {logins.curator}".encode())
    before = everything(interface.connection)
    with interface_of(logins.curator, interface) as other:
        for call in (lambda: other.anonymize("clinic.patients", 2), lambda: other.declare("clinic.patients")):
            with pytest.raises(NotPermitted, match=r'may not read "clinic"."patients"') as raised:
                call()
            assert raised.value.hint is not None
            assert "GRANT SELECT" in raised.value.hint
    assert everything(interface.connection) == before


def test_a_base_table_that_nobody_lends_is_refused(interface: Interface, logins: Logins) -> None:
    """The curator may read, but not pass the right on."""
    interface.connection.execute(
        f"grant usage on schema clinic to {logins.curator};"
        f" grant select on clinic.patients to {logins.curator}".encode()
    )
    with interface_of(logins.curator, interface) as other:
        with pytest.raises(NotPermitted, match="has no reader") as raised:
            other.anonymize("clinic.patients", 2)
        assert raised.value.hint
        interface.connection.execute("select kanon.grant_read('clinic.patients')")
        assert other.anonymize("clinic.patients", 2).rows == 50


def test_the_role_that_was_set_counts_and_stays(interface: Interface, logins: Logins) -> None:
    """Rights of the login do not help, and a session does not get them back by a call."""
    connection = interface.connection
    connection.execute(f"grant usage on schema clinic to {logins.curator}".encode())
    connection.execute(f"set role {logins.curator}".encode())
    with pytest.raises(NotPermitted):
        interface.anonymize("clinic.patients", 2)
    assert connection.execute("select current_user::text").fetchone() == (logins.curator,)
    connection.execute(f"set role {logins.owner}".encode())
    interface.anonymize("clinic.patients", 2)
    assert connection.execute("select current_user::text").fetchone() == (logins.owner,)
    connection.execute("reset role")
    publisher = connection.execute("select published_by from kanon.releases").fetchone()
    assert publisher == (logins.owner,)


def test_rights_of_some_columns_suffice_only_if_they_are_all(interface: Interface, logins: Logins) -> None:
    publish(interface, logins.owner)
    interface.connection.execute(
        f"grant usage on schema clinic to {logins.curator};"
        f" grant select (age, diagnosis) on clinic.patients to {logins.curator}".encode()
    )
    if isinstance(interface, ClientInterface):
        # members of the owner role have what was granted to it
        interface.connection.execute(f"revoke kanon_owner from {logins.curator}".encode())
    with interface_of(logins.curator, interface) as other, pytest.raises(KanonError) as raised:
        other.anonymize("clinic.patients", 2)
    assert isinstance(raised.value, NotPermitted)


def test_a_definer_function_has_its_owners_rights_and_not_its_callers(
    interface: Interface, logins: Logins
) -> None:
    """As everywhere in PostgreSQL; what the login may do counts for nothing inside."""
    interface.connection.execute(
        f"grant create on schema public to {logins.owner}, {logins.curator};"
        f" grant usage on schema clinic to {logins.curator}".encode()
    )
    for login in (logins.owner, logins.curator):
        with psycopg.connect(make_conninfo(interface.dsn, user=login), autocommit=True) as connection:
            connection.execute(
                f"create function public.publish_as_{login}() returns bigint language sql security definer"
                " begin atomic select (kanon_anonymize('clinic.patients', 2)).rows; end".encode()
            )
    if isinstance(interface, ClientInterface):
        # a member of the owner role has what was granted to it
        interface.connection.execute(f"revoke kanon_owner from {logins.curator}".encode())
    with psycopg.connect(make_conninfo(interface.dsn, user=logins.stranger), autocommit=True) as connection:
        query = f"select public.publish_as_{logins.owner}()"
        assert connection.execute(query.encode()).fetchone() == (50,)
    with psycopg.connect(make_conninfo(interface.dsn, user=logins.owner), autocommit=True) as connection:
        connection.execute("select kanon_drop('patients')")
        with pytest.raises(psycopg.Error, match=f'"{logins.curator}" may not read'):
            connection.execute(f"select public.publish_as_{logins.curator}()".encode())


@pytest.mark.only_through("client")  # the server's functions act as the owner role by themselves
def test_a_curator_who_is_no_member_of_the_owner_role_is_told_so_by_the_client(
    interface: Interface, logins: Logins
) -> None:
    interface.connection.execute(f"revoke kanon_owner from {logins.owner}".encode())
    with (
        interface_of(logins.owner, interface) as own,
        pytest.raises(NotPermitted, match="kanon_owner") as raised,
    ):
        own.anonymize("clinic.patients", 2)
    assert raised.value.hint is not None
    assert "members of kanon_owner" in raised.value.hint
    assert "GRANT" not in raised.value.hint


def test_analysts_do_not_read_what_a_release_has_of_hierarchies(interface: Interface, logins: Logins) -> None:
    with interface_of(logins.owner, interface) as own:
        own.declare("clinic.patients", quasi_identifiers=["age"], sensitive=["diagnosis"])
        own.anonymize(
            "clinic.patients", 5, hierarchies={"age": {"builder": "intervals", "width": 2, "lowest": 1}}
        )
    with psycopg.connect(make_conninfo(interface.dsn, user=logins.analyst), autocommit=True) as connection:
        ages = connection.execute("select distinct age::text from safe.patients order by 1").fetchall()
        assert ages == [("[0,2)",), ("[2,4)",)]
        for closed in ("patients_v1_nodes_1", "patients_v1_unknown", "hierarchy", "hierarchy_value"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"select * from kanon.{closed}".encode())


def test_a_curator_publishes_by_no_hierarchy_that_is_not_shared(interface: Interface, logins: Logins) -> None:
    rows = [[str(age), f"from {age // 2 * 2}"] for age in range(4)]
    define = "select kanon_hierarchy_define('ages', %s::jsonb, %s::jsonb)"
    interface.connection.execute(f"grant usage on schema clinic to {logins.curator}".encode())
    interface.connection.execute(f"grant select on clinic.patients to {logins.curator}".encode())
    interface.connection.execute("select kanon.grant_read('clinic.patients')")
    for options in ({}, {"shared": True}):
        with psycopg.connect(make_conninfo(interface.dsn, user=logins.owner), autocommit=True) as connection:
            connection.execute(define, [json.dumps(rows), json.dumps(options)])
        with interface_of(logins.curator, interface) as other:
            asked = {"quasi_identifiers": ["age"], "hierarchies": {"age": "ages"}, "release": "other"}
            if options:
                assert other.anonymize("clinic.patients", 5, **asked).rows == 50
            else:
                with pytest.raises(NotPermitted, match="belongs to another role"):
                    other.anonymize("clinic.patients", 5, **asked)
