"""Every attack of the corpus, through the functions of a real server, in its two worlds."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.fixtures.databases import Server
from tests.fixtures.queries import Guarded, guarded_clone, protect
from tests.query import state
from tests.query.cases import Attack, Policy, Via, flat
from tests.query.corpus import ATTACKS
from tests.query.harness import Trial, complaints, constant_words, run, worlds
from tests.query.people import World


def named(attack: Attack) -> str:
    return f"{attack.kind}: {attack.name}"


def vias(attack: Attack) -> set[Via]:
    return {step.via for step in flat(attack.steps)}


AT_ONCE = [attack for attack in ATTACKS if vias(attack) == {Via.INTERFACE}]
"""Attacks that can share sessions: they leave nothing but a record, which begins anew with each."""

IN_SESSIONS = [attack for attack in ATTACKS if vias(attack) in ({Via.SESSION}, {Via.SESSION, Via.INTERFACE})]
"""Attacks that leave something in their sessions, and must not leave anything else."""

WITHOUT_MEMORY = [attack for attack in AT_ONCE if len(attack.steps) == 1]
"""Attacks by one statement: what is remembered does not matter."""

OF_EVERY_DAY = {(attack.kind, attack.expect, attack.policy): attack for attack in WITHOUT_MEMORY}
"""Of those of one class with one end, the one that `make test` tries; `make full` tries all."""

PREPARED = [attack for attack in ATTACKS if Via.ADMIN in vias(attack)]
"""Attacks for which something is changed in the database first."""


def test_every_attack_is_tried_once() -> None:
    tried = [*AT_ONCE, *IN_SESSIONS, *PREPARED]
    assert sorted(map(named, tried)) == sorted(map(named, ATTACKS))


_policies: dict[World, Policy] = {}
"""Under which policy the shared databases are protected."""


def protect_all(guarded_worlds: Mapping[World, Guarded], policy: Policy) -> None:
    for world, one in guarded_worlds.items():
        if _policies.get(world) != policy:
            protect(one.admin, policy)
            _policies[world] = policy


@pytest.fixture(scope="module")
def unchanged(guarded_worlds: Mapping[World, Guarded]) -> Iterator[Mapping[World, Guarded]]:
    """Yield the shared databases, and see afterwards that nothing has changed in them."""
    _policies.clear()
    protect_all(guarded_worlds, Policy())
    before = {world: state.of_database(one.admin) for world, one in guarded_worlds.items()}
    yield guarded_worlds
    protect_all(guarded_worlds, Policy())
    for world, one in guarded_worlds.items():
        assert not state.changes(before[world], state.of_database(one.admin))


@pytest.fixture(scope="module")
def words() -> set[bytes]:
    """Collect the words of all refusals that depend on the data."""
    return set()


def in_both_worlds(attack: Attack, trial: Callable[[World], Trial]) -> list[Trial]:
    """Return what is seen in the two worlds, which are tried at the same time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(trial, worlds(attack)))


def evaluator(attack: Attack, trials: list[Trial], words: set[bytes]) -> None:
    assert not complaints(attack, *trials)
    words |= constant_words(trials)
    assert len(words) <= 1


def of_every_day_or_thorough(attack: Attack) -> Any:
    alike = OF_EVERY_DAY.get((attack.kind, attack.expect, attack.policy), attack)
    is_left_out = len(attack.steps) == 1 and attack != alike
    return pytest.param(attack, marks=[pytest.mark.thorough] if is_left_out else [])


@pytest.mark.all_cases
@pytest.mark.parametrize("attack", [*map(of_every_day_or_thorough, AT_ONCE)], ids=named)
def test_an_attack_is_refused_or_harmless(
    attack: Attack, unchanged: Mapping[World, Guarded], words: set[bytes]
) -> None:
    protect_all(unchanged, attack.policy)

    def trial(world: World) -> Trial:
        unchanged[world].forget()
        return run(attack, unchanged[world].interface())

    evaluator(attack, in_both_worlds(attack, trial), words)


@pytest.mark.all_cases
@pytest.mark.parametrize("attack", IN_SESSIONS, ids=named)
def test_an_attack_in_a_session_is_refused_or_harmless(
    attack: Attack, unchanged: Mapping[World, Guarded]
) -> None:
    protect_all(unchanged, attack.policy)

    def trial(world: World) -> Trial:
        unchanged[world].forget()
        with unchanged[world].new_sessions() as interface:
            return run(attack, interface)

    # a session may ask for messages that others do not get
    evaluator(attack, in_both_worlds(attack, trial), set())


@pytest.mark.all_cases
@pytest.mark.parametrize("attack", PREPARED, ids=named)
def test_an_attack_on_a_prepared_database_is_refused_or_harmless(
    attack: Attack, server: Server, kanon_template: str, hospitals: Mapping[World, str]
) -> None:
    def trial(world: World) -> Trial:
        with guarded_clone(server, hospitals[world], kanon_template) as one:
            protect(one.admin, attack.policy)
            return run(attack, one.interface())

    evaluator(attack, in_both_worlds(attack, trial), set())
