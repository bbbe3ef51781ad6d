"""Identifiers shown, compared, grouped, summed or joined with known values."""

from __future__ import annotations

from tests.query.cases import REFUSED, Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "identifiers",
    attack("names", "select name from patients", secret=Secret.PRESENCE),
    attack("names as groups", "select name, count(*) from patients group by name", secret=Secret.PRESENCE),
    attack(
        "initials as groups",
        "select left(name, 5), count(*) from patients group by 1",
        secret=Secret.PRESENCE,
    ),
    attack("name in WHERE", "select ward from patients where name = 'Quist, Zdenka'", secret=Secret.WARD),
    attack("name in LIKE", "select count(*) from patients where name like 'Qu%'", secret=Secret.PRESENCE),
    attack(
        "name compared in a range",
        "select count(*) from patients where name between 'Qu' and 'Qv'",
        secret=Secret.PRESENCE,
    ),
    attack(
        "number of a person in WHERE",
        "select sum(cost) from patients where patient_id = 17",
        secret=Secret.COST,
    ),
    attack(
        "number of a person in BETWEEN",
        "select sum(cost) from patients where patient_id between 17 and 17",
        secret=Secret.COST,
    ),
    attack(
        "number of a person modulo",
        "select sum(cost) from patients where patient_id % 3001 = 17",
        secret=Secret.COST,
    ),
    attack(
        "number of a person as a group",
        "select patient_id / 2, sum(cost) from patients group by 1",
        secret=Secret.COST,
    ),
    attack(
        "sum of numbers of persons", f"select sum(patient_id) from patients where {V}", secret=Secret.PRESENCE
    ),
    attack("identifier in ORDER BY", "select ward from patients order by ssn", secret=Secret.WARD),
    attack(
        "identifier joined with a values list",
        "select p.ward, count(*) from patients p join (values ('917-00-0017')) as t"
        " (s) on t.s = p.ssn group by 1",
        secret=Secret.WARD,
    ),
    attack(
        "identifier in FILTER",
        "select count(*) filter (where ssn like '917-%') from patients",
        secret=Secret.PRESENCE,
    ),
    attack(
        "identifier in HAVING",
        "select zip, count(*) from patients group by zip having max(ssn) = '917-00-0017'",
        secret=Secret.PRESENCE,
    ),
    attack(
        "identifier through a view's column",
        "select sum(cost) from stays where patient_id = 17",
        secret=Secret.COST,
    ),
    attack(
        "length of a name",
        "select length(name), count(*) from patients where ward = 'oncology' and zip = '10437' group by 1",
        secret=Secret.WARD,
    ),
    attack(
        "count of distinct names over a small set",
        f"select count(distinct name) from patients where {V}",
        secret=Secret.PRESENCE,
        expect=REFUSED,
    ),
)
