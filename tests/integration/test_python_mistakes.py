"""Mistaken arguments and closed connections in Python: errors of this package, in the words of SQL."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.errors import DatabaseError, InputError, KanonError, UnknownName

SAME_AS_SQL: list[tuple[Callable[[str], Any], str]] = [
    (lambda dsn: client.query(dsn, None), "kanon_query(NULL)"),  # type: ignore[arg-type]
    (lambda dsn: client.query(dsn, " "), "kanon_query(' ')"),
    (lambda dsn: client.check_query(dsn, ""), "kanon_check_query('')"),
    (
        lambda dsn: client.query(dsn, "select 1", [["a"]]),  # type: ignore[list-item]
        "kanon_query('select 1', '{{a}}')",
    ),
    (lambda dsn: client.protect(dsn, "people", None), "kanon_protect('people', NULL)"),
    (lambda dsn: client.protect(dsn, "people", 5, [1]), "kanon_protect('people', 5, '[1]')"),
    (lambda dsn: client.protect(dsn, None, 5), "kanon_protect(NULL, 5)"),  # type: ignore[arg-type]
    (lambda dsn: client.protect(dsn, "people", 5, {"a": 1}), """kanon_protect('people', 5, '{"a": 1}')"""),
    (lambda dsn: client.unprotect(dsn, "people"), "kanon_unprotect('people')"),
    (lambda dsn: client.drop(dsn, "nothing"), "kanon_drop('nothing')"),
    (lambda dsn: client.refresh(dsn, "nothing"), "kanon_refresh('nothing')"),
    (lambda dsn: client.drop_hierarchy(dsn, "nothing"), "kanon_hierarchy_drop('nothing')"),
    (
        lambda dsn: client.anonymize(dsn, "people", 5, method="x"),
        "kanon_anonymize('people', 5, method => 'x')",
    ),
    (
        lambda dsn: client.define_hierarchy(dsn, "ages", 5),
        "kanon_hierarchy_define('ages', '5'::jsonb)",
    ),
]


@pytest.mark.parametrize(("call", "function"), SAME_AS_SQL, ids=[function for _, function in SAME_AS_SQL])
def test_the_same_mistake_has_the_same_words_in_python_and_sql(
    connection: psycopg.Connection[Any], dsn: str, call: Callable[[str], Any], function: str
) -> None:
    connection.execute("create table people as select i % 3 as age from generate_series(1, 30) as i")
    with pytest.raises(psycopg.Error) as told:
        connection.execute(f"select {function}".encode())
    with pytest.raises(KanonError) as raised:
        call(dsn)
    found = (type(raised.value).sqlstate, raised.value.message, raised.value.hint)
    assert found == (told.value.diag.sqlstate, told.value.diag.message_primary, told.value.diag.message_hint)


@pytest.fixture
def closed(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn) as made:
        made.close()
        yield made


CALLS: list[Callable[[Any], Any]] = [
    lambda target: client.query(target, "select 1"),
    lambda target: client.check_query(target, "select 1"),
    lambda target: client.protect(target, "people", 5),
    lambda target: client.declare(target, "people"),
    lambda target: client.measure(target, "people"),
    client.releases,
]


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_connection_is_said_to_be_closed(
    closed: psycopg.Connection[Any], call: Callable[[Any], Any]
) -> None:
    with pytest.raises(DatabaseError, match="The connection is closed") as raised:
        call(closed)
    assert raised.value.hint


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [None, 5, b"dbname=x"])
def test_what_is_no_target_is_said_to_be_none(call: Callable[[Any], Any], kind: Any) -> None:
    with pytest.raises(InputError, match="neither a DSN nor a connection of psycopg"):
        call(kind)


def test_a_lost_connection_is_said_to_be_lost(dsn: str, connection: psycopg.Connection[Any]) -> None:
    with psycopg.connect(dsn, autocommit=True) as made:
        connection.execute("select pg_terminate_backend(%s)", [made.info.backend_pid])
        with pytest.raises(DatabaseError) as raised:
            client.releases(made)
    assert "terminat" in raised.value.message or "lost" in raised.value.message


WRONG: list[tuple[Callable[[], Any], type[KanonError], str]] = [
    (lambda: client.protect("", "people", foo=1), UnknownName, 'There is no argument "foo".'),
    (
        lambda: client.protect("", "people", 5, {}, 7),
        InputError,
        "4 arguments are more than the 3 there are.",
    ),
    (lambda: client.protect("", "people", 5, k=6), InputError, "Argument k is given twice."),
    (lambda: client.build_hierarchy("", "ages"), InputError, "Argument relation is missing."),
    (lambda: client.protect("", 5), InputError, "relation must be the name of a table or view."),  # type: ignore[arg-type]
    (lambda: client.protect("", "people", 5, ledger_folder=5), InputError, "ledger_folder must be a text."),  # type: ignore[arg-type]
    (lambda: client.unprotect("", 5), InputError, "relation must be the name of a table or view."),  # type: ignore[arg-type]
    (lambda: client.anonymize("", "people", "5"), InputError, "k must be an integer."),  # type: ignore[arg-type]
    (lambda: client.anonymize("", "people", 5, seed="a"), InputError, "seed must be an integer."),
    (
        lambda: client.anonymize("", "people", 5, time_limit="5"),
        InputError,
        "time_limit must be a number of seconds.",
    ),
    (lambda: client.anonymize("", "people", 5, release=5), InputError, "release must be a text."),
    (lambda: client.anonymize("", "people", 5, method=5), InputError, "method must be a text."),
    (
        lambda: client.anonymize("", "people", 5, quasi_identifiers="zip"),
        InputError,
        "quasi_identifiers must be a plain list of names.",
    ),
    (
        lambda: client.measure("", "people", [5]),
        InputError,
        "quasi_identifiers must be a plain list of names.",
    ),
    (lambda: client.groups("", "people", "zip", 5, epsilon="a"), InputError, "epsilon must be a number."),
    (lambda: client.drop("", 5), InputError, "release must be a name."),  # type: ignore[arg-type]
    (lambda: client.erase("", "people", 5), InputError, "person must be a plain list of texts."),  # type: ignore[arg-type]
    (lambda: client.composition("", "people"), InputError, "releases must be a plain list of names."),
    (lambda: client.drop_hierarchy("", 5), InputError, "hierarchy must be a name."),  # type: ignore[arg-type]
    (lambda: client.query("", 5), InputError, "A query must be a text."),  # type: ignore[arg-type]
    (lambda: client.query("", "select 1", 5), InputError, "parameters must be a plain list of texts."),  # type: ignore[arg-type]
    (lambda: client.query("", "select 1", "a"), InputError, "parameters must be a plain list of texts."),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_arguments_of_wrong_types_are_refused_before_there_is_a_connection(
    call: Callable[[], Any], kind: type[KanonError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", "/nowhere")
    with pytest.raises(kind) as raised:
        call()
    assert raised.value.message == message
    assert raised.value.hint
