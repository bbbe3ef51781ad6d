"""Framing of the PostgreSQL protocol, version 3: bytes to messages and back. Knows neither SQL nor sockets.

Only messages that the gateway has to understand are read; all others pass as they came. That, and
bounds on lengths before anything is stored, is why no codec library does this.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanon_pg.errors import KanonError

PROTOCOL_3 = 3
SSL_REQUEST = (1234, 5679)
GSS_REQUEST = (1234, 5680)
CANCEL_REQUEST = (1234, 5678)

MAX_STARTUP_BYTES = 10_000
"""PostgreSQL's own bound on the first packet."""
MAX_LOGIN_BYTES = 65_535
"""PostgreSQL's own bound on a message of the login."""

_LENGTH = struct.Struct("!i")
_CODE = struct.Struct("!HH")
_HEADER = 5


class ProtocolViolation(KanonError):
    """The other side violated the protocol, as whoever reads its bytes may notice; the connection ends."""

    sqlstate = "08P01"


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message: its type, one byte such as ``b"Q"``, and what follows the length."""

    kind: bytes
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes on the wire."""
        return self.kind + _LENGTH.pack(len(self.body) + 4) + self.body


class Incoming:
    """Splits the bytes from a client into messages of `longest` bytes at most, which may be changed."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[WireMessage]:
        """Add bytes and yield the messages that they complete."""
        self._buffer += data
        while len(self._buffer) >= _HEADER:
            (length,) = _LENGTH.unpack_from(self._buffer, 1)
            if not 4 <= length <= self.longest:
                raise ProtocolViolation("A message has an invalid length, or is longer than allowed.")
            if len(self._buffer) <= length:
                return
            message = WireMessage(bytes(self._buffer[:1]), bytes(self._buffer[_HEADER : length + 1]))
            del self._buffer[: length + 1]
            yield message


class Outgoing:
    """Splits the bytes from the server into messages to inspect, and pieces that pass as they are.

    Parameters
    ----------
    inspected : collection of bytes
        Types to look at.
    inspects_all : callable
        Whether to look at the next message whatever its type.
    """

    def __init__(self, inspected: Collection[int], inspects_all: Callable[[], bool]) -> None:
        self._inspected = frozenset(inspected)
        self._inspects_all = inspects_all
        self._rest = b""
        self._passing = 0

    @property
    def between_messages(self) -> bool:
        """Whether everything fed so far ended with a message."""
        return not self._passing and not self._rest

    def feed(self, data: bytes) -> Iterator[WireMessage | bytes]:
        """Add bytes; yield messages to inspect, and pieces of all others, in order."""
        data = self._rest + data if self._rest else data
        start, position = 0, min(self._passing, len(data))
        self._passing -= position
        while len(data) - position >= _HEADER:
            (length,) = _LENGTH.unpack_from(data, position + 1)
            end = position + 1 + length
            if length < 4:
                raise ProtocolViolation("The server sent a message with an invalid length.")
            if data[position] not in self._inspected and not self._inspects_all():
                self._passing = max(0, end - len(data))
                position = min(end, len(data))
                continue
            if end > len(data):
                break
            if position > start:
                yield data[start:position]
            start = end
            yield WireMessage(data[position : position + 1], data[position + _HEADER : end])
            position = end
        self._rest = data[position:]
        if position > start:
            yield data[start:position]


def request_code(packet: bytes) -> tuple[int, int]:
    """Return the first two numbers of a first packet: the protocol's version or a request."""
    if len(packet) < _CODE.size:
        raise ProtocolViolation("The first packet is too short.")
    major, minor = _CODE.unpack_from(packet)
    return major, minor


def with_length(packet: bytes) -> bytes:
    """Put the length before a packet without type."""
    return _LENGTH.pack(len(packet) + 4) + packet


def startup_parameters(packet: bytes) -> dict[bytes, bytes]:
    """Return the names and values of a first packet."""
    parts = packet[_CODE.size :].split(b"\0")
    if parts[-2:] != [b"", b""] or len(parts) % 2:
        raise ProtocolViolation("The first packet is malformed.")
    return dict(zip(parts[:-2:2], parts[1:-2:2], strict=True))


