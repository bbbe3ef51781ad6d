"""The gateway knows the search path that the server has, whatever transactions make of it.

The table of patients is in schema ``public``. The gateway asks about it if its own idea of the path has that
schema, and lets the text pass as it is otherwise. Then the server finds no table, or refuses the role's read.
"""

from __future__ import annotations

import struct

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kanon_pg.gateway.protocol import WireMessage, notice_fields, query_message
from tests.fixtures.examples import examples
from tests.fixtures.gateways import ClinicGateway
from tests.fixtures.raw_protocol import SYNC, RawClient, bind, describe, execute, extended, parse, raw_client

COUNT = "select count(*) from patients"
Step = tuple[WireMessage, ...]


def simple(text: str) -> Step:
    return (query_message(text),)


def pipelined(*texts: str) -> Step:
    return (*(message for text in texts for message in extended(text)), SYNC)


def prepared(name: bytes) -> Step:
    return (bind(name=name), execute(), SYNC)


AWAY, BACK = "set search_path to nowhere", "set search_path to public"
LOCAL_AWAY, LOCAL_BACK = "set local search_path to nowhere", "set local search_path to public"
TEXTS = [
    *(AWAY, BACK, LOCAL_AWAY, LOCAL_BACK, "set local search_path to default", "set search_path to default"),
    *("reset search_path", "reset all", "discard all", "select 1/0", "refused", "select 1"),
    *("begin", "commit", "rollback", "commit and chain", "rollback and chain", "end", "abort"),
    *("savepoint a", "savepoint b", "rollback to a", "rollback to savepoint b", "release a", "release b"),
]
MANY = [
    "; ".join(texts)
    for texts in (
        (AWAY, "begin", BACK, "rollback"),
        (AWAY, "select 1/0"),
        (AWAY, "commit", BACK, "select 1/0"),
        (LOCAL_AWAY, "select 1"),
        ("begin", LOCAL_AWAY, "savepoint a", BACK, "release a"),
    )
]
STEPS = [
    *map(simple, [*TEXTS, *MANY, ""]),
    *map(pipelined, TEXTS),
    pipelined(AWAY, "select 1/0"),
    pipelined("begin", LOCAL_AWAY, "savepoint a", BACK),
    pipelined("", BACK),
    *((parse(text, name), SYNC) for name in (b"p", b"q") for text in (AWAY, BACK, LOCAL_AWAY, "commit")),
    *map(prepared, (b"p", b"q")),
    (parse(AWAY, b"p"), bind(name=b"p", portal=b"c"), SYNC),
    (execute(b"c"), SYNC),
    simple("declare c cursor for select 1"),
    simple("prepare p as select 1"),
    simple("deallocate p"),
    (WireMessage(b"C", b"Sq\0"), SYNC),
]
KNOWN = [
    ["begin", LOCAL_AWAY, "commit"],
    [AWAY, "begin", LOCAL_BACK, "commit"],
    [AWAY, "begin", LOCAL_BACK, "rollback"],
    ["begin", AWAY, "savepoint a", "rollback to a", "commit"],
    ["begin", "savepoint a", AWAY, "rollback to a"],
    ["begin", "savepoint a", AWAY, "rollback to a", "commit"],
    ["begin", LOCAL_AWAY, BACK, "commit"],
    ["begin", AWAY, LOCAL_BACK, "commit"],
    ["begin", AWAY, "savepoint a", "select 1/0", "rollback to a", "commit"],
    ["begin", "savepoint a", LOCAL_AWAY, "release a"],
    [AWAY, "begin", "set local search_path to default", "reset all", "commit"],
    [LOCAL_AWAY],
]


def answer(raw: RawClient, text: str) -> str:
    """Return the first value of an answer, or the code of its error."""
    return value(raw.ask(text))


def value(replies: list[WireMessage]) -> str:
    """Return the first value in replies, or the code of their error."""
    for message in replies:
        if message.kind == b"E":
            return notice_fields(message.body)[b"C"].decode()
        if message.kind == b"D":
            (length,) = struct.unpack_from("!i", message.body, 2)
            return message.body[6 : 6 + length].decode()
    raise AssertionError("neither an answer nor an error")


