"""Nobody gets more through queries than they may: deputies, own objects, roles, exchanged tables."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fixtures.queries import Guarded
from tests.query.harness import Answer, Interface, Refusal
from tests.query.hospital import ADA, BEN

_numbers = count(1)

PAYROLL = "select * from hospital.payroll"
FORBIDDEN = psycopg.errors.InsufficientPrivilege.sqlstate
BESIDE_PEOPLE = "select count(*) from hospital.patients as p join {} as o on o.floor = 1"
"""A query in which the reading role reads a relation; what is not about people is read by the analyst."""


@pytest.fixture
def interface(own_hospital: Guarded) -> Interface:
    return own_hospital.interface()


@pytest.fixture
def trap(own_hospital: Guarded) -> str:
    """Give an analyst a schema of her own; return its name."""
    own_hospital.admin.execute(f"create schema trap authorization {ADA}")
    own_hospital.admin.execute("grant usage on schema trap to public")
    return "trap"


@pytest.fixture
def curator(own_hospital: Guarded) -> Iterator[str]:
    """Yield the login of a curator who may read nothing of the hospital's."""
    name = f"curator_{next(_numbers)}"
    own_hospital.admin.execute(f"create role {name} login in role kanon_curator")
    yield name
    own_hospital.sessions.close()
    own_hospital.admin.execute(f"drop owned by {name} cascade; drop role {name}")


def is_answered(interface: Interface, text: str, role: str = ADA) -> bool:
    return isinstance(interface.ask(role, text, (), 1), Answer)


def sqlstate(seen: object) -> str:
    assert isinstance(seen, Refusal)
    return seen.seen.decode().split("'")[1]


def test_maintenance_by_a_superuser_asks_with_the_rights_of_the_tables_owner(
    own_hospital: Guarded, trap: str
) -> None:
    ada = own_hospital.sessions.of(ADA, 1)
    ada.execute(
        f"""
        create table {trap}.seen (what text);
        create table {trap}.bait (one integer);
        create function {trap}.note() returns void language plpgsql as $$
        begin
            insert into {trap}.seen select q::text from public.kanon_query('{PAYROLL}') as q;
        exception when others then
            insert into {trap}.seen values (sqlstate);
        end $$;
        create function {trap}.spy(one integer) returns integer language plpgsql immutable as
            $$ begin perform {trap}.note(); return one; end $$;
        create index on {trap}.bait ({trap}.spy(one));
        insert into {trap}.bait values (1);
        truncate {trap}.seen
        """
    )
    own_hospital.admin.execute("grant select on hospital.payroll to kanon_reader")
    assert own_hospital.admin.execute("select kanon_query(%s)", [PAYROLL]).fetchall()
    own_hospital.admin.execute(f"reindex table {trap}.bait")
    assert ada.execute(f"select distinct what from {trap}.seen").fetchall() == [(FORBIDDEN,)]


def test_a_definer_function_asks_with_the_rights_of_its_owner(own_hospital: Guarded, trap: str) -> None:
    ada, admin = own_hospital.sessions.of(ADA, 1), own_hospital.admin
    admin.execute(f"grant select on hospital.payroll to {ADA}, kanon_reader")
    text = "select count(*) from hospital.payroll"
    ada.execute(
        f"create function {trap}.ask(text) returns setof jsonb security definer language sql as"
        " 'select public.kanon_query($1)'"
    )
    ben = own_hospital.sessions.of(BEN, 1)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ben.execute("select kanon_query(%s)", [text])
    assert ben.execute(f"select {trap}.ask(%s)", [text]).fetchall()


