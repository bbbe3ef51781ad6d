"""What an attack is: the statements of an attacker, the secret they are after, and what may come back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.query.hospital import ADA

V = "birth_date = date '1957-05-09'"
"""Picks the victim by what a neighbor knows; no other patient was born that day."""


class Secret(Enum):
    """What the attacker wants to know."""

    WARD = "the ward of a known patient"
    DIAGNOSIS = "the diagnosis of a known patient"
    COST = "the cost of a known patient"
    VISITS = "where a known patient went"
    TEST = "the result of a known patient's test"
    PRESENCE = "whether somebody is a patient at all"
    IDENTITY = "the names or numbers of patients"
    PAYROLL = "a table that the attacker may not read"
    SERVER = "no patient: files, settings, rights, locks, other sessions, or the server's time"


class Outcome(Enum):
    """What an interface can do with a statement."""

    ANSWERED = "answered"
    EXPLAINED = "refused for a reason that the text and the catalog alone give, and that is said"
    WITHHELD = "refused with the constant words that all reasons in the data share"


@dataclass(frozen=True)
class Expectation:
    """What a correct enforcement may do.

    Parameters
    ----------
    outcomes : frozenset of Outcome
        What may happen to the decisive step.
    in_any_step : bool
        The refusal may come at any step, because it needs several answers to attack; otherwise at the last.
    may_differ : bool
        What happens may depend on the victim.
    only_as_is : bool
        Where the victim's secrets are others, the same query is honest.
    is_limit : bool
        The attack works, slowly; the threat model says so.
    why : str
        Why an answer would do no harm, or what limits it.
    """

    outcomes: frozenset[Outcome]
    in_any_step: bool = False
    may_differ: bool = False
    only_as_is: bool = False
    is_limit: bool = False
    why: str = ""


EXPLAINED = Expectation(frozenset({Outcome.EXPLAINED}))
WITHHELD = Expectation(frozenset({Outcome.WITHHELD}))
WITHHELD_AS_IS = Expectation(frozenset({Outcome.WITHHELD}), may_differ=True, only_as_is=True)
REFUSED = Expectation(frozenset({Outcome.EXPLAINED, Outcome.WITHHELD}))
BROKEN_OFF = Expectation(frozenset({Outcome.EXPLAINED, Outcome.WITHHELD}), in_any_step=True)
"""At least one step is refused; answers to the others may be given, each is honest by itself."""
BROKEN_OFF_AS_IS = Expectation(
    frozenset({Outcome.EXPLAINED, Outcome.WITHHELD}), in_any_step=True, may_differ=True, only_as_is=True
)
"""The same where the victim's secrets are these; elsewhere the queries are about the same people."""


def harmless(why: str) -> Expectation:
    """Whatever happens must be the same whatever is true about the victim."""
    return Expectation(frozenset(Outcome), why=why)


def backed(why: str) -> Expectation:
    """May be answered, and the answer may depend on the victim as on k - 1 others."""
    return Expectation(frozenset(Outcome), may_differ=True, why=why)


def limited(why: str) -> Expectation:
    """Is not stopped, only slowed down."""
    return Expectation(frozenset(Outcome), may_differ=True, is_limit=True, why=why)


class Via(Enum):
    """Where a step happens."""

    INTERFACE = "asked through the interface under test"
    SESSION = "run as it stands in the attacker's own session with the server"
    ADMIN = "done by an administrator beforehand, in good faith"


@dataclass(frozen=True)
class Step:
    """One statement, by one role, in one of its sessions."""

    text: str
    params: Sequence[Any] = ()
    role: str = ADA
    via: Via = Via.INTERFACE
    session: int = 1


@dataclass(frozen=True)
class Together:
    """Steps that start at the same time, each in a session of its own."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Policy:
    """The options of the protected tables under which an attack must fail.

    Parameters
    ----------
    mode : {'reject', 'suppress'}
        What happens to an answer of which some rows are not backed.
    budget : int or None
        How many refusals that depend on the data a role may collect before it is locked out.
    """

    mode: str = "reject"
    budget: int | None = None


class Channel(Enum):
    """Where an unguarded server would show the secret."""

    ROWS = "in rows, or in which of the steps fail"
    TIME = "in how long it takes"
    EFFECT = "in what it leaves behind, or not at all without the software's own functions"


@dataclass(frozen=True)
class Attack:
    """One attack by name."""

    name: str
    kind: str
    steps: tuple[Step | Together, ...]
    secret: Secret
    expect: Expectation
    policy: Policy
    channel: Channel


@dataclass(frozen=True)
class Draft:
    """An attack before its class is known."""

    name: str
    steps: tuple[Step | Together, ...]
    secret: Secret
    expect: Expectation
    policy: Policy
    channel: Channel


def attack(
    name: str,
    *steps: str | Step | Together,
    secret: Secret,
    expect: Expectation = EXPLAINED,
    policy: Policy = Policy(),
    channel: Channel = Channel.ROWS,
) -> Draft:
    """Describe an attack; a text alone is a query of the first analyst."""
    made = tuple(Step(step) if isinstance(step, str) else step for step in steps)
    return Draft(name, made, secret, expect, policy, channel)


def alike(
    steps_by_name: Mapping[str, str | Step | Together | Sequence[str | Step | Together]], **what: Any
) -> Iterator[Draft]:
    """Describe attacks on one secret that may end in the same way: to each name the text, or the steps."""
    for name, steps in steps_by_name.items():
        yield attack(name, *([steps] if isinstance(steps, str | Step | Together) else steps), **what)


def of_kind(kind: str, *drafts: Draft) -> tuple[Attack, ...]:
    """Put attacks into a class."""
    return tuple(
        Attack(draft.name, kind, draft.steps, draft.secret, draft.expect, draft.policy, draft.channel)
        for draft in drafts
    )


def flat(steps: Sequence[Step | Together]) -> list[Step]:
    """Return all steps in one list."""
    return [inner for step in steps for inner in (step.steps if isinstance(step, Together) else (step,))]
