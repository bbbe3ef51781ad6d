"""What is not stored on the nodes: kept whole on the coordinator, or refused with a sentence."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.citus.tables import (
    classes,
    create_patients,
    create_stays,
    declare_patients,
    declare_stays,
    storage_of,
)

QUASI = ("zip", "age", "sex")
K = 12


@pytest.fixture
def notices(citus: psycopg.Connection[Any]) -> list[str]:
    heard: list[str] = []
    citus.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    return heard


@pytest.mark.parametrize("more", ["l => 2", "p => 2", "t => 0.5"])
def test_privacy_models_keep_a_release_on_the_coordinator(citus, notices, more):
    create_patients(citus)
    citus.execute("SET client_min_messages TO notice")
    citus.execute(f"SELECT kanon_anonymize('patients', {K}, {more})")
    assert any("travel to the coordinator" in notice and "privacy models" in notice for notice in notices)
    assert storage_of(citus, "patients") == "kanon.patients_storage"
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    fewest = citus.execute(
        "SELECT min(n) FROM (SELECT count(DISTINCT diagnosis) AS n FROM safe.patients"
        " GROUP BY zip, age, sex, kanon_suppressed) AS class"
    ).fetchone()
    assert fewest is not None
    assert fewest[0] >= 2
    citus.execute("DELETE FROM patients WHERE id % 3 = 0")
    citus.execute("SELECT kanon_refresh('patients')")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    citus.execute("DELETE FROM patients WHERE id % 3 = 1")
    citus.execute("REFRESH MATERIALIZED VIEW kanon.patients_storage")
    assert min(classes(citus, "safe.patients", QUASI)) >= K


def test_hierarchies_keep_a_release_on_the_coordinator(citus, notices):
    create_patients(citus)
    citus.execute("SET client_min_messages TO notice")
    citus.execute(
        "SELECT kanon_anonymize('patients', %s, hierarchies =>"
        """ '{"age": {"builder": "intervals", "width": 10, "levels": 2}}')""",
        [K],
    )
    assert any("it has hierarchies" in notice for notice in notices)
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    citus.execute("SELECT kanon_refresh('patients')")
    assert min(classes(citus, "safe.patients", QUASI)) >= K


def test_values_of_several_spellings_keep_a_release_on_the_coordinator(citus, notices):
    citus.execute("CREATE TABLE visits (id integer, lasted interval)")
    citus.execute("SELECT create_distributed_table('visits', 'id')")
    citus.execute(
        "INSERT INTO visits SELECT i, (CASE i % 2 WHEN 0 THEN '1 day' ELSE '24 hours' END)::interval"
        " FROM generate_series(1, 40) AS i"
    )
    citus.execute("SELECT kanon_declare('visits', '{id}', '{lasted}')")
    citus.execute("SELECT kanon_anonymize('visits', 30)")
    assert any("several spellings" in notice for notice in notices)
    assert citus.execute("SELECT DISTINCT lasted::text FROM safe.visits").fetchall() == [("1 day",)]


def test_a_release_over_time_is_refused(citus):
    create_patients(citus)
    citus.execute("ALTER TABLE patients ADD PRIMARY KEY (id)")
    with pytest.raises(psycopg.Error, match="No release over time") as error:
        citus.execute("""SELECT kanon_anonymize('patients', 12, options => '{"over_time": {}}')""")
    assert error.value.sqlstate == "KA103"


def test_reference_tables_and_sharded_schemas_are_published(citus):
    create_patients(citus, distribution=None)
    citus.execute("SELECT create_reference_table('patients')")
    citus.execute(f"SELECT kanon_anonymize('patients', {K})")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    citus.execute("SELECT kanon_refresh('patients')")
    citus.execute("SET citus.enable_schema_based_sharding TO on")
    citus.execute("CREATE SCHEMA clinic")
    citus.execute("SET citus.enable_schema_based_sharding TO off")
    citus.execute("CREATE TABLE clinic.staff (id integer, zip text)")
    citus.execute("INSERT INTO clinic.staff SELECT i, 'z' || i % 3 FROM generate_series(1, 90) AS i")
    citus.execute("SELECT kanon_declare('clinic.staff', '{id}', '{zip}')")
    citus.execute("SELECT kanon_anonymize('clinic.staff', 5)")
    assert min(classes(citus, "safe.staff", ["zip"])) == 30
    citus.execute("SELECT kanon_drop('staff')")
    citus.execute("SELECT kanon_undeclare('clinic.staff')")
    citus.execute("DROP SCHEMA clinic CASCADE")


def test_a_view_of_a_distributed_table_is_published(citus):
    create_patients(citus)
    citus.execute("SET citus.enable_ddl_propagation TO off")
    citus.execute("CREATE VIEW grown AS SELECT zip, age, sex FROM patients WHERE age >= 30")
    citus.execute("GRANT SELECT ON grown TO kanon_owner")
    try:
        citus.execute(f"SELECT kanon_anonymize('grown', {K})")
        assert min(classes(citus, "safe.grown", QUASI)) >= K
    finally:
        citus.execute("SELECT kanon_drop('grown')")
        citus.execute("DROP VIEW grown")


@pytest.mark.parametrize("through", ["table", "view"])
def test_queries_to_tables_of_citus_are_refused_when_protected(citus, through):
    create_patients(citus)
    relation = "patients"
    if through == "view":
        relation = "seen"
        citus.execute("SET citus.enable_ddl_propagation TO off")
        citus.execute("CREATE VIEW seen AS SELECT * FROM patients")
        citus.execute("SELECT kanon_declare('seen', quasi_identifiers => '{zip,age,sex}', entity => 'id')")
    with pytest.raises(psycopg.Error, match="tables of Citus") as error:
        citus.execute(f"SELECT kanon_protect('{relation}', 5)")
    assert error.value.sqlstate == "KA103"
    if through == "view":
        citus.execute("SELECT kanon_undeclare('seen')")
        citus.execute("DROP VIEW seen")


def test_queries_are_withheld_where_a_protected_table_becomes_distributed(citus):
    create_patients(citus, distribution=None)
    citus.execute("SELECT kanon_protect('patients', 5)")
    ask = "SELECT * FROM kanon_query('SELECT sex, count(*) FROM patients GROUP BY sex')"
    assert len(citus.execute(ask).fetchall()) == 2
    citus.execute("SELECT create_distributed_table('patients', 'id')")
    with pytest.raises(psycopg.Error, match="withheld"):
        citus.execute(ask)
    citus.execute("SELECT kanon_unprotect('patients')")


MEASURED = (
    "SELECT rows, people, classes, k, average_class, largest_class, distinct_l, frequency_l, t_equal,"
    " discernibility, usefulness FROM kanon_measure('{0}')"
)
ANALYSES = {
    "measure": MEASURED,
    "audit": "SELECT columns, size, smallest_class, people_at_risk, rows_at_risk FROM kanon_audit('{0}', 5)",
    "risk": "SELECT columns, rows, people, classes, smallest_class, prosecutor_risk FROM kanon_risk('{0}')",
    "identify": "SELECT columns, size, kind, distinct_rows FROM kanon_identify('{0}')",
    "anonymous": "SELECT kanon_is_anonymous('{0}', 5)",
    "suggest": "SELECT column_name, role, distinct_values FROM kanon_suggest('{0}') AS s (column_name, role)",
}


@pytest.mark.parametrize("table", ["patients", "stays"])
def test_analyses_say_the_same_of_distributed_tables(citus, table):
    if table == "patients":
        create_patients(citus)
        declare = declare_patients
    else:
        create_stays(citus, "person")
        declare = declare_stays
    asked = [question.format(table) for question in ANALYSES.values()]
    on_nodes = [sorted(map(str, citus.execute(text).fetchall())) for text in asked]
    citus.execute(f"SELECT kanon_undeclare('{table}')")
    citus.execute(f"SELECT undistribute_table('{table}')")
    declare(citus)
    here = [sorted(map(str, citus.execute(text).fetchall())) for text in asked]
    for name, spread, plain in zip(ANALYSES, on_nodes, here, strict=True):
        assert spread == plain, name
