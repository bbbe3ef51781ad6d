"""Conditions and joins that are written anew: EXISTS, IN, means of each group, LEFT JOIN of people."""

from tests.query.attacks.shared_parts import NEAR, PAIRWISE
from tests.query.cases import BROKEN_OFF, EXPLAINED, WITHHELD, Attack, Secret, V, alike, attack, of_kind

_IN_ONCOLOGY = (
    "exists (select 1 from visits v where v.patient_id = p.patient_id and v.department = 'oncology')"
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "correlated",
    *alike({
        "whether the victim visited oncology, by EXISTS": f"select count(*) from patients p where p.{V} and {_IN_ONCOLOGY}",
        "whether the victim visited oncology, by IN": f"select count(*) from patients where {V} and patient_id in (select patient_id from visits where department = 'oncology')",
        "the victim's partners in a LEFT JOIN of people": f"select p.sex, count(distinct p.patient_id), count(v.visit_id) from patients p left join visits v on v.patient_id = p.patient_id and v.department = 'oncology' and p.{V} group by p.sex",
        "those without a partner, by HAVING": f"select p.zip from patients p left join visits v on v.patient_id = p.patient_id and v.department = 'oncology' where p.{V} group by p.zip having count(v.visit_id) = 0",
    }, secret=Secret.VISITS, expect=WITHHELD),
    *alike({
        "visitors of oncology with and without the victim": (f"select count(*) from patients p where {_IN_ONCOLOGY}", f"select count(*) from patients p where {_IN_ONCOLOGY} and not p.{V}"),
        "the only one without a partner, in the numbers of both sides": (
                "select p.sex, count(distinct p.patient_id), count(distinct v.patient_id) from patients p"
                f" left join visits v on v.patient_id = p.patient_id and v.department = 'oncology' and not p.{V}"
                " group by p.sex",
                "select p.sex, count(distinct p.patient_id), count(distinct v.patient_id) from patients p"
                " left join visits v on v.patient_id = p.patient_id and v.department = 'oncology' group by p.sex",
            ),
    }, secret=Secret.VISITS, expect=BROKEN_OFF, policy=PAIRWISE),
    *alike({
        "a mean over people that EXISTS repeats": f"select avg(p.cost) from patients p where p.{NEAR} and {_IN_ONCOLOGY}",
        "EXISTS under NOT": f"select count(*) from patients p where p.{NEAR} and not {_IN_ONCOLOGY}",
    }, secret=Secret.VISITS),
    attack("rows of people that EXISTS chooses", f"select p.ward from patients p where p.{V} and {_IN_ONCOLOGY}", secret=Secret.WARD),
    *alike({
        "the victim's cost beside the mean of each sex": f"select count(*) from patients p where p.cost > (select avg(x.cost) from patients x where x.sex = p.sex) and p.{V}",
        "a sum over the rows of the same person": f"select count(*) from patients p where 50000 < (select sum(x.cost) from patients x where x.patient_id = p.patient_id) and p.{V}",
    }, secret=Secret.COST),
    attack("people above the victim's cost, ward by ward", f"select count(*) from patients p where p.cost > (select avg(x.cost) from patients x where x.ward = p.ward and x.{V})", secret=Secret.COST, expect=WITHHELD),
    attack("what LEFT JOIN repeats weighs people", "select p.sex, sum(p.cost), count(v.visit_id) from patients p left join visits v on v.patient_id = p.patient_id group by p.sex", secret=Secret.VISITS, expect=EXPLAINED),
)
# fmt: on
