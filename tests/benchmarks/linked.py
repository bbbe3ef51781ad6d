"""A clinic of six linked tables: what releasing them together takes, against the largest of them alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import bench_server, cpu_seconds
from tests.benchmarks.settings import Settings

_CLINIC = """
CREATE TABLE patients (
    patient integer PRIMARY KEY, sex text NOT NULL, zip text NOT NULL, born integer NOT NULL
);
CREATE TABLE admissions (
    admission integer PRIMARY KEY, patient integer NOT NULL REFERENCES patients,
    ward text NOT NULL, cost integer NOT NULL
);
CREATE TABLE diagnoses (
    diagnosis integer PRIMARY KEY, admission integer NOT NULL REFERENCES admissions, code text NOT NULL
);
CREATE TABLE lab_results (
    result integer PRIMARY KEY, patient integer NOT NULL REFERENCES patients,
    admission integer NOT NULL REFERENCES admissions, kind text NOT NULL, value integer NOT NULL
);
CREATE TABLE orders (
    order_number integer PRIMARY KEY, admission integer NOT NULL REFERENCES admissions, drug text NOT NULL
);
CREATE TABLE allergies (
    allergy integer PRIMARY KEY, patient integer NOT NULL REFERENCES patients, substance text NOT NULL
);
SELECT setseed(0.5);
INSERT INTO patients SELECT n, (ARRAY['F', 'M'])[1 + n % 2], '001' || n % 20, 1930 + n % 70
FROM generate_series(1, {people}) AS n;
INSERT INTO admissions SELECT n, 1 + floor(random() ^ 2 * {people}), 'ward ' || n % 9, n % 977
FROM generate_series(1, 2 * {people}) AS n;
INSERT INTO diagnoses SELECT n, 1 + floor(random() * 2 * {people}), 'code ' || n % 300
FROM generate_series(1, 2 * {people}) AS n;
INSERT INTO lab_results
SELECT n, a.patient, a.admission, 'kind ' || n % 40, n % 997
FROM (
    SELECT n, 1 + floor(random() * 2 * {people})::integer AS admission
    FROM generate_series(1, 10 * {people}) AS n
) AS r
INNER JOIN admissions AS a USING (admission);
INSERT INTO orders SELECT n, 1 + floor(random() * 2 * {people}), 'drug ' || n % 90
FROM generate_series(1, {people}) AS n;
INSERT INTO allergies SELECT n, 1 + floor(random() * {people}), 'substance ' || n % 30
FROM generate_series(1, {people} * 2 / 3) AS n;
SELECT kanon_declare('patients', quasi_identifiers => '{{sex,zip,born}}');
SELECT kanon_declare('admissions', sensitive => '{{ward,cost}}');
SELECT kanon_declare('diagnoses', sensitive => '{{code}}');
SELECT kanon_declare('orders', sensitive => '{{drug}}');
SELECT kanon_declare('allergies', sensitive => '{{substance}}');
SELECT kanon_declare('lab_results',
    quasi_identifiers => '{{kind}}', sensitive => '{{value}}', entity => 'patient');
CREATE VIEW results_of_patients AS
SELECT r.patient, r.kind, r.value, p.sex, p.zip, p.born
FROM lab_results AS r INNER JOIN patients AS p USING (patient);
SELECT kanon_declare('results_of_patients', entity => 'patient',
    quasi_identifiers => '{{sex,zip,born}}', insensitive => '{{kind}}', sensitive => '{{value}}');
"""

_LINKS = """
SELECT kanon_declare('lab_results', insensitive => '{kind}', sensitive => '{value}');
SELECT kanon_link('admissions', 'patients');
SELECT kanon_link('diagnoses', 'admissions');
SELECT kanon_link('lab_results', 'admissions');
SELECT kanon_link('orders', 'admissions');
SELECT kanon_link('allergies', 'patients');
"""

_ALL = "kanon_anonymize('patients', 5, tables => '{admissions,diagnoses,lab_results,orders,allergies}'"

_CALLS = {
    "lab_results alone, with columns of patients": (
        "SELECT * FROM kanon_anonymize('results_of_patients', 5, time_limit => '1 second')"
    ),
    "lab_results alone": "SELECT * FROM kanon_anonymize('lab_results', 5, time_limit => '1 second')",
    "all six": f"SELECT * FROM {_ALL}, time_limit => '1 second')",
    "refresh of all six": "SELECT kanon_refresh('patients')",
    "all six, numbers of results and orders unknown": (
        f"SELECT * FROM {_ALL}, time_limit => '1 second', "
        """options => '{"rows": {"lab_results": "unknown", "orders": "unknown"}}')"""
    ),
}


def clinic(settings: Settings) -> Iterator[Table]:
    """Publish six tables of a million rows together."""
    people = 6_000 if settings.quick else 60_000
    table = Table(
        "what",
        "seconds",
        "times",
        "computed",
        "times",
        title=f"Six linked tables of {people:,} people, k = 5",
    )
    with bench_server() as connection:
        connection.execute("DROP SCHEMA IF EXISTS bench_linked CASCADE")
        connection.execute("CREATE SCHEMA bench_linked")
        connection.execute("SET search_path = bench_linked, public")
        connection.execute(_CLINIC.format(people=people).encode())
        connection.execute("VACUUM ANALYZE")
        alone: tuple[float, float] | None = None
        for name, text in _CALLS.items():
            took = _took(connection, text)
            if alone is None:
                alone = took
            elif name == "lab_results alone":
                connection.execute("SELECT kanon_drop('results_of_patients')")
                connection.execute("SELECT kanon_drop('lab_results')")
                connection.execute(_LINKS.encode())
            pairs = zip(took, alone, strict=True)
            table.add_row(name, *(cell for one, of in pairs for cell in (f"{one:.1f}", f"{one / of:.1f}")))
        connection.execute("SELECT kanon_drop('patients')")
        connection.execute("DROP SCHEMA bench_linked CASCADE")
    yield table


def _took(connection: psycopg.Connection[Any], text: str) -> tuple[float, float]:
    """Return the seconds that a call takes, and that it computes."""
    before, computed = time.perf_counter(), cpu_seconds(connection)
    connection.execute(text.encode())
    return time.perf_counter() - before, cpu_seconds(connection) - computed
