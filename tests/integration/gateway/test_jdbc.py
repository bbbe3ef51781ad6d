"""A Java program through the gateway: metadata, portals, binary values, savepoints by Debian's driver."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway

DRIVER = Path("/usr/share/java/postgresql.jar")
PROGRAM = Path(__file__).parents[1] / "clients" / "Client.java"
missing = [
    package
    for package, there in (
        ("libpostgresql-jdbc-java", DRIVER.exists()),
        ("default-jdk-headless", shutil.which("javac") is not None),
    )
    if not there
]


@pytest.mark.skipif(
    bool(missing), reason=f"JDBC IS NOT TESTED: install {' '.join(missing)} (make development does)"
)
def test_a_java_program(gateway: ClinicGateway) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{gateway.port}/{gateway.clinic.database}"
    answer = subprocess.run(
        ["java", "-cp", DRIVER, PROGRAM, url, ANALYST, PASSWORD],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    said = answer.stdout.splitlines()
    tables = next(line for line in said if line.startswith("tables: "))
    assert "patients" in tables
    # what else is there is the server's
    assert [line for line in said if not line.startswith(("tables: ", "schemas: ", "catalogs: "))] == [
        "views: [numbers]",
        "columns: [admission, patient_id, name, ssn, birth_date, sex, zip, ward, diagnosis, cost]",
        "key: [admission]",
        "indexes: [wards_pkey]",
        "functions: [kanon_query]",
        "imported: []",
        "types: true",
        *(f"turn {turn}: [Cardiology, Oncology, Surgery]" for turn in range(8)),
        "type: numeric",
        "fetched in portions: true",
        "query in portions: 3",
        "refused: KA901",
        "afterwards: [1200]",
        "results: 3",
    ]
