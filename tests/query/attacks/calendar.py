"""Days, years and ages of people inside aggregates, and days that the session's time zone moves."""

from tests.query.attacks.shared_parts import PAIRWISE
from tests.query.cases import (
    BROKEN_OFF_AS_IS,
    REFUSED,
    WITHHELD,
    WITHHELD_AS_IS,
    Attack,
    Secret,
    V,
    alike,
    attack,
    backed,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "dates",
    *alike({
        "one person's day in another spelling": "select count(*) from patients where birth_date between '1957-05-09T00:00:00Z' and '1957-05-09T23:59:59Z' and ward = 'oncology'",
        "one person's day by three-part names": f'select "hospital"."patients"."ward", count(*) from "hospital"."patients" where {V} group by "hospital"."patients"."ward"',
        "one person's day by to_date": "select count(*) from patients where birth_date = to_date('1957-05-09', 'YYYY-MM-DD') and ward = 'oncology'",
    }, secret=Secret.WARD, expect=WITHHELD),
    *alike({
        "whose birthday it is, by ages on two days": "select sum(extract(year from age(date '2024-05-09', birth_date))) - sum(extract(year from age(date '2024-05-08', birth_date))) from patients where zip = '10437' and ward = 'oncology'",
        "whose birthday it is, by date_part and a cast": ("select avg(date_part('year', age(timestamp '2024-05-09', birth_date))::integer),"
                " avg(date_part('year', age(timestamp '2024-05-08', birth_date))::integer)"
                " from patients where zip = '10437' and ward = 'oncology'"),
    }, secret=Secret.WARD, expect=WITHHELD_AS_IS),
    attack(
        "whose birthday it is, by ages on two days in two queries",
        "select sum(extract(year from age(date '2024-05-09', birth_date))) from patients"
        " where ward = 'oncology'",
        "select sum(extract(year from age(date '2024-05-08', birth_date))) from patients"
        " where ward = 'oncology'",
        secret=Secret.WARD,
        policy=PAIRWISE,
        expect=BROKEN_OFF_AS_IS,
    ),
    *alike({
        "whose month is short, by adding months": "select sum(extract(epoch from (birth_date + interval '20 days' + interval '1 month') - birth_date)) from patients where zip = '10437' and ward = 'oncology'",
        "whose year it is, by a sum too large for double precision": "select sum(date_part('year', birth_date) + 1000000000000 + 1000000000000 - 1957) from patients where zip = '10437' and ward = 'oncology'",
        "the month of birth as a weight": "select sum(extract(month from birth_date)) from patients where zip = '10437' and ward = 'oncology'",
    }, secret=Secret.WARD, expect=backed("the mean of a known column, rounded to half its standard error")),
    *alike({
        "whose year it is, by rounding to tens": "select sum(round(extract(year from birth_date) + 8, -1)) - sum(round(extract(year from birth_date) + 7, -1)) from patients where zip = '10437' and ward = 'oncology'",
        "whose day of birth it is, by mean ages on two days": "select avg(age(date '2024-05-09', birth_date)), avg(age(date '2024-05-08', birth_date)) from patients where zip = '10437' and ward = 'oncology'",
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "whose year it is, by single precision": "select sum((extract(year from birth_date) + 2147483648 - 128 - 1956)::real), sum((extract(year from birth_date) + 2147483648 - 128 - 1957)::real) from patients where zip = '10437' and ward = 'oncology'",
        "one person's age at admission among known ones": ("select sum(extract(year from age(admission_date, birth_date))), count(*) from patients"
                " where extract(year from age(admission_date, birth_date)) between 30 and 31 and ward = 'oncology'"
                f" or {V} and ward = 'oncology'"),
    }, secret=Secret.WARD),
    attack(
        "a day that begins when the attacker wants",
        "select sum((visited_at + interval '7 hours')::date - date '2020-01-01') from visits"
        " where department = 'oncology' and physician in ('Dr. Abel', 'Dr. Only')",
        secret=Secret.VISITS,
        expect=backed("the mean of a known column, rounded to half its standard error"),
    ),
    attack(
        "one more day of mean ages, query by query",
        "select avg(age(date '2024-05-09', birth_date)) from patients where ward = 'oncology'",
        "select avg(age(date '2024-05-08', birth_date)) from patients where ward = 'oncology'",
        secret=Secret.WARD,
        expect=backed("who was born on a ninth are k people, whatever their month and year"),
        policy=PAIRWISE,
    ),
    *alike({
        "one person's length of stay": f"select avg(discharge_date - admission_date) from patients where {V}",
        "one person's length of stay beside everybody's": ("select sum(extract(epoch from discharge_date::timestamp - admission_date::timestamp)),"
                f" sum(extract(epoch from discharge_date::timestamp - admission_date::timestamp)) filter"
                f" (where not {V}) from patients where discharge_date is not null"),
    }, secret=Secret.DIAGNOSIS, expect=WITHHELD),
    attack(
        "two durations in one percentile",
        "select percentile_disc(0.5) within group (order by (discharge_date - admission_date) * 100000"
        " + (birth_date - date '1900-01-01')) from patients where zip = '10437'",
        secret=Secret.DIAGNOSIS,
        expect=backed("known columns alone: the mean of k people in the middle"),
    ),
)
# fmt: on
