"""Rows without aggregates: rare tuples, hidden orders, whole tables."""

from tests.query.cases import REFUSED, WITHHELD, Attack, Secret, V, alike, attack, of_kind

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "row selections",
    *alike({
        "the whole table": "select * from patients",
        "table command": "table patients",
    }, secret=Secret.WARD, expect=REFUSED),
    *alike({
        "one row": f"select ward from patients where {V}",
        "rows whose tuple is rare": "select ward, zip, birth_date from patients",
        "distinct tuples": "select distinct ward, diagnosis, zip, sex, ethnicity, readmitted, birth_date from patients",
    }, secret=Secret.WARD, expect=WITHHELD),
    attack("order of backed rows follows a hidden column", "select sex from patients order by birth_date, zip", secret=Secret.PRESENCE, expect=REFUSED),
    attack("rare value in a column of few values", "select physician, department from visits", secret=Secret.VISITS, expect=WITHHELD),
)
# fmt: on
