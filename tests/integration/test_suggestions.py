"""Suggested roles: what keys, names and all rows say, in wide and in large tables, by both interfaces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kanon_pg.audit.findings import Suggestion
from tests.fixtures.audits import suggest
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
