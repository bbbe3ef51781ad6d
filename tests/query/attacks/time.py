"""The time a query takes, made to depend on one person."""

from tests.query.attacks.shared_parts import IS_IN_ONCOLOGY
from tests.query.cases import (
    REFUSED,
    WITHHELD,
    Attack,
    Channel,
    Secret,
    Step,
    V,
    Via,
    alike,
    attack,
    harmless,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "time",
    *alike({
        "pg_sleep for one person": f"select count(*) from patients where {IS_IN_ONCOLOGY} and pg_sleep(3) is not null",
        "pg_sleep in a mask": f"select sum(case when {IS_IN_ONCOLOGY} then length(pg_sleep(3)::text) else 0 end) from patients",
        "catastrophic regular expression": f"select count(*) from patients where {IS_IN_ONCOLOGY} and repeat('a', 40) ~ '^(a|a|aa)+$(x)\\1'",
        "huge number for one person": f"select sum(case when {IS_IN_ONCOLOGY} then length((2::numeric ^ 120000)::text) end) from patients",
        "regular expression with nested repetitions": f"select count(*) from patients where {IS_IN_ONCOLOGY} and ward ~ '^((o*)*n*)*x$'",
        "regular expression with a counted repetition": f"select count(*) from patients where {IS_IN_ONCOLOGY} and ward ~ '(.{{1,250}}){{1,250}}x'",
    }, secret=Secret.WARD, channel=Channel.TIME),
    *alike({
        "cross joins for one person": f"select count(*) from patients p, calendar a, calendar b, calendar c where p.{V} and p.ward = 'oncology' and a.week + b.week + c.week > 999",
        "pattern with many wildcards": "select count(*) from patients where ward || repeat('a', 9999) like '%a%a%a%a%a%a%a%a%a%a%b'",
    }, secret=Secret.WARD, expect=REFUSED, channel=Channel.TIME),
    attack(
        "sort that spills for one person",
        "select count(*) from patients p join patients q on p.zip = q.zip"
        " join patients r on r.zip = q.zip join patients s on s.zip = r.zip",
        secret=Secret.SERVER,
        expect=harmless("bounded by statement_timeout, whose refusal says nothing"),
        channel=Channel.TIME,
    ),
    attack(
        "statement_timeout of the analyst as a clock",
        # long enough for the first call of a session on a busy machine, which would end in it at any place
        Step("set statement_timeout = '5s'", via=Via.SESSION),
        f"select count(*) from patients where {IS_IN_ONCOLOGY} and pg_sleep(9) is not null",
        secret=Secret.WARD,
        channel=Channel.TIME,
    ),
    attack("a plain regular expression of one person", f"select count(*) from patients where {V} and ward ~ '^onc'", secret=Secret.WARD, expect=WITHHELD),
)
# fmt: on
