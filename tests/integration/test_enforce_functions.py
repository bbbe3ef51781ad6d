"""The functions for queries: forms of answers, sentences for bad input, constant refusals."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.client import as_reader
from kanon_pg.errors import AnswerWithheld, InputError
from kanon_pg.queries.answer import answer_query
from kanon_pg.queries.pending_query import lock_relations
from kanon_pg.queries.request import QueryRequest
from tests.fixtures.queries import WITHHELD, Guarded
from tests.fixtures.releases import everything
from tests.query.harness import Answer, Refusal
from tests.query.hospital import ADA

pytestmark = pytest.mark.slow

BY_WARD = "select ward, count(*) as n, avg(cost) as average from patients group by ward order by ward"


@pytest.fixture
def ada(shared_hospital: Guarded) -> psycopg.Connection[Any]:
    return shared_hospital.sessions.of(ADA, 1)


@pytest.fixture
def own(own_hospital: Guarded) -> psycopg.Connection[Any]:
    """Return an administrator's connection to a database that the test may change."""
    own_hospital.admin.execute("set search_path = hospital, public")
    return own_hospital.admin


def refusal(connection: psycopg.Connection[Any], query: str, *values: Any) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(query.encode(), values or None)
    return caught.value


def test_rows_are_json_objects_with_numbers_and_texts(ada: psycopg.Connection[Any]) -> None:
    (row,) = ada.execute(
        "select * from kanon_query('select sex, count(*) as n, avg(cost) as average from patients"
        " where sex = ''F'' group by sex')"
    ).fetchall()
    assert row[0].keys() == {"sex", "n", "average"}
    assert row[0]["sex"] == "F"
    assert isinstance(row[0]["n"], int)
    assert isinstance(row[0]["average"], float)


def test_a_name_that_repeats_gets_a_number(ada: psycopg.Connection[Any]) -> None:
    (row,) = ada.execute(
        "select * from kanon_query('select count(*) as n, sum(cost) as n from patients')"
    ).fetchall()
    assert row[0].keys() == {"n", "n_2"}


def test_records_have_the_types_of_the_answer(ada: psycopg.Connection[Any]) -> None:
    rows = ada.execute(
        "select * from kanon_query_record(%s) as t (ward text, n bigint, average numeric)", [BY_WARD]
    ).fetchall()
    objects = [row[0] for row in ada.execute("select * from kanon_query(%s)", [BY_WARD])]
    assert [(row[0], row[1]) for row in rows] == [(one["ward"], one["n"]) for one in objects]
    assert rows == sorted(rows)


@pytest.mark.parametrize(
    "columns", ["ward text, n integer, average numeric", "ward text", "a text, b text, c text"]
)
def test_a_list_of_columns_that_is_another_is_refused_with_the_right_one(
    columns: str, ada: psycopg.Connection[Any]
) -> None:
    found = refusal(ada, f"select * from kanon_query_record(%s) as t ({columns})", BY_WARD)
    assert found.sqlstate == "KA100"
    assert '"ward" text, "n" int8, "average" numeric' in (found.diag.message_hint or "")


def test_programs_get_names_and_types_first(ada: psycopg.Connection[Any]) -> None:
    lines = [row[0] for row in ada.execute("select line from kanon.query_lines(%s)", [BY_WARD])]
    assert lines[:2] == [["ward", "n", "average"], ["text", "int8", "numeric"]]
    assert len(lines) == 10


def test_a_check_tells_what_is_wrong_where_and_what_would_run(ada: psycopg.Connection[Any]) -> None:
    accepted, findings, canonical, outputs = ada.execute(
        "select * from kanon_check_query(%s)", [BY_WARD]
    ).fetchone()  # type: ignore[misc]
    assert (accepted, findings) == (True, [])
    assert canonical.startswith("WITH ")
    assert [output["name"] for output in outputs] == ["ward", "n", "average"]
    text = "select name from patients"
    accepted, findings, canonical, outputs = ada.execute(
        "select * from kanon_check_query(%s)", [text]
    ).fetchone()  # type: ignore[misc]
    assert (accepted, canonical, outputs) == (False, None, None)
    assert text[findings[0]["start"] : findings[0]["end"]] == "name"
    assert findings[0]["hint"]


