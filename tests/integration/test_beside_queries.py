"""Queries beside releases of the same table: what follows, and the rule that says or refuses it."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg import client
from kanon_pg.errors import InputError
from tests.fixtures.databases import role
from tests.fixtures.interfaces import ClientInterface, Interface

pytestmark = pytest.mark.slow

PATIENTS = """
create table patients (id integer primary key, zip text, sex text, cost integer);
insert into patients select i, 'Z1', 'f', 100 * i from generate_series(1, 5) as i;
insert into patients values (6, 'Z1', 'm', 41), (7, 'Z1', 'm', 18);
insert into patients select i, 'Z2', 'm', 10 from generate_series(8, 10) as i;
insert into patients select i, 'Z3', 'f', i from generate_series(11, 40) as i;
"""


@pytest.fixture
def hospital(interface: Interface) -> Interface:
    interface.connection.execute(PATIENTS.encode())
    interface.declare("patients", identifiers=["id"], sensitive=["cost"], quasi_identifiers=["zip", "sex"])
    return interface


def protect(interface: Interface, folder: Path, **rules: Any) -> None:
    if isinstance(interface, ClientInterface):
        client.protect(interface.dsn, "patients", 5, rules, ledger_folder=str(folder))
        return
    try:
        interface.connection.execute("select kanon_protect('patients', 5, %s)", [json.dumps(rules)])
    except psycopg.Error as error:
        raise InputError(error.diag.message_primary or "") from error


def publish(interface: Interface, release: str = "patients") -> None:
    interface.anonymize("patients", 5, method="greedy", release=release)


def releases(interface: Interface) -> int:
    (number,) = interface.connection.execute("select count(*) from kanon.releases").fetchone() or (None,)
    assert number is not None
    return int(number)


def test_a_figure_and_a_release_together_tell_of_fewer_than_k(hospital: Interface) -> None:
    """The threat model says so: the figure less the rows that the release shows is about two people."""
    publish(hospital)
    hospital.connection.execute("""select kanon_protect('patients', 5, '{"beside_releases": "allow"}')""")
    with role(hospital.dsn, "analyst", "IN ROLE kanon_analyst") as login:
        dsn = make_conninfo(hospital.dsn, user=login)
        with psycopg.connect(dsn, autocommit=True) as analyst:
            asked = "select sum(cost) as cost, count(*) as people from patients where zip = ''Z1''"
            (figure,) = analyst.execute(f"select * from kanon_query('{asked}')".encode()).fetchone() or ("",)
            shown = analyst.execute(
                "select sum(cost), count(*) from safe.patients where zip = 'Z1'"
            ).fetchone()
    assert shown == (1500, 5)
    assert (figure["cost"] - 1500, figure["people"] - 5) == (41 + 18, 2)


@pytest.mark.parametrize("rule", ["allow", "warn", "refuse"])
def test_a_release_beside_queries_is_said_or_refused(hospital: Interface, tmp_path: Path, rule: str) -> None:
    protect(hospital, tmp_path, beside_releases=rule)
    hospital.notices.clear()
    if rule == "refuse":
        with pytest.raises(InputError, match=r"may query .* and read its release"):
            publish(hospital)
        assert releases(hospital) == 0
        return
    publish(hospital)
    assert releases(hospital) == 1
    assert any("figures and rows can be combined" in one for one in hospital.notices) == (rule == "warn")


def test_a_release_that_is_refused_is_not_even_sought(hospital: Interface, tmp_path: Path) -> None:
    protect(hospital, tmp_path, beside_releases="refuse")
    # No release can have 1,000 people in each class: counting finds that.
    with pytest.raises(InputError, match="the rule beside_releases of the relation refuses that"):
        hospital.anonymize("patients", 1_000, method="greedy")
    hospital.connection.execute(
        "alter default privileges for role kanon_owner in schema safe"
        " revoke select on tables from kanon_analyst"
    )
    publish(hospital)
    hospital.connection.execute("grant select on safe.patients to kanon_analyst")
    with pytest.raises(InputError, match="the rule beside_releases of the relation refuses that"):
        hospital.anonymize("patients", 1_000, method="greedy")
    hospital.connection.execute("revoke select on safe.patients from kanon_analyst")
    publish(hospital)


def test_a_table_is_not_protected_beside_its_release_if_its_rule_refuses(
    hospital: Interface, tmp_path: Path
) -> None:
    publish(hospital)
    with pytest.raises(InputError, match="the rule beside_releases of the relation refuses that"):
        protect(hospital, tmp_path, beside_releases="refuse")
    assert hospital.connection.execute("select count(*) from kanon.protections").fetchone() == (0,)
    hospital.connection.execute("revoke select on safe.patients from kanon_analyst")
    protect(hospital, tmp_path, beside_releases="refuse")
    found = hospital.connection.execute("select beside_releases from kanon.protections").fetchone()
    assert found == ("refuse",)


def test_partitions_have_the_rule_of_their_table(hospital: Interface, tmp_path: Path) -> None:
    hospital.connection.execute("create table ward () inherits (patients)")
    hospital.connection.execute("insert into ward select * from only patients")
    hospital.declare("ward", identifiers=["id"], quasi_identifiers=["zip", "sex"])
    protect(hospital, tmp_path, beside_releases="refuse")
    with pytest.raises(InputError, match=r"may query .* and read its release"):
        hospital.anonymize("ward", 5, method="greedy")


def test_a_word_that_is_no_rule(hospital: Interface, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="beside_releases"):
        protect(hospital, tmp_path, beside_releases="forbid")
