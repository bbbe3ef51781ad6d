"""What is not stored on the nodes: kept whole on the coordinator, or refused with a sentence."""

from collections.abc import Iterator
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


@pytest.fixture
def owner(citus: psycopg.Connection[Any]) -> Iterator[str]:
    """Yield a curator, who is no superuser."""
    citus.execute("CREATE ROLE owner_elsewhere LOGIN IN ROLE kanon_curator")
    citus.execute("GRANT CREATE ON SCHEMA public TO owner_elsewhere")
    yield "owner_elsewhere"
    citus.execute("RESET ROLE")
    citus.execute("SELECT kanon_drop(release) FROM kanon.releases")
    citus.execute("SELECT kanon_undeclare(relation) FROM kanon.declarations")
    citus.execute("DROP TABLE IF EXISTS patients CASCADE")
    citus.execute("DROP TYPE IF EXISTS zip_code CASCADE")
    citus.execute("REVOKE CREATE ON SCHEMA public FROM owner_elsewhere")
    citus.execute("DROP ROLE owner_elsewhere")


_OWNER_MAY_READ = "SELECT has_table_privilege('kanon_owner', 'patients', 'SELECT')"


@pytest.mark.parametrize("whose", ["table", "type"])
def test_what_others_than_superusers_own_is_read_by_its_reader_alone(citus, notices, owner, whose):
    create_patients(citus, distribution=None)
    citus.execute("SELECT kanon_undeclare('patients')")
    if whose == "type":
        citus.execute("CREATE DOMAIN zip_code AS text")
        citus.execute(f"ALTER DOMAIN zip_code OWNER TO {owner}")
        citus.execute("ALTER TABLE patients ALTER zip TYPE zip_code")
    citus.execute("SELECT create_distributed_table('patients', 'id')")
    if whose == "table":
        citus.execute(f"ALTER TABLE patients OWNER TO {owner}")
        citus.execute(f"SET ROLE {owner}")
    declare_patients(citus)
    citus.execute("SET client_min_messages TO notice")
    citus.execute(f"SELECT kanon_anonymize('patients', {K})")
    assert any("travel to the coordinator" in notice and "superusers" in notice for notice in notices)
    assert citus.execute(_OWNER_MAY_READ).fetchone() == (False,)
    assert storage_of(citus, "patients") == "kanon.patients_storage"
    citus.execute("DELETE FROM patients WHERE id % 3 = 0")
    citus.execute("SELECT kanon_refresh('patients')")
    assert min(classes(citus, "safe.patients", QUASI)) >= K
    assert citus.execute("SELECT k FROM kanon_measure('patients')").fetchone() is not None


def test_nodes_store_nothing_of_a_table_that_a_superuser_gave_away(citus, owner):
    create_patients(citus)
    citus.execute(f"SELECT kanon_anonymize('patients', {K})")
    assert citus.execute(_OWNER_MAY_READ).fetchone() == (True,)
    citus.execute(f"ALTER TABLE patients OWNER TO {owner}")
    with pytest.raises(psycopg.Error, match="no superuser's any more"):
        citus.execute("SELECT kanon_refresh('patients')")
    citus.execute(f"SELECT kanon_anonymize('patients', {K})")
    assert storage_of(citus, "patients") == "kanon.patients_storage"


def test_what_nobody_needs_any_more_is_closed_to_the_owner_role(citus):
    create_patients(citus)
    assert citus.execute(_OWNER_MAY_READ).fetchone() == (True,)
    citus.execute("SELECT kanon_undeclare('patients')")
    assert citus.execute(_OWNER_MAY_READ).fetchone() == (False,)


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


@pytest.fixture(params=["reference table", "table of a sharded schema"])
def stays_elsewhere(request: pytest.FixtureRequest, citus: psycopg.Connection[Any]) -> Iterator[str]:
    """Yield a table of stays whose rows are on one node, or on each."""
    citus.execute("SET client_min_messages TO warning")
    schema = "public" if request.param == "reference table" else "clinic"
    if schema == "clinic":
        citus.execute("SET citus.enable_schema_based_sharding TO on")
        citus.execute("CREATE SCHEMA clinic")
        citus.execute("SET citus.enable_schema_based_sharding TO off")
    table = f"{schema}.stays"
    citus.execute(
        f"CREATE TABLE {table} (stay bigint, person integer, ward text, age integer, cost numeric(10, 2))"
    )
    if schema == "public":
        citus.execute("SELECT create_reference_table('stays')")
    citus.execute(
        f"INSERT INTO {table} SELECT i, i / 3, 'w' || (hashint4(i) & 3), 20 + abs(hashint4(i / 3)) % 12, i"
        " FROM generate_series(1, 3000) AS i"
    )
    citus.execute(
        f"SELECT kanon_declare('{table}', identifiers => '{{stay}}', quasi_identifiers => '{{ward,age}}',"
        " sensitive => '{cost}', entity => 'person')"
    )
    yield table
    citus.execute("SELECT kanon_drop(release) FROM kanon.releases")
    citus.execute(f"SELECT kanon_undeclare('{table}')")
    citus.execute(f"DROP TABLE {table}")
    citus.execute("DROP SCHEMA IF EXISTS clinic CASCADE")


