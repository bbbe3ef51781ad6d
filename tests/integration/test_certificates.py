"""Certificates of real releases, through both interfaces and the command, checked by the program in docs/."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.cli import app
from kanon_pg.errors import InputError, KanonError, NotPermitted, ReleaseError, UnknownName
from tests.fixtures.certificates import PROGRAM, checker
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface, interface_of
from tests.fixtures.releases import published

pytestmark = pytest.mark.slow

QUASI = ["age", "sex", "zip"]

ROWS = """
create table patients as
select i as id, 20 + (i * i) % 17 as age, case when i % 3 = 0 then 'Female' else 'Male' end as sex,
    case when i % 11 <> 0 then 'Z' || (i * 7) % 5 end as zip, 'illness ' || i % 6 as diagnosis
from generate_series(1, 200) as i
"""


@pytest.fixture
def hospital(interface: Interface) -> Interface:
    interface.connection.execute(ROWS.encode())
    interface.declare(
        "patients",
        identifiers=["id"],
        quasi_identifiers=QUASI,
        sensitive=["diagnosis"],
        weights={"age": 0.5, "zip": 2},
    )
    return interface


def check(text: str) -> tuple[float, float, int, int, int]:
    cost, bound, rows, classes, smallest, *_ = checker().check(json.loads(text))
    return cost, bound, rows, classes, smallest


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "greedy"},
        {"method": "exact"},
        {"method": "mondrian"},
        {"patterns": {"max_suppressed": 1}},
        {"patterns": [["age"], ["zip"], ["age", "zip"]]},
        {"quasi_identifiers": ["zip"]},
    ],
    ids=str,
)
def test_a_certificate_proves_what_the_report_says(hospital: Interface, options: dict[str, Any]) -> None:
    report = hospital.anonymize("patients", 4, **options)
    cost, bound, rows, classes, smallest = check(hospital.certificate("patients"))
    assert cost == pytest.approx(report.weighted_cost)
    assert (rows, classes, smallest) == (report.rows, report.classes, report.smallest_class)
    assert bound <= cost
    if report.bound_method == "prices of rows (Lagrangian dual), checked":
        assert bound == report.lower_bound


def test_the_classes_are_those_that_readers_see(hospital: Interface) -> None:
    hospital.anonymize("patients", 4)
    sizes: dict[Any, int] = {}
    for _, cells, _, _, parts in json.loads(hospital.certificate("safe.patients"))["row_types"]:
        for rows, levels in parts:
            hidden = [column for column, level in enumerate(levels) if level]
            shown = tuple(None if column in hidden else cell for column, cell in enumerate(cells))
            sizes[tuple(hidden), shown] = sizes.get((tuple(hidden), shown), 0) + rows
    of_readers = published(hospital.connection, "patients", QUASI, "diagnosis")
    found = sorted((sorted(QUASI[column] for column in hidden), size) for (hidden, _), size in sizes.items())
    seen: dict[Any, int] = {}
    for row in of_readers:
        seen[row.seen_class] = seen.get(row.seen_class, 0) + 1
    assert found == sorted((sorted(hidden), size) for (_, hidden), size in seen.items())  # type: ignore[misc]


def test_no_value_is_in_a_certificate(hospital: Interface) -> None:
    hospital.anonymize("patients", 4)
    text = hospital.certificate("patients")
    for word in ("Male", "Female", "Z1", "illness", *QUASI[1:], "diagnosis"):
        assert word not in text


AGES = {"age": {"builder": "intervals", "cuts": [25, 30]}}


@pytest.mark.parametrize(
    ("entity", "options"),
    [
        ("person", {}),
        (None, {"hierarchies": AGES}),
        (None, {"l": 2}),
        (None, {"t": 0.5}),
        ("person", {"hierarchies": AGES, "p": 2}),
        ("person", {"hierarchies": AGES, "l": 2, "method": "greedy"}),
    ],
    ids=str,
)
def test_the_usual_case_of_a_hospital_has_a_certificate(
    hospital: Interface, entity: str | None, options: dict[str, Any]
) -> None:
    """Patients have several stays, ages are generalized, diagnoses are sensitive."""
    hospital.connection.execute("create table visits as select p.*, p.id / 2 as person from patients as p")
    hospital.declare(
        "visits", quasi_identifiers=QUASI, sensitive=["diagnosis"], entity=entity, identifiers=["id"]
    )
    report = hospital.anonymize("visits", 4, **options)
    text = hospital.certificate("visits")
    cost, bound, rows, classes, smallest = check(text)
    assert cost == pytest.approx(report.weighted_cost)
    assert (rows, classes, smallest) == (report.rows, report.classes, report.smallest_class)
    assert bound <= cost
    if report.bound_method == "prices of rows (Lagrangian dual), checked":
        assert bound == report.lower_bound
    forged = json.loads(text)
    max(forged["row_types"], key=lambda line: line[0])[0] += 10_000_000
    forged["lower_bound"] = forged["cost"]
    with pytest.raises(SystemExit, match="refused"):
        checker().check(forged)


def test_what_has_no_certificate_is_refused(hospital: Interface) -> None:
    hospital.connection.execute("alter table patients add primary key (id)")
    hospital.anonymize("patients", 4, release="nightly", over_time={})
    with pytest.raises(InputError, match="is a release over time"):
        hospital.certificate("nightly")
    with pytest.raises(UnknownName):
        hospital.certificate("nothing")
    with pytest.raises(InputError, match="time_limit"):
        hospital.certificate("nightly", time_limit=0)


@pytest.mark.parametrize(
    "change",
    [
        "insert into patients values (999, 20, 'Male', 'Z1', 'x')",
        "insert into patients values (999, 99, 'Other', 'Z9', 'x')",
        "delete from patients where id = 1",
        "update patients set zip = 'new' where id = 1",
        "truncate patients",
    ],
)
def test_a_certificate_is_about_what_was_published(hospital: Interface, change: str) -> None:
    hospital.anonymize("patients", 4)
    hospital.connection.execute(change.encode())
    for _ in range(2):
        with pytest.raises((ReleaseError, InputError), match=r"have changed since|has no rows"):
            hospital.certificate("patients")
        hospital.refresh("patients")


def test_other_weights_than_those_of_the_release_are_noticed(hospital: Interface) -> None:
    hospital.anonymize("patients", 4)
    hospital.declare("patients", identifiers=["id"], quasi_identifiers=QUASI, sensitive=["diagnosis"])
    with pytest.raises(ReleaseError, match="weights of its columns have changed since"):
        hospital.certificate("patients")


def test_only_who_may_read_the_table_gets_its_certificate(hospital: Interface) -> None:
    hospital.anonymize("patients", 4)
    group = "kanon_curator" if type(hospital).__name__ == "SqlInterface" else "kanon_curator, kanon_owner"
    with (
        role(hospital.dsn, "reader", "IN ROLE", group) as reader,
        role(hospital.dsn, "curator", "IN ROLE kanon_curator") as curator,
        role(hospital.dsn, "analyst", "IN ROLE kanon_analyst") as analyst,
    ):
        hospital.connection.execute(f"grant select on patients to {reader}".encode())
        with interface_of(reader, hospital) as own:
            assert check(own.certificate("patients"))[2] == 200
        for login, kind in ((curator, NotPermitted), (analyst, KanonError)):
            with interface_of(login, hospital) as own, pytest.raises(kind):
                own.certificate("patients")


def test_the_command_writes_a_file_for_this_account_alone(
    dsn: str, connection: psycopg.Connection[Any], tmp_path: Path
) -> None:
    connection.execute(ROWS.encode())
    connection.execute("select kanon_anonymize('patients', 4, '{age,sex,zip}')")
    file = tmp_path / "certificate.json"
    for _ in range(2):
        answer = CliRunner().invoke(app, ["certificate", "patients", str(file), "--dsn", dsn, "--json"])
        assert answer.exit_code == 0, answer.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]
    told = json.loads(answer.stdout)
    found = subprocess.run([sys.executable, PROGRAM, file], capture_output=True, text=True, check=True)
    assert f"cost {told['cost']:g}, at least {told['lower_bound']:g}, 200 rows" in found.stdout
    lying = file.read_text(encoding="utf-8").replace('"lower_bound": ', '"lower_bound": 9')
    file.write_text(lying, encoding="utf-8")
    found = subprocess.run([sys.executable, PROGRAM, file], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr == "refused: the bound is above the cost\n"


def test_a_folder_that_is_not_there_is_told(
    dsn: str, connection: psycopg.Connection[Any], tmp_path: Path
) -> None:
    connection.execute(ROWS.encode())
    connection.execute("select kanon_anonymize('patients', 4, '{age,sex,zip}')")
    path = tmp_path / "nowhere" / "certificate.json"
    answer = CliRunner().invoke(app, ["certificate", "patients", str(path), "--dsn", dsn])
    assert answer.exit_code == 1
    assert "The certificate cannot be written: No such file or directory." in answer.stderr
