"""Window functions, which aggregate without grouping."""

from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, alike, attack, backed, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "windows",
    *alike({
        "row_number lists": "select row_number() over (order by birth_date), cost from patients",
        "first_value with a frame": f"select first_value(cost) over (order by {V} desc rows between unbounded preceding and current row) from patients",
        "frame that excludes the current row": "select sum(cost) over (order by birth_date rows between unbounded preceding and unbounded following exclude current row) from patients",
        "named window": "select sum(cost) over w from patients window w as (partition by birth_date)",
    }, secret=Secret.COST),
    *alike({
        "lag shows the neighbor": "select lag(ward) over (order by birth_date) from patients",
        "ntile with as many tiles as people": "select ntile(3000) over (order by cost desc), ward from patients",
        "aggregate over a window with FILTER": f"select count(*) filter (where {V} and ward = 'oncology') over () from patients",
        "window over a public table joined with a protected one": f"select w.title, row_number() over (order by w.beds) from wards w join patients p on p.ward = w.ward where p.{V}",
    }, secret=Secret.WARD),
    attack("frame of one row over groups", "select birth_date, sum(sum(cost)) over (order by birth_date rows current row) from patients group by birth_date", secret=Secret.COST, expect=REFUSED),
    attack("running total over backed groups", "select ward, sum(count(*)) over (order by ward) from patients group by ward", secret=Secret.WARD, expect=backed("the same numbers as the groups themselves")),
    attack("window over a public table with a membership", f"select title, rank() over (order by beds) from wards where ward in (select ward from patients where {V})", secret=Secret.WARD, expect=WITHHELD),
)
# fmt: on
