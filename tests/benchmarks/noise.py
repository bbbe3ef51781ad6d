"""What attacks that spend a whole account of noisy answers gain, against what epsilon allows."""

from collections.abc import Iterator

from rich.table import Table

from tests.benchmarks.settings import Settings, table
from tests.fixtures.noise_attacks import ATTACKS, advantage, most

_EPSILONS = (0.5, 1.0, 2.0)


def attacks(settings: Settings) -> Iterator[Table]:
    """Advantage over guessing one person's secret: 0 for guesses, 1 for always right."""
    trials = 100 if settings.quick else 2000
    yield table(
        f"Advantage over guessing one secret of 24 people, 50 answers spend the account, {trials} trials",
        ["attack", *(f"epsilon {one:g}" for one in _EPSILONS)],
        [
            *(
                [attack.__name__.replace("_", " "), *(advantage(attack, one, trials) for one in _EPSILONS)]
                for attack in ATTACKS
            ),
            ["allowed", *map(most, _EPSILONS)],
        ],
    )
