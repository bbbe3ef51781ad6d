"""What all sessions of a gateway share."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field

from kanon_pg.gateway.connection_slots import ConnectionSlots
from kanon_pg.gateway.protected_names import ProtectedNames
from kanon_pg.gateway.wire import Wire


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Bounds on what clients may take."""

    connections: int = 100
    per_address: int = 50
    """`connections`, `per_address`: sessions at the same time, at all and of one address, >= 1."""
    unauthenticated: int = 50
    """Connections at the same time whose login is not complete, besides the sessions, >= 1."""
    message_bytes: int = 16 * 1024 * 1024
    """Longest message of a client, >= 1024."""
    login_seconds: float = 60.0
    """From the connection until its login must be complete."""
    idle_seconds: float = 3600.0
    """Until a session that waits for nothing is ended."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server behind the gateway."""

    host: str
    """A name or address; with a leading slash the folder of a Unix socket."""
    port: int
    database: str
    tls: ssl.SSLContext | None = None
    """How to talk to it over TCP."""


@dataclass
class GatewayState:
    """Settings and state of a gateway."""

    upstream: Upstream
    names: ProtectedNames
    limits: ClientLimits = ClientLimits()
    tls: ssl.SSLContext | None = None
    """How to talk to clients; clients without TLS are refused then."""
    trusts_server: bool = False
    """Whether a role may come in that the server does not ask for a password."""
    keys: dict[bytes, bytes] = field(default_factory=dict)
    """Keys for cancelling that clients got, with those of the server."""
    slots: ConnectionSlots = field(init=False)

    def __post_init__(self) -> None:
        limits = self.limits
        self.slots = ConnectionSlots(limits.connections, limits.per_address, limits.unauthenticated)


async def connect(upstream: Upstream) -> Wire:
    """Open a connection to the server, with TLS if there are settings for it.

    Raises
    ------
    OSError
        If it cannot be reached, or refuses TLS.
    """
    loop = asyncio.get_running_loop()
    if upstream.host.startswith("/"):
        path = f"{upstream.host}/.s.PGSQL.{upstream.port}"
        _, wire = await loop.create_unix_connection(Wire, path)
        return wire
    _, wire = await loop.create_connection(Wire, upstream.host, upstream.port)
    if upstream.tls is not None:
        try:
            await wire.send(_SSL_REQUEST)
            if await wire.read_exactly(1) != b"S" or not await wire.start_tls(
                upstream.tls, name=upstream.host
            ):
                raise ConnectionError("the server offers no TLS")
        except BaseException:  # a login that gives way is cancelled
            wire.abort()
            raise
    return wire


_SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
