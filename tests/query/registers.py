"""What the registers of `registers.sql` declare: four trades whose analysts ask the honest workload."""

from pathlib import Path

from tests.query.hospital import Declaration

REGISTERS_FILE = Path(__file__).with_name("registers.sql")

REGISTERS = (
    Declaration(
        "stays",
        "patient_id",
        ("stay_id", "name"),
        ("birth_date", "sex", "zip", "admitted", "discharged", "admission_day", "discharge_day"),
        ("ward", "diagnosis", "cost", "los", "severity", "readmitted", "died"),
    ),
    Declaration(
        "residents",
        "person_id",
        ("name",),
        ("birth_date", "birth_year", "sex", "region", "citizenship", "marital"),
        ("education", "occupation", "income", "hours", "commute", "rooms", "unemployed"),
    ),
    Declaration(
        "employees",
        "employee_id",
        ("name", "email"),
        ("birth_date", "gender", "hired", "left_on", "department", "site"),
        ("grade", "salary", "bonus", "rating", "fte", "sick_days"),
    ),
    Declaration(
        "customers",
        "customer_id",
        ("email",),
        ("birth_date", "gender", "zip", "signup"),
        ("segment", "newsletter"),
    ),
    Declaration(
        "orders",
        "customer_id",
        ("order_id",),
        ("ordered_at", "shipped_at", "store"),
        ("product", "channel", "status", "amount", "discount", "items", "returned"),
    ),
)
PUBLIC_TABLES = ("wards", "diagnoses", "regions", "departments", "products", "stores")
