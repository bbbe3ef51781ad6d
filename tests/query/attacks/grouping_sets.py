"""Several groupings in one answer, whose totals give small groups back."""

from __future__ import annotations

from tests.query.attacks.asking import NEAR
from tests.query.cases import REFUSED, Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "grouping sets",
    attack(
        "rollup over the birth date",
        "select ward, birth_date, count(*) from patients group by rollup (ward, birth_date)",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "cube",
        "select ward, birth_date, sum(cost) from patients group by cube (ward, birth_date)",
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack(
        "grouping sets with the empty set",
        f"select sum(cost) from patients where {V} group by grouping sets ((), (ward), (sex))",
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack(
        "repeated empty sets pad the answer",
        f"select sum(cost) from patients where {V} group by grouping sets ((), (), (), (), ())",
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack(
        "group by distinct rollup",
        "select ward, birth_date, count(*) from patients group by distinct rollup"
        " (ward), rollup (birth_date)",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "totals of rollup give the small group back",
        f"select ward, {V} as is_v, count(*) from patients where {NEAR} group by rollup (ward, {V})",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
)
