"""Messages to the client: those of the server that the gateway inspects or replaces, and its own errors."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from kanon_pg.gateway import protocol
from kanon_pg.gateway.connection_slots import ConnectionSlot
from kanon_pg.gateway.protocol import Fields, ProtocolViolation, WireMessage, error_message
from kanon_pg.gateway.search_path import ANSWERS, Schemas, SearchPathTracker
from kanon_pg.gateway.state import GatewayState
from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.request import refused

_SYNTAX_CODES = frozenset({"G004", "G005", "Q008", "Q010"})
_SHOWN_CHARACTERS = 60
_POSITION_FIELDS = (b"P", b"p", b"q", b"W")


def fatal(code: str, sentence: str, hint: str | None = None) -> WireMessage:
    """Return the message that ends a session."""
    fields = {b"S": b"FATAL", b"V": b"FATAL", b"C": code.encode(), b"M": sentence.encode()}
    if hint:
        fields[b"H"] = hint.encode()
    return error_message(fields)


def refusal(findings: Sequence[Finding], text: str) -> WireMessage:
    """Return the error for a refused text, as the server words it: the first finding is the message.

    What cannot be read at all is a syntax error, in PostgreSQL's words and with its code.
    """
    error, first = refused(findings), findings[0]
    sqlstate, sentence = error.sqlstate, error.message
    if first.code in _SYNTAX_CODES:
        piece = text[first.start : first.end][:_SHOWN_CHARACTERS]
        sqlstate, sentence = "42601", f'syntax error at or near "{piece}"'
    fields = {b"S": b"ERROR", b"V": b"ERROR", b"C": sqlstate.encode(), b"M": sentence.encode()}
    for code, value in ((b"D", error.detail), (b"H", error.hint)):
        if value:
            fields[code] = value.encode()
    if first.start < min(first.end, len(text)):
        fields[b"P"] = str(first.start + 1).encode()
    return error_message(fields)


def without_positions(fields: Fields) -> WireMessage:
    """Return an error of the server without positions and context, which are those of another text."""
    return error_message({code: value for code, value in fields.items() if code not in _POSITION_FIELDS})


INSPECTED = b"RSKGWN" + ANSWERS
"""Types of the messages to look at; all others pass."""

_AUTHENTICATION = b"R"
_OK, _SASL = 0, 10
_CHALLENGES = frozenset({2, 3, 5, 6, 7, 9, _SASL})
_REFUSED_TOKEN = re.compile(rb"kanon_refused_[0-9a-f]{32}")
_KEPT_SETTINGS = {"client_encoding": ("UTF8", "UNICODE"), "standard_conforming_strings": ("on",)}
_SHOWN_NOTICES = (b"NOTICE", b"WARNING", b"INFO")
_CATALOG_CHANGED = (b"42P01", b"42703", b"42501", b"42883", b"42804")


@dataclass
class SessionState:
    """State of one session.

    Parameters
    ----------
    start_path : tuple of str or None
        Search path at the start; None until it is needed.
    tracker : SearchPathTracker
        Follows the search path.
    challenged : bool
        Whether the server asked for authentication.
    ready : bool
        Whether the login is complete.
    busy : bool
        Whether the server has something to do.
    text_replaced : bool
        Whether positions in errors may be those in a rewritten text.
    refused : dict
        Errors that replace the server's, by the token that each refused statement became.
    statements, queries, refusals : int
        How many there were.
    """

    user: str
    start_path: Schemas | None = None
    tracker: SearchPathTracker = field(default_factory=SearchPathTracker)
    challenged: bool = False
    ready: bool = False
    busy: bool = False
    text_replaced: bool = False
    refused: dict[bytes, WireMessage] = field(default_factory=dict)
    statements: int = 0
    queries: int = 0
    refusals: int = 0


class ServerMessages:
    """Inspects the server's messages of one session and replaces some.

    Parameters
    ----------
    state : SessionState
        Of the session; kept up to date.

    Attributes
    ----------
    keys : list of bytes
        Keys for cancelling that the client got.
    """

    def __init__(self, shared: GatewayState, state: SessionState, slot: ConnectionSlot) -> None:
        self._shared = shared
        self.state = state
        self._slot = slot
        self.keys: list[bytes] = []

    def translated(self, message: WireMessage) -> WireMessage | None:
        """Return what the client gets in place of a message, None if it gets nothing."""
        if self.state.ready:
            self.state.tracker.answered(message)
        match message.kind:
            case b"R":
                return self._authentication(message)
            case b"S":
                name, value = protocol.setting(message.body)
                if value not in _KEPT_SETTINGS.get(name, (value,)):
                    raise ProtocolViolation("A setting that the gateway relies on has changed.")
            case b"K":
                return self._key(message)
            case b"Z":
                self.state.ready, self.state.busy = True, self.state.tracker.waits
            case b"N":
                # debug messages and log lines tell what the server did, whatever set their level
                severity = protocol.notice_fields(message.body).get(b"V")
                return message if severity in _SHOWN_NOTICES else None
            case b"E":
                return self._error(message)
            case b"G" | b"W":
                raise ProtocolViolation("The server asks for data, which the gateway never lets it.")
        return message

    def _authentication(self, message: WireMessage) -> WireMessage:
        code = int.from_bytes(message.body[:4], "big")
        if code in _CHALLENGES:
            self.state.challenged = True
        if code == _OK and not (self.state.challenged or self._shared.trusts_server):
            raise ProtocolViolation(
                "The server let this role in without a password, which the gateway does not allow.",
                hint="Let pg_hba.conf ask connections from the gateway for scram-sha-256.",
            )
        if code == _OK:
            self._shared.slots.log_in(self._slot)
        if code != _SASL:
            return message
        # the channel that a client could bind to ends at the gateway
        names = [name for name in message.body[4:].split(b"\0") if name and not name.endswith(b"-PLUS")]
        return WireMessage(
            _AUTHENTICATION, message.body[:4] + b"".join(name + b"\0" for name in names) + b"\0"
        )

    def _key(self, message: WireMessage) -> WireMessage:
        """Give the client a key of its own for cancelling, so that the server's stays here."""
        process, key = message.body[:4], message.body[4:]
        own = process + secrets.token_bytes(len(key))
        self._shared.keys[own] = message.body
        self.keys.append(own)
        return WireMessage(b"K", own)

    def _error(self, message: WireMessage) -> WireMessage:
        found = _REFUSED_TOKEN.search(message.body)
        if found is not None and found.group() in self.state.refused:
            return self.state.refused.pop(found.group())
        fields = protocol.notice_fields(message.body)
        code = fields.get(b"C", b"")
        if code in _CATALOG_CHANGED or code.startswith(b"KA"):
            self._shared.source.invalidate(self.state.user)
        if code.startswith(b"KA") or self.state.text_replaced:
            return without_positions(fields)
        return message
