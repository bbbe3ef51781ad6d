"""One client: the login, then both directions at once, until either side ends."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from kanon_pg.errors import KanonError
from kanon_pg.gateway import blocks as requests
from kanon_pg.gateway import protocol
from kanon_pg.gateway.awaited import ENDING, AwaitedAnswers, OwnRequest
from kanon_pg.gateway.blocks import Blocks
from kanon_pg.gateway.connection_slots import ConnectionSlot, TooManyClients
from kanon_pg.gateway.login import accept_login
from kanon_pg.gateway.protocol import Bind, Fields, Incoming, Outgoing, ProtocolViolation, WireMessage, fatal
from kanon_pg.gateway.question import Question, question, with_constants
from kanon_pg.gateway.state import GatewayState
from kanon_pg.gateway.wire import Wire

_log = logging.getLogger("kanon_pg.gateway")

_OK, _SASL = 0, 10
_CHALLENGES = frozenset({2, 3, 5, 6, 7, 9, _SASL})
_KINDS = frozenset({b"Q", b"P", b"B", b"D", b"E", b"C", b"S", b"H", b"F", b"X", b"d", b"c", b"f"})
_INSUFFICIENT_PRIVILEGE = b"42501"
_HINT = (
    "Tables of people answer one SELECT in a statement of its own, also within DECLARE name CURSOR FOR ... "
    "and COPY (...) TO STDOUT."
)


class ClientSession:
    """Passes messages between one client and a connection of its own to the server."""

    def __init__(self, client: Wire, shared: GatewayState, slot: ConnectionSlot) -> None:
        self._client = client
        self._shared = shared
        self._slot = slot
        self._server: Wire | None = None
        self._user = "?"
        self._incoming = Incoming(protocol.MAX_LOGIN_BYTES)
        self._awaited = AwaitedAnswers()
        self._outgoing = Outgoing(ENDING | set(b"RK"), lambda: self._awaited.is_own)
        self._keys: list[bytes] = []
        self._challenged = self._ready = False
        self._prepared: dict[bytes, Question] = {}
        self._unsent = bytearray()
        self._statements = self._queries = self._refused = 0
        self._began = self._last_activity = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Serve the client until it or the server ends, or something is wrong."""
        try:
            login = await accept_login(self._client, self._shared, self._slot.address)
            if login is None:
                return
            self._server, self._user = login.server, login.user
            _log.info("session of %r from %s begins", self._user, self._client.peer)
            await self._converse()
        except (ProtocolViolation, TooManyClients) as error:
            _log.warning("session of %r ends: %s", self._user, error.message)
            await self._say(fatal(error.sqlstate, error.message, error.hint))
        except KanonError as error:
            _log.warning("session of %r ends: %s", self._user, error.message)
            await self._say(fatal("28000", error.message, error.hint))
        except (OSError, TimeoutError):
            _log.info("session of %r ends: connection lost", self._user)
        finally:
            self._end()

    def _end(self) -> None:
        for key in self._keys:
            self._shared.keys.pop(key, None)
        self._client.finish()
        if self._server is not None:
            self._server.finish()
            _log.info(
                "session of %r ended: %d statements, %d queries, %d refused",
                self._user, self._statements, self._queries, self._refused,
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
        if not self._ready:
            raise ProtocolViolation("The login takes too long.")
        while True:
            silent = clock.time() - self._last_activity
            if silent >= limits.idle_seconds and not self._awaited.is_busy:
                await self.stop("57P05", "The session was silent for too long.")
                return
            await asyncio.sleep(max(0.05, limits.idle_seconds - silent))

    # --- from the client to the server ---------------------------------------------------------------------

    async def _from_client(self) -> None:
        while data := await self._client.read():
            self._last_activity = asyncio.get_running_loop().time()
            for message in self._incoming.feed(data):
                if self._ready:
                    await self._message(message)
                elif message.kind in (b"p", b"X"):
                    self._unsent += message.encode()
                else:
                    raise ProtocolViolation("A message came before the login was complete.")
            await self._send()

    async def _send(self, *messages: WireMessage) -> None:
        """Send what waits, and messages."""
        self._unsent += b"".join(message.encode() for message in messages)
        assert self._server is not None  # noqa: S101 - set by run
        if self._unsent:
            data = bytes(self._unsent)
            self._unsent.clear()
            await self._server.send(data)

    def _pass(self, message: WireMessage) -> None:
        self._awaited.sent(message.kind)
        self._unsent += message.encode()

    async def _message(self, message: WireMessage) -> None:
        """Pass a message on, or what stands for it."""
        match message.kind:
            case b"Q":
                statement = await self._question(protocol.text_of(message.body))
                if statement is not None:
                    await self._simple(statement, message)
                    return
            case b"P":
                name, text = protocol.parsed(message.body)
                statement = await self._question(text)
                self._prepared.pop(name, None)
                if statement is not None:
                    self._prepared[name] = statement
            case b"B" if self._prepared:
                given = protocol.bound(message.body)
                if given.statement in self._prepared:
                    await self._bind(self._prepared[given.statement], given, message)
                    return
            case kind if kind not in _KINDS:
                raise ProtocolViolation("A message of an unknown type was received.")
        self._pass(message)

    async def _question(self, text: str) -> Question | None:
        self._statements += 1
        return question(text, await self._shared.names.current())

    async def _simple(self, statement: Question, message: WireMessage) -> None:
        """Answer a statement of the simple protocol, by messages of the other one."""
        refused = self._refused
        blocks = await self._blocks(statement, statement.query, lambda place: len(statement.before) + place)
        is_skipped = blocks is None and self._refused == refused  # until the client's own Sync, also this
        if is_skipped or (blocks is not None and not blocks.is_about_people):
            self._pass(message)
            return
        if blocks is not None:
            self._ask(requests.resting(statement, blocks), requests.without_places)
            self._ask([requests.rows_bound(statement, blocks, b"", b"\0\0")], requests.without_places)
            if statement.returns_rows:
                self._pass(WireMessage(b"D", b"P\0"))
            self._pass(WireMessage(b"E", b"\0\0\0\0\0"))
        self._pass(WireMessage(b"S"))

    async def _bind(self, statement: Question, given: Bind, message: WireMessage) -> None:
        """Bind the rest in place of a statement, whose parameters and columns are those that it describes."""
        constant = with_constants(statement.query, (), ())
        if given.values:
            described = await self._answer([WireMessage(b"D", b"S" + given.statement + b"\0")], dict)
            types = protocol.parameter_types(described[0].body) if described else ()
            read = None
            if len(types) == len(given.values):
                read = await self._answer(requests.reading(given, types), requests.without_places)
            if read is None:  # the server has skipped it, or refuses as many parameters
                self._pass(message)
                return
            constant = with_constants(statement.query, requests.texts(read), types)
        blocks = await self._blocks(
            statement, constant.text, lambda place: len(statement.before) + constant.written_at(place)
        )
        if blocks is None or not blocks.is_about_people:
            self._pass(message)
            return
        self._ask(requests.resting(statement, blocks), requests.without_places)
        self._pass(requests.rows_bound(statement, blocks, given.portal, given.results))

    async def _blocks(
        self, statement: Question, text: str, written_at: Callable[[int], int]
    ) -> Blocks | None:
        """Return the blocks of a query; None if it is refused, which the client has been told."""
        self._queries += 1
        rows = await self._answer(
            requests.asking(text), lambda fields: requests.places_written(fields, written_at)
        )
        if rows is None:
            return None
        blocks = requests.answered(rows)
        for notice in blocks.notices:
            fields = {b"S": b"NOTICE", b"V": b"NOTICE", b"C": b"00000", b"M": protocol.encoded(notice)}
            await self._client.send(protocol.notice_message(b"N", fields).encode())
        return blocks

    async def _answer(
        self, messages: Sequence[WireMessage], rewrite: Callable[[Fields], Fields]
    ) -> Sequence[WireMessage] | None:
        """Ask something, and return what the server answers; None if it refuses or skips it."""
        if self._awaited.skipping:
            return None
        own = self._ask(messages, rewrite)
        await self._send(WireMessage(b"H"))
        return own.answer if await own.done else None

    def _ask(self, messages: Sequence[WireMessage], rewrite: Callable[[Fields], Fields]) -> OwnRequest:
        own = OwnRequest(messages, rewrite)
        if not self._awaited.skipping:
            self._awaited.asked(own)
        self._unsent += b"".join(message.encode() for message in messages)
        return own

    # --- from the server to the client ---------------------------------------------------------------------

    async def _from_server(self) -> None:
        assert self._server is not None  # noqa: S101 - set by run
        while data := await self._server.read():
            self._last_activity = asyncio.get_running_loop().time()
            pieces = []
            for piece in self._outgoing.feed(data):
                if not isinstance(piece, WireMessage):
                    pieces.append(piece)
                elif (message := self._translated(piece)) is not None:
                    pieces.append(message.encode())
            await self._client.send(b"".join(pieces))

    def _translated(self, message: WireMessage) -> WireMessage | None:
        """Return what the client gets in place of a message, None if it gets nothing."""
        if not self._ready:
            return self._of_login(message)
        if message.kind in b"NSA":
            return message  # these come at any time
        own = self._awaited.received(message)
        if message.kind == b"E":
            return self._error(protocol.notice_fields(message.body), own)
        return message if own is None else None

    def _of_login(self, message: WireMessage) -> WireMessage:
        if message.kind == b"R":
            return self._authentication(message)
        if message.kind == b"K":
            return self._key(message)
        if message.kind == b"Z":
            self._ready = True
            self._incoming.longest = self._shared.limits.message_bytes
        return message

    def _authentication(self, message: WireMessage) -> WireMessage:
        code = int.from_bytes(message.body[:4], "big")
        if code in _CHALLENGES:
            self._challenged = True
        if code == _OK and not (self._challenged or self._shared.trusts_server):
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
        return replace(message, body=message.body[:4] + b"".join(name + b"\0" for name in names) + b"\0")

    def _key(self, message: WireMessage) -> WireMessage:
        """Give the client a key of its own for cancelling, so that the server's stays here."""
        process, key = message.body[:4], message.body[4:]
        own = process + secrets.token_bytes(len(key))
        self._shared.keys[own] = message.body
        self._keys.append(own)
        return replace(message, body=own)

    def _error(self, fields: Fields, own: OwnRequest | None) -> WireMessage:
        if own is not None:
            self._refused += 1
            fields = own.rewrite(fields)
        elif fields.get(b"C") == _INSUFFICIENT_PRIVILEGE:
            self._shared.names.expire()
            if self._shared.names.stand_in(protocol.decoded(fields.get(b"M", b""))):
                fields.setdefault(b"H", _HINT.encode())
        return protocol.notice_message(b"E", fields)
