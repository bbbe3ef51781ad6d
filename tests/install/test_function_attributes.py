from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from kanon_pg.db.statements import named_statements, sql_root

_FUNCTIONS = """
    SELECT n.nspname, p.proname, l.lanname, p.prosecdef, p.provolatile, p.proconfig, p.proisstrict,
        coalesce(p.prosrc, '') AS source, pg_get_userbyid(p.proowner) AS owner,
        obj_description(p.oid, 'pg_proc'), p.oid::regprocedure::text AS signature
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    JOIN pg_language AS l ON l.oid = p.prolang
    WHERE n.nspname IN ('kanon', 'safe') OR (n.nspname = 'public' AND starts_with(p.proname, 'kanon'))
    ORDER BY p.proname
"""

_LONGEST_BODY = 3

_PSQL_WIDTH = 100 - len(" ") - len(" | ")
"""What two columns of psql can hold between the frame."""

_WRITING = {"add_readers", "define_base"}
"""Functions that make others, whose attributes they state as well."""

_AS_THE_CALLER = {"kanon_query", "kanon_query_record"}
"""Functions that run the caller's own SQL, with the caller's rights and settings."""


@pytest.fixture
def functions(db: psycopg.Connection) -> list[dict[str, object]]:
    cursor = db.cursor(row_factory=psycopg.rows.dict_row)
    return cursor.execute(_FUNCTIONS).fetchall()


def test_there_are_functions_in_both_schemas(functions: list[dict[str, object]]) -> None:
    assert {function["nspname"] for function in functions} == {"kanon", "public"}
    assert len(functions) >= 20


def test_every_function_pins_its_search_path(functions: list[dict[str, object]]) -> None:
    for function in functions:
        if function["proname"] not in _AS_THE_CALLER:
            assert "search_path=pg_catalog, pg_temp" in (function["proconfig"] or []), function["signature"]


def test_what_runs_the_callers_own_sql_sets_nothing_and_says_where_every_name_is(
    functions: list[dict[str, object]],
) -> None:
    """The caller's search path finds the caller's own functions and operators; none of ours may be meant."""
    as_the_caller = [function for function in functions if function["proname"] in _AS_THE_CALLER]
    assert {function["proname"] for function in as_the_caller} == _AS_THE_CALLER
    for function in as_the_caller:
        body = re.sub(r"--.*|OPERATOR\(pg_catalog\.\S+\)", "", str(function["source"]))
        assert (function["prosecdef"], function["proconfig"]) == (False, None), function["signature"]
        assert not re.search(r"(?<![\w.])\w+\(|[-+*/<>=~!@#&|`?]", body), function["signature"]


def test_every_function_is_described(functions: list[dict[str, object]]) -> None:
    for function in functions:
        assert function["obj_description"], function["signature"]


def test_what_runs_queries_cannot_talk(functions: list[dict[str, object]]) -> None:
    (serving,) = (function for function in functions if function["proname"] == "serve_query")
    assert "client_min_messages=error" in serving["proconfig"]
    assert serving["provolatile"] == "s"


def test_the_function_that_sets_the_path_belongs_to_a_superuser(db: psycopg.Connection) -> None:
    query = "SELECT rolsuper FROM pg_proc JOIN pg_roles AS r ON r.oid = proowner WHERE proname = 'boot'"
    assert db.execute(query).fetchall() == [(True,)]


def test_bodies_in_python_only_boot_and_call_one_function(functions: list[dict[str, object]]) -> None:
    for function in functions:
        if function["lanname"] == "plpython3u" and function["proname"] != "boot":
            lines = str(function["source"]).strip().splitlines()
            assert len(lines) <= _LONGEST_BODY, function["signature"]
            assert lines[-1].startswith("return plpython."), function["signature"]


def test_help_lists_the_functions_of_users_in_100_columns(db: psycopg.Connection) -> None:
    rows = db.execute("SELECT name, meaning FROM kanon_help()").fetchall()
    assert {name for name, _ in rows} == {path.stem for path in (sql_root() / "functions/api").glob("*.sql")}
    widest = max(len(name) for name, _ in rows)
    for name, meaning in rows:
        assert meaning.endswith("."), name
        assert widest + len(meaning) <= _PSQL_WIDTH, name


