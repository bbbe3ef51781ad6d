import re
from collections.abc import Iterator

import psycopg
import pytest

import kanon_pg
from kanon_pg.admin.install.extension import scripts
from kanon_pg.admin.install.scripts import script_names
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


_STATED = (
    "VOLATILE|STABLE|IMMUTABLE",
    "PARALLEL (?:UNSAFE|RESTRICTED|SAFE)",
    "SECURITY (?:INVOKER|DEFINER)",
    "CALLED ON NULL INPUT|RETURNS NULL ON NULL INPUT",
    "SET search_path = pg_catalog, pg_temp",
)
"""Of each exactly one, in the head of every function."""


def created() -> Iterator[tuple[str, str, str]]:
    """Yield name, head and all that follows of each function that the installer creates."""
    sent = scripts(["/folder"])[f"kanon_pg--{kanon_pg.__version__}.sql"]
    parts = re.split(r"^CREATE OR REPLACE FUNCTION [\w@]+\.(\w+)(?=\()", sent, flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        head, _, rest = re.split(r"^(AS|BEGIN ATOMIC|RETURN)\b", text, maxsplit=1, flags=re.MULTILINE)
        yield name, head, rest.partition("\nCREATE ")[0] if name not in _WRITING else rest


def test_every_function_states_all_its_attributes_and_is_closed_before_it_is_opened() -> None:
    names = [name for name, _, _ in created()]
    assert len(names) == len(set(names)) > 100
    for name, head, rest in created():
        for choices in _STATED if name not in _AS_THE_CALLER else _STATED[:-1]:
            assert len(re.findall(choices, head)) == 1, (name, choices)
        steps = re.findall(
            rf"^(REVOKE ALL|COMMENT|GRANT EXECUTE) ON FUNCTION \S+\.{name}\(", rest, re.MULTILINE
        )
        assert steps[:2] == ["REVOKE ALL", "COMMENT"], name
        assert set(steps[2:]) <= {"GRANT EXECUTE"}, name


def test_all_that_is_created_is_closed_to_public_and_has_an_owner() -> None:
    sent = scripts(["/folder"])[f"kanon_pg--{kanon_pg.__version__}.sql"]
    made = re.findall(
        r"^CREATE (?:OR REPLACE )?(TABLE|VIEW|TYPE) (?:IF NOT EXISTS )?(\S+)", sent, re.MULTILINE
    )
    assert len(made) > 30
    for kind, name in made:
        assert f"\nALTER {kind} {name} OWNER TO " in sent, name
        assert f"\nREVOKE ALL ON {'TABLE' if kind == 'VIEW' else kind} {name} FROM PUBLIC;" in sent, name


@pytest.mark.parametrize("name", [name for name in script_names(True, last=True) if "/api/" in name])
def test_a_function_for_users_has_the_name_of_its_file(name: str) -> None:
    text = (sql_root() / f"{name}.sql").read_text(encoding="utf-8")
    assert f"CREATE OR REPLACE FUNCTION {{{{ api }}}}.{name.rpartition('/')[2]}(" in text


def test_the_function_that_reads_a_release_of_citus_states_them_too() -> None:
    text = named_statements()["distributed/create_reader"][0]
    for choices in _STATED:
        assert len(re.findall(choices, text)) == 1, choices
    assert "REVOKE ALL ON FUNCTION" in named_statements()["distributed/close_reader"][0]
    assert "GRANT EXECUTE ON FUNCTION" in named_statements()["distributed/open_reader"][0]
