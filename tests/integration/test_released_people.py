"""Releases of tables with several rows per person: people are counted, although these are not published."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import InputError, VerificationFailed
from kanon_pg.release.publish import storage
from tests.fixtures.interfaces import ClientInterface, Interface
from tests.integration.test_audit_commands import kanon

K = 4
KEYS = ["age", "ward", "sex"]


@pytest.fixture(scope="module")
def released(audit_interfaces: tuple[Interface, Interface]) -> Iterator[str]:
    """Publish 600 rows of 200 people; return the storage, which has a hash of the person."""
    interface = audit_interfaces[0]
    interface.connection.execute(
        """
        create table stays as
            select i % 200 as person, i % 200 % 37 as age, (i % 200 + i / 401) * 7 % 5 as ward,
                i % 200 % 2 as sex,
                case when i % 2 = 0 then 1 else nullif(i % 3, 0) end as illness
            from generate_series(1, 600) as i
        """
    )
    interface.declare("stays", quasi_identifiers=KEYS, sensitive=["illness"], entity="person")
    interface.anonymize("stays", K)
    row: Any = interface.connection.execute("select storage::text from kanon.releases").fetchone()
    yield row[0]
    interface.drop("stays")
    interface.undeclare("stays")
    interface.connection.execute("drop table stays")


def classes(interface: Interface, storage: str) -> list[dict[str, Any]]:
    with interface.connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            f"select count(*) as n, array_agg(distinct kanon_person) as who,"
            " count(distinct kanon_person) as people,"
            f" count(distinct coalesce(illness, -1)) = 1 as is_same"
            f" from {storage} group by age, ward, sex, kanon_pattern".encode()
        ).fetchall()


def test_risk_counts_people(audit_interface: Interface, released: str) -> None:
    counted = classes(audit_interface, released)
    sizes = [row["people"] for row in counted]
    smallest: dict[int, int] = {}
    for row in sorted(counted, key=lambda row: row["people"]):
        for person in row["who"]:
            smallest.setdefault(person, row["people"])
    assert sum(sizes) > len(smallest) == 200  # somebody is in several classes
    _, found = audit_interface.risk("stays", threshold=0.02)
    assert (found.relation, found.rows, found.people) == ('"safe"."stays"', 600, 200)
    assert (found.classes, found.smallest_class) == (len(sizes), min(sizes))
    assert min(sizes) < min(row["n"] for row in counted)  # rows would flatter
    assert found.prosecutor_risk == 1 / min(sizes)
    assert found.prosecutor_average == pytest.approx(sum(1 / size for size in smallest.values()) / 200)
    assert found.marketer_risk == pytest.approx(len(sizes) / sum(sizes))
    assert found.people_above == sum(1 / size > 0.02 for size in smallest.values())
    assert (found.sample_uniques, found.minimal_uniques) == (0, (0, 0, 0))
    same = [row for row in counted if row["is_same"]]
    assert same
    (disclosed,) = found.homogeneous
    assert (disclosed.classes, disclosed.people, disclosed.rows) == (
        len(same),
        len({person for row in same for person in row["who"]}),
        sum(row["n"] for row in same),
    )
    assert audit_interface.risk("safe.stays", threshold=0.02) == (found,)


def test_a_sample_of_the_population_lowers_the_journalists_risk(
    audit_interface: Interface, released: str
) -> None:
    (alone,) = audit_interface.risk("safe.stays")
    (found,) = audit_interface.risk("safe.stays", sampling_fraction=0.2)
    assert found.journalist_basis == "sampling fraction"
    assert found.journalist_average < alone.journalist_average
    assert found.prosecutor_risk == alone.prosecutor_risk


def test_k_anonymity_counts_people(audit_interface: Interface, released: str) -> None:
    counted = classes(audit_interface, released)
    smallest, rows = (min(row[name] for row in counted) for name in ("people", "n"))
    assert K <= smallest < rows
    for k in range(2, rows + 3):
        assert audit_interface.is_anonymous("safe.stays", k) == (k <= smallest)
    assert audit_interface.is_anonymous("safe.stays", smallest, ["age"])
    assert not audit_interface.is_anonymous("safe.stays", 601, ["age"])
    with pytest.raises(InputError, match="does not tell whose rows it has"):
        audit_interface.is_anonymous("safe.stays", smallest + 1, ["sex"])


def test_an_audit_says_what_it_cannot_count(audit_interface: Interface, released: str) -> None:
    counted = classes(audit_interface, released)
    smallest, k = min(row["people"] for row in counted), min(row["n"] for row in counted) + 1
    audit_interface.notices.clear()
    assert audit_interface.audit("safe.stays", smallest) == ()
    assert audit_interface.notices == []
    found = audit_interface.audit("safe.stays", k)
    assert found
    assert {one.kind for one in found} == {"minimal"}
    (said,) = audit_interface.notices
    assert "does not tell whose rows it has" in said
    for one in found:  # fewer rows are fewer people
        names = ", ".join(one.columns).replace("kanon_suppressed", "kanon_pattern")
        row: Any = audit_interface.connection.execute(
            f"select min(n) from (select count(distinct kanon_person) as n from {released}"
            f" group by {names}) as c".encode()
        ).fetchone()
        assert row[0] < k
    audit_interface.notices.clear()
    if isinstance(audit_interface, ClientInterface):  # its result says that it is not complete
        assert audit_interface.audit("safe.stays", smallest, columns=["illness"]) == ()
        assert len(audit_interface.notices) == 1
    else:
        with pytest.raises(InputError, match="rows show no set, people might"):
            audit_interface.audit("safe.stays", smallest, columns=["illness"])


def test_a_gate_counts_people(audit_interfaces: tuple[Interface, Interface], released: str) -> None:
    interface = audit_interfaces[0]
    smallest = min(row["people"] for row in classes(interface, released))
    passed = kanon(interface.dsn, "audit", "safe.stays", "--fail-on", f"k<{smallest}", "--json")
    assert passed.exit_code == 0, passed.stderr
    found = json.loads(passed.stdout)
    assert (found["rows"], found["people"], found["is_complete"]) == (600, 200, True)
    assert found["risk"]["smallest_class"] == smallest
    failed = kanon(interface.dsn, "audit", "safe.stays", "--fail-on", f"k<{smallest + 1}")
    assert failed.exit_code == 4
    assert "rows were counted" in failed.stdout
    assert "FROM kanon.releases WHERE release = 'stays'" in failed.stdout
    assert "kanon_anonymize" not in failed.stdout


def test_who_may_not_know_of_releases_counts_rows_and_is_told(
    audit_interfaces: tuple[Interface, Interface], released: str
) -> None:
    interface = audit_interfaces[0]
    with psycopg.connect(interface.dsn, autocommit=True) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        connection.execute("set role kanon_analyst")
        connection.execute("select kanon_is_anonymous('safe.stays', 2, '{age}')")
        assert any("each row counts as a person" in notice for notice in notices)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select kanon.release_class_sizes('stays')")


@pytest.mark.only_through("client")  # the statement is changed in this process
def test_of_classes_of_people_that_share_a_hash_nothing_is_shown(
    interface: Interface, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface.connection.execute(
        "create table visits as select i % 2 as a, i / 2 as person from generate_series(0, 79) as i"
    )
    interface.declare("visits", quasi_identifiers=["a"], entity="person")
    replaced = []

    def with_one_hash(name: str, **parts: Any) -> Statement:
        made = statement(name, **parts)
        if name != "create_storage":
            return made
        begin = made.text.index("pg_catalog.hash_record_extended(\n            ROW(masked.")
        end = made.text.index("AS class_hash")
        replaced.append(name)
        return replace(made, text=f"{made.text[:begin]}0::bigint {made.text[end:]}")

    monkeypatch.setattr(storage, "statement", with_one_hash)
    with pytest.raises(VerificationFailed, match="empty"):
        interface.anonymize("visits", 5)
    assert replaced


def test_people_with_equal_remainders_of_their_hashes_are_told_apart(interface: Interface) -> None:
    """The guard counts each person of a class only where fewer than k remainders of hashes occur in it."""
    run = interface.connection.execute
    run("create table visits (ward integer, person bigint)")
    run(
        """
        insert into visits
        select ward, person
        from (
            select person, remainder, row_number() over (partition by remainder order by person) as number
            from (
                select i as person, hash_record_extended(row(int8send(i)), 0) & 63 as remainder
                from generate_series(1::bigint, 3000) as i
            ) as hashed
        ) as numbered
        cross join lateral (
            select 1 as ward where remainder = 0 and number <= 5
            union all select 2 where remainder between 1 and 5 and number = 1
            union all select 3 where remainder = 6 and number <= 4
            union all select 3 where remainder = 7 and number = 1
        ) as drawn
        """
    )
    interface.declare("visits", quasi_identifiers=["ward"], entity="person")
    interface.anonymize("visits", 5)
    shown = "select ward, count(*) from safe.visits group by ward order by ward"
    assert run(shown).fetchall() == [(1, 5), (2, 5), (3, 5)]
    # Four people with any number of rows, and any number of rows of nobody, are no class of five.
    run("delete from visits where person in (select min(person) from visits group by ward)")
    run("insert into visits select visits.ward, visits.person from visits, generate_series(1, 20)")
    run("insert into visits select i % 3 + 1, null from generate_series(1, 60) as i")
    interface.connection.commit()
    row: Any = run("select storage::text from kanon.releases").fetchone()
    run(f"refresh materialized view {row[0]}".encode())
    assert run(shown).fetchall() == []
