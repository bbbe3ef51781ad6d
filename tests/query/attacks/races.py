"""Several sessions at once: check and run, query and record, counting and answering."""

from tests.query.cases import (
    BROKEN_OFF,
    REFUSED,
    Attack,
    Channel,
    Policy,
    Secret,
    Step,
    Together,
    V,
    Via,
    alike,
    attack,
    backed,
    harmless,
    of_kind,
)
from tests.query.hospital import BEN

_SAME = f"select ward from patients where {V}"

_MINUS_ONE = f"select sum(cost) from patients where not {V}"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "races",
    *alike({
        "two sessions ask the two halves of a difference at once": Together((Step("select sum(cost) from patients"), Step(_MINUS_ONE, session=2))),
        "two roles ask the two halves at once": Together((Step("select sum(cost) from patients"), Step(_MINUS_ONE, role=BEN))),
    }, secret=Secret.COST, expect=BROKEN_OFF, policy=Policy(), channel=Channel.EFFECT),
    attack(
        "table exchanged while a query runs",
        Together(
            (
                Step("select title, count(*) from wards group by title"),
                Step("alter table hospital.icd_codes rename to icd_codes_before", via=Via.ADMIN),
            )
        ),
        secret=Secret.SERVER,
        expect=harmless("a query on public tables"),
        channel=Channel.EFFECT,
    ),
    attack("declaration withdrawn and made again while a query runs", Together((Step(_SAME), Step("analyze hospital.patients", via=Via.ADMIN))), secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack(
        "rows deleted between counting and answering",
        Together(
            (
                Step("select ward, zip, count(*) from patients group by ward, zip"),
                Step("delete from hospital.visits where patient_id < 9", via=Via.ADMIN),
            )
        ),
        secret=Secret.WARD,
        expect=backed("people are counted on the rows that are returned"),
        channel=Channel.EFFECT,
    ),
    attack("many sessions use up the budget of one refusal", Together(tuple(Step(_SAME, session=number) for number in range(1, 9))), secret=Secret.WARD, expect=REFUSED, policy=Policy(budget=1), channel=Channel.EFFECT),
)
# fmt: on