def test_values_of_parameters_are_not_part_of_the_text(ada: psycopg.Connection[Any]) -> None:
    text = "select count(*) from patients where ward = $1 and admission_date >= $2"
    (row,) = ada.execute("select * from kanon_query(%s, %s)", [text, ["oncology", "2023-01-01"]]).fetchall()
    assert row[0]["count"] > 5


def test_names_mean_what_the_callers_search_path_says(ada: psycopg.Connection[Any]) -> None:
    query = "select * from kanon_query('select count(*) from patients', schemas => %s)"
    assert refusal(ada, query, ["public"]).sqlstate == "KA901"
    assert ada.execute(query.encode(), [["public", "hospital"]]).fetchall()


@pytest.mark.parametrize(
    ("query", "sqlstate", "hint"),
    [
        ("select kanon_query(null)", "KA100", "kanon_query("),
        ("select kanon_query('  ')", "KA100", "kanon_query("),
        ("select kanon_check_query(null)", "KA100", "kanon_query("),
        ("select kanon_query('select * from nothing')", "KA901", "spelling"),
        ("select kanon_query('select * from payroll')", "KA901", "spelling"),
        ("select kanon_query('delete from patients')", "KA901", "SELECT"),
        ("select kanon_query('select count(*) from patients where sex = $1')", "KA901", "value"),
        ("select kanon_query('select count(*) from patients', '{a}')", "KA901", "value"),
        (
            "select kanon_query('select count(*) from patients where birth_date > $1', '{gestern}')",
            "KA901",
            "2024-01-31",
        ),
        ("select kanon_query('select count(*) from patients', '{{a,b},{c,d}}')", "KA100", "ARRAY"),
        ("select kanon.serve_query()", "KA102", "kanon_query"),
        ("select kanon.hold_relations()", "KA102", "kanon_query"),
        ("select kanon.keep_marks()", "KA102", "kanon_query"),
    ],
)
def test_bad_input_gets_a_sentence_that_says_what_to_do(
    query: str, sqlstate: str, hint: str, ada: psycopg.Connection[Any]
) -> None:
    found = refusal(ada, query)
    assert found.sqlstate == sqlstate
    assert hint in (found.diag.message_hint or "")


@pytest.mark.parametrize("function", ["serve_query", "hold_relations", "keep_marks"])
def test_inner_functions_say_so_in_a_session_that_asked_nothing(own_hospital: Guarded, function: str) -> None:
    with psycopg.connect(own_hospital.dsn, autocommit=True) as session:
        session.execute(f"set role {ADA}")
        found = refusal(session, f"select kanon.{function}()")
        assert found.sqlstate == "KA102"
        assert "kanon_query" in (found.diag.message_hint or "")


def test_plain_queries_are_answered_where_plans_are_made_parallel_for_tests(own_hospital: Guarded) -> None:
    with psycopg.connect(own_hospital.dsn, autocommit=True) as session:
        name = "force_parallel_mode" if session.info.server_version < 160000 else "debug_parallel_query"
        session.execute("set search_path = hospital, public")
        session.execute(f"set role {ADA}")
        plain = session.execute("select kanon_query(%s)", [BY_WARD]).fetchall()
        session.execute(f"set {name} = on")
        assert session.execute("select kanon_query(%s)", [BY_WARD]).fetchall() == plain
        assert session.execute(f"show {name}").fetchone() == ("on",)


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ("'patients', 0", "KA100"),
        ("'patients', 1", "KA100"),
        ("'patients', 101", "KA100"),
        ("'patients', null", "KA100"),
        ("null, 5", "KA100"),
        ("'patients', 5, '[]'", "KA100"),
        ("""'patients', 5, '{"leger": "off"}'""", "KA100"),
        ("""'patients', 5, '{"mode": "maybe"}'""", "KA100"),
        ("""'patients', 5, '{"rows": 0}'""", "KA100"),
        ("""'patients', 5, '{"seconds": "5"}'""", "KA100"),
        ("""'patients', 5, '{"dominance": 1}'""", "KA100"),
        ("""'patients', 5, '{"simulatable": 1}'""", "KA100"),
        ("""'patients', 5, '{"simulatable": true, "dominance": 0.5}'""", "KA100"),
        ("'kanon.declaration', 5", "KA103"),
        ("'pg_catalog.pg_class', 5", "KA102"),
    ],
)
def test_bad_rules_get_a_sentence_and_change_nothing(
    arguments: str, sqlstate: str, own: psycopg.Connection[Any]
) -> None:
    before = own.execute("select * from kanon.protection order by relation").fetchall()
    found = refusal(own, f"select kanon_protect({arguments})")
    assert found.sqlstate in {sqlstate, "KA101", "KA103"}
    assert found.diag.message_hint
    assert own.execute("select * from kanon.protection order by relation").fetchall() == before


