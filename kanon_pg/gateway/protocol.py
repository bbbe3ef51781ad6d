"""Framing of the PostgreSQL protocol, version 3: bytes to messages and back. Knows neither SQL nor sockets.

Only messages that the gateway has to understand are taken apart; all others pass as they came. That, and
bounds on lengths before anything is stored, is why no codec library does this: those decode every row,
know one bound for all phases, and could write a message differently from how it was read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
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
MAX_INSPECTED_BYTES = 16 * 1024 * 1024

_LENGTH = struct.Struct("!i")
_CODE = struct.Struct("!HH")
_HEADER = 5


class ProtocolViolation(KanonError):
    """The other side violated the protocol; the connection ends."""

    sqlstate = "08P01"


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message with its type.

    Parameters
    ----------
    kind : bytes
        One byte, for example ``b"Q"``.
    body : bytes
        What follows the length.
    """

    kind: bytes
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes on the wire."""
        return self.kind + _LENGTH.pack(len(self.body) + 4) + self.body


class Incoming:
    """Splits the bytes from a client into messages.

    Parameters
    ----------
    longest : int
        Bytes of the longest message that is taken; may be changed between messages.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[WireMessage]:
        """Add bytes and yield the messages that they complete.

        Raises
        ------
        ProtocolViolation
            If a length is impossible or larger than `longest`.
        """
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
    inspected : bytes
        Types to look at.
    """

    def __init__(self, inspected: bytes) -> None:
        self._inspected = frozenset(inspected)
        self._rest = b""
        self._passing = 0

    @property
    def between_messages(self) -> bool:
        """Whether everything fed so far ended with a whole message."""
        return not self._passing and not self._rest

    def feed(self, data: bytes) -> Iterator[WireMessage | bytes]:
        """Add bytes; yield whole messages of the inspected types, and pieces of all others, in order.

        Raises
        ------
        ProtocolViolation
            If a length is impossible, or an inspected message too long.
        """
        data = self._rest + data if self._rest else data
        start, position = 0, min(self._passing, len(data))
        self._passing -= position
        while len(data) - position >= _HEADER:
            (length,) = _LENGTH.unpack_from(data, position + 1)
            end = position + 1 + length
            if length < 4:
                raise ProtocolViolation("The server sent a message with an invalid length.")
            if data[position] not in self._inspected:
                self._passing = max(0, end - len(data))
                position = min(end, len(data))
                continue
            if length > MAX_INSPECTED_BYTES:
                raise ProtocolViolation("The server sent a message that is too long.")
            if end > len(data):
                break
            if position > start:
                yield data[start:position]
            yield WireMessage(data[position : position + 1], data[position + _HEADER : end])
            start = position = end
        self._rest = data[position:]
        if position > start:
            yield data[start:position]


def request_code(packet: bytes) -> tuple[int, int]:
    """Return the first two numbers of a first packet: the protocol's version or a request.

    Raises
    ------
    ProtocolViolation
        If it is too short.
    """
    if len(packet) < _CODE.size:
        raise ProtocolViolation("The first packet is too short.")
    major, minor = _CODE.unpack_from(packet)
    return major, minor


def startup_packet(version: tuple[int, int], parameters: Mapping[str, str]) -> bytes:
    """Return a first packet, its length included."""
    pairs = b"".join(_text(name) + _text(value) for name, value in parameters.items())
    return with_length(_CODE.pack(*version) + pairs + b"\0")


def with_length(packet: bytes) -> bytes:
    """Put the length before a packet without type."""
    return _LENGTH.pack(len(packet) + 4) + packet


def startup_parameters(packet: bytes) -> dict[str, str]:
    """Return the names and values of a first packet.

    Raises
    ------
    ProtocolViolation
        If it is malformed, not UTF-8, or names something twice.
    """
    parts = packet[_CODE.size :].split(b"\0")
    if parts[-2:] != [b"", b""] or len(parts) % 2:
        raise ProtocolViolation("The first packet is malformed.")
    parts = parts[:-2]
    found: dict[str, str] = {}
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        if not name or decoded(name) in found:
            raise ProtocolViolation("The first packet is malformed.")
        found[decoded(name)] = decoded(value)
    return found


def decoded(text: bytes) -> str:
    """Return text of a client, which must be UTF-8.

    Raises
    ------
    ProtocolViolation
        If it is not.
    """
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise ProtocolViolation("A text is not valid UTF-8.", hint="Set client_encoding to UTF8.") from None


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def query_text(body: bytes) -> str:
    """Return the text of a Query message.

    Raises
    ------
    ProtocolViolation
        If there is anything but one text.
    """
    if not body or body.find(b"\0") != len(body) - 1:
        raise ProtocolViolation("A Query message is malformed.")
    return decoded(body[:-1])


@dataclass(frozen=True, slots=True)
class Parse:
    """A Parse message.

    Parameters
    ----------
    name : bytes
        Of the prepared statement, empty for the unnamed one.
    types : tuple of int
        OIDs of the parameters' types as far as the client gives them; 0 leaves one open.
    """

    name: bytes
    text: str
    types: tuple[int, ...]

    def with_text(self, text: str) -> WireMessage:
        """Return the message with another statement."""
        types = struct.pack(f"!H{len(self.types)}I", len(self.types), *self.types)
        return WireMessage(b"P", self.name + b"\0" + _text(text) + types)


def parse_message(body: bytes) -> Parse:
    """Take a Parse message apart.

    Raises
    ------
    ProtocolViolation
        If it is malformed.
    """
    name, _, rest = body.partition(b"\0")
    text, ended, rest = rest.partition(b"\0")
    if not ended or len(rest) < 2:
        raise ProtocolViolation("A Parse message is malformed.")
    (count,) = struct.unpack_from("!H", rest)
    if len(rest) != 2 + 4 * count:
        raise ProtocolViolation("A Parse message is malformed.")
    return Parse(name, decoded(text), struct.unpack_from(f"!{count}I", rest, 2))


def query_message(text: str) -> WireMessage:
    """Return a Query message."""
    return WireMessage(b"Q", _text(text))


Fields = dict[bytes, bytes]


def notice_fields(body: bytes) -> Fields:
    """Return the fields of an ErrorResponse by their one-byte codes.

    Raises
    ------
    ProtocolViolation
        If it is malformed.
    """
    if not body.endswith(b"\0"):
        raise ProtocolViolation("The server sent a malformed error.")
    parts = [part for part in body.split(b"\0") if part]
    return {part[:1]: part[1:] for part in parts}


def error_message(fields: Mapping[bytes, bytes]) -> WireMessage:
    """Return an ErrorResponse."""
    body = b"".join(code + value + b"\0" for code, value in fields.items())
    return WireMessage(b"E", body + b"\0")


def setting(body: bytes) -> tuple[str, str]:
    """Return name and value of a ParameterStatus message."""
    name, _, rest = body.partition(b"\0")
    return name.decode("latin-1"), rest.rstrip(b"\0").decode("utf-8", "replace")
