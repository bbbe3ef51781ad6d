"""Aggregates that show single values: lists, extremes, extreme percentiles, moments of few."""

from tests.query.attacks.shared_parts import NEAR
from tests.query.cases import (
    EXPLAINED,
    REFUSED,
    WITHHELD,
    WITHHELD_AS_IS,
    Attack,
    Draft,
    Expectation,
    Policy,
    Secret,
    V,
    alike,
    attack,
    backed,
    limited,
    of_kind,
)


def _lists(
    name: str, expression: str, secret: Secret = Secret.COST, expect: Expectation = EXPLAINED
) -> Draft:
    return attack(name, f"select {expression} from patients where {NEAR}", secret=secret, expect=expect)


# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "listing aggregates",
    _lists("string_agg", "string_agg(ward, ',' order by birth_date)", Secret.WARD),
    attack("string_agg of different values", f"select string_agg(distinct ward, ',' order by ward) from patients where {V}", secret=Secret.WARD, expect=WITHHELD),
    _lists("array_agg", "array_agg(cost order by birth_date)"),
    _lists("array_agg of rows", "array_agg(row(birth_date, ward))", Secret.WARD),
    _lists("json_agg", "json_agg(ward order by birth_date)", Secret.WARD),
    _lists("jsonb_object_agg", "jsonb_object_agg(birth_date, diagnosis)", Secret.DIAGNOSIS),
    _lists("xmlagg", "xmlagg(xmlelement(name c, cost) order by birth_date)::text"),
    _lists("range_agg", "range_agg(numrange(cost, cost, '[]'))"),
    _lists("range_intersect_agg", f"range_intersect_agg(numrange(0, cost)) filter (where {V})"),
    *alike({
        "listing inside groups that are backed": f"select sex, array_agg(cost order by birth_date) from patients where {NEAR} group by sex",
        "percentile whose fraction is a column": f"select percentile_disc(t.f) within group (order by cost) from patients, (values (1.0::float8)) as t (f) where {NEAR} group by t.f",
    }, secret=Secret.COST),
    _lists("listing cut down to one", "(array_agg(cost order by birth_date = date '1957-05-09' desc))[1]"),
    _lists("max", "max(cost)"),
    _lists("min", "min(-cost)"),
    _lists("max of text", f"max(ward) filter (where {V})", Secret.WARD),
    *alike({
        "latest day of birth up to the victim's, in one ward": "select max(birth_date), count(*) from patients where ward = 'oncology' and birth_date <= date '1957-05-09'",
        "extremes of a quasi-identifier as a search, group by group": "select ward, min(birth_date) from patients where birth_date >= date '1957-05-09' group by ward",
    }, secret=Secret.WARD),
    attack(
        "number of different values up to the victim's",
        "select ward, count(distinct birth_date), count(*) from patients where birth_date between"
        " date '1955-01-01' and date '1957-05-09' group by ward",
        secret=Secret.WARD,
        expect=backed("counts of k people; what they say about one is a matter of the record"),
    ),
    attack("max of a quasi-identifier", "select max(birth_date) from patients where ward = 'oncology' and zip = '10437' and birth_date <= date '1957-05-09'", secret=Secret.WARD, expect=REFUSED),
    *(
        _lists(
            name, f"{function} within group (order by cost)", expect=backed("a mean over k people's values")
        )
        for name, function in {
            "percentile_disc of 1 is max": "percentile_disc(1)",
            "percentile_cont of 1 is max": "percentile_cont(1.0)",
            "percentile_disc of almost 1": "percentile_disc(0.9999)",
            "percentiles as an array": "percentile_disc(array[0.98, 0.99, 1])",
        }.items()
    ),
    _lists("percentile of descending order", "percentile_disc(0) within group (order by cost desc)"),
    attack(
        "a thousand percentiles are the sorted column",
        "select "
        + ", ".join(f"percentile_disc({n / 100}) within group (order by cost)" for n in range(1, 100))
        + f" from patients where {NEAR}",
        secret=Secret.COST,
        expect=limited("equations over many means of k people: not promised"),
    ),
    attack(
        "mode of a set in which the victim's value is the most frequent",
        "select mode() within group (order by department) from visits where visited_at >="
        " timestamp '2023-05-13' and visited_at < timestamp '2023-05-26' and minutes = 30",
        secret=Secret.VISITS,
        expect=REFUSED,
    ),
    _lists("mode with an order of its own", f"mode() within group (order by case when {V} then ward end)", Secret.WARD, WITHHELD),
    _lists("rank of a hypothetical row", "rank(50000) within group (order by cost)"),
    _lists("cume_dist of a hypothetical row", "cume_dist(50000) within group (order by cost)"),
    _lists("bool_or", f"bool_or({V} and ward = 'oncology')", Secret.WARD, WITHHELD),
    _lists("every", f"every(ward = 'oncology' or not {V})", Secret.WARD, WITHHELD),
    _lists("bit_or", "bit_or(cost::integer)"),
    _lists("bit_and", "bit_and(case when birth_date = '1957-05-09' then cost::integer else -1 end)"),
    _lists("bit_xor", "bit_xor(cost::integer)"),
    _lists("any aggregate of numbers as text", "sum(cost)::text || array_agg(ward)::text"),
    attack("stddev and avg of two people give both", "select avg(cost), stddev(cost), count(*) from patients where zip = '10437' and birth_date between date '1957-05-09' and date '1957-11-30'", secret=Secret.COST, expect=WITHHELD),
    _lists("covariance with an indicator of one person", f"covar_pop(cost, ({V})::integer)", expect=WITHHELD),
    _lists("regression on an indicator of one person", f"regr_intercept(cost, (not {V})::integer)", expect=WITHHELD),
    _lists("correlation with a column that is different for one", "regr_sxy(cost, extract(epoch from birth_date))"),
    _lists("regr_avgy where x is null for all others", f"regr_avgy(cost, case when {V} then 1 end)"),
    _lists("regr_count where y is null for all others", f"regr_count(case when {V} then cost end, 1)", Secret.PRESENCE, WITHHELD),
    _lists("sum of distinct values", f"sum(distinct cost) - sum(distinct case when {V} then 0 else cost end)"),
    attack(
        "count of distinct values is a count of values, not people",
        "select count(distinct department) from visits where physician = 'Dr. Only'"
        " or (department = 'oncology' and physician = 'Dr. Abel')",
        secret=Secret.VISITS,
        expect=backed("k people stand behind the row; the victim's share is a matter of the record"),
    ),
    *alike({
        "group of k people in which one has almost the whole sum": "select sum(cost), count(*) from patients where zip = '10437' and birth_date between date '1955-01-01' and date '1960-12-31'",
        "average instead of the dominated sum": "select avg(cost) from patients where zip = '10437' and birth_date between date '1955-01-01' and date '1960-12-31'",
    }, secret=Secret.COST, expect=WITHHELD_AS_IS, policy=Policy()),
)
# fmt: on
