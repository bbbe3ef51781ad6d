"""What the hospital of `schema.sql` declares: which tables hold people, and which role each column plays."""

from dataclasses import dataclass
from pathlib import Path

SCHEMA_FILE = Path(__file__).with_name("schema.sql")
SCHEMA = "hospital"
K = 5
ADA, BEN = "query_ada", "query_ben"
"""Two analysts who may compare notes."""


@dataclass(frozen=True)
class Declaration:
    """The roles of a protected table's columns."""

    table: str
    entity: str
    identifiers: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


DECLARATIONS = (
    Declaration(
        "patients",
        "patient_id",
        ("name", "ssn"),
        ("birth_date", "sex", "zip", "ethnicity", "admission_date", "discharge_date"),
        ("ward", "diagnosis", "cost", "readmitted"),
    ),
    Declaration(
        "visits",
        "patient_id",
        ("visit_id",),
        ("visited_at", "physician"),
        ("department", "kind", "minutes", "fee"),
    ),
    Declaration("stays", "patient_id", (), ("birth_date", "zip"), ("ward", "cost", "days")),
    Declaration("lab_results", "patient_id", ("result_id",), ("taken_on",), ("test", "value", "abnormal")),
)

DEPENDENT = {
    "lab_results_2022": "lab_results",
    "lab_results_2023": "lab_results",
    "lab_results_2024": "lab_results",
    "old_visits": "visits",
    "weather": "patients",
    "monthly_report": "patients",
}
"""Relations that were never declared themselves, and the protected table whose people they hold."""

PUBLIC = ("wards", "zip_regions", "calendar", "icd_codes")
FORBIDDEN = ("payroll",)
"""Not protected, but no analyst may read it."""
