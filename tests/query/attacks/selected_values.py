"""One person beside people whose values the condition tells."""

from __future__ import annotations

from tests.query.cases import WITHHELD, Attack, Channel, Secret, V, attack, of_kind

ATTACKS: tuple[Attack, ...] = of_kind(
    "selection by value",
    attack(
        "a sum of known values and one person's",
        f"select sum(cost), count(*) from patients where cost between 500 and 600 or {V}",
        secret=Secret.COST,
    ),
    attack(
        "an average of known values and one person's",
        f"select avg(cost * 2) from patients where not (not (cost >= 500 and cost <= 600) and not {V})",
        secret=Secret.COST,
    ),
    attack(
        "known values and one person's in a filter",
        f"select ward, count(*), sum(cost) filter (where cost < 1000 or {V}) from patients group by ward",
        secret=Secret.COST,
    ),
    attack(
        "a far value of a known column beside a narrow range",
        "select sum(birth_date - date '1980-07-01'), count(*) from patients where ward = 'oncology'"
        f" and (birth_date between date '1980-01-01' and date '1981-06-01' or {V})",
        secret=Secret.WARD,
    ),
    attack(
        "the largest value beside a narrow range",
        "select sum(cost), count(*) from patients where cost between 500 and 600 or cost > 94000",
        secret=Secret.COST,
    ),
    attack(
        "known values and one person's in a CASE",
        f"select sum(case when cost between 500 and 600 or {V} then cost else 0 end) from patients",
        secret=Secret.COST,
    ),
    attack(
        "known values and one person's as a group",
        f"select cost between 500 and 600 or {V}, sum(cost) from patients group by 1",
        secret=Secret.COST,
    ),
    attack(
        "one person in the middle of a percentile",
        "select percentile_disc(0.502) within group (order by cost) from patients"
        f" where cost < 1100 or cost > 7769.62 or {V}",
        secret=Secret.COST,
    ),
    attack(
        "one person in the middle of a group's percentile",
        f"select case when cost < 1100 or cost > 7769.62 or {V} then 1 else 0 end as g,"
        " percentile_disc(0.502) within group (order by cost) from patients group by g",
        secret=Secret.COST,
    ),
    attack(
        "the value hidden in the condition of a LEFT JOIN",
        "select sum(p.cost) from patients p left join wards w on w.ward = p.ward and p.cost"
        " between 500 and 600"
        f" where w.ward is not null or p.{V}",
        secret=Secret.COST,
    ),
    attack(
        "the value hidden in a derived table",
        "select sum(x.cost) from (select cost, cost between 500 and 600 as is_known, birth_date"
        " from patients) x"
        f" where x.is_known or x.{V}",
        secret=Secret.COST,
    ),
    attack(
        "the value read from a view of the same table",
        "select sum(p.cost) from patients p join stays s on s.patient_id = p.patient_id"
        f" where s.cost between 500 and 600 or p.{V}",
        secret=Secret.COST,
    ),
    attack(
        "the value compared with a public table",
        "select sum(p.cost) from patients p join zip_regions z on z.zip = p.zip"
        f" where p.cost between z.population - 10000 and 600 or p.{V}",
        secret=Secret.COST,
    ),
    attack(
        "NULLs moved to one end make a percentile an extreme",
        "select percentile_disc(0.06) within group (order by coalesce(discharge_date, date '1900-01-01'))"
        " from patients where zip = '10437'",
        secret=Secret.DIAGNOSIS,
        channel=Channel.EFFECT,
    ),
    attack(
        "one person has the rows in the middle",
        "select percentile_disc(0.5) within group (order by fee) from visits where physician = 'Dr. Only'"
        " or (visited_at >= timestamp '2023-01-15' and visited_at < timestamp '2023-01-16')",
        secret=Secret.VISITS,
        expect=WITHHELD,
    ),
    attack(
        "several percentiles of rows of which one person has half",
        "select percentile_cont(array[0.4, 0.5, 0.6]) within group (order by fee) from visits"
        " where physician ="
        " 'Dr. Only' or (visited_at >= timestamp '2023-01-15' and visited_at < timestamp '2023-01-16')",
        secret=Secret.VISITS,
        expect=WITHHELD,
    ),
)