def check(raw: RawClient) -> None:
    """Compare what the gateway does about the table with the path of the server."""
    raw.send(query_message("show search_path"), query_message(COUNT))
    compare(raw)


def compare(raw: RawClient) -> None:
    """Compare the answers that come next."""
    path, found = value(raw.until_ready()), value(raw.until_ready())
    if path != "25P02":  # in a failed transaction nothing is answered
        assert found == ("1200" if "public" in path else "42P01"), path


@pytest.mark.parametrize("texts", KNOWN, ids="; ".join)
@pytest.mark.parametrize("way", [simple, pipelined])
def test_the_path_after_transactions(gateway: ClinicGateway, texts: list[str], way: object) -> None:
    with raw_client(gateway.dsn()) as raw:
        for text in texts:
            raw.send(*way(text))  # type: ignore[operator]
            raw.until_ready()
        check(raw)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.booleans()), max_size=14))
@example([(pipelined("select 1/0", AWAY), False), (simple("select 1"), False)])
def test_the_path_is_that_of_the_server(gateway: ClinicGateway, steps: list[tuple[Step, bool]]) -> None:
    with raw_client(gateway.dsn()) as raw:
        ready = 0
        for step, waits in steps:
            raw.send(*step)
            ready += 1
            while waits and ready:
                assert raw.until_ready()[-1].kind == b"Z"
                ready -= 1
        # while answers are under way
        raw.send(query_message("show search_path"), query_message(COUNT))
        for _ in range(ready):
            assert raw.until_ready()[-1].kind == b"Z"
        compare(raw)
        raw.ask("rollback")
        check(raw)


def test_a_text_in_a_pipeline_waits_for_what_may_fail_before_it(gateway: ClinicGateway) -> None:
    with raw_client(gateway.dsn()) as raw:
        raw.ask(AWAY)
        raw.send(query_message(f"{BACK}; select 1/0"), query_message(COUNT))
        raw.until_ready()
        codes = [notice_fields(one.body)[b"C"] for one in raw.until_ready() if one.kind == b"E"]
        assert codes == [b"42P01"]


@pytest.mark.parametrize(("name", "expected"), [(b"known", "42P01"), (b"unknown", "1200")])
def test_a_text_after_a_description_that_fails_is_skipped(
    gateway: ClinicGateway, name: bytes, expected: str
) -> None:
    with raw_client(gateway.dsn()) as raw:
        raw.send(parse("select 1", b"known"), SYNC)
        raw.until_ready()
        raw.send(describe(name, b"S"), query_message(AWAY), SYNC)
        for _ in range(2 if expected == "42P01" else 1):
            raw.until_ready()
        assert answer(raw, COUNT) == expected


def test_a_setting_that_is_prepared_counts_whenever_it_is_executed(gateway: ClinicGateway) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True, prepare_threshold=0) as client:
        for text in (AWAY, BACK, AWAY):
            client.execute(text)
        with pytest.raises(psycopg.errors.UndefinedTable):
            client.execute(COUNT)


def test_statements_of_one_text_have_the_path_that_those_before_them_leave(gateway: ClinicGateway) -> None:
    with raw_client(gateway.dsn()) as raw:
        assert answer(raw, f"begin; {LOCAL_AWAY}; commit; {COUNT}") == "1200"
        assert answer(raw, f"begin; savepoint a; {AWAY}; rollback to a; {COUNT}") == "1200"
        assert answer(raw, f"rollback; {AWAY}; begin; {LOCAL_BACK}; {COUNT}") == "1200"
        assert answer(raw, f"commit; {COUNT}") == "42P01"
        assert answer(raw, f"set search_path to nowhere, \"$user\", public; {COUNT}") == "1200"  # fmt: skip


@pytest.mark.parametrize("value", ["1", "public, 1", "-1", "'a'\n'public'", f"'{'x' * 64}'"])
def test_a_path_that_the_server_would_read_otherwise_is_refused(gateway: ClinicGateway, value: str) -> None:
    with raw_client(gateway.dsn()) as raw:
        assert answer(raw, f"set search_path to {value}") == "KA901"
        check(raw)
