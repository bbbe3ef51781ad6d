"""Which message of the server answers what: what the client sent, or what the gateway asks for itself.

The server answers messages in their order, each by known kinds, and after an error skips everything up to
Sync. So a queue says whose answer comes next.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kanon_pg.gateway.protocol import Fields, WireMessage

_ENDS = {b"P": b"1", b"B": b"2", b"C": b"3", b"D": b"Tn", b"E": b"CIs", b"S": b"Z", b"Q": b"Z", b"F": b"Z"}
"""By the kind of a client's message: the kinds that end its answer."""

ENDING = frozenset(b"123TnCIsZEG")
"""Kinds of the server's messages that the queue has to see."""


@dataclass(eq=False, slots=True)
class OwnRequest:
    """What the gateway asks in a client's session."""

    messages: Sequence[WireMessage]
    """All of kinds that are answered."""
    rewrite: Callable[[Fields], Fields]
    """Turns the fields of an error into those for the client."""
    answer: list[WireMessage] = field(default_factory=list)
    done: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Whether `answer` is complete: false after an error, which the client has got."""

    def end(self, is_complete: bool) -> None:
        """Note that nothing more comes."""
        if not self.done.done():
            self.done.set_result(is_complete)


@dataclass(frozen=True, slots=True)
class _Awaited:
    kind: bytes
    own: OwnRequest | None = None
    is_last: bool = False


class AwaitedAnswers:
    """The queue of answers that a session waits for."""

    def __init__(self) -> None:
        self._queue: deque[_Awaited] = deque()
        self._copying = False
        self.skipping = False
        """Whether the server skips what is sent, until Sync."""

    @property
    def is_busy(self) -> bool:
        """Whether the server has something to answer."""
        return bool(self._queue)

    @property
    def is_own(self) -> bool:
        """Whether what comes next is for the gateway itself."""
        return bool(self._queue) and self._queue[0].own is not None

    def sent(self, kind: bytes) -> None:
        """Note a message of the client."""
        if kind in b"cf":
            self._copying = False
        if kind not in _ENDS or (self._copying and kind == b"S"):
            return  # while data are copied, the server ignores Sync
        if not self.skipping or kind == b"S":
            self.skipping = False
            self._queue.append(_Awaited(kind))

    def asked(self, own: OwnRequest) -> None:
        """Note a request of the gateway."""
        last = len(own.messages) - 1
        self._queue += [_Awaited(one.kind, own, place == last) for place, one in enumerate(own.messages)]

    def received(self, message: WireMessage) -> OwnRequest | None:
        """Note a message of the server, and return whose it is; None for the client."""
        if not self._queue:
            return None
        head = self._queue[0]
        if message.kind == b"E":
            self._failed(head)
        elif message.kind == b"G":
            self._copying = True
            while len(self._queue) > 1 and self._queue[1].kind == b"S":
                del self._queue[1]
        elif message.kind in _ENDS[head.kind]:
            self._queue.popleft()
            self._copying = False
            if head.own is not None and head.is_last:
                head.own.end(is_complete=True)
        if head.own is not None:
            head.own.answer.append(message)
        return head.own

    def _failed(self, head: _Awaited) -> None:
        self._copying = False
        if head.kind in b"QFS":
            return  # that the server is ready comes yet
        while self._queue and self._queue[0].kind != b"S":
            own = self._queue.popleft().own
            if own is not None:
                own.end(is_complete=False)
        self.skipping = not self._queue
