"""Queries asked for the refusal, not for the answer."""

from tests.query.attacks.shared_parts import NEAR, PAIRWISE, STRICT, cost_of, number_of
from tests.query.cases import (
    BROKEN_OFF,
    WITHHELD,
    WITHHELD_AS_IS,
    Attack,
    Channel,
    Policy,
    Secret,
    Step,
    V,
    alike,
    attack,
    backed,
    limited,
    of_kind,
)

_LIMITED_BITS = (
    "a refusal tells that the rule was hit: at most `budget` such bits, then the role is locked out"
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "refusals as oracles",
    *alike({
        "nobody or one: the set is empty or too small": number_of(f"{V} and ward = 'oncology'"),
        "nobody or one, grouped: no row or a refusal": f"select ward, count(*) from patients where {V} and ward = 'oncology' group by ward",
        "nobody or one as plain rows": f"select sex from patients where {V} and ward = 'oncology'",
    }, secret=Secret.WARD, expect=WITHHELD),
    attack("one person more makes a group that was not there", Step(f"select case when {V} and ward = 'oncology' then 'yes' else 'no' end, count(*) from patients group by 1"), secret=Secret.WARD, expect=WITHHELD, policy=STRICT),
    *alike({
        "one person more makes a group of an open domain that was not there": f"select ward, count(*) from patients where ({V} and ward = 'oncology') or ward <> 'oncology' group by ward",
        "one person more makes a set large enough": f"select count(*) from patients where ({V} and ward = 'oncology') or (zip = '10437' and birth_date between '1957-05-10' and '1957-12-01')",
        "one person more makes a group of a public join large enough": "select w.building, count(*) from patients p join wards w on w.ward = p.ward where p.zip = '10437' and p.birth_date between '1955-01-01' and '1958-12-01' group by 1",
        "refusal of the record tells whether the sets differ": (number_of("diagnosis = 'C50'"), number_of(f"diagnosis = 'C50' and not ({V} and ward = 'oncology')")),
    }, secret=Secret.WARD, expect=limited(_LIMITED_BITS), policy=Policy(budget=3), channel=Channel.EFFECT),
    attack("search for the number of people by widening a set", *(number_of(f"{NEAR} and birth_date between '1957-05-09' and '{year}-12-31'") for year in range(1957, 1963)), secret=Secret.PRESENCE, expect=BROKEN_OFF, policy=Policy(budget=3)),
    attack("error or small set", Step(f"select sum(cost / (length(ward) - 8)) from patients where {V}"), secret=Secret.WARD, expect=BROKEN_OFF),
    attack("timeout or small set", Step(f"select count(*) from patients p, calendar a, calendar b where p.{V}"), secret=Secret.PRESENCE, expect=BROKEN_OFF, channel=Channel.TIME),
    attack("small set or forbidden difference", cost_of(f"{NEAR}"), cost_of(f"{NEAR} and not ({V} and ward = 'oncology')"), secret=Secret.WARD, expect=BROKEN_OFF, policy=PAIRWISE),
    attack(
        "dominated or not: the share of the largest is a comparison",
        Step(
            f"select sum(cost) from patients where {NEAR} and birth_date between '1956-01-01' and"
            " '1958-12-31'"
        ),
        secret=Secret.COST,
        channel=Channel.EFFECT,
        expect=limited(_LIMITED_BITS),
        policy=Policy(budget=3),
    ),
    attack("HAVING that hides the group that would refuse", Step("select ward, zip, count(*) from patients group by ward, zip, birth_date having count(*) >= 5"), secret=Secret.WARD, expect=WITHHELD, channel=Channel.EFFECT),
    attack("mode suppress: number of rows as an oracle", Step(f"select zip, {V} and ward = 'oncology', count(*) from patients group by 1, 2"), secret=Secret.WARD, policy=Policy(mode="suppress", budget=3), channel=Channel.EFFECT, expect=limited(_LIMITED_BITS)),
    attack("answer of the same query after a refusal of the other", number_of(V), number_of(V), secret=Secret.PRESENCE, expect=WITHHELD_AS_IS),
    attack("many cheap refusals", *(number_of(f"{V} and cost > {bound}000") for bound in range(1, 20)), secret=Secret.COST, expect=WITHHELD, policy=Policy(budget=3)),
    attack(
        "a refused query is remembered for whom it concerns: does the next honest one change?",
        number_of(V),
        Step("select sex, count(*) from patients group by sex"),
        secret=Secret.WARD,
        expect=backed("honest answer; refusals must not change later verdicts of other roles"),
        channel=Channel.EFFECT,
    ),
)
# fmt: on
