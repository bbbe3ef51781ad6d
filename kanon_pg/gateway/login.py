"""First packets of a client: encryption, cancellation, and the login that goes on to the server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from kanon_pg.errors import DatabaseError, NotPermitted
from kanon_pg.gateway import protocol
from kanon_pg.gateway.protocol import ProtocolViolation
from kanon_pg.gateway.state import GatewayState, connect
from kanon_pg.gateway.wire import TLS_RECORD, Wire

_MAX_REQUESTS = 3


@dataclass(frozen=True, slots=True)
class ClientLogin:
    """A login that the client has begun: the connection that was opened for it, and the user for the log."""

    server: Wire
    user: str


async def accept_login(client: Wire, shared: GatewayState, address: str) -> ClientLogin | None:
    """Answer first packets until one begins a login, and pass that on; None if the client left or cancelled.

    Raises
    ------
    ProtocolViolation
        If a packet is malformed.
    NotPermitted
        If the client asks for another database, or without encryption.
    TooManyClients
        If there is no place for one more session.
    DatabaseError
        If the server cannot be reached.
    """
    async with asyncio.timeout(shared.limits.login_seconds):
        if await client.first_byte() == TLS_RECORD:
            if shared.tls is None:
                raise ProtocolViolation("The gateway has no certificate for TLS.")
            if not await client.start_tls(shared.tls, direct=True):
                raise ProtocolViolation("A handshake has to name the protocol postgresql (ALPN).")
        for _ in range(_MAX_REQUESTS):
            packet = await _packet(client)
            if packet is None:
                return None
            code = protocol.request_code(packet)
            if code == protocol.CANCEL_REQUEST:
                await _cancel(packet, shared)
                return None
            if code == protocol.SSL_REQUEST and shared.tls is not None and not client.encrypted:
                if not await client.start_tls(shared.tls, answer=b"S"):
                    raise ProtocolViolation("Something was sent before encryption began.")
            elif code in (protocol.SSL_REQUEST, protocol.GSS_REQUEST):
                await client.send(b"N")
            else:
                return await _login(client, packet, shared, address)
    raise ProtocolViolation("Too many requests came before the login.")


async def _packet(client: Wire) -> bytes | None:
    head = await client.read_exactly(4)
    if head is None:
        return None
    length = int.from_bytes(head, "big")
    if not 8 <= length <= protocol.MAX_STARTUP_BYTES:
        raise ProtocolViolation("The first packet has an invalid length.")
    return await client.read_exactly(length - 4)


async def _login(client: Wire, packet: bytes, shared: GatewayState, address: str) -> ClientLogin:
    """Pass the packet on as it is, with all its options: the server negotiates them."""
    if protocol.request_code(packet)[0] != protocol.PROTOCOL_3:
        raise ProtocolViolation("This version of the protocol is not supported.")
    if shared.tls is not None and not client.encrypted:
        raise NotPermitted("The gateway takes encrypted connections only.", hint="Set sslmode=require.")
    given = protocol.startup_parameters(packet)
    user = given.get(b"user", b"")
    if given.get(b"database", user) != shared.upstream.database.encode():
        raise NotPermitted(
            "The gateway is for another database.", hint=f"Connect to {shared.upstream.database}."
        )
    shared.slots.require_free(address)
    server = await _connect_upstream(shared)
    await server.send(protocol.with_length(packet))
    return ClientLogin(server, user.decode(errors="replace"))


async def _connect_upstream(shared: GatewayState) -> Wire:
    try:
        return await connect(shared.upstream)
    except OSError as error:
        raise DatabaseError("The gateway cannot reach the server.") from error


async def _cancel(packet: bytes, shared: GatewayState) -> None:
    """Pass a request to cancel on with the server's key, if the client's is known."""
    key = shared.keys.get(packet[4:])
    if key is None:
        return
    server = await _connect_upstream(shared)
    try:
        await server.send(protocol.with_length(packet[:4] + key))
        await server.read()  # PostgreSQL closes once it has sent the signal
    finally:
        server.abort()
