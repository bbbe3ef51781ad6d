"""Recursion, which multiplies rows, searches, or never ends."""

from tests.query.cases import REFUSED, Attack, Channel, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "recursive queries",
    *alike({
        "recursion multiplies the victim's row": f"with recursive r as (select ward, 1 as n from patients where {V} union all select ward, n + 1 from r where n < 9) select ward, count(*) from r group by ward",
        "recursion with SEARCH and CYCLE": f"with recursive r (ward, n) as (select ward, 1 from patients where {V} union all select ward, n + 1 from r where n < 3) search depth first by n set path select ward, path from r",
    }, secret=Secret.WARD),
    attack(
        "recursion searches the victim's cost bit by bit",
        f"with recursive r as (select 0 as low, 131072 as high union all"
        f" select case when exists (select 1 from patients where {V} and cost >= (low + high) / 2)"
        "  then (low + high) / 2 else low end,"
        f" case when exists (select 1 from patients where {V} and cost >= (low + high) / 2)"
        "  then high else (low + high) / 2 end from r where high - low > 1)"
        " select low from r where high - low = 1",
        secret=Secret.COST,
    ),
    attack("recursion without an end", "with recursive r as (select 1 as n union all select n from r) select count(*) from r", secret=Secret.SERVER, channel=Channel.TIME),
    attack("the word RECURSIVE on a query that is none", f"with recursive r as (select ward from patients where {V}) select ward from r", secret=Secret.WARD, expect=REFUSED),
)
# fmt: on
