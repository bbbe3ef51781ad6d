"""The first packets of a connection: TLS, a request to cancel, or the beginning of a login."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from kanon_pg.errors import DatabaseError, NotPermitted
from kanon_pg.gateway import protocol
from kanon_pg.gateway.gate import Gate, connect
from kanon_pg.gateway.protocol import ProtocolViolation
from kanon_pg.gateway.session_settings import listed_path, start_parameters
from kanon_pg.gateway.wire import Wire

_MOST_REQUESTS = 3


@dataclass(frozen=True, slots=True)
class Greeting:
    """A login that has begun.

    Parameters
    ----------
    server : Wire
        The connection that was opened for it.
    user : str
        Who wants in.
    search_path : tuple of str or None
        With which search path, None for the role's own.
    """

    server: Wire
    user: str
    search_path: tuple[str, ...] | None


async def greet(client: Wire, gate: Gate) -> Greeting | None:
    """Answer first packets until one begins a login, and pass that on.

    Returns
    -------
    Greeting or None
        None if the client left, or only wanted to cancel.

    Raises
    ------
    ProtocolViolation
        If a packet is malformed.
    NotPermitted
        If the client asks for something that does not pass.
    DatabaseError
        If the server cannot be reached.
    """
    async with asyncio.timeout(gate.limits.login_seconds):
        for _ in range(_MOST_REQUESTS):
            packet = await _packet(client)
            if packet is None:
                return None
            code = protocol.request_code(packet)
            if code == protocol.CANCEL_REQUEST:
                await _cancel(packet, gate)
                return None
            if code == protocol.SSL_REQUEST and gate.tls is not None and not client.encrypted:
                if not await client.start_tls(gate.tls, answer=b"S"):
                    raise ProtocolViolation("Something was sent before encryption began.")
            elif code in (protocol.SSL_REQUEST, protocol.GSS_REQUEST):
                await client.send(b"N")
            else:
                return await _login(client, packet, gate)
    raise ProtocolViolation("Too many requests came before the login.")


async def _packet(client: Wire) -> bytes | None:
    head = await client.read_exactly(4)
    if head is None:
        return None
    length = int.from_bytes(head, "big")
    if not 8 <= length <= protocol.LONGEST_STARTUP:
        raise ProtocolViolation("The first packet has an invalid length.")
    return await client.read_exactly(length - 4)


async def _login(client: Wire, packet: bytes, gate: Gate) -> Greeting:
    version = protocol.request_code(packet)
    if version[0] != protocol.PROTOCOL_3:
        raise ProtocolViolation("This version of the protocol is not supported.")
    if gate.tls is not None and not client.encrypted:
        raise NotPermitted("The gateway takes encrypted connections only.", hint="Set sslmode=require.")
    given = protocol.startup_parameters(packet)
    parameters = start_parameters(given, gate.upstream.database)
    path = parameters.get("search_path")
    server = await _reach(gate)
    await server.send(protocol.startup_packet(version, parameters))
    user = parameters["user"]
    if path is None:
        return Greeting(server, user, None)
    return Greeting(server, user, tuple(user if one == "$user" else one for one in listed_path(path)))


async def _reach(gate: Gate) -> Wire:
    try:
        return await connect(gate.upstream)
    except OSError as error:
        raise DatabaseError("The gateway cannot reach the server.") from error


async def _cancel(packet: bytes, gate: Gate) -> None:
    """Pass a request to cancel on with the server's key, if the client's is known."""
    key = gate.keys.get(packet[4:])
    if key is None:
        return
    server = await _reach(gate)
    await server.send(protocol.with_length(packet[:4] + key))
    await server.read()  # PostgreSQL closes once it has sent the signal
    server.abort()