def decoded(data: bytes) -> str:
    """Return a text in whatever encoding the client chose; `encoded` gives the same bytes again."""
    return data.decode(errors="surrogateescape")


def encoded(text: str) -> bytes:
    """Return the bytes of a text."""
    return text.encode(errors="surrogateescape")


def text_of(body: bytes) -> str:
    """Return the text of a Query message."""
    return decoded(body.partition(b"\0")[0])


def parsed(body: bytes) -> tuple[bytes, str]:
    """Return the name and the text of a Parse message."""
    name, _, rest = body.partition(b"\0")
    return name, text_of(rest)


def parse_message(name: bytes, text: str, types: Sequence[int]) -> WireMessage:
    """Return a Parse message."""
    given = struct.pack(f"!H{len(types)}I", len(types), *types)
    return WireMessage(b"P", name + b"\0" + encoded(text) + b"\0" + given)


@dataclass(frozen=True, slots=True)
class Bind:
    """A Bind message."""

    portal: bytes
    statement: bytes
    formats: tuple[int, ...] = ()
    """Of the parameters, as the protocol abbreviates them."""
    values: tuple[bytes | None, ...] = ()
    results: bytes = b"\0\0"
    """The formats of the columns, as they came."""

    def message(self) -> WireMessage:
        """Return the message."""
        parts = [self.portal, b"\0", self.statement, b"\0"]
        parts.append(struct.pack(f"!H{len(self.formats)}H", len(self.formats), *self.formats))
        parts.append(struct.pack("!H", len(self.values)))
        for value in self.values:
            parts.append(_LENGTH.pack(-1) if value is None else _LENGTH.pack(len(value)) + value)
        return WireMessage(b"B", b"".join([*parts, self.results]))


def bound(body: bytes) -> Bind:
    """Return the parts of a Bind message."""
    portal, _, rest = body.partition(b"\0")
    statement, _, rest = rest.partition(b"\0")
    try:
        (count,) = struct.unpack_from("!H", rest)
        formats = struct.unpack_from(f"!{count}H", rest, 2)
        values, end = fields_of(rest, 2 + 2 * count)
    except struct.error:
        raise ProtocolViolation("A Bind message is malformed.") from None
    return Bind(portal, statement, formats, values, rest[end:])


def fields_of(data: bytes, start: int = 0) -> tuple[tuple[bytes | None, ...], int]:
    """Return the values in a message from a place on, where their number stands, and where they end."""
    (count,) = struct.unpack_from("!H", data, start)
    place, values = start + 2, []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(data, place)
        place += 4
        values.append(None if length < 0 else data[place : place + length])
        place += max(0, length)
    return tuple(values), place


def parameter_types(body: bytes) -> tuple[int, ...]:
    """Return the OIDs in a ParameterDescription message."""
    return struct.unpack_from(f"!{(len(body) - 2) // 4}I", body, 2)


Fields = dict[bytes, bytes]
"""Of an error or a notice, by their one-byte codes."""


def notice_fields(body: bytes) -> Fields:
    """Return the fields of an ErrorResponse or NoticeResponse."""
    return {part[:1]: part[1:] for part in body.split(b"\0") if part}


def notice_message(kind: bytes, fields: Mapping[bytes, bytes]) -> WireMessage:
    """Return an ErrorResponse (``E``) or a NoticeResponse (``N``)."""
    return WireMessage(kind, b"".join(code + value + b"\0" for code, value in fields.items()) + b"\0")


def fatal(code: str, sentence: str, hint: str | None = None) -> WireMessage:
    """Return the message that ends a session."""
    fields = {b"S": b"FATAL", b"V": b"FATAL", b"C": code.encode(), b"M": sentence.encode()}
    if hint:
        fields[b"H"] = hint.encode()
    return notice_message(b"E", fields)
