"""Refused statements anywhere among others: replies come in PostgreSQL's own order, and the session lives.

The same messages go to the gateway and to the server itself; there an error stands for what is refused, and
a constant for a query. What comes back must be the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kanon_pg.gateway.protocol import WireMessage, notice_fields
from tests.fixtures.examples import examples
from tests.fixtures.gateways import ANALYST, ClinicGateway
from tests.fixtures.raw_protocol import CALL, FLUSH, SYNC, extended, query_message, raw_client


@dataclass(frozen=True)
class Step:
    """What a client sends, and what stands for it when the server itself is asked."""

    sent: tuple[WireMessage, ...]
    direct: tuple[WireMessage, ...]


REFUSED = "select 1/0"
"""Like what the gateway refuses, it is parsed, and fails when it is bound."""


def simple(text: str, direct: str | None = None) -> Step:
    return Step((query_message(text),), (query_message(direct or text),))


def pipelined(text: str, direct: str | None = None) -> Step:
    return Step(tuple(extended(text)), tuple(extended(direct or text)))


COUNT = "select count(*) from patients"
COUNTED = "select 1200::bigint as count"
STEPS = [
    Step((SYNC,), (SYNC,)),
    Step((FLUSH,), (FLUSH,)),
    Step((CALL,), (CALL,)),
    simple(""),
    simple("begin"),
    simple("commit"),
    simple("rollback"),
    simple("savepoint s"),
    simple("rollback to s"),
    simple("select 7; select 8"),
    simple("select 1/0"),
    simple(COUNT, COUNTED),
    simple("select name from patients", REFUSED),
    simple(f"copy ({COUNT}) to stdout", f"copy ({COUNTED}) to stdout"),
    simple("copy (select name from patients) to stdout", REFUSED),
    simple("copy wards from stdin"),
    Step((WireMessage(b"c"),), (WireMessage(b"c"),)),
    pipelined(""),
    pipelined("select 9"),
    pipelined("select 1/0"),
    pipelined("begin"),
    pipelined("commit"),
    pipelined("rollback"),
    pipelined(COUNT, COUNTED),
    pipelined("select name from patients", REFUSED),
    pipelined(f"copy ({COUNT}) to stdout", f"copy ({COUNTED}) to stdout"),
]


def shape(replies: list[WireMessage]) -> list[tuple[bytes, bytes]]:
    """Return kinds, rows, tags and states; of refusals only that they are some."""
    found = []
    for message in replies:
        if message.kind in (b"S", b"N"):
            continue  # a setting or a warning, whose place among them is not fixed
        body = message.body if message.kind in (b"D", b"C", b"Z", b"T") else b""
        if message.kind == b"E":
            code = notice_fields(message.body)[b"C"]
            body = b"refused" if code in (b"KA901", b"22012") else code
        found.append((message.kind, body))
    return found


def apart(messages: Iterator[WireMessage], version: int) -> Iterator[WireMessage]:
    """Sync before what is no pipeline, where the server fails inside without it (XX000 of 18.6)."""
    for message in messages:
        if version >= 180000 and message.kind in (b"Q", b"F"):
            yield SYNC
        yield message


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(STEPS), max_size=12))
@example([pipelined("select name from patients", REFUSED)])
@example([pipelined("select 1/0"), simple(COUNT, COUNTED), Step((SYNC,), (SYNC,))])
def test_replies_are_those_of_the_server(gateway: ClinicGateway, steps: list[Step]) -> None:
    with psycopg.connect(gateway.clinic.dsn(ANALYST)) as connection:
        version = connection.info.server_version
    with raw_client(gateway.dsn()) as through, raw_client(gateway.clinic.dsn(ANALYST)) as direct:
        through.send(*apart((message for step in steps for message in step.sent), version))
        direct.send(*apart((message for step in steps for message in step.direct), version))
        assert shape(through.until_marked()) == shape(direct.until_marked())
