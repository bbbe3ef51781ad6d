"""The attacks are real: on a server without a guard they tell the victim's secret."""

import pytest

from tests.query.cases import Attack, Channel, Via, flat
from tests.query.conftest import Worlds
from tests.query.corpus import ATTACKS
from tests.query.harness import run, worlds
from tests.query.unguarded import unguarded

IN_ROWS = [attack for attack in ATTACKS if attack.channel is Channel.ROWS]


@pytest.mark.parametrize("attack", IN_ROWS, ids=lambda attack: f"{attack.kind}: {attack.name}")
def test_without_a_guard_the_worlds_can_be_distinguished(attack: Attack, bare_worlds: Worlds) -> None:
    assert all(step.via is Via.INTERFACE for step in flat(attack.steps))
    one, other = (run(attack, unguarded(bare_worlds[world])) for world in worlds(attack))
    assert one.seen != other.seen
