"""Attacks on noisy answers, which have nothing to average here; kept so that nobody wonders."""

from tests.query.attacks.shared_parts import NEAR, PAIRWISE, cost_of, number_of
from tests.query.cases import WITHHELD, Attack, Secret, Step, V, attack, backed, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "averaging",
    attack(
        "the same query a hundred times",
        *(Step("select sex, sum(cost) from patients group by sex") for _ in range(100)),
        secret=Secret.COST,
        expect=backed(
            "answers are exact: there is no noise to average out, a hundred answers tell as much as one"
        ),
        policy=PAIRWISE,
    ),
    attack("the same set in a hundred spellings", *(cost_of(f"{NEAR} and {number} = {number}") for number in range(1, 21)), secret=Secret.COST, expect=backed("exact answers to one set; spellings that add no restriction add no information"), policy=PAIRWISE),
    attack(
        "split averaging: a set and its parts",
        Step(f"select avg(cost), count(*) from patients where {NEAR}"),
        Step(f"select sex, avg(cost), count(*) from patients where {NEAR} group by sex"),
        secret=Secret.COST,
        expect=backed("all parts are backed, and so are their differences"),
        policy=PAIRWISE,
    ),
    attack("cloning by dummy conditions", *(number_of(f"{V} and cost <> {number}") for number in range(1, 5)), secret=Secret.PRESENCE, expect=WITHHELD),
)
# fmt: on
