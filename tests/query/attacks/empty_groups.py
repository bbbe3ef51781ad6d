"""Groups of public tables, in which there may be nobody, or one."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import BROKEN_OFF, WITHHELD, Attack, Secret, V, alike, attack, of_kind

_ONE = f"from wards w left join patients p on p.ward = w.ward and p.{V} group by w.ward"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "groups without people",
    *alike({
        "every ward, and how often the victim was there": f"select w.ward, count(p.patient_id) {_ONE}",
        "wards where the victim was not": f"select w.ward {_ONE} having count(p.cost) = 0",
        "wards sorted by the victim's cost": f"select w.ward, coalesce(sum(p.cost), 0) {_ONE} order by 2 desc limit 1",
    }, secret=Secret.WARD, expect=WITHHELD),
    attack("a number for rows without people", f"select w.building, sum(coalesce(p.cost, 0)) from wards w left join patients p on p.ward = w.ward and p.{V} group by w.building", secret=Secret.WARD),
    attack("people without a partner among people", f"select count(*) from patients p left join visits v on v.patient_id = p.patient_id and v.department = 'oncology' where v.visit_id is null and p.{V}", secret=Secret.VISITS),
    attack("days until the victim comes", "select c.month, count(p.patient_id) from calendar c left join patients p on p.admission_date <= c.day group by c.month", secret=Secret.PRESENCE),
    attack(
        "every ward with and without the victim",
        "select w.ward, sum(p.cost) from wards w left join patients p on p.ward = w.ward group by w.ward",
        "select w.ward, sum(p.cost) from wards w left join patients p on p.ward = w.ward"
        f" and not p.{V} group by w.ward",
        secret=Secret.COST,
        policy=PAIRWISE,
        expect=BROKEN_OFF,
    ),
)
# fmt: on
