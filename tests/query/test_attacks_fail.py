"""The checker alone withstands every attack that needs neither a ledger nor a session of its own."""

from __future__ import annotations

import pytest

from tests.query.cases import Attack, Policy, Via, flat
from tests.query.conftest import Worlds
from tests.query.corpus import ATTACKS
from tests.query.harness import Answer, Trial, complaints, constant_words, run, worlds
from tests.query.honest import Expected, HonestQuery, workload
from tests.query.people import World
from tests.query.reference import reference_interface

BY_CHECKER = [
    attack
    for attack in ATTACKS
    if attack.policy.ledger == "off"
    and attack.policy.budget is None
    and all(step.via is Via.INTERFACE for step in flat(attack.steps))
]


def tried(attack: Attack, bare_worlds: Worlds) -> list[Trial]:
    return [run(attack, reference_interface(bare_worlds[world], attack.policy)) for world in worlds(attack)]


@pytest.mark.parametrize("attack", BY_CHECKER, ids=lambda attack: f"{attack.kind}: {attack.name}")
def test_an_attack_is_refused_or_harmless(attack: Attack, bare_worlds: Worlds) -> None:
    trials = tried(attack, bare_worlds)
    assert not complaints(attack, *trials)
    assert len(constant_words(trials)) <= 1


@pytest.mark.parametrize(
    "query",
    [query for query in workload() if query.expected is Expected.ANSWERED],
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_an_honest_query_is_answered(query: HonestQuery, bare_worlds: Worlds) -> None:
    interface = reference_interface(bare_worlds[World.AS_IS], Policy())
    values = [parameter.value for parameter in query.parameters]
    seen = interface.ask("", query.text, values, 1)
    assert isinstance(seen, Answer)
    assert seen.rows or "no row" in query.tags
