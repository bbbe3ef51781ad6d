"""Releases of tables with several rows per person: judged in people, although these are not published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from kanon_pg.errors import InputError
from tests.fixtures.audits import audit, is_anonymous, risk
from tests.fixtures.doors import ClientDoor, Door
from tests.integration.test_audit_commands import kanon

K = 4
KEYS = ["age", "ward", "sex"]


@pytest.fixture(scope="module")
def released(audit_doors: tuple[Door, Door]) -> Iterator[str]:
    """Publish 600 rows of 200 people; return the storage, which has a hash of the person."""
    door = audit_doors[0]
    door.connection.execute(
        """
        create table stays as
            select i % 200 as person, i % 200 % 37 as age, (i % 200) * 7 % 5 as ward, i % 200 % 2 as sex,
                case when i % 2 = 0 then 1 else nullif(i % 3, 0) end as illness
            from generate_series(1, 600) as i
        """
    )
    door.declare("stays", quasi_identifiers=KEYS, sensitive=["illness"], entity="person")
    door.anonymize("stays", K)
    row: Any = door.connection.execute("select storage::text from kanon.releases").fetchone()
    yield row[0]
    door.drop("stays")
    door.undeclare("stays")
    door.connection.execute("drop table stays")


def classes(door: Door, storage: str) -> list[dict[str, Any]]:
    with door.connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            f"select count(*) as n, count(distinct kanon_person) as people,"
            f" count(distinct coalesce(illness, -1)) = 1 as is_same"
            f" from {storage} group by age, ward, sex, kanon_pattern".encode()
        ).fetchall()


def test_risk_counts_people(audit_door: Door, released: str) -> None:
    counted = classes(audit_door, released)
    sizes = [row["people"] for row in counted]
    _, found = risk(audit_door, "stays", threshold=0.15)
    assert (found.relation, found.rows, found.people) == ('"safe"."stays"', 600, sum(sizes))
    assert (found.classes, found.smallest_class) == (len(sizes), min(sizes))
    assert min(sizes) < min(row["n"] for row in counted)  # rows would flatter
    assert found.prosecutor_risk == 1 / min(sizes)
    assert found.prosecutor_average == pytest.approx(len(sizes) / sum(sizes))
    assert found.people_above == sum(size for size in sizes if 1 / size > 0.15)
    assert (found.sample_uniques, found.minimal_uniques) == (0, (0, 0, 0))
    same = [row for row in counted if row["is_same"]]
    assert same
    (told,) = found.homogeneous
    assert (told.classes, told.people, told.rows) == (
        len(same),
        sum(row["people"] for row in same),
        sum(row["n"] for row in same),
    )
    assert risk(audit_door, "safe.stays", threshold=0.15) == (found,)


def test_a_sample_of_the_population_lowers_the_journalists_risk(audit_door: Door, released: str) -> None:
    (alone,) = risk(audit_door, "safe.stays")
    (found,) = risk(audit_door, "safe.stays", sampling_fraction=0.2)
    assert found.journalist_basis == "sampling fraction"
    assert found.journalist_average < alone.journalist_average
    assert found.prosecutor_risk == alone.prosecutor_risk


def test_k_anonymity_counts_people(audit_door: Door, released: str) -> None:
    counted = classes(audit_door, released)
    smallest, rows = (min(row[name] for row in counted) for name in ("people", "n"))
    assert K <= smallest < rows
    for k in range(2, rows + 3):
        assert is_anonymous(audit_door, "safe.stays", k) == (k <= smallest)
    assert is_anonymous(audit_door, "safe.stays", smallest, ["age"])
    assert not is_anonymous(audit_door, "safe.stays", 601, ["age"])
    with pytest.raises(InputError, match="does not tell whose rows it has"):
        is_anonymous(audit_door, "safe.stays", smallest + 1, ["sex"])


def test_an_audit_says_what_it_cannot_count(audit_door: Door, released: str) -> None:
    counted = classes(audit_door, released)
    smallest, k = min(row["people"] for row in counted), min(row["n"] for row in counted) + 1
    audit_door.notices.clear()
    assert audit(audit_door, "safe.stays", smallest) == ()
    assert audit_door.notices == []
    found = audit(audit_door, "safe.stays", k)
    assert found
    assert {one.kind for one in found} == {"minimal"}
    (said,) = audit_door.notices
    assert "does not tell whose rows it has" in said
    for one in found:  # fewer rows are fewer people
        names = ", ".join(one.columns).replace("kanon_suppressed", "kanon_pattern")
        row: Any = audit_door.connection.execute(
            f"select min(n) from (select count(distinct kanon_person) as n from {released}"
            f" group by {names}) as c".encode()
        ).fetchone()
        assert row[0] < k
    audit_door.notices.clear()
    if isinstance(audit_door, ClientDoor):  # its result says that it is not complete
        assert audit(audit_door, "safe.stays", smallest, columns=["illness"]) == ()
        assert len(audit_door.notices) == 1
    else:
        with pytest.raises(InputError, match="rows show no set, people might"):
            audit(audit_door, "safe.stays", smallest, columns=["illness"])


def test_a_gate_counts_people(audit_doors: tuple[Door, Door], released: str) -> None:
    door = audit_doors[0]
    smallest = min(row["people"] for row in classes(door, released))
    passed = kanon(door.dsn, "audit", "safe.stays", "--fail-on", f"k<{smallest}", "--json")
    assert passed.exit_code == 0, passed.stderr
    found = json.loads(passed.stdout)
    assert (found["rows"], found["people"], found["is_complete"]) == (600, 200, True)
    assert found["risk"]["smallest_class"] == smallest
    failed = kanon(door.dsn, "audit", "safe.stays", "--fail-on", f"k<{smallest + 1}")
    assert failed.exit_code == 4
    assert "rows were counted" in failed.stdout
    assert "FROM kanon.releases WHERE release = 'stays'" in failed.stdout
    assert "kanon_anonymize" not in failed.stdout


def test_who_may_not_know_of_releases_counts_rows_and_is_told(
    audit_doors: tuple[Door, Door], released: str
) -> None:
    door = audit_doors[0]
    with psycopg.connect(door.dsn, autocommit=True) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        connection.execute("set role kanon_analyst")
        connection.execute("select kanon_is_anonymous('safe.stays', 2, '{age}')")
        assert any("each row counts as a person" in notice for notice in notices)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select kanon.release_class_sizes('stays')")
