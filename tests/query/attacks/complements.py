"""Answers about everybody but a few, when the number of everybody is known."""

from tests.query.attacks.shared_parts import PAIRWISE, STRICT, cost_of, number_of
from tests.query.cases import (
    BROKEN_OFF,
    WITHHELD,
    Attack,
    Policy,
    Secret,
    Step,
    V,
    alike,
    attack,
    backed,
    harmless,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "complements",
    *alike({
        "everybody but one, when the number of people is known": number_of(f"not ({V} and ward = 'oncology')"),
        "nobody left out but those with a NULL": number_of("ward <> 'oncology' or birth_date <> '1957-05-09'"),
        "filter and its complement within one row": f"select count(*), count(*) filter (where not ({V} and ward = 'oncology')) from patients",
    }, secret=Secret.WARD, expect=WITHHELD, policy=STRICT),
    attack("everybody but k - 1", Step("select sum(cost) from patients"), cost_of("not (birth_date between '1957-05-09' and '1957-06-15')"), secret=Secret.COST, expect=WITHHELD, policy=PAIRWISE),
    attack("complement within a group", Step(f"select ward, count(*) from patients where not {V} group by ward"), Step("select ward, count(*) from patients group by ward"), secret=Secret.WARD, expect=BROKEN_OFF, policy=PAIRWISE),
    attack(
        "suppressed row computed from a total",
        Step(f"select {V}, sum(cost) from patients group by 1"),
        Step("select sum(cost) from patients"),
        secret=Secret.COST,
        expect=backed("the other row is left out, too, so the total gives nothing back"),
        policy=Policy(mode="suppress"),
    ),
    attack(
        "suppressed row computed from the rest of its own answer",
        Step(f"select ward, {V}, count(*) from patients group by 1, 2"),
        Step("select ward, count(*) from patients group by 1"),
        secret=Secret.WARD,
        expect=backed("the few are missing beside every ward, so that another row of each is left out"),
        policy=Policy(mode="suppress"),
    ),
    attack(
        "which row was suppressed says that it is there",
        Step(f"select {V} and ward = 'oncology', count(*) from patients group by 1"),
        secret=Secret.WARD,
        expect=harmless("the row of one person is left out whether it exists or not, its complement too"),
        policy=Policy(mode="suppress"),
    ),
)
# fmt: on
