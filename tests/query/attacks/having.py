"""HAVING as an oracle on groups that are not shown."""

from tests.query.attacks.shared_parts import STRICT
from tests.query.cases import (
    REFUSED,
    WITHHELD,
    Attack,
    Channel,
    Secret,
    V,
    alike,
    attack,
    backed,
    harmless,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "having",
    *alike({
        "having one row": "select zip, birth_date from patients group by zip, birth_date having count(*) = 1 and max(ward) = 'oncology'",
        "having drops the backed groups": f"select ward from patients where zip = '10437' and (ward <> 'icu') group by ward, {V} having count(*) < 2",
        "having that is false tells the same as having that is true": f"select count(*) from patients where {V} having min(ward) = 'oncology'",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("having with a sum as a search", f"select sex, count(*) from patients where {V} group by sex having sum(cost) > 50000", secret=Secret.COST, expect=WITHHELD),
    attack("having without groups", f"select 1 from patients where {V} having count(*) > 0 and max(cost) > 50000", secret=Secret.COST, expect=REFUSED),
    attack("having on a backed group is a comparison of a backed number", "select ward from patients group by ward having avg(cost) > 3600", secret=Secret.COST, expect=backed("the average itself may be asked for"), channel=Channel.EFFECT),
    attack("search by HAVING for the exact maximum", "select sex from patients where zip = '10437' group by sex having max(cost) > 90000", secret=Secret.COST),
    attack(
        "having hides groups that are not backed",
        "select birth_date, ward from patients group by birth_date, ward having count(*) > 1000",
        secret=Secret.WARD,
        expect=harmless("no group is shown; whether one was too small must not be disclosed either"),
        channel=Channel.EFFECT,
    ),
    attack("groups of a predicate on the victim", f"select {V} and ward = 'oncology', count(*) from patients group by 1", secret=Secret.WARD, expect=WITHHELD, policy=STRICT),
)
# fmt: on
