"""Follows the search path of a session exactly as the server changes it.

What a statement does to the path counts when the server says that the statement is complete: a statement may
fail, be skipped after an error, be prepared and never executed, or be executed again. Here stand the messages
that the server has not answered yet, in order, and what their statements do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from enum import Enum

from kanon_pg.gateway.protocol import ProtocolViolation, WireMessage

Schemas = tuple[str, ...]
START: Schemas = ()
"""Stands for the path with which the session began; no other path is empty."""


class PathAction(Enum):
    """What a statement does that the search path depends on."""

    SET = "set"
    SET_LOCAL = "set local"
    RESET_ALL = "reset all"
    DISCARD_ALL = "discard all"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"
    ROLLBACK_TO = "rollback to"
    RELEASE = "release"
    FORGET_STATEMENT = "prepare or deallocate"
    FORGET_CURSOR = "declare"


@dataclass(frozen=True, slots=True)
class PathEffect:
    """What one statement does.

    Parameters
    ----------
    schemas : tuple of str
        The path that is set.
    name : str
        Of the savepoint, prepared statement or cursor; empty for all of them.
    """

    action: PathAction
    schemas: Schemas = START
    name: str = ""

    @property
    def sets_path(self) -> bool:
        """Whether it sets a path, rather than bring a former one back."""
        return self.action in (PathAction.SET, PathAction.SET_LOCAL)


Effects = tuple[PathEffect | None, ...]
"""One for each statement of a text, None for one that the path does not depend on."""


@dataclass(frozen=True, slots=True)
class PathState:
    """The path, and what transactions may bring back.

    Parameters
    ----------
    session : tuple of str
        What stays if the transaction commits.
    local : tuple of str or None
        What SET LOCAL made of it until the transaction ends.
    before : tuple of str
        What comes back if the transaction is rolled back.
    savepoints : tuple of (str, tuple of str, tuple of str or None)
        Name, session and local path of each, the oldest first.
    failed : bool
        Whether there was an error that the transaction has not left behind.
    """

    session: Schemas = START
    local: Schemas | None = None
    before: Schemas = START
    savepoints: tuple[tuple[str, Schemas, Schemas | None], ...] = ()
    failed: bool = False

    @property
    def path(self) -> Schemas:
        """The path that is in force."""
        return self.session if self.local is None else self.local

    def after(self, effect: PathEffect | None) -> PathState:
        """Return the state after a statement that succeeds."""
        if effect is None:
            return self
        new = self
        match effect.action:
            case PathAction.SET:
                new = replace(self, session=effect.schemas, local=None)
            case PathAction.SET_LOCAL:
                new = replace(self, local=effect.schemas)
            case PathAction.RESET_ALL if self.path != START:  # passes over what no SET holds just then
                new = replace(self, session=START, local=None)
            case PathAction.DISCARD_ALL:  # commits by itself
                new = PathState()
            case PathAction.COMMIT:
                new = self.ended(failed=self.failed)
            case PathAction.ROLLBACK:
                new = self.ended(failed=True)
            case PathAction.SAVEPOINT:
                savepoint = (effect.name, self.session, self.local)
                new = replace(self, savepoints=(*self.savepoints, savepoint))
            case PathAction.RELEASE:
                new = replace(self, savepoints=self.savepoints[: self._place(effect.name)])
            case PathAction.ROLLBACK_TO:
                new = self._back_to(self._place(effect.name))
        return new

    def _back_to(self, place: int) -> PathState:
        if place == len(self.savepoints):
            return self  # the server knows no savepoint of this name either, and reports an error
        _, session, local = self.savepoints[place]
        kept = self.savepoints[: place + 1]
        return replace(self, session=session, local=local, savepoints=kept, failed=False)

    def _place(self, name: str) -> int:
        """Return the place of the newest savepoint of this name."""
        places = [place for place, savepoint in enumerate(self.savepoints) if savepoint[0] == name]
        return places[-1] if places else len(self.savepoints)

    def ended(self, *, failed: bool) -> PathState:
        """Return the state after the end of a transaction."""
        kept = self.before if failed else self.session
        return PathState(session=kept, before=kept)


def paths_before(effects: Sequence[PathEffect | None], state: PathState) -> list[Schemas]:
    """Return the path that is in force before each statement of a text, and after the last."""
    found = [state.path]
    for effect in effects:
        state = state.after(effect)
        found.append(state.path)
    return found


@dataclass
class _Sent:
    """A message that the server has not answered.

    Parameters
    ----------
    kind : bytes
        Of the message.
    name : bytes
        Of the statement or portal it makes, closes or executes.
    source : bytes
        Of the statement that a portal executes.
    effects : tuple of PathEffect or None
        Of the text; those that are not complete yet.
    """

    kind: bytes
    name: bytes = b""
    source: bytes = b""
    effects: Effects = ()

    @property
    def ends_unit(self) -> bool:
        """Whether the server answers that it is ready, and skips nothing after it."""
        return self.kind in (b"Q", b"S")


def _sent(message: WireMessage, effects: Effects) -> _Sent:
    body = message.body
    match message.kind:
        case b"P":
            return _Sent(b"P", body.partition(b"\0")[0], effects=effects)
        case b"B":
            portal, _, rest = body.partition(b"\0")
            return _Sent(b"B", portal, rest.partition(b"\0")[0])
        case b"E":
            return _Sent(b"E", body.partition(b"\0")[0])
        case b"C":
            return _Sent(b"C", body[:-1])
        case _:
            return _Sent(message.kind, effects=effects)


@dataclass
class _Execution:
    """What is prepared, and the state of the path.

    Parameters
    ----------
    statements, portals : dict
        Effect of each that the path depends on, by its name.
    """

    state: PathState = field(default_factory=PathState)
    statements: dict[bytes, PathEffect] = field(default_factory=dict)
    portals: dict[bytes, PathEffect] = field(default_factory=dict)

    def copy(self) -> _Execution:
        return _Execution(self.state, copy(self.statements), copy(self.portals))

    def complete(self, sent: _Sent) -> None:
        """Apply a message that succeeds."""
        match sent.kind:
            case b"P":
                _store(self.statements, sent.name, sent.effects[0] if sent.effects else None)
            case b"B":
                _store(self.portals, sent.name, self.statements.get(sent.source))
            case b"C":
                (self.statements if sent.name[:1] == b"S" else self.portals).pop(sent.name[1:], None)
            case b"E":
                self.apply(self.portals.get(sent.name))
            case _:
                for effect in sent.effects:
                    self.apply(effect)

    def apply(self, effect: PathEffect | None) -> None:
        """Apply a statement that succeeds."""
        self.state = self.state.after(effect)
        if effect is None:
            return
        if effect.action is PathAction.DISCARD_ALL:
            self.statements.clear()
            self.portals.clear()
        elif effect.action is PathAction.FORGET_STATEMENT:
            _forget(self.statements, effect.name)
        elif effect.action is PathAction.FORGET_CURSOR:
            _forget(self.portals, effect.name)


def _store(known: dict[bytes, PathEffect], name: bytes, effect: PathEffect | None) -> None:
    if effect is None:
        known.pop(name, None)
    else:
        known[name] = effect


def _forget(known: dict[bytes, PathEffect], name: str) -> None:
    if name:
        known.pop(name.encode(), None)
    else:
        known.clear()


_ANSWERED_BY = {b"1": b"P", b"2": b"B", b"3": b"C", b"s": b"E", b"T": b"D", b"n": b"D"}
"""By the type of an answer that says nothing of a statement's success: the type of the message."""

