"""One person's secret beside people of whom everything is known that the condition reads.

Who was born before 1950 is known, so is how many they are.
"""

from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, alike, attack, of_kind

_KNOWN = "birth_date < date '1950-01-01'"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "known and secret",
    *alike({
        "one person's ward or an old person": f"select count(*) from patients where ({V} and ward = 'oncology') or {_KNOWN}",
        "the same turned round": f"select count(*) from patients where not ((ward <> 'oncology' or not {V}) and not {_KNOWN})",
        "one person's ward decides their group, everybody else's sex decides theirs": f"select case when {V} then ward = 'oncology' else sex = 'F' end, count(*) from patients group by 1",
        "one person's ward as a label among known labels": f"select case when {V} then ward when {_KNOWN} then 'oncology' else 'psychiatry' end, count(*) from patients group by 1",
        "rows of a derived table": f"select count(*) from (select birth_date, ward = 'oncology' as o from patients) x where (o and {V}) or {_KNOWN}",
        "the ward read from a public table": f"select count(*) from patients p join wards w on w.ward = p.ward where (w.title = 'Tumors' and p.{V}) or p.{_KNOWN}",
    }, secret=Secret.WARD, expect=WITHHELD),
    *alike({
        "the same in a filter": f"select sex, count(*) filter (where ({V} and cost > 50000) or {_KNOWN}) from patients group by sex",
        "the cost hidden in the condition of a LEFT JOIN": f"select count(*) from patients p left join wards w on w.ward = p.ward and p.cost > 50000 where (w.ward is not null and p.{V}) or p.{_KNOWN}",
    }, secret=Secret.COST, expect=WITHHELD),
    attack("the same in a CASE", f"select sum(case when ({V} and readmitted) or {_KNOWN} then 1 else 0 end) from patients", secret=Secret.DIAGNOSIS, expect=WITHHELD),
    *alike({
        "a limit that only one person can miss": "select count(*) from patients where cost > 50000 - 1000000.0 * abs(birth_date - date '1957-05-09') and zip = '10437'",
        "a limit that CASE sets for one person": f"select count(*) from patients where cost > case when {V} then 50000 else 0 end and zip = '10437'",
    }, secret=Secret.COST),
    attack("nullif and coalesce in place of AND", f"select count(*) from patients where coalesce(nullif(ward, case when {V} then 'oncology' end), '') = '' or {_KNOWN}", secret=Secret.WARD),
    attack(
        "a limit from another level that is zero for everybody else",
        "select count(*) from patients p join (select zip, case when zip = '10437' then"
        " avg(cost) else 0 end as m"
        " from patients group by zip) x on x.zip = p.zip"
        f" where p.cost > x.m * 5 and (p.zip <> '10437' or p.{V})",
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack("distinct people of a visit or an old person", f"select count(distinct p.patient_id) from patients p join visits v on v.patient_id = p.patient_id where (p.{V} and v.department = 'oncology') or p.{_KNOWN}", secret=Secret.VISITS, expect=WITHHELD),
)
# fmt: on
