"""What of the server's messages reaches a client."""

from __future__ import annotations

import pytest

from kanon_pg.gateway.connection_slots import ConnectionSlot, ConnectionSlots
from kanon_pg.gateway.protocol import ProtocolViolation, WireMessage, query_message
from kanon_pg.gateway.server_messages import ServerMessages, SessionState
from kanon_pg.gateway.state import GatewayState, Upstream


class _NoCatalog:
    """Nothing in these tests reads it."""


def messages(place: ConnectionSlot | None = None) -> ServerMessages:
    shared = GatewayState(Upstream("h", 1, "d"), _NoCatalog())  # type: ignore[arg-type]
    return ServerMessages(shared, SessionState("ada"), place or shared.slots.enter("a")[0])


def notice(severity: str) -> WireMessage:
    return WireMessage(b"N", f"S{severity}\0V{severity}\0Mhush\0\0".encode())


@pytest.mark.parametrize("severity", ["DEBUG", "DEBUG1", "DEBUG5", "LOG", "", "ERROR"])
def test_what_the_server_says_to_itself_stays_there(severity: str) -> None:
    assert messages().translated(notice(severity)) is None


@pytest.mark.parametrize("severity", ["NOTICE", "WARNING", "INFO"])
def test_notices_pass(severity: str) -> None:
    assert messages().translated(notice(severity)) == notice(severity)


def test_a_notice_without_a_severity_does_not_pass() -> None:
    assert messages().translated(WireMessage(b"N", b"Mhush\0\0")) is None


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("client_encoding", "UTF8", True),
        ("client_encoding", "UNICODE", True),
        ("client_encoding", "SJIS", False),
        ("standard_conforming_strings", "off", False),
        ("TimeZone", "UTC", True),
    ],
)
def test_settings_that_texts_depend_on_are_kept(name: str, value: str, kept: bool) -> None:
    message = WireMessage(b"S", f"{name}\0{value}\0".encode())
    if kept:
        assert messages().translated(message) == message
    else:
        with pytest.raises(ProtocolViolation):
            messages().translated(message)


def test_a_password_that_is_right_takes_a_place() -> None:
    places = ConnectionSlots(1, 1, 5)
    place, _ = places.enter("a")
    inspecting = messages(place)
    inspecting._shared.slots = places
    inspecting.translated(WireMessage(b"R", (3).to_bytes(4, "big")))
    assert not place.logged_in
    inspecting.translated(WireMessage(b"R", (0).to_bytes(4, "big")))
    assert place.logged_in


def test_a_server_that_has_answered_one_of_two_texts_is_busy() -> None:
    inspecting, ready = messages(), WireMessage(b"Z", b"I")
    inspecting.translated(ready)
    assert not inspecting.state.busy
    for _ in range(2):
        inspecting.state.tracker.sent(query_message("select 1"))
    inspecting.translated(ready)
    assert inspecting.state.busy
    inspecting.translated(ready)
    assert not inspecting.state.busy
