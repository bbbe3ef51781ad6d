"""Accepts clients, keeps their number within its bound, and ends them all when it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from pathlib import Path

from kanon_pg.errors import ClusterError
from kanon_pg.gateway.gate import Gate
from kanon_pg.gateway.replies import fatal
from kanon_pg.gateway.session import Session
from kanon_pg.gateway.wire import Wire

_log = logging.getLogger("kanon_pg.gateway")
_STOPPING_SECONDS = 5.0


class Listener:
    """Listens on one address.

    Parameters
    ----------
    gate : Gate
        What all sessions share.
    host : str
        Address to listen on; with a leading slash a folder for a Unix socket.
    port : int
        Port; 0 lets the system choose one.
    """

    def __init__(self, gate: Gate, host: str, port: int) -> None:
        self._gate = gate
        self._host = host
        self._port = port
        self._sessions: dict[asyncio.Task[None], Session] = {}
        self._accepting: asyncio.Server | None = None

    @property
    def gate(self) -> Gate:
        """What all sessions share."""
        return self._gate

    @property
    def port(self) -> int:
        """The port that is listened on."""
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
        if len(self._sessions) >= self._gate.limits.connections:
            _log.warning("a client is turned away: there are too many")
            wire.transport.write(fatal("53300", "The gateway has too many clients already.").encode())
            wire.finish()
            return
        session = Session(wire, self._gate)
        task = asyncio.get_running_loop().create_task(session.run())
        self._sessions[task] = session
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._sessions[task]
        if not task.cancelled() and task.exception() is not None:
            _log.error("a session ended by a defect: %s", type(task.exception()).__name__)

    async def stop(self) -> None:
        """Stop listening, tell every client, and wait a little until they are gone."""
        if self._accepting is not None:
            self._accepting.close()
        if self._host.startswith("/"):
            with suppress(OSError):
                self._path.unlink()
        running = list(self._sessions)
        stopping = [
            session.stop("57P01", "The gateway is shutting down.") for session in self._sessions.values()
        ]
        await asyncio.gather(*stopping)
        if running:
            _, late = await asyncio.wait(running, timeout=_STOPPING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