def _fewest_people(db: psycopg.Connection[Any], table: str) -> int:
    """Return the people of the smallest class, told by their stays, which are all different."""
    found = db.execute(
        "SELECT min(people) FROM (SELECT count(DISTINCT s.person) AS people FROM safe.stays AS r"
        f" JOIN {table} AS s USING (cost) GROUP BY r.ward, r.age, r.kanon_suppressed) AS class"
    ).fetchone()
    assert found is not None
    fewest: int = found[0]
    return fewest


def test_tables_that_are_not_distributed_by_a_column_are_published(citus, stays_elsewhere):
    table = stays_elsewhere
    citus.execute(f"SELECT kanon_anonymize('{table}', {K})")
    assert _fewest_people(citus, table) >= K
    citus.execute(f"DELETE FROM {table} WHERE ward = 'w1' AND stay % 4 > 0")
    citus.execute("SELECT kanon_refresh('stays')")
    assert _fewest_people(citus, table) >= K
    citus.execute(f"SELECT kanon_anonymize('{table}', {K}, l => 2)")
    assert _fewest_people(citus, table) >= K
    citus.execute(
        f"SELECT kanon_anonymize('{table}', {K}, hierarchies =>"
        """ '{"age": {"builder": "intervals", "width": 4, "levels": 2}}')"""
    )
    assert _fewest_people(citus, table) >= K
    assert citus.execute(f"SELECT k FROM kanon_measure('{table}')").fetchone() is not None
    with pytest.raises(psycopg.Error, match="tables of Citus"):
        citus.execute(f"SELECT kanon_protect('{table}', 5)")
    with pytest.raises(psycopg.Error, match="No release over time"):
        citus.execute(f"""SELECT kanon_anonymize('{table}', 12, options => '{{"over_time": {{}}}}')""")


def test_a_view_of_a_distributed_table_is_published(citus):
    create_patients(citus)
    citus.execute("SET citus.enable_ddl_propagation TO off")
    citus.execute("CREATE VIEW grown AS SELECT zip, age, sex FROM patients WHERE age >= 30")
    citus.execute("SELECT kanon.grant_read('grown')")
    citus.execute("SET citus.enable_ddl_propagation TO on")
    found = citus.execute("SELECT reader FROM kanon.base WHERE relation = 'grown'::regclass").fetchone()
    assert found is not None
    role = f"kanon_base_{found[0]}"
    with pytest.raises(psycopg.Error, match=f"the role {role} may not read it yet"):
        citus.execute(f"SELECT kanon_anonymize('grown', {K})")
    citus.execute(f"GRANT SELECT ON patients TO {role}")
    try:
        citus.execute(f"SELECT kanon_anonymize('grown', {K})")
        assert min(classes(citus, "safe.grown", QUASI)) >= K
    finally:
        citus.execute(f"REVOKE SELECT ON patients FROM {role}")
        citus.execute("SELECT kanon_drop('grown')")
        citus.execute("SET citus.enable_ddl_propagation TO off")
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
    "curve": "SELECT k, suppressed_cells, lower_bound, optimal, classes FROM kanon_curve('{0}', '{{2,12}}')",
    "intervals": "SELECT DISTINCT label, size FROM kanon_intervals('{0}', 'age', 12)",
    "groups": "SELECT DISTINCT label, size FROM kanon_groups('{0}', '{1}', 12)",
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
    grouped = "diagnosis" if table == "patients" else "ward"
    asked = [question.format(table, grouped) for question in ANALYSES.values()]
    on_nodes = [sorted(map(str, citus.execute(text).fetchall())) for text in asked]
    citus.execute(f"SELECT kanon_undeclare('{table}')")
    citus.execute(f"SELECT undistribute_table('{table}')")
    declare(citus)
    here = [sorted(map(str, citus.execute(text).fetchall())) for text in asked]
    for name, spread, plain in zip(ANALYSES, on_nodes, here, strict=True):
        assert spread == plain, name
