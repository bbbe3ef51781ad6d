"""Releases of distributed tables: where they are stored, what they hold, that all classes have k people."""

from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import Statement
from tests.integration.citus.tables import (
    classes,
    create_patients,
    create_stays,
    declare_patients,
    storage_of,
)

K = 12
QUASI = ("zip", "age", "sex")


def _anonymize(db: psycopg.Connection[Any], relation: str, k: int = K, more: str = "") -> dict[str, Any]:
    with db.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(f"SELECT * FROM kanon_anonymize('{relation}', {k}{more})").fetchone()
    assert found is not None
    return found


def _placement(db: psycopg.Connection[Any], relation: str) -> tuple[str, int]:
    found = db.execute(
        "SELECT partmethod::text, colocationid FROM pg_dist_partition WHERE logicalrelid = %s::regclass",
        [relation],
    ).fetchone()
    assert found is not None
    return found


def test_the_rows_of_a_release_are_where_those_of_its_table_are(citus):
    create_patients(citus)
    report = _anonymize(citus, "patients")
    assert report["rows"] == report["people"] == 2000
    sizes = classes(citus, "safe.patients", QUASI)
    assert min(sizes) >= K
    assert (len(sizes), sum(sizes)) == (report["classes"], 2000)
    assert report["smallest_class"] == min(sizes)
    storage = storage_of(citus, "patients")
    assert storage.startswith("kanon_shards.")
    assert _placement(citus, storage) == _placement(citus, "patients")


def test_rows_of_one_row_type_may_have_different_patterns(citus):
    citus.execute("SET client_min_messages TO warning")
    citus.execute("CREATE TABLE patients (id integer, zip text, diagnosis text)")
    citus.execute("INSERT INTO patients SELECT i, 'many', 'd' || i % 3 FROM generate_series(1, 40) AS i")
    citus.execute("INSERT INTO patients VALUES (41, 'rare', 'd'), (42, 'rarer', 'd')")
    citus.execute("SELECT create_distributed_table('patients', 'id')")
    citus.execute("SELECT kanon_declare('patients', '{id}', '{zip}', '{diagnosis}')")
    report = _anonymize(citus, "patients", 5)
    assert (report["rows"], report["suppressed_cells"]) == (42, 5)
    assert sorted(classes(citus, "safe.patients", ["zip"])) == [5, 37]
    hidden = "SELECT count(*) FROM safe.patients WHERE zip IS NULL"
    citus.execute("SELECT kanon_refresh('patients')")
    assert citus.execute(hidden).fetchone() == (5,)


@pytest.mark.parametrize("distribution", ["person", "stay"])
def test_people_are_counted_wherever_their_rows_are(citus, distribution):
    create_stays(citus, distribution)
    report = _anonymize(citus, "stays")
    assert report["rows"] == 3000
    storage = storage_of(citus, "stays")
    people = citus.execute(
        f"SELECT count(DISTINCT kanon_person) FROM {storage} GROUP BY ward, age, kanon_pattern"
    ).fetchall()
    assert report["smallest_class"] == min(people)[0] >= K
    assert report["classes"] == len(people)
    alone = "SELECT count(DISTINCT person) FROM stays"
    assert (report["people"],) == citus.execute(alone).fetchone()
    assert (_placement(citus, storage) == _placement(citus, "stays")) == (distribution == "person")


def test_a_refresh_withholds_what_became_too_rare(citus):
    create_patients(citus)
    _anonymize(citus, "patients")
    before = storage_of(citus, "patients")
    gone = citus.execute("DELETE FROM patients WHERE zip = 'z3' AND id % 4 > 0").rowcount
    citus.execute("INSERT INTO patients SELECT i, 'new', 99, 'x', 'd' FROM generate_series(5001, 5003) AS i")
    citus.execute("SELECT kanon_refresh('patients')")
    sizes = classes(citus, "safe.patients", QUASI)
    assert min(sizes) >= K
    assert sum(sizes) <= 2003 - gone
    assert citus.execute("SELECT count(*) FROM safe.patients WHERE zip = 'new'").fetchone() == (0,)
    after = storage_of(citus, "patients")
    assert after != before
    assert citus.execute("SELECT to_regclass(%s)", [before]).fetchone() == (None,)
    row = citus.execute("SELECT rows, smallest_class, changes_since FROM kanon.releases").fetchone()
    assert row == (sum(sizes), min(sizes), None)


def test_a_declared_and_published_table_can_be_distributed(citus):
    create_patients(citus, distribution=None)
    types = citus.execute("SELECT count(*) FROM kanon.public_patients_row_types").fetchall()
    _anonymize(citus, "patients")
    citus.execute("SELECT create_distributed_table('patients', 'id')")
    assert citus.execute("SELECT count(*) FROM kanon.public_patients_row_types").fetchall() == types
    citus.execute("DELETE FROM patients WHERE zip = 'z3'")
    citus.execute("SELECT kanon_refresh('patients')")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    with pytest.raises(psycopg.Error, match="role kanon_owner may not read it yet"):
        _anonymize(citus, "patients")
    declare_patients(citus)
    _anonymize(citus, "patients")
    assert storage_of(citus, "patients").startswith("kanon_shards.")


def test_an_altered_table_is_refreshed_and_published_anew(citus):
    create_patients(citus)
    _anonymize(citus, "patients")
    citus.execute("ALTER TABLE patients ADD COLUMN ward text")
    citus.execute("SELECT kanon_refresh('patients')")
    citus.execute("ALTER TABLE patients DROP COLUMN ward")
    _anonymize(citus, "patients")
    assert min(classes(citus, "safe.patients", QUASI)) >= K


