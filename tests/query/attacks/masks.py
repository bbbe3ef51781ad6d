"""Arithmetic and CASE inside aggregates that leave one person's share."""

from __future__ import annotations

from tests.query.cases import REFUSED, Attack, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "masks",
    attack(
        "case in a sum", f"select sum(case when {V} then cost else 0 end) from patients", secret=Secret.COST
    ),
    attack("case without else", f"select avg(case when {V} then cost end) from patients", secret=Secret.COST),
    attack(
        "case in a count",
        f"select count(case when {V} and ward = 'oncology' then 1 end) from patients",
        secret=Secret.WARD,
    ),
    attack(
        "count distinct of a case",
        f"select count(distinct case when {V} then ward end),"
        f" count(distinct case when {V} and ward = 'oncology' then 1 else 2 end) from patients",
        secret=Secret.WARD,
    ),
    attack(
        "simple case",
        "select sum(case birth_date when date '1957-05-09' then cost end) from patients",
        secret=Secret.COST,
    ),
    attack(
        "nullif as a mask",
        "select count(*) - count(nullif(birth_date, date '1957-05-09')) from patients"
        " where ward = 'oncology'",
        secret=Secret.WARD,
    ),
    attack("nullif on the value", "select count(nullif(cost, 94821.37)) from patients", secret=Secret.COST),
    attack(
        "coalesce as a mask",
        "select sum(coalesce(nullif(cost, 94821.37), 1e9)) from patients",
        secret=Secret.COST,
    ),
    attack(
        "comparison cast to a number", f"select sum(({V})::integer * cost) from patients", secret=Secret.COST
    ),
    attack(
        "comparison cast inside count distinct",
        f"select count(distinct ({V} and ward = 'oncology')::text) from patients",
        secret=Secret.WARD,
    ),
    attack(
        "one minus sign of abs",
        "select sum(cost * (1 - sign(abs(birth_date - date '1957-05-09')))) from patients",
        secret=Secret.COST,
    ),
    attack(
        "zero to the power of a distance",
        "select sum(cost * power(0, abs(birth_date - date '1957-05-09'))) from patients",
        secret=Secret.COST,
    ),
    attack(
        "weight that falls off steeply",
        "select sum(cost * exp(-1.0 * abs(birth_date - date '1957-05-09'))) from patients"
        " where zip = '10437'",
        secret=Secret.COST,
    ),
    attack(
        "product of two columns as weights", "select sum(cost * patient_id) from patients", secret=Secret.COST
    ),
    attack(
        "integer division as a mask", "select sum(cost::integer / 90000) from patients", secret=Secret.COST
    ),
    attack(
        "modulo as a mask", "select sum((cost * 100)::integer % 9482137) from patients", secret=Secret.COST
    ),
    attack(
        "greatest as a mask", "select sum(greatest(cost, 90000) - 90000) from patients", secret=Secret.COST
    ),
    attack("least as a mask", "select sum(least(cost - 60000, 0)) from patients", secret=Secret.COST),
    attack(
        "width_bucket inside an aggregate",
        "select sum(width_bucket(cost, 90000, 99000, 9)) from patients",
        secret=Secret.COST,
    ),
    attack(
        "position of a date in a list",
        "select sum(cost * (strpos('1957-05-09', birth_date::text))) from patients",
        secret=Secret.COST,
    ),
    attack(
        "array subscript as a mask",
        f"select sum((array[0, cost])[({V})::integer + 1]) from patients",
        secret=Secret.COST,
    ),
    attack(
        "length of a repeated text",
        f"select sum(length(repeat('x', ({V})::integer * (cost / 100)::integer))) from patients",
        secret=Secret.COST,
    ),
    attack(
        "replace as a mask",
        "select count(distinct nullif(replace(birth_date::text || ward,"
        " '1957-05-09oncology', ''), '')) from patients where zip = '10437'",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "trailing digits of an average are a value",
        "select avg(cost::numeric(20, 10) * 1e0) from patients where birth_date = '1957-05-09'",
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack(
        "bits of a value",
        "select sum(((cost * 100)::integer >> 20) & 8) from patients where zip = '10437'",
        secret=Secret.COST,
    ),
    attack(
        "boolean arithmetic through is distinct from",
        "select count(*) - sum((birth_date is distinct from date '1957-05-09')::integer) from patients"
        " where ward = 'oncology'",
        secret=Secret.WARD,
    ),
    attack("rounding as a mask", "select sum(round(cost, -5)) from patients", secret=Secret.COST),
    attack(
        "case in ORDER BY of an aggregate",
        f"select sum(cost order by case when {V} then 1 end) from patients"
        f" where zip = '10437' and birth_date >= date '1957-05-01' and not (ward = 'oncology' and {V})",
        secret=Secret.WARD,
    ),
)
