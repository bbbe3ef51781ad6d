"""Suggested roles: what keys, names and all rows say, in wide and in large tables, by both interfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kanon_pg.audit.findings import Suggestion
from kanon_pg.errors import InputError
from tests.fixtures.audits import audit, identify, is_anonymous, risk, suggest
from tests.fixtures.interfaces import Interface


@pytest.fixture(scope="module")
def registry(audit_interfaces: tuple[Interface, Interface]) -> Iterator[None]:
    connection = audit_interfaces[0].connection
    connection.execute(
        """
        create table patients (pid integer primary key);
        insert into patients select generate_series(0, 99);
        create table wards (ward integer primary key);
        insert into wards select generate_series(0, 6);
        create table stays as
            select i as stay, i % 100 as pid, i % 7 as ward, i % 90 as customer_no, i % 23 as height
            from generate_series(1, 400) as i;
        alter table stays add primary key (stay), add foreign key (pid) references patients,
            add foreign key (ward) references wards;
        """
    )
    yield
    connection.execute("drop table stays, patients, wards")


def by_name(interface: Interface, table: str) -> dict[str, Suggestion]:
    return {one.column: one for one in suggest(interface, table)}


def test_a_reference_to_people_that_repeats_is_the_entity(audit_interface: Interface, registry: None) -> None:
    found = by_name(audit_interface, "stays")
    assert {name: one.role for name, one in found.items()} == {
        "stay": "identifier",
        "pid": "entity",
        "ward": "quasi_identifier",
        "customer_no": "identifier",
        "height": "quasi_identifier",
    }
    assert found["pid"].reasons[:2] == (
        "It refers to patients, by its name a table of people.",
        "Several rows have the same value: they are one person's, so count people by it.",
    )


@pytest.fixture(scope="module")
def akten(audit_interfaces: tuple[Interface, Interface]) -> Iterator[None]:
    connection = audit_interfaces[0].connection
    connection.execute(
        """
        create table akten as
            select 'Andreas ' || chr(97 + i % 26) || chr(97 + i % 7) as c1,
                date '1940-01-01' + i * 37 % 22000 as "Geburtsdatum",
                lpad((i * 7919 % 400)::text, 5, '0') as c2, i % 90 as "Alter", i * i % 83 + 0.5 as dauer,
                (date '1940-01-01' + i * 41 % 22000)::text as c3, 1900 + i * i % 97 as jahrgang,
                timestamp '2024-01-01' + i * interval '1 second' as geschehen,
                48 + i / 1e4 as lat, i / 1e4 as long
            from generate_series(1, 600) as i
        """
    )
    yield
    connection.execute("drop table akten")


def test_what_is_proposed_can_be_declared_and_published_as_it_stands(
    audit_interface: Interface, akten: None
) -> None:
    audit_interface.notices.clear()
    found = by_name(audit_interface, "akten")
    assert found["c1"].role == "identifier"
    hierarchies = {name: one.hierarchy for name, one in found.items() if one.hierarchy is not None}
    assert set(hierarchies) == set(found) - {"c1"}
    declare, publish = audit_interface.notices[-1].split(": ", 1)[1].split(" SELECT * FROM ")
    connection = audit_interface.connection
    with connection.transaction(force_rollback=True):
        connection.execute(declare.encode())
        connection.execute(f"SELECT * FROM {publish}".encode())
        published = connection.execute("select generalized from kanon.releases where release = 'akten'")
        assert {name for row in published for name in row[0]} == set(hierarchies)


@contextmanager
def made(interface: Interface, table: str, definition: str) -> Iterator[None]:
    """Make a table for as long as the block lasts."""
    interface.connection.execute(f"create table {table} {definition}".encode())
    try:
        yield
    finally:
        interface.connection.execute(f"drop table {table}".encode())


def test_a_table_of_as_many_columns_as_there_can_be_gets_roles(audit_interface: Interface) -> None:
    columns = ", ".join(f"c{number} text" for number in range(1_600))
    with made(audit_interface, "widest", f"({columns})"):
        audit_interface.connection.execute(
            "insert into widest (c0, c1, c1599) select i % 2, i % 3, i % 5 from generate_series(1, 60) as i"
        )
        found = by_name(audit_interface, "widest")
    assert len(found) == 1_600
    assert {name for name, one in found.items() if one.role == "quasi_identifier"} == {"c0", "c1", "c1599"}


def test_what_cannot_look_at_a_wide_table_says_what_to_do(audit_interface: Interface) -> None:
    columns = [f"c{number}" for number in range(100)]
    listed = ", ".join(f"i % {number + 2} as {name}" for number, name in enumerate(columns))
    calls: list[Callable[[], object]] = [
        lambda: audit_interface.anonymize("wide", 2),
        lambda: audit_interface.anonymize("wide", 2, quasi_identifiers=columns),
        lambda: audit_interface.curve("wide"),
        lambda: audit(audit_interface, "wide", 2),
        lambda: audit(audit_interface, "wide", 2, columns=columns),
        lambda: identify(audit_interface, "wide"),
        lambda: risk(audit_interface, "wide"),
        lambda: is_anonymous(audit_interface, "wide", 2),
    ]
    with made(audit_interface, "wide", f"as select {listed} from generate_series(1, 99) as i"):
        assert len(by_name(audit_interface, "wide")) == 100
        assert audit_interface.measure("wide").k == 1
        for call in calls:
            with pytest.raises(InputError, match=r"100 [a-z-]+ are more than the 62") as refused:
                call()
            assert "kanon_suggest" in (refused.value.hint or "")


def test_references_to_rows_are_identifiers_and_to_short_lists_are_not(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        """
        create table patients (id integer primary key, sex text);
        insert into patients select i, 'f' from generate_series(1, 100) as i;
        create table wards (ward integer primary key);
        insert into wards select generate_series(0, 29);
        create table stays (id integer primary key, patient integer not null references patients);
        insert into stays select i, i % 100 + 1 from generate_series(1, 200) as i;
        create table bills (
            stay integer not null references stays, ward integer references wards, height integer
        );
        insert into bills select i % 200 + 1, i % 30, i % 23 from generate_series(1, 400) as i;
        """
    )
    interface.declare("patients", quasi_identifiers=["sex"])
    interface.link("stays", "patients")
    assert {name: one.role for name, one in by_name(interface, "stays").items()} == {
        "id": "identifier",
        "patient": "identifier",
    }
    roles = {name: one.role for name, one in by_name(interface, "bills").items()}
    assert roles == {"stay": "identifier", "ward": "quasi_identifier", "height": "quasi_identifier"}


@pytest.fixture
def clinic(audit_interfaces: tuple[Interface, Interface]) -> Iterator[None]:
    connection = audit_interfaces[0].connection
    connection.execute(
        """
        create table clients (client integer primary key, sex text, age integer);
        insert into clients select i, chr(70 + i % 2), 20 + i % 3 from generate_series(1, 300) as i;
        create table orders (
            number integer primary key, client integer not null references clients, goods text
        );
        insert into orders select i, 1 + i % 300, 'g' || i % 3 from generate_series(1, 600) as i;
        create table lines (
            line integer primary key, number integer not null references orders,
            client integer not null references clients, price integer, seller integer
        );
        insert into lines select i, 1 + i % 600, 1 + (i % 600 + 1) % 300, i % 5
        from generate_series(1, 900) as i;
        create table goods (goods text primary key, client integer references clients);
        """
    )
    yield
    connection.execute("select kanon_drop(release) from kanon.releases")
    connection.execute("drop table lines, goods, orders, clients cascade")


def test_tables_that_hang_on_people_are_proposed_with_them(audit_interface: Interface, clinic: None) -> None:
    connection = audit_interface.connection
    connection.execute(
        """
        select kanon_declare('orders', sensitive => '{goods}');
        select kanon_declare('lines', insensitive => '{price}');
        """
    )
    audit_interface.notices.clear()
    suggest(audit_interface, "clients")
    (told,) = [one for one in audit_interface.notices if "To do as proposed" in one]
    assert any("kanon_link" in one and one is not told for one in audit_interface.notices)
    for one in told.split("To do as proposed: ")[1].split("; "):
        connection.execute(one)
    views = connection.execute("select view::text from kanon.release_tables").fetchall()
    assert sorted(views) == [("safe.lines",), ("safe.orders",)]
    links = connection.execute("select child::text, parent::text from kanon.links order by 1").fetchall()
    assert links == [("lines", "orders"), ("orders", "clients")]
    audit_interface.notices.clear()
    suggest(audit_interface, "clients")
    (told,) = [one for one in audit_interface.notices if "To do as proposed" in one]
    assert "kanon_link" not in told
    assert "tables =>" in told
    audit_interface.notices.clear()
    suggest(audit_interface, "orders")
    assert not any("tables =>" in one for one in audit_interface.notices)


def test_tables_that_refer_to_no_people_are_not_proposed(audit_interface: Interface, registry: None) -> None:
    audit_interface.notices.clear()
    suggest(audit_interface, "wards")
    assert not any("tables =>" in one for one in audit_interface.notices)