ANSWERS = b"CEIZ" + b"".join(_ANSWERED_BY)
"""Types of the server's messages that `SearchPathTracker.answered` must see."""


class SearchPathTracker:
    """Follows one session.

    Attributes
    ----------
    varies : bool
        Whether the client has ever set a path; all states have the same one before.
    """

    def __init__(self) -> None:
        self.varies = False
        self._queue: deque[_Sent] = deque()
        self._units = 0  # in the queue, complete with what ends them
        self._skipping = False  # the server skips everything until a Sync that was not sent yet
        self._now = _Execution()
        self._ahead: _Execution | None = None

    def sent(self, message: WireMessage, effects: Iterable[PathEffect | None] = ()) -> None:
        """Take note of a message to the server.

        Parameters
        ----------
        effects : iterable of PathEffect or None
            Of the statements in its text.
        """
        if message.kind not in b"QSPBDEC":
            return
        if self._skipping and message.kind != b"S":
            return
        sent = _sent(message, tuple(effects))
        self._skipping = False
        self.varies = self.varies or any(effect is not None and effect.sets_path for effect in sent.effects)
        self._queue.append(sent)
        self._units += sent.ends_unit
        if self._ahead is not None:
            self._ahead.complete(sent)

    @property
    def waits(self) -> bool:
        """Whether the server has not answered everything."""
        return bool(self._queue)

    @property
    def settled(self) -> bool:
        """Whether the path is certain for what is sent next, unless that is skipped."""
        return not (self.varies and self._units)

    def expected(self) -> PathState:
        """Return the state in which the server will execute what is sent next."""
        if self._ahead is None:
            self._ahead = self._now.copy()
            for sent in self._queue:
                self._ahead.complete(sent)
        return self._ahead.state

    def answered(self, message: WireMessage) -> None:
        """Take note of a message of the server.

        Raises
        ------
        ProtocolViolation
            If it answers nothing that was sent.
        """
        first = self._queue[0] if self._queue else None
        match message.kind:
            case b"C":
                self._completed(first)
            case b"I":
                if first is not None and first.kind == b"E":
                    self._pop()
            case b"E":
                self._failed(first)
            case b"Z":
                self._ready(first, message.body)
            case kind if first is not None and first.kind == _ANSWERED_BY.get(kind):
                self._pop()
                if kind != b"s":
                    self._now.complete(first)

    def _pop(self) -> None:
        self._units -= self._queue.popleft().ends_unit

    def _completed(self, first: _Sent | None) -> None:
        if first is not None and first.kind == b"E":
            self._pop()
            self._now.complete(first)
        elif first is not None and first.kind == b"Q" and first.effects:
            self._now.apply(first.effects[0])
            first.effects = first.effects[1:]
        else:
            raise _unexpected()

    def _failed(self, first: _Sent | None) -> None:
        self._ahead = None
        self._now.state = replace(self._now.state, failed=True)
        if first is None:
            return
        if first.kind == b"Q":
            first.effects = ()
            return
        while self._queue and self._queue[0].kind != b"S":
            self._pop()
        self._skipping = not self._queue

    def _ready(self, first: _Sent | None, status: bytes) -> None:
        if first is None or not first.ends_unit:
            raise _unexpected()
        self._pop()
        self._ahead = None
        if status == b"I":
            self._now.state = self._now.state.ended(failed=self._now.state.failed)
            self._now.portals.clear()
        else:
            self._now.state = replace(self._now.state, failed=status == b"E")


def _unexpected() -> ProtocolViolation:
    return ProtocolViolation(
        "The server answered what the gateway had not asked, so the search path cannot be followed.",
        hint="Connect again.",
    )
