"""One person's rows among others that only another branch of a set operation knows."""

from tests.query.cases import REFUSED, Attack, Secret, V, alike, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "set operations",
    *alike({
        "union all pads the branch of one": f"select ward from patients where {V} union all select ward from wards",
        "a branch of one beside a branch of all": f"select ward, count(*) from patients where {V} group by ward union all select ward, count(*) from patients group by ward",
        "union of equal tuples hides which branch they come from": f"select ward from patients where {V} union select ward from patients where zip = '10437' group by ward having count(*) > 100",
        "union whose first branch is public, so that types and names come from there": f"select title, beds from wards union all select ward, cost from patients where {V}",
        "union distinct as a comparison of two sets": f"select count(*) from (select ward from patients where {V} union select 'oncology') as u",
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "except takes everybody else away": (f"select ward, sex from patients where not {V} except all select ward, sex from patients", f"select ward, sex from patients except all select ward, sex from patients where not {V}"),
        "intersect as an oracle": f"select ward from patients where {V} intersect select ward from wards where ward = 'oncology'",
        "except against the public table": f"select ward from wards except select ward from patients where {V}",
    }, secret=Secret.WARD),
    *alike({
        "union of one-person branches, k of them": " union all ".join(f"select sum(cost) from patients where birth_date = date '1957-05-0{day}'" for day in range(5, 10)),
        "aggregate over a union of one person and the public": f"select sum(x), count(*) from (select cost as x from patients where {V} union all select beds from wards) as u",
    }, secret=Secret.COST, expect=REFUSED),
)
# fmt: on
