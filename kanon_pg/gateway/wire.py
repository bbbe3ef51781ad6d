"""One end of a connection as a stream with bounded buffers, with or without TLS."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from collections.abc import Callable

from kanon_pg.gateway.connection_slots import client_address

_MAX_UNREAD_BYTES = 256 * 1024
_HANDSHAKE_SECONDS = 15.0
_LAST_SECONDS = 5.0
ALPN = "postgresql"
"""Name of the protocol in handshakes."""
TLS_RECORD = b"\x16"
"""With this byte a handshake begins; first packets begin with their length."""
_CREDENTIALS = struct.Struct("3i")  # of a process: its number, account and group


class Wire(asyncio.Protocol):
    """Receives into a buffer that stops the sender when it is full; sends no faster than the peer reads."""

    def __init__(self, connected: Callable[[Wire], None] | None = None) -> None:
        self._connected = connected
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._ended = False
        self._reading_paused = False
        self._congested = False
        self._waiting: asyncio.Future[None] | None = None
        self._draining: asyncio.Future[None] | None = None

    @property
    def transport(self) -> asyncio.Transport:
        """The transport, set when the connection is made."""
        assert self._transport is not None  # noqa: S101 - set by connection_made, before anybody reads
        return self._transport

    @property
    def peer(self) -> str:
        """Address of the other side, for the log."""
        address = self.transport.get_extra_info("peername")
        return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "socket"

    @property
    def address(self) -> str:
        """What of the other side counts as one address: on a Unix socket its account."""
        address = self.transport.get_extra_info("peername")
        if isinstance(address, tuple):
            return client_address(address[0])
        connection = self.transport.get_extra_info("socket")
        if hasattr(socket, "SO_PEERCRED"):
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            return f"account {_CREDENTIALS.unpack(credentials)[1]}"
        return "socket"

    @property
    def encrypted(self) -> bool:
        """Whether TLS is on."""
        return self.transport.get_extra_info("ssl_object") is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - connections are streams
        self._transport = transport
        if self._connected is not None:
            # until `first_byte` has looked at it; later, because the transport begins to read after this call
            self._loop.call_soon(transport.pause_reading)
            self._connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self._ended = True
        self._congested = False
        self._wake()
        self._resume()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._received += data
        if len(self._received) > _MAX_UNREAD_BYTES and not self._reading_paused:
            self._reading_paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`."""
        self._ended = True
        self._wake()
        return False

    def pause_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        self._congested = True

    def resume_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        self._congested = False
        self._resume()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _resume(self) -> None:
        if self._draining is not None and not self._draining.done():
            self._draining.set_result(None)

    async def _more(self) -> None:
        if self._reading_paused and len(self._received) <= _MAX_UNREAD_BYTES:
            self._reading_paused = False
            self.transport.resume_reading()
        self._waiting = self._loop.create_future()
        await self._waiting

    async def first_byte(self) -> bytes:
        """Return the first byte without taking it, nothing at the end; then begin to read.

        With TLS from the start, the bytes belong to the handshake.
        """
        number = self.transport.get_extra_info("socket").fileno()
        with socket.socket(fileno=os.dup(number)) as copied:  # the loop keeps the other one for itself
            readable = asyncio.Event()
            self._loop.add_reader(copied.fileno(), readable.set)
            try:
                await readable.wait()
                first = copied.recv(1, socket.MSG_PEEK)
            finally:
                self._loop.remove_reader(copied.fileno())
        if first != TLS_RECORD:
            self.transport.resume_reading()
        return first

    async def read(self) -> bytes:
        """Return what has arrived, at least one byte; nothing at the end."""
        while not self._received and not self._ended:
            await self._more()
        data = bytes(self._received)
        self._received.clear()
        if self._reading_paused and not self._ended:
            self._reading_paused = False
            self.transport.resume_reading()
        return data

    async def read_exactly(self, size: int) -> bytes | None:
        """Return that many bytes, None if the other side ends before; `size` is small."""
        while len(self._received) < size and not self._ended:
            await self._more()
        if len(self._received) < size:
            return None
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    async def send(self, data: bytes) -> None:
        """Send, and wait while the other side is slow.

        Raises
        ------
        ConnectionError
            If the connection is gone.
        """
        if self._ended and self.transport.is_closing():
            raise ConnectionResetError
        self.transport.write(data)
        if self._congested:
            self._draining = self._loop.create_future()
            await self._draining

    async def start_tls(
        self, context: ssl.SSLContext, *, answer: bytes = b"", direct: bool = False, name: str | None = None
    ) -> bool:
        """Start TLS.

        Parameters
        ----------
        answer : bytes
            Sent before, by a server that was asked for TLS.
        direct : bool
            Whether this is a server whose client began with the handshake.
        name : str, optional
            Name of the server that the certificate must have.

        Returns
        -------
        bool
            False if something was received before the handshake, which may be an attack; or if a client
            began with the handshake for another protocol, which may be one, too.
        """
        if self._received:
            return False
        if answer:
            self.transport.write(answer)
        encrypted = await self._loop.start_tls(
            self.transport,
            self,
            context,
            server_side=direct or bool(answer),
            server_hostname=name,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )
        if encrypted is None:
            return False
        self._transport = encrypted
        return not direct or encrypted.get_extra_info("ssl_object").selected_alpn_protocol() == ALPN

    def close(self) -> None:
        """Send what is waiting, then end the connection."""
        self.transport.close()

    def finish(self) -> None:
        """Close, and give the other side some seconds to take what is waiting."""
        self.transport.close()
        self._loop.call_later(_LAST_SECONDS, self.transport.abort)

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()