def test_help_explains_every_function_with_its_arguments_and_an_example(db: psycopg.Connection) -> None:
    arguments = dict(
        db.execute(
            "SELECT proname, coalesce(proargnames[:pronargs], '{}') FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, 'kanon_')"
        ).fetchall()
    )
    for (function,) in db.execute("SELECT name FROM kanon_help()").fetchall():
        short = function.removeprefix("kanon_")
        rows = db.execute("SELECT name, meaning FROM kanon_help(%s)", [short]).fetchall()
        heads = [name for name, _ in rows if name]
        assert [heads[0], heads[-1]] == [function, "Example"]
        assert [head.split()[0].strip('"') for head in heads[1:-1]] == arguments[function]
        example = " ".join(meaning for _, meaning in rows[[name for name, _ in rows].index("Example") :])
        assert f"{function}(" in example
        assert example.endswith(";")
        widest = max(len(name) for name, _ in rows)
        assert all(widest + len(meaning) <= _PSQL_WIDTH for _, meaning in rows), function
        assert rows == db.execute("SELECT name, meaning FROM kanon_help(%s)", [f"{function}(...)"]).fetchall()


def test_help_on_nothing_names_the_list(db: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as raised:
        db.execute("SELECT * FROM kanon_help('nothing')")
    assert raised.value.diag.message_primary == 'There is no function "kanon_nothing".'
    assert (raised.value.diag.sqlstate, raised.value.diag.message_hint) == (
        "KA101",
        "SELECT * FROM kanon_help(); lists all.",
    )


def test_nulls_reach_the_services_that_have_a_sentence_for_them(functions: list[dict[str, object]]) -> None:
    strict = {function["proname"] for function in functions if function["proisstrict"]}
    assert strict == {
        "grant_read",
        "grant_read_to",
        "grant_read_along",
        "revoke_read_along",
        "linked_above",
        "linked_below",
        "revoke_read",
        "shards",
        "base_changes",
        "add_readers",
        "reader_of",
        "claim_reader",
        "free_reader",
        "idle_readers",
        "release_class_sizes",
        "spelled",
        "nodes_store",
    }


def test_every_object_that_a_user_meets_is_described(db: psycopg.Connection) -> None:
    missing = db.execute(
        """
        SELECT c.oid::regclass::text, a.attname
        FROM pg_class AS c
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'kanon'::regnamespace AND c.relkind IN ('r', 'v', 'c')
            AND (col_description(c.oid, a.attnum) IS NULL
                OR (c.relkind <> 'c' AND obj_description(c.oid, 'pg_class') IS NULL))
        """
    ).fetchall()
    assert missing == []


_PATH = ("\nSET search_path = pg_catalog, pg_temp\n",)
_STATED = (
    ("\nVOLATILE\n", "\nSTABLE\n", "\nIMMUTABLE\n"),
    ("\nPARALLEL UNSAFE\n", "\nPARALLEL RESTRICTED\n", "\nPARALLEL SAFE\n"),
    ("\nSECURITY INVOKER\n", "\nSECURITY DEFINER\n"),
    ("\nCALLED ON NULL INPUT\n", "\nRETURNS NULL ON NULL INPUT\n"),
    _PATH,
    ("\nREVOKE ALL ON FUNCTION ",),
)
"""Of each exactly one, in every file."""


@pytest.mark.parametrize(
    "path", sorted((sql_root() / "functions").rglob("*.sql")), ids=lambda path: path.stem
)
def test_every_file_states_all_attributes_of_its_one_function(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.stem in _WRITING:
        text = text.partition("$create$")[0] + text.rpartition("$create$")[2]
    assert text.count("CREATE OR REPLACE FUNCTION") == 1
    for choices in (*_STATED, ("\nCOMMENT ON FUNCTION ",)):
        if path.stem in _AS_THE_CALLER and choices == _PATH:
            assert "\nSET " not in text
            continue
        assert sum(choice in text for choice in choices) == 1, choices
    assert re.search(rf"^CREATE OR REPLACE FUNCTION .*\.{path.stem}\(", text, re.MULTILINE)


def test_the_function_that_reads_a_release_of_citus_states_them_too() -> None:
    steps = ("create_reader", "close_reader", "open_reader")
    text = "".join(f"\n{named_statements()[f'distributed/{step}'][0]}\n" for step in steps)
    for choices in _STATED:
        assert sum(choice in text for choice in choices) == 1, choices
    assert text.index("REVOKE ALL ON FUNCTION") < text.index("GRANT EXECUTE ON FUNCTION")
