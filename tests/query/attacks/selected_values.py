"""One person beside people whose values the condition tells."""

from tests.query.cases import (
    WITHHELD_AS_IS,
    Attack,
    Channel,
    Policy,
    Secret,
    V,
    alike,
    attack,
    backed,
    limited,
    of_kind,
)

_FAR_VALUES = {
    "two comparisons that are equal": "cost >= 500 and (cost <= 600) = (cost <= 94000)",
    "two comparisons that are distinct": "cost >= 500 and (cost <= 600) is distinct from (cost > 94000)",
    "two comparisons in an order": "cost >= 500 and (cost <= 600) >= (cost <= 94000)",
    "a product of the column": "cost >= 500 and (cost - 600) * (cost - 94000) >= 0",
    "a quotient of the column": "cost >= 500 and (cost - 600) / (94000 - cost) <= 0",
    "the greatest of two differences": "cost >= 500 and greatest(600 - cost, cost - 94000) >= 0",
    "the other buckets": "cost >= 500 and width_bucket(cost, 600, 94000, 1) <> 1",
    "a range that is false": "cost >= 500 and (cost between 600 and 94000) is false",
    "a range that is not true": "cost >= 500 and (cost between 600 and 94000) is not true",
    "signs that coalesce and nullif choose": "cost >= 500"
    " and coalesce(nullif(sign(cost - 94000), -1), sign(600 - cost)) >= 0",
    "a remainder by floor": "cost - 94300 * floor(cost / 94300) between 500 and 600",
    "a remainder by round": "cost - 94300 * round(cost / 94300) between 500 and 600",
    "numbers of truth values": "cost >= 500 and (cost > 600)::int - (cost > 94000)::int = 0",
    "the first digits": "cost >= 500 and cost <> 600.5 and substr(cost::text, 1, 2) in ('50', '94')",
}
"""Conditions that take a narrow range and, beside it, the largest value."""