def test_a_refresh_of_an_emptied_table_shows_nothing(citus):
    create_patients(citus)
    _anonymize(citus, "patients")
    citus.execute("DELETE FROM patients")
    citus.execute("SELECT kanon_refresh('patients')")
    assert citus.execute("SELECT count(*) FROM safe.patients").fetchone() == (0,)


def test_publishing_again_and_dropping_leaves_no_storage(citus, nodes, citus_database):
    create_patients(citus)
    _anonymize(citus, "patients")
    _anonymize(citus, "patients", 30)
    assert min(classes(citus, "safe.patients", QUASI)) >= 30
    assert (
        len(citus.execute("SELECT FROM citus_tables WHERE table_name::text ~ 'kanon_shards'").fetchall()) == 1
    )
    citus.execute("SELECT kanon_drop('patients')")
    for server in nodes.all:
        with psycopg.connect(server.dsn(citus_database)) as connection:
            left = "SELECT relname FROM pg_class WHERE relnamespace = 'kanon_shards'::regnamespace"
            assert connection.execute(left).fetchall() == []


def test_the_client_s_interface_does_the_same(citus):
    create_patients(citus)
    report = client.anonymize(citus, "patients", K)
    assert report.rows == 2000
    assert storage_of(citus, "patients").startswith("kanon_shards.")
    client.refresh(citus, "patients")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    client.drop(citus, "patients")


def test_a_right_that_was_granted_in_the_same_transaction_is_asked_for(citus):
    citus.execute("CREATE TABLE patients (id integer, zip text)")
    citus.execute("SELECT create_distributed_table('patients', 'id')")
    citus.execute("INSERT INTO patients SELECT i, 'z' FROM generate_series(1, 30) AS i")
    with pytest.raises(psycopg.Error, match="may not read it yet") as error:
        _anonymize(citus, "patients")
    assert error.value.sqlstate == "KA102"
    hint = error.value.diag.message_hint
    assert hint is not None
    citus.execute(hint[hint.index("SELECT kanon.grant_read") : hint.index(";")])
    assert _anonymize(citus, "patients")["rows"] == 30


def _without_declaration(db: psycopg.Connection[Any]) -> None:
    db.execute("SELECT kanon_undeclare('patients')")
    db.execute("SELECT kanon.grant_read('patients')")


def test_a_table_goes_no_further_than_its_release(citus):
    create_patients(citus)
    _without_declaration(citus)
    _anonymize(citus, "patients", K, ", '{zip,age,sex}', '{diagnosis}'")
    for attempt in ("DROP TABLE patients", "ALTER TABLE patients DROP COLUMN zip"):
        with pytest.raises(psycopg.errors.DependentObjectsStillExist, match="depend on it"):
            citus.execute(attempt)
    citus.execute("ALTER TABLE patients RENAME COLUMN id TO number")
    citus.execute("ALTER TABLE patients ADD COLUMN ward text")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    citus.execute("DROP TABLE patients CASCADE")
    with pytest.raises(psycopg.errors.UndefinedTable):
        citus.execute("SELECT * FROM safe.patients")
    for asked in ("SELECT kanon_refresh('patients')", "SELECT kanon_composition('{patients}')"):
        with pytest.raises(psycopg.Error, match="base table of this release is gone") as error:
            citus.execute(asked)
        assert error.value.sqlstate == "KA600"
    hint = error.value.diag.message_hint
    assert hint is not None
    citus.execute(hint[hint.index("SELECT") :])
    left = citus.execute("SELECT FROM citus_tables WHERE table_name::text ~ 'kanon_shards'").fetchall()
    assert left == citus.execute("SELECT FROM kanon.releases").fetchall() == []


def test_a_table_that_citus_makes_anew_is_published_anew(citus):
    create_patients(citus)
    _without_declaration(citus)
    _anonymize(citus, "patients")
    citus.execute("SELECT undistribute_table('patients')")
    with pytest.raises(psycopg.Error, match="undistribute_table or alter_distributed_table made it anew"):
        citus.execute("SELECT kanon_refresh('patients')")
    citus.execute("SELECT kanon_drop('patients')")
    citus.execute("SELECT kanon.grant_read('patients')")
    assert _anonymize(citus, "patients")["rows"] == 2000


@pytest.mark.parametrize(
    ("table", "distribution"), [("patients", "id"), ("stays", "person"), ("stays", "stay")]
)
def test_no_row_passes_the_coordinator_when_a_release_is_stored(citus, monkeypatch, table, distribution):
    create_patients(citus, distribution) if table == "patients" else create_stays(citus, distribution)
    plans = []

    class Explained(Exception):
        """Ends the call, which cannot go on once Citus has planned the statement twice."""

    class Explaining(PsycopgDatabase):
        def _run(self, statement: Statement, arguments: tuple[Any, ...]) -> Any:
            if statement.name != "distributed/fill_shards":
                return super()._run(statement, arguments)
            text = "EXPLAIN (COSTS off) " + statement.text.replace("$1", "'seed'")
            plans.extend(line for (line,) in self.connection.execute(text.encode()).fetchall())
            raise Explained

    monkeypatch.setattr(client, "PsycopgDatabase", Explaining)
    with pytest.raises(Explained):
        client.anonymize(citus, table, K)
    assert any("INSERT/SELECT method: repartition" in line for line in plans), plans
