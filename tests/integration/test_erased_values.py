"""After an erasure nothing that kanon stores has a value that only the erased person had."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.databases import Server
from tests.fixtures.interfaces import Interface

BORN = date(1931, 3, 5)
NAME = BORN.isoformat()
FUTURE = "2031-01-01"
"""A value of typed hierarchies that no row has yet."""

TABLES = """
create table patients (id integer primary key, born date, sex text);
insert into patients select i, date '1931-03-05' + i * 97, case when i % 2 = 0 then 'f' else 'm' end
from generate_series(0, 199) as i
"""

ROWS = [
    [day.isoformat(), f"{day.year // 20 * 20}s"]
    for day in (*(BORN + timedelta(97 * i) for i in range(200)), date.fromisoformat(FUTURE))
]


def places(interface: Interface, server: Server, value: str) -> list[str]:
    """Return everything that kanon stores in which a text can be found."""
    found = []
    relations = interface.connection.execute(
        "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname in ('kanon', 'safe') and c.relkind in ('r', 'v', 'm')"
        # the columns of a key are asked of the catalog, and nobody can read such a view
        " and not exists (select from kanon.series s where s.key_view = c.oid)"
        " union all select 'pg_statistic_ext_data'"
    ).fetchall()
    for (name,) in relations:
        query = f"select count(*) from {name} as t where strpos(t::text, %s) > 0"
        if (interface.connection.execute(query.encode(), [value]).fetchone() or (0,))[0]:
            found.append(name)
    statistics = (
        "select tablename from pg_stats where schemaname in ('kanon', 'safe')"
        " and strpos(pg_stats::text, %s) > 0"
    )
    found += [
        f"statistics of {name}" for (name,) in interface.connection.execute(statistics.encode(), [value])
    ]
    folder, database = interface.connection.execute(
        "select current_setting('data_directory'), oid::text from pg_database"
        " where datname = current_database()"
    ).fetchone() or ("", "")
    # records of answers in this database, with what waits in their write-ahead logs
    for path in (Path(folder) / "kanon_ledger" / database).rglob("*.sqlite*"):
        if value.encode() in path.read_bytes():
            found.append(str(path))
    return found


HIERARCHIES: dict[str, Any] = {
    "built before": "dates",
    "typed": "typed",
    "built for the release": {"builder": "dates", "levels": ["decade"]},
}


@pytest.fixture
def patients(interface: Interface) -> Interface:
    interface.connection.execute(TABLES.encode())
    interface.declare("patients", quasi_identifiers=["born", "sex"], identifiers=["id"])
    execute = interface.connection.execute
    spec = """{"builder": "dates", "levels": ["decade"]}"""
    execute("select kanon_hierarchy_build('dates', 'patients', 'born', %s)", [spec])
    execute("select kanon_hierarchy_define('typed', array_to_json(%s::text[][])::jsonb)", [ROWS])
    return interface


@pytest.mark.parametrize("kept", ["over_time", "remember"])
@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_nothing_has_the_value_of_who_was_erased(
    patients: Interface, server: Server, hierarchy: str, kept: str
) -> None:
    execute = patients.connection.execute
    for unused in ("dates", "typed"):
        if HIERARCHIES[hierarchy] != unused:
            execute("select kanon_hierarchy_drop(%s)", [unused])
    patients.anonymize(
        "patients",
        5,
        hierarchies={"born": HIERARCHIES[hierarchy]},
        **{kept: {} if kept == "over_time" else 2},
    )
    assert places(patients, server, NAME)
    execute("delete from patients where id = 0")
    patients.refresh("patients")
    patients.erase("patients", "0")
    assert places(patients, server, NAME) == []
    other = (BORN + timedelta(97)).isoformat()
    assert places(patients, server, other)
    if hierarchy == "typed":
        assert places(patients, server, FUTURE)
        nodes = execute("select nodes from kanon.hierarchies where hierarchy = 'typed'").fetchone()
        assert nodes is not None
        assert nodes[0][0] == len(ROWS) - 1
    patients.refresh("patients")


def test_no_record_of_answers_has_the_value_of_who_was_erased(patients: Interface, server: Server) -> None:
    """What is stored of answers is rows about k people, and sketches of whom they are about."""
    execute = patients.connection.execute
    for unused in ("dates", "typed"):
        execute("select kanon_hierarchy_drop(%s)", [unused])
    execute("select kanon_protect('patients', 5)")
    for query in (
        "select sex, count(*) as people from patients group by sex",
        "select born, count(*) as people from patients group by born",
    ):
        execute("select kanon_query(%s)", [query])
    # what was answered is there to be found
    assert any(".sqlite" in place for place in places(patients, server, "people"))
    assert not [place for place in places(patients, server, NAME) if place.startswith("/")]


def test_a_value_that_somebody_else_has_stays(patients: Interface, server: Server) -> None:
    execute = patients.connection.execute
    execute("update patients set born = %s where id = 1", [BORN])
    patients.anonymize("patients", 5, hierarchies={"born": "dates"}, over_time={})
    execute("delete from patients where id = 0")
    patients.erase("patients", "0")
    assert "kanon.hierarchy_value" in places(patients, server, NAME)


def test_who_waited_is_erased_with_the_value(patients: Interface, server: Server) -> None:
    execute = patients.connection.execute
    execute("select kanon_hierarchy_drop('dates')")
    patients.anonymize("patients", 5, hierarchies={"born": "typed"}, over_time={})
    execute("insert into patients values (900, %s, 'f')", [FUTURE])
    patients.refresh("patients")
    execute("delete from patients where id = 900")
    patients.erase("patients", "900")
    assert places(patients, server, FUTURE) == []
