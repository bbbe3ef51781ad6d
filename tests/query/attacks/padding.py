"""Answers and groups that have k rows, although fewer than k people stand behind them."""

from tests.query.cases import REFUSED, WITHHELD, Attack, Channel, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "padding",
    *alike({
        "cross join with a public table multiplies the victim's row": f"select p.ward, count(*) from patients p cross join wards w where p.{V} group by p.ward",
        "join with public rows that are not one to one": f"select p.ward, count(*) from patients p join zip_regions z on z.region <> p.zip where p.{V} group by p.ward",
        "self-join pads the victim with everybody": f"select p.ward, count(*) from patients p join patients q on q.ward <> p.zip where p.{V} group by p.ward",
        "outer join keeps the k rows of the public side": f"select w.building, sum(p.cost) from wards w left join patients p on p.ward = w.ward and p.{V} group by w.building",
        "rows of an outer join that have no person are no persons": f"select w.title, count(*) from wards w left join patients p on p.ward = w.ward and p.{V} and p.ward = 'oncology' group by w.title having count(p.ward) = 1",
        "values list pads": f"select p.ward, count(*) from patients p cross join (values (1), (2), (3), (4), (5)) as t (n) where p.{V} group by p.ward",
        "natural join chooses the columns itself": f"select p.ward, count(*) from patients p natural join visits v where p.{V} group by p.ward",
        "comma join without a condition": f"select p.ward, count(*) from patients p, wards w where p.{V} group by p.ward",
        "people of one table do not stand for people of another": f"select p.ward, count(*) from patients p join lab_results l on l.taken_on = p.admission_date where p.{V} group by p.ward",
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "join on a constant of the public table": f"select p.diagnosis, count(*) from patients p join calendar c on c.year = 2023 where p.{V} group by p.diagnosis",
        "self-join by equality: k people, but in the other instance": f"select p.diagnosis, count(distinct q.patient_id) from patients p join patients q on q.zip = p.zip where p.{V} group by p.diagnosis",
    }, secret=Secret.DIAGNOSIS, expect=REFUSED),
    attack("equality join that is one to many", f"select p.cost, count(*) from patients p join visits v on v.patient_id = p.patient_id where p.{V} group by p.cost", secret=Secret.COST, expect=WITHHELD),
    *alike({
        "an aggregate of one instance grouped by the other": f"select q.sex, max(p.cost), sum(p.cost) from patients p join patients q on q.zip = p.zip where p.{V} group by q.sex",
        "one person of one table beside many of another": "select sum(p.cost) from patients p join visits v on v.department = p.ward where p." + V,
        "full join": f"select count(p.cost), sum(p.cost), count(*) from wards w full join patients p on p.ward = w.ward and p.{V} where p.patient_id is null or p.{V}",
    }, secret=Secret.COST, expect=REFUSED),
    *alike({
        "many rows of one person": "select department, count(*), avg(fee) from visits where physician = 'Dr. Only' group by department",
        "many rows of one person as plain rows": "select department, kind from visits where physician = 'Dr. Only'",
    }, secret=Secret.VISITS, expect=WITHHELD),
    *alike({
        "generate_series pads": f"select p.ward, count(*) from patients p cross join generate_series(1, 9) as n where p.{V} group by p.ward",
        "unnest pads": f"select p.ward, count(*) from patients p, unnest(array[1, 2, 3, 4, 5]) as n where p.{V} group by 1",
        "groups that grow by the people of a day": "select c.day, count(distinct p.patient_id) from patients p join calendar c on p.admission_date <= c.day where p.ward = 'oncology' and c.day >= date '2023-01-01' group by c.day",
    }, secret=Secret.WARD),
    attack(
        "a key that is not the person's",
        "select v.department, count(*), count(distinct p.patient_id) from visits v"
        " join patients p on p.zip = '10437' and v.minutes > 0 where v.physician = 'Dr. Only'"
        " group by v.department",
        secret=Secret.VISITS,
        expect=REFUSED,
    ),
    attack("rank of the smallest value", "select count(distinct a.patient_id) from patients a, patients b where a.cost > b.cost and b.zip = '10437' and b.birth_date between date '1957-01-01' and date '1957-12-31'", secret=Secret.COST, channel=Channel.EFFECT),
    attack("sizes of wards as weights of those who lie there", "select count(distinct a.patient_id) from patients a, patients b where a.ward = b.ward and b.birth_date between date '1957-04-20' and date '1957-05-30'", secret=Secret.WARD, channel=Channel.EFFECT),
)
# fmt: on
