"""One client: first packets and login, then both directions at once, until either side ends."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass

from kanon_pg.errors import DatabaseError, KanonError, NotPermitted
from kanon_pg.gateway import protocol
from kanon_pg.gateway.connection_slots import ConnectionSlot, TooManyClients
from kanon_pg.gateway.protocol import Incoming, Outgoing, ProtocolViolation, WireMessage
from kanon_pg.gateway.rewrite import Refused, Rewritten, rewrite
from kanon_pg.gateway.scanned_text import scan_text
from kanon_pg.gateway.search_path import START, Effects, PathState, Schemas, paths_before
from kanon_pg.gateway.server_messages import INSPECTED, ServerMessages, SessionState, fatal, refusal
from kanon_pg.gateway.state import GatewayState, connect
from kanon_pg.gateway.statements import listed_path, start_parameters
from kanon_pg.gateway.wire import Wire
from kanon_pg.queries.check.findings import Finding, Refusal

_MAX_REQUESTS = 3


@dataclass(frozen=True, slots=True)
class ClientLogin:
    """A login that the client has begun.

    Parameters
    ----------
    server : Wire
        The connection that was opened for it.
    search_path : tuple of str or None
        None for the role's own.
    """

    server: Wire
    user: str
    search_path: tuple[str, ...] | None


async def accept_login(client: Wire, shared: GatewayState, address: str) -> ClientLogin | None:
    """Answer first packets until one begins a login, and pass that on.

    Parameters
    ----------
    address : str
        The client's, as `kanon_pg.gateway.connection_slots.client_address` gives it.

    Returns
    -------
    ClientLogin or None
        None if the client left, or only wanted to cancel.

    Raises
    ------
    ProtocolViolation
        If a packet is malformed.
    NotPermitted
        If the client asks for something that does not pass.
    TooManyClients
        If there is no place for one more session.
    DatabaseError
        If the server cannot be reached.
    """
    async with asyncio.timeout(shared.limits.login_seconds):
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
    version = protocol.request_code(packet)
    if version[0] != protocol.PROTOCOL_3:
        raise ProtocolViolation("This version of the protocol is not supported.")
    if shared.tls is not None and not client.encrypted:
        raise NotPermitted("The gateway takes encrypted connections only.", hint="Set sslmode=require.")
    given = protocol.startup_parameters(packet)
    parameters = start_parameters(given, shared.upstream.database)
    path = parameters.get("search_path")
    shared.slots.require_free(address)
    server = await _connect_upstream(shared)
    await server.send(protocol.startup_packet(version, parameters))
    user = parameters["user"]
    if path is None:
        return ClientLogin(server, user, None)
    return ClientLogin(server, user, tuple(user if one == "$user" else one for one in listed_path(path)))


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


_log = logging.getLogger("kanon_pg.gateway")

_FORWARDED_KINDS = frozenset({b"B", b"D", b"E", b"C", b"S", b"H", b"X"})
_TEXT_KINDS = frozenset({b"Q", b"P"})
_COPY_DATA_KINDS = frozenset({b"d", b"c", b"f"})
_LONG_TEXT_CHARACTERS = 8_192
_MAX_REFUSED = 1_000
_NO_CALLS = Finding("G012", 0, 0, "Function calls outside of SQL do not pass the gateway.", "Write SELECT.")
_NO_CATALOG = Finding(
    "G013", 0, 0, "The gateway cannot read the catalog.", "Tell whoever runs it; its log says why."
)


class ClientSession:
    """Passes messages between one client and a connection of its own to the server.

    Parameters
    ----------
    slot : ConnectionSlot
        The connection's; it becomes a session's once the login is complete.
    """

    def __init__(self, client: Wire, shared: GatewayState, slot: ConnectionSlot) -> None:
        self._client = client
        self._shared = shared
        self._slot = slot
        self._server: Wire | None = None
        self._incoming = Incoming(protocol.MAX_LOGIN_BYTES)
        self._outgoing = Outgoing(INSPECTED)
        self._state = SessionState("")
        self._server_messages = ServerMessages(shared, self._state, slot)
        self._answered = asyncio.Event()
        self._began = self._last_activity = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Serve the client until it or the server ends, or something is wrong."""
        try:
            login = await accept_login(self._client, self._shared, self._slot.address)
            if login is None:
                return
            self._server, self._state.user = login.server, login.user
            self._state.start_path = login.search_path
            _log.info("session of %r from %s begins", self._state.user, self._client.peer)
            await self._converse()
        except ProtocolViolation as error:
            _log.warning("session of %r ends: %s", self._state.user or "?", error.message)
            await self._say(fatal(error.sqlstate, error.message, error.hint))
        except TooManyClients as error:
            _log.warning("a client from %s is turned away: there are too many", self._client.peer)
            await self._say(fatal(error.sqlstate, error.message, error.hint))
        except KanonError as error:
            _log.warning("session of %r ends: %s", self._state.user or "?", error.message)
            await self._say(fatal("28000", error.message, error.hint))
        except (OSError, TimeoutError):
            _log.info("session of %r ends: connection lost", self._state.user or "?")
        finally:
            self._end()

    def _end(self) -> None:
        state = self._state
        for key in self._server_messages.keys:
            self._shared.keys.pop(key, None)
        self._client.finish()
        if self._server is not None:
            self._server.finish()
            _log.info(
                "session of %r ended: %d statements, %d queries, %d refused",
                state.user, state.statements, state.queries, state.refusals,
            )  # fmt: skip

    def give_way(self) -> None:
        """Close, and say why unless the client has sent no login and expects no message yet."""
        if self._server is not None and self._outgoing.between_messages:
            error = TooManyClients()
            self._client.transport.write(fatal(error.sqlstate, error.message).encode())
        self._client.finish()  # `run` may not have begun

    async def stop(self, code: str, sentence: str) -> None:
        """End the session from outside, with a reason if a message may be sent."""
        await self._say(fatal(code, sentence))
        self._client.close()

    async def _say(self, message: WireMessage) -> None:
        if not self._outgoing.between_messages:
            return  # it would be taken for a part of the message before
        try:
            await asyncio.wait_for(self._client.send(message.encode()), 5)
        except (OSError, TimeoutError):
            return

    async def _converse(self) -> None:
        tasks = [asyncio.create_task(step()) for step in (self._from_client, self._from_server, self._watch)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """End a login that takes too long, and a session that is silent for too long."""
        clock = asyncio.get_running_loop()
        limits = self._shared.limits
        await asyncio.sleep(max(0.0, self._began + limits.login_seconds - clock.time()))
        if not self._state.ready:
            raise ProtocolViolation("The login takes too long.")
        while True:
            silent = clock.time() - self._last_activity
            if silent >= limits.idle_seconds and not self._state.busy:
                await self.stop("57P05", "The session was silent for too long.")
                return
            await asyncio.sleep(max(0.05, limits.idle_seconds - silent))

    # from the client to the server

    async def _from_client(self) -> None:
        assert self._server is not None  # noqa: S101 - set by run
        while data := await self._client.read():
            self._last_activity = asyncio.get_running_loop().time()
            if not self._state.busy:
                self._state.busy, self._state.text_replaced = True, False
            forwarded = bytearray()
            for message in self._incoming.feed(data):
                if not self._state.ready:
                    forwarded += self._login_message(message)
                    continue
                if message.kind in _TEXT_KINDS and not self._state.tracker.settled:
                    await self._server.send(bytes(forwarded))
                    forwarded.clear()
                    await self._settle()
                forwarded += await self._translated(message)
            if forwarded:
                await self._server.send(bytes(forwarded))

    async def _settle(self) -> None:
        """Wait until the server has answered what was sent, so that its search path is certain."""
        while not self._state.tracker.settled:
            self._answered.clear()
            await self._answered.wait()

    def _login_message(self, message: WireMessage) -> bytes:
        if message.kind not in (b"p", b"X"):
            raise ProtocolViolation("A message came before the login was complete.")
        return message.encode()

    async def _translated(self, message: WireMessage) -> bytes:
        """Return what is sent in place of a message."""
        kind = message.kind
        if kind in _COPY_DATA_KINDS:
            return b""  # no COPY from a client ever begins; PostgreSQL ignores them then, too
        if kind == b"Q":
            return await self._query(message.body)
        if kind == b"P":
            return await self._parse(message.body)
        if kind == b"F":
            return self._noted(protocol.query_message(self._refuse(Refused((_NO_CALLS,)), "")))
        if kind not in _FORWARDED_KINDS:
            raise ProtocolViolation("A message of an unknown type was received.")
        return self._noted(message)

    def _noted(self, message: WireMessage, effects: Effects = ()) -> bytes:
        self._state.tracker.sent(message, effects)
        self._state.busy = True  # it may have waited until the server was not
        return message.encode()

    async def _query(self, body: bytes) -> bytes:
        text, effects = await self._text(protocol.query_text(body), ())
        return self._noted(protocol.query_message(text), effects)

    async def _parse(self, body: bytes) -> bytes:
        parse = protocol.parse_message(body)
        text, effects = await self._text(parse.text, parse.types)
        return self._noted(parse.with_text(text), effects)

    async def _text(self, text: str, types: tuple[int, ...]) -> tuple[str, Effects]:
        """Return what is sent in place of a text, and what that does to the search path."""
        state, source = self._state, self._shared.source
        state.statements += 1
        if state.start_path is None:
            state.start_path = await source.start_path(state.user)
        path_state = state.tracker.expected() if state.tracker.varies else PathState()
        key = (state.user, text, path_state, state.start_path, types)
        result = source.cached_result(key)
        if result is None:
            result = await self._rewritten(text, path_state, types)
            source.store_result(key, text, result)
        if isinstance(result, Refused):
            return self._refuse(result, text), ()
        return self._pass(result), result.effects

    def _schemas(self, path: Schemas) -> Schemas:
        """Return the schemas of a path of the session."""
        user = self._state.user
        named = (self._state.start_path or ()) if path == START else path
        return tuple(user if one == "$user" else one for one in named)

    async def _rewritten(
        self, text: str, path_state: PathState, types: tuple[int, ...]
    ) -> Rewritten | Refused:
        try:
            scanned = (
                scan_text(text)
                if len(text) < _LONG_TEXT_CHARACTERS
                else await asyncio.to_thread(scan_text, text)
            )
            path, *later = paths = [self._schemas(one) for one in paths_before(scanned.effects, path_state)]
            # what a text sets or brings back, its statements may use
            brought = {schema for one in later if one != path for schema in one}
            names = scanned.names | brought if scanned.names else scanned.names
            context = await self._shared.source.context(self._state.user, path, names)
        except Refusal as refusal:
            return Refused((refusal.finding,))
        except KanonError as error:
            _log.error("the catalog cannot be read: %s", error.message)
            return Refused((_NO_CATALOG,))
        arguments = (scanned, context, paths, types)
        if scanned.names or len(text) >= _LONG_TEXT_CHARACTERS:
            return await asyncio.to_thread(rewrite, *arguments)
        return rewrite(*arguments)

    def _pass(self, result: Rewritten) -> str:
        state = self._state
        state.queries += result.queries
        state.text_replaced = state.text_replaced or not result.keeps_positions
        return result.text

    def _refuse(self, result: Refused, text: str) -> str:
        """Return a text that fails in its place among the other statements, and store the error for it."""
        token = f"kanon_refused_{secrets.token_hex(16)}"
        self._state.refusals += 1
        if len(self._state.refused) >= _MAX_REFUSED:
            # those that the server skipped, because of an error before them, never come back
            del self._state.refused[next(iter(self._state.refused))]
        self._state.refused[token.encode()] = refusal(result.findings, text)
        codes = ", ".join(sorted({finding.code for finding in result.findings}))
        _log.info("session of %r: a statement is refused (%s)", self._state.user, codes)
        return token

    # from the server to the client

    async def _from_server(self) -> None:
        assert self._server is not None  # noqa: S101 - set by run
        while data := await self._server.read():
            self._last_activity = asyncio.get_running_loop().time()
            pieces = []
            for piece in self._outgoing.feed(data):
                if not isinstance(piece, WireMessage):
                    pieces.append(piece)
                elif (message := self._server_messages.translated(piece)) is not None:
                    pieces.append(message.encode())
            self._answered.set()
            if self._state.ready:
                self._incoming.longest = self._shared.limits.message_bytes
            await self._client.send(b"".join(pieces))
