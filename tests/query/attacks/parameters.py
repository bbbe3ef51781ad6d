"""Values beside the text, and places where no value belongs."""

from tests.query.cases import (
    REFUSED,
    WITHHELD,
    Attack,
    Channel,
    Secret,
    Step,
    V,
    alike,
    attack,
    harmless,
    of_kind,
)

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "parameters",
    attack("parameter that is an injection", Step("select ward, count(*) from patients where ward = $1 group by ward", ("x' or '1' = '1",)), secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("a value, compared with wards: no row")),
    attack("parameter that picks the victim", Step("select ward, count(*) from patients where birth_date = $1::date group by ward", ("1957-05-09",)), secret=Secret.WARD, expect=WITHHELD),
    *alike({
        "parameter whose type the server would infer": Step("select ward, count(*) from patients where birth_date = $1 group by ward", ("1957-05-09",)),
        "parameter in GROUP BY makes the group's key a text of the analyst": Step(f"select $1::text, count(*) from patients where {V} and ward = 'oncology' group by $1::text", ("x",)),
        "parameter that is an array of one day": Step("select ward, count(*) from patients where birth_date = any ($1::date[]) group by ward", (["1957-05-09"],)),
        "parameter NULL": Step(f"select ward, count(*) from patients where {V} and (sex = $1::text or true) group by ward", (None,)),
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "parameter that does not parse as its type": Step("select count(*) from patients where birth_date = $1::date", ("not a date",)),
        "parameter with a NUL byte": Step("select count(*) from patients where ward = $1", ("onco\0logy",)),
        "fewer values than parameters": Step("select count(*) from patients where cost > $2::numeric", (1,)),
    }, secret=Secret.SERVER, expect=REFUSED, channel=Channel.EFFECT),
    attack("parameter as a mask", Step(f"select sum(cost * $1) from patients where {V}", (1,)), secret=Secret.COST, expect=REFUSED),
    attack("parameter as a relation", Step("select $1::regclass, count(*) from patients", ("hospital.payroll",)), secret=Secret.PAYROLL, channel=Channel.EFFECT),
    attack("parameter as LIMIT", Step("select ward, count(*) from patients group by ward, zip, birth_date order by 2 limit $1", (1,)), secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack("too many parameters", Step("select count(*) from patients where cost > $65536", (1,)), secret=Secret.SERVER, channel=Channel.EFFECT),
    attack("parameter that switches between all and one", Step(f"select sum(cost) from patients where $1::boolean or {V}", (False,)), secret=Secret.COST, expect=WITHHELD),
    attack("placeholders of a client library", "select ward from patients where birth_date = %(day)s", secret=Secret.WARD, channel=Channel.EFFECT),
)
# fmt: on
