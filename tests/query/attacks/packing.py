"""Many people's values packed into the digits of one number."""

from __future__ import annotations

from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "packing",
    attack(
        "powers of two by day of birth",
        "select sum(power(2::numeric, birth_date - date '1957-05-01')) from patients where ward = 'oncology'"
        " and birth_date between date '1957-05-01' and date '1957-08-01'",
        secret=Secret.WARD,
    ),
    attack(
        "decimal digits by day of birth",
        "select sum(cost * power(10::numeric, 6 * (birth_date - date '1957-05-01'))) from patients"
        " where birth_date between date '1957-05-01' and date '1957-05-31'",
        secret=Secret.COST,
    ),
    attack(
        "shifted bits",
        "select sum(1::bigint << (birth_date - date '1957-05-01')) from patients"
        " where ward = 'oncology' and birth_date between date '1957-05-01' and date '1957-06-25'",
        secret=Secret.WARD,
    ),
    attack(
        "number of a person times a large base",
        "select sum(patient_id * 1000000000::numeric + cost) from patients where zip = '10437'",
        secret=Secret.COST,
    ),
    attack(
        "packing through a join with the public calendar",
        "select sum(p.cost * power(10::numeric, c.week)) from patients p join"
        " calendar c on c.day = p.admission_date"
        " where p.zip = '10437'",
        secret=Secret.COST,
    ),
    attack(
        "packing with a weight from a public table",
        "select sum(p.cost * z.population) from patients p join zip_regions z on z.zip = p.zip",
        secret=Secret.COST,
    ),
    attack(
        "public column alone as the aggregated value, chosen by the person",
        f"select sum(w.beds) from patients p join wards w on w.ward = p.ward where p.{V}",
        secret=Secret.WARD,
        expect=WITHHELD,
    ),
    attack(
        "texts that add up",
        "select sum(length(ward) * power(100::numeric, birth_date - date '1957-05-05')) from patients"
        " where birth_date between date '1957-05-05' and date '1957-05-30'",
        secret=Secret.WARD,
    ),
    attack(
        "factorials",
        "select sum(cost * factorial(birth_date - date '1957-05-01')) from patients"
        " where birth_date between date '1957-05-01' and date '1957-05-20'",
        secret=Secret.COST,
    ),
    attack(
        "intervals as digits",
        "select sum((birth_date - date '1957-05-01') * interval '1 month' + cost * interval '1 microsecond')"
        " from patients where zip = '10437'",
        secret=Secret.COST,
    ),
    attack(
        "affine arguments of several aggregates are one system",
        "select sum(cost), sum(2 * cost + 1), count(*), sum(-1 * cost) from patients where " + V,
        secret=Secret.COST,
        expect=WITHHELD,
    ),
    attack(
        "digits of the key of a group",
        "select (birth_date - date '1935-01-01') * 100000::bigint + floor(cost),"
        " count(*) from patients group by 1",
        secret=Secret.COST,
        expect=REFUSED,
    ),
)
