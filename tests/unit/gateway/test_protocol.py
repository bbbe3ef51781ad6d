"""Framing: however bytes arrive, the messages are the same; what the protocol does not allow is refused."""

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.protocol import (
    CANCEL_REQUEST,
    Bind,
    Incoming,
    Outgoing,
    ProtocolViolation,
    WireMessage,
    bound,
    notice_fields,
    notice_message,
    parse_message,
    parsed,
    request_code,
    startup_parameters,
)
from tests.fixtures.raw_protocol import startup_packet

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
    outgoing = Outgoing(inspected, lambda: False)
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
    outgoing = Outgoing(b"", lambda: False)
    wire = b"".join(message.encode() for message in sent)
    for place in places:
        outgoing = Outgoing(b"", lambda: False)
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
        list(Outgoing(b"E", lambda: False).feed(b"D" + struct.pack("!i", length)))


def test_everything_is_inspected_while_the_answer_is_the_gateways() -> None:
    own = iter([False, True, False])
    outgoing = Outgoing(b"", lambda: next(own))
    wire = [WireMessage(b"D", bytes([number])) for number in range(3)]
    found = list(outgoing.feed(b"".join(message.encode() for message in wire)))
    assert found == [wire[0].encode(), wire[1], wire[2].encode()]


names = st.binary(max_size=10).filter(lambda name: b"\0" not in name)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@given(names, texts | st.just("\udcff"), st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_a_parse_message_comes_back_in_any_encoding(name: bytes, text: str, types: list[int]) -> None:
    assert parsed(parse_message(name, text, types).body) == (name, text)


@given(
    names,
    names,
    st.lists(st.integers(0, 1), max_size=3),
    st.lists(st.none() | st.binary(max_size=9), max_size=4),
)
def test_a_bind_message_comes_back(
    portal: bytes, statement: bytes, formats: list[int], values: list[bytes | None]
) -> None:
    given_bind = Bind(portal, statement, tuple(formats), tuple(values), b"\0\1\0\1")
    assert bound(given_bind.message().body) == given_bind


@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0", b"\0\0\0\0", b"\0\0\0\1", b"\0\0\0\0\0\1\0"])
def test_malformed_bind_messages_are_refused(body: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        bound(body)


words = st.text(st.characters(min_codepoint=33, max_codepoint=382, exclude_categories=("Cs",)), min_size=1)


@given(st.dictionaries(words, words))
def test_a_first_packet_comes_back(parameters: dict[str, str]) -> None:
    packet = startup_packet((3, 0), parameters)
    assert int.from_bytes(packet[:4], "big") == len(packet)
    assert request_code(packet[4:]) == (3, 0)
    expected = {name.encode(): value.encode() for name, value in parameters.items()}
    assert startup_parameters(packet[4:]) == expected


@pytest.mark.parametrize(
    "pairs",
    [
        b"",
        b"user\0",
        b"user\0ada",
        b"user\0ada\0",
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
    assert notice_fields(notice_message(b"E", fields).body) == fields
