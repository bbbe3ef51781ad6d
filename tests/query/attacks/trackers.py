"""Trackers: queries that are all large, and together single one person out.

After D. E. Denning, P. J. Denning, M. D. Schwartz: The Tracker: A Threat to Statistical Database Security
(ACM TODS 1979), and J. Schlörer: Disclosure from Statistical Databases: Quantitative Aspects of Trackers
(ACM TODS 1980).
"""

from tests.query.attacks.shared_parts import LINEAR, NEAR, PAIRWISE, cost_of, number_of
from tests.query.cases import (
    BROKEN_OFF,
    BROKEN_OFF_AS_IS,
    Attack,
    Channel,
    Secret,
    Step,
    V,
    alike,
    attack,
    backed,
    limited,
    of_kind,
)
from tests.query.hospital import ADA, BEN

_CLASS = "ward = 'oncology'"

_PAD = "sex = 'M'"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "trackers",
    *alike({
        "individual tracker: C = A and B, T = A and not B": (f"select count(*), sum(cost) from patients where {NEAR}", f"select count(*), sum(cost) from patients where {NEAR} and not (sex = 'F' and {V})"),
        "general tracker without the total: q(T) + q(not T)": (cost_of(f"{V} or {_PAD}"), cost_of(f"{V} or not {_PAD}"), cost_of(_PAD), cost_of(f"not {_PAD}")),
        "double tracker: two characteristics, one inside the other": (
                cost_of(f"{V} or ethnicity = 'B'"),
                cost_of(f"{V} and ethnicity = 'B' or ethnicity in ('A', 'B')"),
                cost_of("ethnicity = 'B'"),
                cost_of(f"ethnicity in ('A', 'B') and not ({V} and ethnicity = 'B')"),
            ),
    }, secret=Secret.COST, expect=BROKEN_OFF, policy=PAIRWISE),
    attack("individual tracker that asks for a property", number_of(f"({NEAR} and not {V}) or ({NEAR} and {V} and {_CLASS})"), number_of(f"{NEAR} and not {V}"), secret=Secret.WARD, expect=BROKEN_OFF, policy=PAIRWISE),
    *alike({
        "general tracker: q(C or T) + q(C or not T) - q(all)": (cost_of(f"{V} or {_PAD}"), cost_of(f"{V} or not {_PAD}"), "select sum(cost) from patients"),
        "tracker by two roles, query by query": (cost_of(f"{V} or {_PAD}", ADA), cost_of(f"{V} or not {_PAD}", BEN), Step("select sum(cost) from patients", role=ADA)),
    }, secret=Secret.COST, expect=limited("of A, of B, and of both with one person more: three answers, which is not promised"), policy=LINEAR),
    attack("general tracker on a property", number_of(f"({V} and {_CLASS}) or {_PAD}"), number_of(f"({V} and {_CLASS}) or not {_PAD}"), Step("select count(*) from patients"), secret=Secret.WARD, expect=BROKEN_OFF, policy=LINEAR),
    attack("union tracker: u disjoint characteristics", *(cost_of(f"{V} or ethnicity = '{group}'") for group in "ABC"), *(cost_of(f"ethnicity = '{group}'") for group in "ABC"), secret=Secret.COST, expect=BROKEN_OFF, policy=PAIRWISE),
    attack(
        "union tracker over months",
        *(
            Step(
                f"select count(*) from patients where ({V} and {_CLASS}) or extract(month"
                " from admission_date) ="
                f" {month}"
            )
            for month in (1, 2, 3)
        ),
        Step("select extract(month from admission_date), count(*) from patients group by 1"),
        secret=Secret.WARD,
        expect=BROKEN_OFF,
        policy=PAIRWISE,
    ),
    attack(
        "tracker spread over many honest queries",
        *(
            cost_of(f"zip = '{zip_code}'")
            for zip_code in ("10301", "10312", "10323", "10334", "10345", "10401")
        ),
        cost_of(f"{V} or {_PAD}"),
        cost_of(f"{V} or not {_PAD}"),
        Step("select sum(cost) from patients"),
        secret=Secret.COST,
        policy=LINEAR,
        expect=limited("of A, of B, and of both with one person more: three answers, which is not promised"),
    ),
    attack(
        "tracker through visits of the person",
        Step("select count(*) from visits where department = 'oncology'"),
        Step("select count(*) from visits where department = 'oncology' and physician <> 'Dr. Only'"),
        secret=Secret.VISITS,
        expect=BROKEN_OFF_AS_IS,
        policy=PAIRWISE,
    ),
    attack(
        "tracker through tests of the person",
        Step("select count(*) from lab_results where test = 'hiv' and abnormal"),
        Step(
            "select count(*) from lab_results where test = 'hiv' and abnormal and value not between 181 and"
            " 182"
        ),
        secret=Secret.TEST,
        expect=backed("those without a value are left out with the victim: they are more than k"),
        policy=PAIRWISE,
        channel=Channel.EFFECT,
    ),
)
# fmt: on
