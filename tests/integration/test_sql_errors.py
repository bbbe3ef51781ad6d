"""What psql shows of an error: message, detail, hint, and one line that names the function."""

import psycopg
import pytest

_CALLS = """
    SELECT p.oid::regproc::text, p.pronargs - p.pronargdefaults
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = 'public' AND starts_with(p.proname, 'kanon_') AND p.pronargs > 0
        AND p.proname <> 'kanon_help'
"""


def _refusal(connection: psycopg.Connection, call: str) -> psycopg.errors.Diagnostic:
    with pytest.raises(psycopg.Error) as raised:
        connection.execute(call.encode())
    return raised.value.diag


def _assert_for_people(diag: psycopg.errors.Diagnostic) -> None:
    context = diag.context or ""
    assert "Python" not in context, context
    # a query is answered by functions that call each other
    assert all(line.startswith(("PL/pgSQL function", "SQL statement")) for line in context.split("\n"))
    assert not (diag.message_primary or "").startswith(("kanon:", "spiexceptions", "plpy"))


def test_no_function_shows_a_traceback(connection: psycopg.Connection) -> None:
    calls = connection.execute(_CALLS).fetchall()
    assert len(calls) > 20
    for function, arguments in calls:
        columns = " AS t (a integer)" if function == "kanon_query_record" else ""
        call = f"SELECT * FROM {function}({', '.join(['NULL'] * arguments)}){columns}"
        diag = _refusal(connection, call)
        _assert_for_people(diag)
        assert (diag.sqlstate or "").startswith("KA"), call
        assert diag.message_hint, call


def test_functions_of_curators_beside_the_api_show_none_either(connection: psycopg.Connection) -> None:
    for call in ("restart_record('pg_class')", "forget_answer('pg_class', 1)"):
        _assert_for_people(_refusal(connection, f"SELECT kanon.{call}"))


def test_a_cancelled_call_shows_none_and_changes_nothing(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE t AS SELECT i % 5 AS a FROM generate_series(1, 50) AS i")
    # pg_sleep in the table's own definition lets the limit pass inside the call
    connection.execute("CREATE VIEW slow AS SELECT a, pg_sleep(0.1)::text AS b FROM t")
    connection.execute("SET statement_timeout = '400ms'")
    diag = _refusal(connection, "SELECT kanon_is_anonymous('slow', 2)")
    connection.execute("RESET statement_timeout")
    assert diag.sqlstate == "57014"
    assert diag.message_primary == "canceling statement due to statement timeout"
    assert "Python" not in (diag.context or "")


def test_a_defect_keeps_its_traceback(connection: psycopg.Connection) -> None:
    """What nobody foresaw is reported with all that helps to find it."""
    connection.execute(
        "CREATE OR REPLACE FUNCTION kanon.drop(release text) RETURNS void LANGUAGE plpython3u"
        " AS 'return 1 / 0'"
    )
    diag = _refusal(connection, "SELECT kanon_drop('t')")
    assert diag.sqlstate == "38000"
    assert "Traceback" in (diag.context or "")


def test_every_refusal_of_a_query_has_the_same_bytes(connection: psycopg.Connection) -> None:
    connection.execute(
        "CREATE TABLE patients AS SELECT i AS id, i % 2 AS ward FROM generate_series(1, 12) AS i;"
        " ALTER TABLE patients ADD PRIMARY KEY (id);"
        " SELECT kanon_declare('patients', quasi_identifiers => '{id,ward}');"
        " SELECT kanon_protect('patients', 5, '{\"mode\": \"reject\"}')"
    )
    refusals = set()
    for query in (
        "SELECT count(*) FROM patients WHERE id < 3",
        "SELECT ward, count(*) FROM patients WHERE id < 10 GROUP BY ward",
    ):
        diag = _refusal(connection, f"SELECT kanon_query('{query}')")
        assert diag.sqlstate == "KA902", query
        refusals.add(tuple(getattr(diag, field) for field in dir(diag) if not field.startswith("_")))
    assert len(refusals) == 1


def test_temporary_tables_have_a_sentence_of_their_own(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TEMPORARY TABLE passing AS SELECT 1 AS a")
    diag = _refusal(connection, "SELECT kanon_protect('passing')")
    assert "is temporary: only one session" in (diag.message_primary or "")
    assert diag.message_hint