def test_a_role_that_was_switched_to_asks_with_its_own_rights(own_hospital: Guarded) -> None:
    admin = own_hospital.admin
    admin.execute("grant select on hospital.payroll to kanon_reader")
    with psycopg.connect(own_hospital.dsn, autocommit=True) as superuser:
        assert superuser.execute("select kanon_query(%s)", [PAYROLL]).fetchall()
        superuser.execute(f"set role {ADA}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            superuser.execute("select kanon_query(%s)", [PAYROLL])


@pytest.mark.parametrize("function", ["kanon.serve_query()", "kanon.hold_relations()", "kanon.keep_marks()"])
def test_inner_functions_serve_nobody_who_calls_them(
    function: str, interface: Interface, curator: str
) -> None:
    assert interface.in_session is not None
    for role in (ADA, curator):
        # in a fresh session there is not even the package
        assert isinstance(interface.in_session(role, f"select {function}", (), 1), Refusal)
        kept = interface.in_session(
            role, "select kanon_query('select count(*) from hospital.patients')", (), 1
        )
        assert isinstance(kept, Answer)
        assert sqlstate(interface.in_session(role, f"select {function}", (), 1)) == "KA102"


def test_types_of_the_caller_are_converted_to_with_the_callers_rights(
    own_hospital: Guarded, trap: str
) -> None:
    ada = own_hospital.sessions.of(ADA, 1)
    ada.execute(
        f"""
        create table {trap}.who (name text);
        grant insert on {trap}.who to public;
        create function {trap}.note(text) returns boolean language plpgsql as
            $$ begin insert into {trap}.who values (current_user); return true; end $$;
        grant execute on function {trap}.note(text) to public;
        create domain {trap}.noted as text check ({trap}.note(value))
        """
    )
    query = (
        "select * from kanon_query_record('select sex, count(*) from hospital.patients group by sex')"
        f" as t (sex {trap}.noted, n bigint)"
    )
    with pytest.raises(psycopg.Error):
        ada.execute(query.encode())
    assert ada.execute(f"select name from {trap}.who where name <> %s", [ADA]).fetchall() == []


@pytest.mark.parametrize(
    "made",
    [
        "create table trap.own as select 1 as floor",
        "create view trap.own as select 1 as floor",
        "create materialized view trap.own as select 1 as floor",
        "create table trap.own (floor integer) partition by list (floor)",
    ],
)
def test_a_relation_of_the_analysts_own_is_not_read_for_them(
    made: str, own_hospital: Guarded, trap: str, interface: Interface
) -> None:
    ada = own_hospital.sessions.of(ADA, 1)
    ada.execute(made.encode())
    ada.execute(f"grant usage on schema {trap} to kanon_reader; grant select on trap.own to kanon_reader")
    assert is_answered(interface, "select floor, count(*) from trap.own group by floor")
    seen = interface.ask(ADA, BESIDE_PEOPLE.format("trap.own"), (), 1)
    assert isinstance(seen, Refusal)
    assert b"could exchange it" in seen.seen


@pytest.mark.parametrize(
    "made",
    [
        # the schema's owner can drop what is in it
        "create table trap.ours as select 1 as floor; grant select on trap.ours to public",
        # what a trusted view reads can be exchanged below it
        "set role query_ada; create table trap.below as select 1 as floor; reset role;"
        " create view hospital.ours as select * from trap.below; grant select on hospital.ours to public",
        # rows of a child are rows of its parent
        "create table hospital.ours (floor integer); grant select on hospital.ours to public;"
        " set role query_ada; create table trap.child (floor integer); reset role;"
        " alter table trap.child inherit hospital.ours",
    ],
)
def test_what_depends_on_somebody_untrusted_is_not_asked(
    made: str, own_hospital: Guarded, trap: str, interface: Interface
) -> None:
    own_hospital.admin.execute(made.encode())
    schema = trap if "trap.ours" in made else "hospital"
    own_hospital.admin.execute(f"grant usage on schema {schema} to kanon_reader")
    seen = interface.ask(ADA, BESIDE_PEOPLE.format(f"{schema}.ours"), (), 1)
    assert isinstance(seen, Refusal)
    assert b"could exchange it" in seen.seen


@pytest.mark.parametrize(
    "made",
    [
        "create view hospital.ours as select ward from hospital.patients",
        "create materialized view hospital.ours as select ward from hospital.patients",
        "create view hospital.inner_one as select ward from hospital.stays;"
        " create view hospital.ours as select ward from hospital.inner_one union all select 'x'",
        "create table hospital.ours (ward text); create table hospital.part () inherits (hospital.ours);"
        " select kanon_declare('hospital.part', sensitive => '{ward}')",
        "create view hospital.ours as select 1 as ward from hospital.patients",
        "create view hospital.ours as select 'x' as ward where exists (select from hospital.patients)",
    ],
)
def test_protection_follows_what_is_read(made: str, own_hospital: Guarded, interface: Interface) -> None:
    own_hospital.admin.execute(made.encode())
    own_hospital.admin.execute(f"grant select on hospital.ours to {ADA}, kanon_reader")
    seen = interface.ask(ADA, "select ward, count(*) from ours group by ward", (), 1)
    assert isinstance(seen, Refusal)
    assert b"reads tables of people" in seen.seen


def test_a_release_is_public(own_hospital: Guarded, interface: Interface) -> None:
    own_hospital.admin.execute(
        "select kanon_anonymize('hospital.patients', 5, '{sex,zip}', sensitive => '{ward}')"
    )
    own_hospital.admin.execute("create view hospital.ours as select sex, ward from safe.patients")
    own_hospital.admin.execute(f"grant select on hospital.ours to {ADA}, kanon_reader")
    assert is_answered(interface, "select sex, count(*) from safe.patients group by sex")
    assert is_answered(interface, "select sex, ward from ours")


@pytest.mark.parametrize(
    "made",
    [
        "create view hospital.ours as select 1 as floor where hospital.yes()",
        "create materialized view hospital.ours as select 1 as floor where hospital.yes()",
        "create view hospital.inner_one as select 1 as floor where hospital.yes();"
        " create view hospital.ours as select * from hospital.inner_one",
        "create table hospital.ours (floor integer); alter table hospital.ours enable row level security;"
        " create policy p on hospital.ours using (true)",
        "create view hospital.ours with (security_invoker) as select 1 as floor",
    ],
)
def test_what_may_run_code_is_not_asked(made: str, own_hospital: Guarded, interface: Interface) -> None:
    own_hospital.admin.execute("create function hospital.yes() returns boolean language sql as 'select true'")
    own_hospital.admin.execute(made.encode())
    own_hospital.admin.execute(f"grant select on hospital.ours to {ADA}, kanon_reader")
    seen = interface.ask(ADA, BESIDE_PEOPLE.format("ours"), (), 1)
    assert isinstance(seen, Refusal)
    assert b"Q109" in seen.seen
    assert b"code of others" in seen.seen


@pytest.mark.parametrize("table", ["wards", "patients"])
def test_a_relation_cannot_be_exchanged_while_a_query_may_read_it(table: str, own_hospital: Guarded) -> None:
    ada, admin = own_hospital.sessions.of(ADA, 1), own_hospital.admin
    with ada.transaction():
        ada.execute("select kanon_check_query(%s)", [f"select count(*) from {table}"])
        admin.execute("set lock_timeout = '100ms'")
        for change in ("rename to elsewhere", "owner to kanon_owner", "drop column ward cascade"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                admin.execute(f"alter table hospital.{table} {change}")
    admin.execute(f"alter table hospital.{table} rename to elsewhere")


def test_a_view_and_what_it_reads_cannot_be_exchanged_either(own_hospital: Guarded) -> None:
    ada, admin = own_hospital.sessions.of(ADA, 1), own_hospital.admin
    with ada.transaction():
        ada.execute("select kanon_check_query('select count(*) from stays')")
        admin.execute("set lock_timeout = '100ms'")
        for change in (
            "create or replace view hospital.stays as"
            " select patient_id, ward, birth_date, zip, cost, 1 as days from hospital.patients",
            "alter table hospital.patients rename to elsewhere",
        ):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                admin.execute(change.encode())


def test_a_query_leaves_nothing_in_a_read_only_transaction(own_hospital: Guarded) -> None:
    ada = own_hospital.sessions.of(ADA, 1)
    with ada.transaction():
        ada.execute("set transaction read only")
        assert ada.execute("select kanon_query('select sex, count(*) from patients group by sex')").fetchall()
        (number,) = ada.execute("select pg_current_xact_id_if_assigned()::text").fetchone()  # type: ignore[misc]
        assert number is None


def test_what_a_query_reads_does_not_show_in_the_statistics(own_hospital: Guarded) -> None:
    own_hospital.admin.execute("create index on hospital.patients (birth_date)")
    counted = (
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables"
        " where relid = 'hospital.patients'::regclass"
    )
    ada = own_hospital.sessions.of(ADA, 1)
    for text in (
        "select ward from patients where birth_date = date ''1957-05-09''",
        "select sex, count(*) from patients group by sex",
    ):
        with ada.transaction():
            with pytest.raises(psycopg.Error), ada.transaction():
                ada.execute(f"select kanon_query('{text}'), 1 / 0".encode())
            assert ada.execute(counted).fetchone() in {None, (0,)}


def test_a_curator_cannot_protect_what_they_may_not_read(own_hospital: Guarded, curator: str) -> None:
    dsn = make_conninfo(own_hospital.dsn, user=curator)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for call in ("kanon_protect('hospital.payroll', 5)", "kanon_unprotect('hospital.patients')"):
            with pytest.raises(psycopg.Error) as found:
                connection.execute(f"select {call}")
            assert found.value.sqlstate in {"KA102", "42501"}


def test_an_owner_who_is_curator_lends_what_queries_need_and_no_more(
    own_hospital: Guarded, curator: str
) -> None:
    admin = own_hospital.admin
    admin.execute(f"create schema clinic authorization {curator}")
    rights = (
        "select count(*) filter (where has_table_privilege(r.oid, 'clinic.people', 'SELECT')),"
        " count(*) filter (where has_table_privilege(r.oid, 'clinic.people', 'INSERT, UPDATE, DELETE'))"
        " from pg_roles as r where r.rolname ~ '^kanon_base_'"
    )
    dsn: Any = make_conninfo(own_hospital.dsn, user=curator)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create table clinic.people as select i as age from generate_series(1, 30) as i")
        connection.execute("alter table clinic.people add primary key (age)")
        assert admin.execute(rights).fetchone() == (0, 0)
        connection.execute("select kanon_declare('clinic.people', quasi_identifiers => '{age}')")
        connection.execute("select kanon_protect('clinic.people', 5)")
    # one reads the table for releases, another one for queries
    assert admin.execute(rights).fetchone() == (2, 0)
    assert is_answered(own_hospital.interface(), "select count(*) from clinic.people")


def test_rows_whose_person_is_unknown_are_no_answer_about_nobody(own_hospital: Guarded) -> None:
    own_hospital.admin.execute(
        "create table hospital.found (id integer primary key, person integer, zip text, cost integer);"
        "insert into hospital.found select i, case when i > 9 then i end,"
        " case when i > 9 then 'a' else 'b' end, i from generate_series(1, 90) as i;"
        "select kanon_declare('hospital.found', quasi_identifiers => '{zip}', sensitive => '{cost}',"
        " entity => 'person'); select kanon_protect('hospital.found', 5)"
    )
    ada = own_hospital.sessions.of(ADA, 1)
    found = {
        name: ada.execute(
            f"select kanon_query('select count(*), sum(cost) from found where {condition}')".encode()
        ).fetchall()
        for name, condition in {"unknown": "zip = ''b''", "none": "zip = ''c''"}.items()
    }
    assert found == {"unknown": [], "none": [({"count": 0, "sum": None},)]}
