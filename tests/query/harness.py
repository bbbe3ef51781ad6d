"""Runs attacks against any interface, in two worlds, and compares what came back.

An interface is three callables, so that whoever writes one plugs it in with a few lines:

* ``ask(role, sql, params, session)`` runs a query through the interface and returns what came back;
* ``in_session(role, sql, params, session)`` runs a statement as it stands, in the same session with the
  server that `ask` uses, if the interface leaves one (a gateway passes both through itself);
* ``as_admin(sql)`` prepares the database beforehand.

An error of the server itself, such as a missing right, counts as an explained refusal, unless its bytes are
those of the constant words.

Roles are names, sessions are numbers; the same pair is the same session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any

from tests.query.cases import Attack, Outcome, Secret, Step, Together, Via, flat
from tests.query.people import World


@dataclass(frozen=True)
class Answer:
    """Rows that came back, in no order."""

    rows: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> Answer:
        """Return the answer with these rows."""
        return cls(tuple(sorted(repr(tuple(row)) for row in rows)))


@dataclass(frozen=True)
class Refusal:
    """Everything the analyst can see of a refusal.

    Parameters
    ----------
    explained : bool
        True for findings, False for the constant words.
    seen : bytes
        SQLSTATE, message, detail, hint, position and notices, as they arrive.
    """

    explained: bool
    seen: bytes


Seen = Answer | Refusal
Run = Callable[[str, str, Sequence[Any], int], Seen]


@dataclass(frozen=True)
class Interface:
    """A way to run queries; see the head of this module."""

    ask: Run
    in_session: Run | None = None
    as_admin: Callable[[str], None] | None = None

    def can_run(self, attack: Attack) -> bool:
        """Whether the interface has what the attack's steps need."""
        vias = {step.via for step in flat(attack.steps)}
        return (Via.SESSION not in vias or self.in_session is not None) and (
            Via.ADMIN not in vias or self.as_admin is not None
        )


@dataclass(frozen=True)
class Trial:
    """What the attacker saw in one world, step by step; steps of the administrator are left out."""

    seen: tuple[Seen, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(map(outcome, self.seen))


def outcome(seen: Seen) -> Outcome:
    """Return the kind of what was seen."""
    if isinstance(seen, Answer):
        return Outcome.ANSWERED
    return Outcome.EXPLAINED if seen.explained else Outcome.WITHHELD


def worlds(attack: Attack) -> tuple[World, World]:
    """Return the two worlds that the attacker wants to tell apart."""
    return World.AS_IS, World.ABSENT if attack.secret is Secret.PRESENCE else World.OTHER


def run(attack: Attack, interface: Interface) -> Trial:
    """Let the attacker do all steps, whatever happens to each.

    Parameters
    ----------
    attack : Attack
        With ``interface.can_run(attack)``.
    interface : Interface
        An interface to a database in one of the worlds.

    Returns
    -------
    Trial
        One entry for each of the attacker's steps.
    """
    seen: list[Seen] = []
    for step in attack.steps:
        if isinstance(step, Together):
            seen.extend(_together(step, interface))
        else:
            seen.extend(_one(step, interface))
    return Trial(tuple(seen))


def _one(step: Step, interface: Interface) -> list[Seen]:
    if step.via is Via.ADMIN:
        if interface.as_admin is None:
            raise ValueError("the interface has no administrator")
        interface.as_admin(step.text)
        return []
    ask = interface.ask if step.via is Via.INTERFACE else interface.in_session
    if ask is None:
        raise ValueError("the interface leaves no session")
    return [ask(step.role, step.text, step.params, step.session)]


def _together(together: Together, interface: Interface) -> list[Seen]:
    ready = Barrier(len(together.steps))

    def start(step: Step) -> list[Seen]:
        ready.wait()
        return _one(step, interface)

    with ThreadPoolExecutor(len(together.steps)) as threads:
        return [seen for found in threads.map(start, together.steps) for seen in found]


def complaints(attack: Attack, first: Trial, second: Trial) -> list[str]:
    """Judge an attack by what was seen in its two worlds.

    Parameters
    ----------
    attack : Attack
        What was tried.
    first, second : Trial
        What was seen in each of `worlds(attack)`.

    Returns
    -------
    list of str
        What is wrong; empty if the attack failed as it should. Never quotes what was seen.
    """
    found = []
    for trial in (first,) if attack.expect.only_as_is else (first, second):
        if attack.expect.in_any_step and not any(one in attack.expect.outcomes for one in trial.outcomes):
            got = ", ".join(item.value.split()[0] for item in trial.outcomes)
            found.append(f"expected one refusal at least, got: {got}")
    if not attack.expect.may_differ and not _look_alike(attack, first, second):
        found.append("what is seen depends on the victim")
    return found


def _look_alike(attack: Attack, first: Trial, second: Trial) -> bool:
    """Compare refusals by their bytes; where honest answers come first, only what was refused counts."""
    if attack.expect.in_any_step:
        pairs = zip(first.seen, second.seen, strict=True)
        return all(a == b for a, b in pairs if isinstance(a, Refusal) and isinstance(b, Refusal))
    return first.seen[-1] == second.seen[-1]


def constant_words(trials: Sequence[Trial]) -> set[bytes]:
    """Return the different texts of refusals that depend on the data; more than one is a channel."""
    refusals = (seen for trial in trials for seen in trial.seen if isinstance(seen, Refusal))
    return {refusal.seen for refusal in refusals if not refusal.explained}
