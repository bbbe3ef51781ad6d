"""Several groupings in one answer, whose totals give small groups back."""

from tests.query.attacks.shared_parts import NEAR
from tests.query.cases import REFUSED, WITHHELD, Attack, Channel, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "grouping sets",
    *alike({
        "rollup over the birth date": "select ward, birth_date, count(*) from patients group by rollup (ward, birth_date)",
        "group by distinct rollup": "select ward, birth_date, count(*) from patients group by distinct rollup (ward), rollup (birth_date)",
        "totals of rollup give the small group back": f"select ward, {V} as is_v, count(*) from patients where {NEAR} group by rollup (ward, {V})",
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "cube": "select ward, birth_date, sum(cost) from patients group by cube (ward, birth_date)",
        "grouping sets with the empty set": f"select sum(cost) from patients where {V} group by grouping sets ((), (ward), (sex))",
        "repeated empty sets pad the answer": f"select sum(cost) from patients where {V} group by grouping sets ((), (), (), (), ())",
    }, secret=Secret.COST, expect=REFUSED),
    *alike({
        "two groupings that differ by one person": "select sum(cost) from patients group by grouping sets ((birth_date <= date '1957-05-09'), (birth_date < date '1957-05-09'))",
        "grouping as a mask": f"select sum(cost) * (1 - grouping(({V}))) from patients group by rollup (({V}))",
        "marginals of a table with a cell of one person": f"select ward, {V} as is_v, sum(cost) from patients group by grouping sets ((ward), (({V})))",
        "a filter inside of subtotals": "select sex, sum(cost), sum(cost) filter (where birth_date < date '1957-05-09'), sum(cost) filter (where birth_date > date '1957-05-09') from patients group by rollup (sex)",
    }, secret=Secret.COST, expect=WITHHELD),
    attack("details hidden by HAVING", f"select ward, ({V}) as is_v, count(*) from patients group by rollup (ward, ({V})) having grouping(({V})) = 1", secret=Secret.WARD, expect=WITHHELD),
    attack("so many groupings that one is overlooked", f"select count(*) from patients group by cube (ward, sex, zip, ethnicity, readmitted, ({V}))", secret=Secret.WARD, channel=Channel.EFFECT),
)
# fmt: on
