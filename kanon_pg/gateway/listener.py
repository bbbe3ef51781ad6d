"""Starts the gateway: from a DSN and options to a running listener that accepts clients."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kanon_pg.db.psycopg_adapter import Endpoint, endpoint
from kanon_pg.errors import ClusterError, InputError
from kanon_pg.gateway.connection_slots import ConnectionSlot
from kanon_pg.gateway.protected_names import ProtectedNames
from kanon_pg.gateway.session import ClientSession
from kanon_pg.gateway.state import ClientLimits, GatewayState, Upstream
from kanon_pg.gateway.wire import ALPN, Wire

_log = logging.getLogger("kanon_pg.gateway")
_STOPPING_SECONDS = 5.0
_GAVE_WAY_LOGGED = 1_000  # one line of the log for so many


class Listener:
    """Listens on one address, as `GatewayOptions` has it."""

    def __init__(self, shared: GatewayState, host: str, port: int) -> None:
        self._shared = shared
        self._host = host
        self._port = port
        self._sessions: dict[ConnectionSlot, ClientSession] = {}
        self._tasks: dict[ConnectionSlot, asyncio.Task[None]] = {}
        self._gave_way = 0
        self._accepting: asyncio.Server | None = None

    @property
    def shared(self) -> GatewayState:
        """What all sessions share."""
        return self._shared

    @property
    def port(self) -> int:
        """The port on which it listens."""
        if self._accepting is not None and not self._host.startswith("/"):
            port: int = self._accepting.sockets[0].getsockname()[1]
            return port
        return self._port

    @property
    def _path(self) -> Path:
        return Path(self._host) / f".s.PGSQL.{self._port}"

    async def start(self) -> None:
        """Begin to listen.

        Raises
        ------
        ClusterError
            If the address cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        try:
            if self._host.startswith("/"):
                self._accepting = await loop.create_unix_server(self._wire, self._path)
            else:
                self._accepting = await loop.create_server(self._wire, self._host, self._port)
        except OSError as error:
            raise ClusterError(
                "The gateway cannot listen on this address.",
                detail=error.strerror,
                hint="Choose another one with --host and --port.",
            ) from error

    def _wire(self) -> Wire:
        return Wire(self._accept)

    def _accept(self, wire: Wire) -> None:
        connection = wire.transport.get_extra_info("socket")
        if connection is not None and connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        slot, leaving = self._shared.slots.enter(wire.address)
        session = ClientSession(wire, self._shared, slot)
        task = asyncio.get_running_loop().create_task(session.run())
        self._sessions[slot] = session
        self._tasks[slot] = task
        task.add_done_callback(partial(self._ended, slot))
        if leaving is not None:
            self._give_way(leaving)

    def _give_way(self, leaving: ConnectionSlot) -> None:
        self._gave_way += 1
        if self._gave_way == 1 or not self._gave_way % _GAVE_WAY_LOGGED:
            _log.warning("too many connections do not log in: %d gave way to others", self._gave_way)
        self._sessions[leaving].give_way()
        self._tasks[leaving].cancel()

    def _ended(self, slot: ConnectionSlot, task: asyncio.Task[None]) -> None:
        self._shared.slots.leave(slot)
        del self._sessions[slot], self._tasks[slot]
        if not task.cancelled() and task.exception() is not None:
            _log.error("a session ended by a defect: %s", type(task.exception()).__name__)

    async def stop(self) -> None:
        """Stop listening, send every client a message, and wait until their connections close."""
        if self._accepting is not None:
            self._accepting.close()
        if self._host.startswith("/"):
            with suppress(OSError):
                self._path.unlink()
        running = list(self._tasks.values())
        stopping = [
            session.stop("57P01", "The gateway is shutting down.") for session in self._sessions.values()
        ]
        await asyncio.gather(*stopping)
        if running:
            _, late = await asyncio.wait(running, timeout=_STOPPING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """How a gateway runs."""

    dsn: str
    """Of the gateway's own connection; the same server and database are served."""
    host: str = "127.0.0.1"
    """Address to listen on; with a leading slash a folder for a Unix socket."""
    port: int = 6432
    """Port; 0 lets the system choose one."""
    certificate: Path | None = None
    key: Path | None = None
    """`certificate`, `key`: files in PEM form, for TLS."""
    trusts_server: bool = False
    """Whether a role may come in that the server does not ask for a password."""
    limits: ClientLimits = field(default_factory=ClientLimits)
    """Bounds on what clients may take."""


def tls_for_clients(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Return the settings of TLS for clients, None without a certificate.

    Raises
    ------
    InputError
        If the files cannot be used.
    """
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([ALPN])
    try:
        context.load_cert_chain(certificate, key, password="")  # an encrypted key must not ask
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            "The certificate or its key cannot be used.",
            detail=error.strerror,
            hint="Give PEM files that this account can read, the key without a password.",
        ) from error
    return context


def _tls_to_server(server: Endpoint) -> ssl.SSLContext | None:
    """Return settings that check the server as strictly as the gateway's own connection did."""
    if not server.encrypted:
        return None
    context = ssl.create_default_context(cafile=server.root_certificate)
    if server.mode not in ("verify-ca", "verify-full"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif server.mode == "verify-ca":
        context.check_hostname = False
    return context


def require_private(host: str, *, encrypted: bool) -> None:
    """Refuse to listen beyond this machine without TLS: passwords and answers could be read on the way.

    Raises
    ------
    InputError
        If the address is not on this machine only, and there is no TLS.
    """
    if encrypted or host.startswith("/") or host == "localhost":
        return
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise InputError(
            "Without a certificate the gateway listens on this machine only.",
            hint="Give --certificate and --key, or listen on 127.0.0.1.",
        )


async def open_gateway(options: GatewayOptions) -> tuple[Listener, ProtectedNames]:
    """Start a gateway; `Listener.stop` and `ProtectedNames.close` end it.

    Raises
    ------
    KanonError
        If the database cannot be read, or the address cannot be listened on.
    """
    tls = tls_for_clients(options.certificate, options.key)
    require_private(options.host, encrypted=tls is not None)
    names = ProtectedNames(options.dsn)
    try:
        await names.start()
        server = await asyncio.to_thread(endpoint, options.dsn)
        upstream = Upstream(server.host, server.port, server.database, _tls_to_server(server))
        shared = GatewayState(upstream, names, options.limits, tls, options.trusts_server)
        listener = Listener(shared, options.host, options.port)
        await listener.start()
    except BaseException:
        names.close()
        raise
    return listener, names


async def run_gateway(options: GatewayOptions, ready: Callable[[int], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called with the port once clients can connect."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    listener, names = await open_gateway(options)
    try:
        ready(listener.port)
        await ended.wait()
        _log.info("shutting down")
    finally:
        await listener.stop()
        names.close()
