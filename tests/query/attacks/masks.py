"""Arithmetic and CASE inside aggregates that leave one person's share."""

from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, alike, attack, backed, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "masks",
    *alike({
        "case in a sum": f"select sum(case when {V} then cost else 0 end) from patients",
        "case without else": f"select avg(case when {V} then cost end) from patients",
        "simple case": "select sum(case birth_date when date '1957-05-09' then cost end) from patients",
        "comparison cast to a number": f"select sum(({V})::integer * cost) from patients",
        "case turned round": f"select sum(case when {V} is not true then 0 else cost end) from patients",
        "everybody beside a case for all but one": f"select sum(cost), sum(case when not {V} then cost else 0 end) from patients",
        "mean with zeros for all others": f"select avg(case when {V} then cost else 0 end) from patients",
        "case and filter together leave one": "select sum(case when birth_date <= date '1957-05-09' then cost else 0 end) filter (where birth_date >= date '1957-05-09') from patients",
    }, secret=Secret.COST, expect=WITHHELD),
    *alike({
        "case in a count": f"select count(case when {V} and ward = 'oncology' then 1 end) from patients",
        "share of people with a case for one": f"select avg(case when {V} and ward = 'oncology' then 1.0 else 0.0 end) from patients",
        "distinct people of a case": f"select count(distinct case when {V} and ward = 'oncology' then patient_id end) from patients",
    }, secret=Secret.WARD, expect=WITHHELD),
    *alike({
        "count distinct of a case": f"select count(distinct case when {V} then ward end), count(distinct case when {V} and ward = 'oncology' then 1 else 2 end) from patients",
        "nullif as a mask": "select count(*) - count(nullif(birth_date, date '1957-05-09')) from patients where ward = 'oncology'",
        "comparison cast inside count distinct": f"select count(distinct ({V} and ward = 'oncology')::text) from patients",
        "boolean arithmetic through is distinct from": "select count(*) - sum((birth_date is distinct from date '1957-05-09')::integer) from patients where ward = 'oncology'",
        "case in ORDER BY of an aggregate": f"select sum(cost order by case when {V} then 1 end) from patients where zip = '10437' and birth_date >= date '1957-05-01' and not (ward = 'oncology' and {V})",
    }, secret=Secret.WARD),
    *alike({
        "nullif on the value": "select count(nullif(cost, 94821.37)) from patients",
        "coalesce as a mask": "select sum(coalesce(nullif(cost, 94821.37), 1e9)) from patients",
        "one minus sign of abs": "select sum(cost * (1 - sign(abs(birth_date - date '1957-05-09')))) from patients",
        "zero to the power of a distance": "select sum(cost * power(0, abs(birth_date - date '1957-05-09'))) from patients",
        "weight that falls off steeply": "select sum(cost * exp(-1.0 * abs(birth_date - date '1957-05-09'))) from patients where zip = '10437'",
        "product of two columns as weights": "select sum(cost * patient_id) from patients",
        "integer division as a mask": "select sum(cost::integer / 90000) from patients",
        "modulo as a mask": "select sum((cost * 100)::integer % 9482137) from patients",
        "greatest as a mask": "select sum(greatest(cost, 90000) - 90000) from patients",
        "least as a mask": "select sum(least(cost - 60000, 0)) from patients",
        "width_bucket inside an aggregate": "select sum(width_bucket(cost, 90000, 99000, 9)) from patients",
        "position of a date in a list": "select sum(cost * (strpos('1957-05-09', birth_date::text))) from patients",
        "array subscript as a mask": f"select sum((array[0, cost])[({V})::integer + 1]) from patients",
        "length of a repeated text": f"select sum(length(repeat('x', ({V})::integer * (cost / 100)::integer))) from patients",
        "bits of a value": "select sum(((cost * 100)::integer >> 20) & 8) from patients where zip = '10437'",
        "rounding as a mask": "select sum(round(cost, -5)) from patients",
        "case of several branches as weights": f"select sum(case when {V} then cost when cost > 0 then 0.001 else 0 end) from patients",
        "case with another number in ELSE": f"select sum(case when {V} then cost else 1 end) from patients",
        "case in a percentile": f"select percentile_disc(0.5) within group (order by case when {V} then cost end) from patients",
        "case in a spread": f"select stddev(case when {V} then cost else 0 end) from patients",
        "rounding by division": "select sum((cost * 0.0000001 + 1000000000000) / 1000000000000) from patients where zip = '10437'",
        "variance of a sum has the product in it": "select var_pop(cost + 1e6 * (birth_date - date '1957-05-09')) from patients where zip = '10437'",
        "covariance with a number that is known": "select covar_pop(cost, birth_date - date '1957-05-09') from patients where zip = '10437'",
        "correlation with a number that is known": "select corr(cost, birth_date - date '1957-05-09') from patients where zip = '10437'",
    }, secret=Secret.COST),
    *alike({
        "replace as a mask": "select count(distinct nullif(replace(birth_date::text || ward, '1957-05-09oncology', ''), '')) from patients where zip = '10437'",
        "condition as a number": f"select sum(({V} and ward = 'oncology')::integer) from patients",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("trailing digits of an average are a value", "select avg(cost::numeric(20, 10) * 1e0) from patients where birth_date = '1957-05-09'", secret=Secret.COST, expect=REFUSED),
    *alike({
        "rounding by floating point addition": "select sum(l.value * 0.0000004 + 1000000000000 - 1000000000000) from lab_results l join patients p using (patient_id) where l.test = 'hiv' and p.zip = '10437' and l.value is not null",
        "floating point numbers beside a large one that stands for missing ones": "select sum(coalesce(l.value, 100000000000)) from lab_results l join patients p using (patient_id) where l.test = 'hiv' and p.zip = '10437'",
    }, secret=Secret.TEST),
    attack("rounding by a cast to floating point", "select sum(((cost + 1000000000000) * 10000000)::float8) from patients where zip = '10437'", secret=Secret.COST, expect=backed("the sum of at least k people")),
    *alike({
        "every number rounded to single precision, another way for each factor": "select sum((minutes::bigint * 12345678901)::pg_catalog.float4::numeric) from visits where department = 'oncology' and physician in ('Dr. Abel', 'Dr. Only')",
        "spread of numbers rounded to single precision": "select stddev((minutes::bigint * 12345678901)::pg_catalog.float4) from visits where department = 'oncology' and physician in ('Dr. Abel', 'Dr. Only')",
    }, secret=Secret.VISITS),
)
# fmt: on
