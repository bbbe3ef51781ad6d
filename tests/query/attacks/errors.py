"""Errors that happen for one person only, or whose message shows a value."""

from tests.query.attacks.shared_parts import IS_IN_ONCOLOGY
from tests.query.cases import REFUSED, Attack, Channel, Secret, V, alike, attack, backed, harmless, of_kind

_TOTAL = "if it cannot fail, it is a condition like any other; no error of the server may be seen"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "errors",
    *alike({
        "division by zero on one person": f"select sum(1 / (case when {IS_IN_ONCOLOGY} then 0 else 1 end)) from patients",
        "cast that fails on one value": f"select sum((case when {IS_IN_ONCOLOGY} then 'x' else '1' end)::integer) from patients",
        "cast of a column that shows the value in the message": f"select count(*) from patients where {V} and ward::integer = 1",
        "cast to the name of a table": f"select count(*) from patients where case when {V} then ward end::regclass is null",
        "regular expression from a column": f"select count(*) from patients where 'x' ~ (case when {IS_IN_ONCOLOGY} then '(' else 'x' end)",
        "pattern from a column that ends in an escape": f"select count(*) from patients where 'x' like (case when {IS_IN_ONCOLOGY} then '\\' else 'x' end)",
        "to_number": f"select count(*) from patients where to_number(case when {IS_IN_ONCOLOGY} then '' else '1' end, '9') > 0 and to_char(cost, 'FM99999') <> ''",
        "to_date": f"select count(*) from patients where to_date(case when {IS_IN_ONCOLOGY} then '2023-99-99' else '2023-01-01' end, 'YYYY-MM-DD') > date '2000-01-01'",
        "make_date": f"select count(*) from patients where make_date(2023, case when {IS_IN_ONCOLOGY} then 13 else 1 end, 1) > date '2000-01-01'",
        "chr of zero": f"select count(*) from patients where chr(case when {IS_IN_ONCOLOGY} then 0 else 65 end) = 'A'",
        "repeat beyond memory": f"select count(*) from patients where length(repeat('x', case when {IS_IN_ONCOLOGY} then 2000000000 else 1 end)) > 0",
        "substring with a negative length": f"select count(*) from patients where substring(zip, 1, case when {IS_IN_ONCOLOGY} then -1 else 1 end) <> 'q'",
        "json that does not parse": f"select count(*) from patients where (case when {IS_IN_ONCOLOGY} then '[' else '1' end)::json is not null",
        "xml that does not parse": f"select count(*) from patients where (case when {IS_IN_ONCOLOGY} then '<' else '<a/>' end)::xml is document",
        "array out of bounds of its type": f"select count(*) from patients where array_fill(1, array[case when {IS_IN_ONCOLOGY} then -1 else 1 end]) is not null",
        "encoding conversion": f"select count(*) from patients where convert_from(decode(case when {IS_IN_ONCOLOGY} then 'ff' else '41' end, 'hex'), 'UTF8') = 'A'",
        "time zone from a column": f"select count(*) from patients where (now() at time zone case when {IS_IN_ONCOLOGY} then 'x' else 'UTC' end) is not null",
        "short-circuit chooses whose row fails": f"select count(*) from patients where {IS_IN_ONCOLOGY} and 1 / (floor(random()) * 0)::integer = 1",
    }, secret=Secret.WARD),
    *alike({
        "division by a column": "select count(*) from patients where 1 / (cost - 94821.37) < 2",
        "cast to a length": "select count(*) from patients where (cost - 94721)::numeric(4, 2) > 0 and cost > 94800",
        "integer overflow on one person": "select count(*) from patients where (cost::integer * 22648) > 0",
        "smallint overflow": "select count(*) from patients where cost::smallint > 0",
        "overflow of a product": "select count(*) from patients where cost::float8 * 2.0e303 > 0",
        "logarithm of zero": "select count(*) from patients where ln(abs(cost - 94821.37)) < 99",
        "square root of a negative number": "select count(*) from patients where sqrt(94000 - cost) >= 0",
        "power of zero": "select count(*) from patients where power(cost - 94821.37, -1) < 99",
        "date out of range": "select count(*) from patients where birth_date + (cost * 24000)::integer > date '1900-01-01'",
        "interval out of range": "select count(*) from patients where birth_date + interval '1 year' * (cost::float8 * 3.1) > date '1900-01-01'",
        "width_bucket with equal bounds": "select count(*) from patients where width_bucket(1, cost, 94821.37, 5) > 0",
        "width_bucket with a count from a column": "select count(*) from patients where width_bucket(5, 0, 10, (cost - 94820.87)::integer) >= 0 and cost > 90000 ",
        "left with a count from a column": "select count(*) from patients where left(zip, (cost * 40000)::integer) <> 'q'",
    }, secret=Secret.COST, expect=backed(_TOTAL)),
    *alike({
        "division by a difference of dates": "select count(*) from patients where ward = 'oncology' and 1 / (birth_date - date '1957-05-09') < 2",
        "modulo by zero": "select count(*) from patients where ward = 'oncology' and 5 % (birth_date - date '1957-05-09') < 6",
    }, secret=Secret.WARD, expect=backed(_TOTAL)),
    attack("overflow of exp", "select count(*) from patients where exp((cost / 100)::float8) > 0", secret=Secret.COST),
    attack("numeric that underflows", "select count(*) from patients where (1e-300::float8) * (cost::float8 - 94821.37) * 1e-20::float8 < 1 and cost > 90000 and 1 / (cost - 94821.37) > 0", secret=Secret.COST, expect=REFUSED),
    *alike({
        "error in GROUP BY": f"select cost / nullif(birth_date - date '1957-05-09', 0), count(*) from patients where {V} group by 1, 1 / (length(ward) - 8)",
        "error in HAVING": f"select sex, count(*) from patients where zip = '10437' group by sex having 1 / (count(*) filter (where {IS_IN_ONCOLOGY}) - 1) < 5",
        "error in ORDER BY": f"select sex, count(*) from patients group by sex order by 1 / (count(*) filter (where {IS_IN_ONCOLOGY}) - 1)",
        "null in an array index of a set": "select count(*) from patients where cost between 94821 and 94822 and (array[1])[1] / (length(ward) - 8) > 0",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("error that only LIMIT avoids", f"select 1 / (count(*) filter (where {IS_IN_ONCOLOGY}) - 1) from patients group by sex limit 0", secret=Secret.WARD, expect=harmless("LIMIT 0 asks for the columns: no table is read"), channel=Channel.EFFECT),
    attack("date before the first one, step by step", f"select count(*) from patients where zip = '10437' or ({IS_IN_ONCOLOGY} and birth_date" + " - interval '953 years'" * 7 + " < birth_date)", secret=Secret.WARD, channel=Channel.EFFECT),
)
# fmt: on
