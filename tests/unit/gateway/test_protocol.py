"""Framing: however bytes arrive, the messages are the same; what the protocol does not allow is refused."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.protocol import (
    CANCEL_REQUEST,
    Incoming,
    Outgoing,
    ProtocolViolation,
    WireMessage,
    error_message,
    notice_fields,
    parse_message,
    query_message,
    query_text,
    request_code,
    setting,
    startup_packet,
    startup_parameters,
)

LIMIT = 1000
messages = st.lists(
    st.builds(
        WireMessage, st.sampled_from([bytes([code]) for code in range(65, 123)]), st.binary(max_size=40)
    ),
    max_size=8,
)
cuts = st.lists(st.integers(0, 400), max_size=12)


def pieces(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(messages, cuts)
def test_a_clients_messages_do_not_depend_on_how_bytes_arrive(
    sent: list[WireMessage], places: list[int]
) -> None:
    incoming = Incoming(LIMIT)
    wire = b"".join(message.encode() for message in sent)
    got = [message for piece in pieces(wire, places) for message in incoming.feed(piece)]
    assert got == sent


@given(messages, cuts, st.binary(max_size=4))
def test_what_the_server_sends_passes_unchanged_and_inspected_messages_are_whole(
    sent: list[WireMessage], places: list[int], inspected: bytes
) -> None:
    outgoing = Outgoing(inspected)
    wire = b"".join(message.encode() for message in sent)
    passed, seen = b"", []
    for piece in pieces(wire, places):
        for item in outgoing.feed(piece):
            passed += item.encode() if isinstance(item, WireMessage) else item
            seen += [item] if isinstance(item, WireMessage) else []
    assert passed == wire
    assert seen == [message for message in sent if message.kind in inspected]
    assert outgoing.between_messages


@given(messages, cuts)
def test_messages_that_are_not_inspected_are_not_held_back(
    sent: list[WireMessage], places: list[int]
) -> None:
    outgoing = Outgoing(b"")
    wire = b"".join(message.encode() for message in sent)
    for place in places:
        outgoing = Outgoing(b"")
        passed = b"".join(item for item in outgoing.feed(wire[:place]) if isinstance(item, bytes))
        assert len(wire[:place]) - len(passed) < 5  # at most a header


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 3, LIMIT + 1, 2**31 - 1])
def test_impossible_and_oversize_lengths_are_refused_before_the_body_comes(length: int) -> None:
    with pytest.raises(ProtocolViolation):
        list(Incoming(LIMIT).feed(b"Q" + struct.pack("!i", length)))


def test_the_longest_allowed_message_is_taken() -> None:
    message = WireMessage(b"Q", bytes(LIMIT - 4))
    assert list(Incoming(LIMIT).feed(message.encode())) == [message]


@pytest.mark.parametrize("length", [-1, 0, 3])
def test_impossible_lengths_of_the_server_are_refused(length: int) -> None:
    with pytest.raises(ProtocolViolation):
        list(Outgoing(b"E").feed(b"D" + struct.pack("!i", length)))


def test_an_inspected_message_of_the_server_has_a_bound() -> None:
    with pytest.raises(ProtocolViolation):
        list(Outgoing(b"E").feed(b"E" + struct.pack("!i", 2**30)))


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_a_query_comes_back(text: str) -> None:
    assert query_text(query_message(text).body) == text


@pytest.mark.parametrize("body", [b"", b"select 1", b"select 1\0select 2\0", b"a\0b", b"\0\0", b"\xff\0"])
def test_malformed_queries_are_refused(body: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        query_text(body)


@given(
    st.binary(max_size=10).filter(lambda name: b"\0" not in name),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20),
    st.lists(st.integers(0, 2**32 - 1), max_size=5),
)
def test_a_parse_message_comes_back(name: bytes, text: str, types: list[int]) -> None:
    body = name + b"\0" + text.encode() + b"\0" + struct.pack(f"!H{len(types)}I", len(types), *types)
    parse = parse_message(body)
    assert (parse.name, parse.text, parse.types) == (name, text, tuple(types))
    assert parse.with_text(text) == WireMessage(b"P", body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"a",
        b"a\0b",
        b"a\0b\0",
        b"a\0b\0\0",
        b"a\0b\0\0\1",
        b"a\0b\0\0\0x",
        b"a\0\xff\0\0\0",
        b"\0\0\xff\xff",
    ],
)
def test_malformed_parse_messages_are_refused(body: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        parse_message(body)


words = st.text(st.characters(min_codepoint=33, max_codepoint=382, exclude_categories=("Cs",)), min_size=1)


@given(st.dictionaries(words, words))
def test_a_first_packet_comes_back(parameters: dict[str, str]) -> None:
    packet = startup_packet((3, 0), parameters)
    assert int.from_bytes(packet[:4], "big") == len(packet)
    assert request_code(packet[4:]) == (3, 0)
    assert startup_parameters(packet[4:]) == parameters


@pytest.mark.parametrize(
    "pairs",
    [
        b"",
        b"user\0",
        b"user\0ada",
        b"user\0ada\0",
        b"user\0ada\0user\0bob\0\0",
        b"user\0\xff\0\0",
        b"\0x\0\0",
    ],
)
def test_malformed_first_packets_are_refused(pairs: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        startup_parameters(b"\0\3\0\0" + pairs)


def test_a_short_first_packet_is_refused() -> None:
    with pytest.raises(ProtocolViolation):
        request_code(b"\0\3")
    assert request_code(struct.pack("!HH", *CANCEL_REQUEST)) == CANCEL_REQUEST


@given(
    st.dictionaries(
        st.sampled_from([b"S", b"C", b"M", b"P"]), st.binary(min_size=1).filter(lambda b: 0 not in b)
    )
)
def test_the_fields_of_an_error_come_back(fields: dict[bytes, bytes]) -> None:
    assert notice_fields(error_message(fields).body) == fields


def test_a_setting_is_read() -> None:
    assert setting(b"client_encoding\0UTF8\0") == ("client_encoding", "UTF8")