_FAR_GROUPS = {
    "a disjunction": "cost < 600 or cost > 94000",
    "a range and what is around it": "cost between 600 and 94000",
    "the label of two ranges": "case when cost < 600 then 1 when cost < 94000 then 2 else 1 end",
    "a remainder": "floor(cost) % 94300 < 600",
    "two comparisons": "(cost < 600) = (cost < 94000)",
}

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "selection by value",
    *alike({
        "a sum of known values and one person's": f"select sum(cost), count(*) from patients where cost between 500 and 600 or {V}",
        "an average of known values and one person's": f"select avg(cost * 2) from patients where not (not (cost >= 500 and cost <= 600) and not {V})",
        "known values and one person's in a filter": f"select ward, count(*), sum(cost) filter (where cost < 1000 or {V}) from patients group by ward",
        "known values and one person's in a CASE": f"select sum(case when cost between 500 and 600 or {V} then cost else 0 end) from patients",
        "known values and one person's as a group": f"select cost between 500 and 600 or {V}, sum(cost) from patients group by 1",
        "one person in the middle of a percentile": f"select percentile_disc(0.502) within group (order by cost) from patients where cost < 1100 or cost > 7769.62 or {V}",
        "one person in the middle of a group's percentile": f"select case when cost < 1100 or cost > 7769.62 or {V} then 1 else 0 end as g, percentile_disc(0.502) within group (order by cost) from patients group by g",
        "the value hidden in the condition of a LEFT JOIN": f"select sum(p.cost) from patients p left join wards w on w.ward = p.ward and p.cost between 500 and 600 where w.ward is not null or p.{V}",
        "the value hidden in a derived table": f"select sum(x.cost) from (select cost, cost between 500 and 600 as is_known, birth_date from patients) x where x.is_known or x.{V}",
        "the value read from a view of the same table": f"select sum(p.cost) from patients p join stays s on s.patient_id = p.patient_id where s.cost between 500 and 600 or p.{V}",
        "the value compared with a public table": f"select sum(p.cost) from patients p join zip_regions z on z.zip = p.zip where p.cost between z.population - 10000 and 600 or p.{V}",
        "the largest value beside a narrow range by a factor": "select sum(cost * ((cost <= 600) = (cost <= 94000))::int) from patients where cost >= 500",
        "the largest value beside a narrow range by a covariance": "select covar_pop(cost, ((cost <= 600) = (cost <= 94000))::int) from patients where cost >= 500",
        "the largest value beside zeros for NULL": "select sum(coalesce(cost, 0)) from patients where coalesce(cost, 95000) > 94000",
        "several values left out by looking people up in their own table": ("select sum(cost), count(*) from patients"
                " where patient_id in (select patient_id from patients where cost <> 1000)"
                " and patient_id in (select patient_id from patients where cost <> 1500)"),
        "a value left out of a column and another one of its double": "select sum(2 * cost + 100), count(*) from patients where 2 * cost + 100 <> 3100 and cost <> 1000",
    }, secret=Secret.COST),
    attack("a far value of a known column beside a narrow range", f"select sum(birth_date - date '1980-07-01'), count(*) from patients where ward = 'oncology' and (birth_date between date '1980-01-01' and date '1981-06-01' or {V})", secret=Secret.WARD),
    attack("the largest value beside a narrow range", "select sum(cost), count(*) from patients where cost between 500 and 600 or cost > 94000", secret=Secret.COST, expect=limited("a number that is large beside others is not promised")),
    attack("NULLs moved to one end make a percentile an extreme", "select percentile_disc(0.06) within group (order by coalesce(discharge_date, date '1900-01-01')) from patients where zip = '10437'", secret=Secret.DIAGNOSIS, channel=Channel.EFFECT),
    *alike({
        "one person has the rows in the middle": "select percentile_disc(0.5) within group (order by fee) from visits where physician = 'Dr. Only' or (visited_at >= timestamp '2023-01-15' and visited_at < timestamp '2023-01-16')",
        "several percentiles of rows of which one person has half": ("select percentile_cont(array[0.4, 0.5, 0.6]) within group (order by fee) from visits"
                " where physician ="
                " 'Dr. Only' or (visited_at >= timestamp '2023-01-15' and visited_at < timestamp '2023-01-16')"),
    }, secret=Secret.VISITS, expect=limited("k people stand in the mean, and most of its rows may be one person's")),
    *(attack(f"the largest value beside a narrow range by {name}", f"select sum(cost), count(*) from patients where {condition}", secret=Secret.COST) for name, condition in _FAR_VALUES.items()),
    *(attack(f"the largest value beside a narrow range in a filter by {name}", f"select ward, sum(cost) filter (where {condition}) from patients group by ward", secret=Secret.COST) for name, condition in _FAR_VALUES.items()),
    *(
        attack(
            f"the largest value beside a narrow range in a group by {name}",
            f"select {key} as g, sum(cost), count(*) from patients where cost >= 500 group by 1",
            secret=Secret.COST,
            expect=limited("a number that is large beside others is not promised"),
        )
        for name, key in _FAR_GROUPS.items()
    ),
    *alike({
        "the largest value by what a range leaves out on both sides": ("select sum(cost) from patients", "select sum(cost) from patients where cost between 600 and 94000"),
        "the largest value by a filter that leaves out both sides": "select sum(cost), sum(cost) filter (where cost between 600 and 94000) from patients",
        "the largest value by two limits, whose sums differ in nothing else that counts": ("select sum(cost - 600) from patients where sex = 'F' and cost > 600", "select sum(cost - 600) from patients where sex = 'F' and cost < 94000"),
    }, secret=Secret.COST, expect=WITHHELD_AS_IS),
    attack(
        "one day of birth between two limits, beside people born within two years",
        "select sum(birth_date - date '1947-01-01') from patients where ward = 'oncology'"
        " and birth_date > date '1949-01-01' and birth_date <= date '1957-05-09'",
        "select sum(birth_date - date '1947-01-01') from patients where ward = 'oncology'"
        " and birth_date >= date '1947-01-01' and birth_date < date '1957-05-09'",
        secret=Secret.WARD,
        policy=Policy(),
        expect=backed("the mean of a known column, rounded to half its standard error"),
    ),
)
# fmt: on
