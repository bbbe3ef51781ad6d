"""Identifiers shown, compared, grouped, summed or joined with known values."""

from tests.query.cases import REFUSED, Attack, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "identifiers",
    *alike({
        "names": "select name from patients",
        "names as groups": "select name, count(*) from patients group by name",
        "initials as groups": "select left(name, 5), count(*) from patients group by 1",
        "name in LIKE": "select count(*) from patients where name like 'Qu%'",
        "name compared in a range": "select count(*) from patients where name between 'Qu' and 'Qv'",
        "sum of numbers of persons": f"select sum(patient_id) from patients where {V}",
        "identifier in FILTER": "select count(*) filter (where ssn like '917-%') from patients",
        "identifier in HAVING": "select zip, count(*) from patients group by zip having max(ssn) = '917-00-0017'",
    }, secret=Secret.PRESENCE),
    *alike({
        "name in WHERE": "select ward from patients where name = 'Quist, Zdenka'",
        "identifier in ORDER BY": "select ward from patients order by ssn",
        "identifier joined with a values list": "select p.ward, count(*) from patients p join (values ('917-00-0017')) as t (s) on t.s = p.ssn group by 1",
        "length of a name": "select length(name), count(*) from patients where ward = 'oncology' and zip = '10437' group by 1",
    }, secret=Secret.WARD),
    *alike({
        "number of a person in WHERE": "select sum(cost) from patients where patient_id = 17",
        "number of a person in BETWEEN": "select sum(cost) from patients where patient_id between 17 and 17",
        "number of a person modulo": "select sum(cost) from patients where patient_id % 3001 = 17",
        "number of a person as a group": "select patient_id / 2, sum(cost) from patients group by 1",
        "identifier through a view's column": "select sum(cost) from stays where patient_id = 17",
    }, secret=Secret.COST),
    attack("count of distinct names over a small set", f"select count(distinct name) from patients where {V}", secret=Secret.PRESENCE, expect=REFUSED),
)
# fmt: on