def test_every_option_is_stored(own: psycopg.Connection[Any]) -> None:
    options = {
        "mode": "suppress",
        "strict": True,
        "simulatable": False,
        "dominance": 0.5,
        "extremes": "never",
        "ledger": "linear",
        "one_sided": True,
        "rank": 64,
        "queries": 9,
        "refusals": 8,
        "all_queries": 7,
        "all_refusals": 6,
        "period": 5.5,
        "lockout": 4.5,
        "seconds": 3.5,
        "rows": 2,
    }
    own.execute("select kanon_protect('patients', 7, %s::jsonb)", [json.dumps(options)])
    (stored,) = own.execute(
        "select to_jsonb(p) from kanon.protection as p where relation = 'patients'::regclass"
    ).fetchone()  # type: ignore[misc]
    assert {name: stored[name] for name in options} == options
    assert stored["k"] == 7


def test_what_is_declared_but_not_protected_says_what_a_curator_has_to_do(
    own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    own.execute("select kanon_unprotect('patients')")
    ada = own_hospital.sessions.of(ADA, 1)
    found = refusal(ada, "select kanon_query('select count(*) from patients')")
    assert "kanon_protect" in (found.diag.message_hint or "")
    assert refusal(own, "select kanon_unprotect('patients')").sqlstate == "KA101"
    own.execute("select kanon_protect('patients', 5)")
    assert ada.execute("select kanon_query('select count(*) from patients')").fetchall()


def readers(own: psycopg.Connection[Any], relation: str) -> set[str]:
    """Return which kinds of the package's roles were granted to read a relation, or to use its schema."""
    rows = own.execute(
        "select regexp_replace(a.grantee::regrole::text, '_[0-9]+$', '')"
        " from pg_class c join pg_namespace n on n.oid = c.relnamespace,"
        " lateral (select * from aclexplode(c.relacl) union all select * from aclexplode(n.nspacl)) as a"
        " where c.oid = %s::regclass and a.grantee::regrole::text like 'kanon%%'",
        [relation],
    )
    return {row[0] for row in rows}


@pytest.mark.parametrize("by_client", [False, True], ids=["functions", "client"])
def test_unprotecting_takes_back_what_protecting_lent(
    by_client: bool, own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    def unprotect(relation: str) -> None:
        if by_client:
            client.unprotect(own_hospital.dsn, relation)
        else:
            own.execute("select kanon_unprotect(%s::regclass)", [relation])

    own.execute(
        "create schema inn; create table inn.guests as select i as guest from generate_series(1, 60) i"
    )
    own.execute("create table inn.rooms as table inn.guests")
    assert readers(own, "inn.guests") == set()
    for relation in ("inn.guests", "inn.rooms"):
        own.execute("select kanon_declare(%s::regclass, quasi_identifiers => '{guest}')", [relation])
        own.execute("select kanon_protect(%s::regclass, 5)", [relation])
    assert readers(own, "inn.guests") == {"kanon_owner", "kanon_reader", "kanon_base"}
    unprotect("inn.guests")
    own.execute("select kanon_undeclare('inn.guests')")
    # the schema is still needed for the other table
    assert readers(own, "inn.guests") == {"kanon_owner", "kanon_reader", "kanon_base"}
    grants = "select count(*) from pg_class c, aclexplode(c.relacl) a where c.oid = 'inn.guests'::regclass"
    assert own.execute(f"{grants} and a.grantee::regrole::text like 'kanon%'").fetchone() == (0,)
    unprotect("inn.rooms")
    # what was declared may be released, which takes the rights of the owner role and its reader
    assert readers(own, "inn.rooms") == {"kanon_owner", "kanon_base"}
    own.execute("select kanon_declare('inn.guests', quasi_identifiers => '{guest}')")
    own.execute("select kanon_protect('inn.guests', 5)")
    assert own_hospital.interface().ask(ADA, "select count(*) from inn.guests", (), 1) == Answer.of(
        [(["60"],)]
    )


def test_unprotecting_revokes_nothing_that_others_granted(
    own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    curator = "a_curator_who_may_read"
    own.execute(f"create role {curator} login in role kanon_curator")
    try:
        own.execute(f"grant usage on schema hospital to {curator}; grant select on patients to {curator}")
        with psycopg.connect(own_hospital.dsn, user=curator, autocommit=True) as session:
            session.execute("select kanon_unprotect('hospital.patients')")
        assert "kanon_reader" in readers(own, "hospital.patients")
    finally:
        own.execute(f"drop owned by {curator}; drop role {curator}")


def test_a_declaration_is_not_taken_from_a_table_that_answers(own: psycopg.Connection[Any]) -> None:
    found = refusal(own, "select kanon_undeclare('patients')")
    assert "kanon_unprotect" in (found.diag.message_hint or "")


@pytest.mark.parametrize("by_client", [False, True], ids=["functions", "client"])
def test_a_table_whose_columns_nobody_declared_cannot_be_protected(
    by_client: bool, own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    own.execute("create table guests as select i as guest, i % 3 as room from generate_series(1, 60) as i")
    before = everything(own)

    def protect() -> None:
        if by_client:
            client.protect(own_hospital.dsn, "hospital.guests", 5)
        else:
            own.execute("select kanon_protect('guests', 5)")

    with pytest.raises((InputError, psycopg.Error), match="no declared columns"):
        protect()
    assert everything(own) == before


def test_a_public_table_needs_the_right_of_the_reading_role(
    own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    own.execute("create table hospital.floors as select 1 as floor")
    own.execute(f"grant select on hospital.floors to {ADA}")
    ada = own_hospital.sessions.of(ADA, 1)
    found = refusal(ada, "select kanon_query('select * from floors')")
    assert "GRANT SELECT" in (found.diag.message_hint or "")
    own.execute("grant select on hospital.floors to kanon_reader")
    assert ada.execute("select kanon_query('select * from floors')").fetchall()


def test_only_the_columns_that_both_may_read_exist(
    own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    own.execute("create table hospital.staff as select 1 as floor, 2 as pay")
    own.execute(
        f"grant select on hospital.staff to kanon_reader; grant select (floor) on hospital.staff to {ADA}"
    )
    ada = own_hospital.sessions.of(ADA, 1)
    assert ada.execute("select kanon_query('select floor from staff')").fetchall()
    assert refusal(ada, "select kanon_query('select pay from staff')").sqlstate == "KA901"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_transaction_that_sees_the_past_cannot_ask(level: str, ada: psycopg.Connection[Any]) -> None:
    with ada.transaction():
        ada.execute(f"set transaction isolation level {level}")
        found = refusal(ada.cursor().connection, "select kanon_query('select count(*) from patients')")
        assert "READ COMMITTED" in (found.diag.message_hint or "")
        raise psycopg.Rollback


def test_all_reasons_in_the_data_have_the_same_words(
    own_hospital: Guarded, own: psycopg.Connection[Any]
) -> None:
    own.execute(
        "create table hospital.large as select i as person, i % 5 as class, 1e308::float8 as value,"
        " 10::numeric ^ 1000 as size from generate_series(1, 400000) as i"
    )
    own.execute("select kanon_declare('large', insensitive => '{class,value,size}', entity => 'person')")
    own.execute("""select kanon_protect('large', 5, '{"ledger": "off", "refusals": null}')""")
    interface = own_hospital.interface()

    def asked(text: str) -> Answer | Refusal:
        return interface.ask(ADA, text, (), 1)

    too_few = asked("select ward from patients where birth_date = date '1957-05-09'")
    nobody = asked("select ward, count(*) from patients where ward = 'nowhere' group by ward")
    overflow = asked("select sum(value) from large")
    own.execute("""select kanon_protect('large', 5, '{"ledger": "off", "refusals": null, "rows": 4}')""")
    too_many_rows = asked("select class, count(*) from large group by class")
    own.execute(
        """select kanon_protect('large', 5, '{"ledger": "off", "refusals": null, "seconds": 0.001}')"""
    )
    too_slow = asked("select class, avg(size), stddev(size) from large group by class")
    own.execute("revoke select on large from kanon_reader; revoke select on large from kanon_analyst")
    assert isinstance(too_few, Refusal)
    assert not too_few.explained
    assert nobody == overflow == too_many_rows == too_slow == too_few


def test_cancelling_stays_cancelling(own_hospital: Guarded, own: psycopg.Connection[Any]) -> None:
    own.execute(
        "create table hospital.slow as select i as person, i % 5 as class, 10::numeric ^ 500 as size"
        " from generate_series(1, 300000) as i"
    )
    own.execute("select kanon_declare('slow', insensitive => '{class,size}', entity => 'person')")
    own.execute("select kanon_protect('slow', 5)")
    ada = own_hospital.sessions.of(ADA, 1)
    ada.execute("select kanon_query('select count(*) from wards')")
    ada.execute("set statement_timeout = '40ms'")
    found = refusal(ada, "select kanon_query('select class, stddev(size) from slow group by class')")
    assert found.sqlstate == "57014"
    ada.execute("reset statement_timeout")
    assert WITHHELD not in str(found)
    assert ada.execute("select kanon_query('select count(*) from wards')").fetchall()


@pytest.mark.parametrize(
    "setting",
    [
        "datestyle = 'SQL, DMY'",
        "intervalstyle = 'iso_8601'",
        "extra_float_digits = -5",
        "lc_monetary = 'C'",
        "work_mem = '64kB'",
        "enable_hashagg = off",
        "transform_null_equals = on",
        "standard_conforming_strings = off",
        "debug_print_plan = on",
        "client_min_messages = debug5",
        "plan_cache_mode = force_generic_plan",
        "row_security = off",
        "transaction_read_only = on",
    ],
)
def test_a_setting_of_the_session_changes_no_answer(
    setting: str, own_hospital: Guarded, shared_hospital: Guarded
) -> None:
    query = (
        "select date_trunc('month', admission_date) as month, sex, count(*) as n, avg(cost) as average"
        " from patients where admission_date < date '2024-12-01' group by 1, 2"
    )
    expected = shared_hospital.interface().ask(ADA, query, (), 1)
    assert isinstance(expected, Answer)
    session = own_hospital.sessions.of(ADA, 1)
    session.execute(f"set {setting}".encode())
    own_hospital.sessions.notices(ADA, 1)
    seen = own_hospital.interface().ask(ADA, query, (), 1)
    assert sorted(seen.rows) == sorted(expected.rows)  # type: ignore[union-attr]
    assert not [notice for notice in own_hospital.sessions.notices(ADA, 1) if "PLAN" in notice.upper()]


@pytest.mark.parametrize("relation", ["hospital.patients", "hospital.wards"])
def test_a_relation_that_is_not_held_is_not_read(shared_hospital: Guarded, relation: str) -> None:
    """It could be exchanged for another of the same name after its catalog entry was checked."""
    query = QueryRequest(f"select count(*) from {relation}")
    for is_held in (True, False):
        with as_reader(shared_hospital.dsn) as (db, role, session):
            locked = lock_relations(db, query)
            assert len(locked) == 1
            if is_held:
                assert answer_query(db, query, role, session["login"], locked=locked).rows
            else:
                with pytest.raises(AnswerWithheld):
                    answer_query(db, query, role, session["login"], locked=())
