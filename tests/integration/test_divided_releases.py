"""Releases in which rows of one row type have different patterns."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kanon_pg.errors import VerificationFailed
from tests.fixtures.dividing_solver import FORGETFUL, LIES, dividing
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything, published

pytestmark = pytest.mark.slow

PEOPLE = 40


@pytest.fixture
def dividing_interface(interface: Interface) -> Iterator[Interface]:
    """Yield an interface whose solver divides; the row types of its table are 40, 9 and 1 people large."""
    interface.connection.execute(
        "create table patients as"
        " select i as id, case when i <= 40 then 'a' when i < 50 then 'b' else 'c' end as zip,"
        " i % 8 as diagnosis from generate_series(1, 50) as i"
    )
    interface.declare("patients", quasi_identifiers=["zip"], sensitive=["diagnosis"], insensitive=["id"])
    with dividing(interface.connection):
        yield interface


def record(interface: Interface) -> tuple[Any, ...]:
    row = interface.connection.execute(
        "select storage::text, mapping::text, parts::text from kanon.release"
    ).fetchone()
    assert row is not None
    return row


def relations_behind(interface: Interface) -> int:
    row = interface.connection.execute(
        "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace and relname ~ '^patients_'"
        " and relkind in ('r', 'm')"
    ).fetchone()
    assert row is not None
    count: int = row[0]
    return count


def kept(interface: Interface) -> set[int]:
    """Return the people of the large row type whose zip is published."""
    rows = published(interface.connection, "patients", ["zip"], "id")
    return {row.carried for row in rows if row.carried <= PEOPLE and not row.suppressed}


def test_a_divided_release_has_what_the_solver_chose(dividing_interface: Interface) -> None:
    interface = dividing_interface
    report = interface.anonymize("patients", 3, seed=1)
    rows = published(interface.connection, "patients", ["zip"], "id")
    classes = Counter(row.seen_class for row in rows)
    assert (report.rows, report.classes) == (50, len(classes)) == (len(rows), report.classes)
    assert min(classes.values()) >= 3
    assert 0 < len(kept(interface)) < PEOPLE
    assert report.suppressed_cells == sum(len(row.suppressed) for row in rows)
    first_rows = interface.connection.execute(
        f"select count(*), count(distinct row_type), min(first_row) from {record(interface)[2]}".encode()
    ).fetchone()
    assert first_rows is not None
    assert first_rows[0] > first_rows[1] >= 1
    assert first_rows[2] == 1


def test_a_refresh_shows_the_same_rows_of_a_divided_row_type_and_a_new_publication_others(
    dividing_interface: Interface,
) -> None:
    """Two drawings of about half of 40 people are equal by chance less than once in a billion times."""
    interface = dividing_interface
    interface.anonymize("patients", 3, seed=1)
    before = kept(interface)
    assert 10 < len(before) < 30
    for _ in range(3):
        interface.connection.execute(f"refresh materialized view {record(interface)[0]}".encode())
        assert kept(interface) == before
    interface.anonymize("patients", 3, seed=1)
    assert len(kept(interface)) == len(before)
    assert kept(interface) != before


def test_refreshes_do_not_add_up_to_a_row_type_of_fewer_than_k(interface: Interface) -> None:
    """Of two people with (x, y) one helps (x, *) and one (*, y); nobody may be seen in both."""
    interface.connection.execute(
        "create table patients (id, a, b) as values (1, 'x', 'y'), (2, 'x', 'y'), (3, 'x', 'z'), "
        " (4, 'x', 'z'), (5, 'w', 'y'), (6, 'w', 'y')"
    )
    interface.declare("patients", quasi_identifiers=["a", "b"], insensitive=["id"])
    interface.anonymize("patients", 3, method="exact")
    assert record(interface)[2] is not None
    shown = set()
    for _ in range(12):
        rows = published(interface.connection, "patients", ["a", "b"], "id")
        shown |= {(row.carried, row.cells) for row in rows}
        interface.refresh("patients")
    assert len(shown) == 6


def test_rows_that_come_later_have_the_pattern_of_most(dividing_interface: Interface) -> None:
    interface = dividing_interface
    interface.anonymize("patients", 3, seed=1)
    before = kept(interface)
    interface.connection.execute("insert into patients select i, 'a', 0 from generate_series(101, 200) as i")
    interface.refresh("patients")
    rows = published(interface.connection, "patients", ["zip"], "id")
    shown = sum(row.cells == ("a",) for row in rows)
    assert shown in (len(before), len(before) + 100)
    assert len(rows) == 150


def test_of_a_divided_row_type_that_shrinks_no_small_part_is_shown(dividing_interface: Interface) -> None:
    interface = dividing_interface
    interface.anonymize("patients", 3, seed=1)
    for left in (20, 7, 3, 2, 0):
        interface.connection.execute("delete from patients where zip = 'a' and id > %s", [left])
        interface.refresh("patients")
        classes = Counter(
            row.seen_class for row in published(interface.connection, "patients", ["zip"], "id")
        )
        assert min(classes.values(), default=3) >= 3


def test_parts_go_with_their_release(dividing_interface: Interface) -> None:
    interface = dividing_interface
    for _ in range(2):
        interface.anonymize("patients", 3, seed=1)
        assert record(interface)[2] is not None
        assert relations_behind(interface) == 3
    interface.refresh("patients")
    interface.anonymize("patients", 30, seed=1)
    assert record(interface)[2] is None, "too few people to divide"
    assert relations_behind(interface) == 2
    interface.anonymize("patients", 3, seed=1)
    interface.drop("patients")
    assert relations_behind(interface) == 0


@pytest.mark.parametrize("seed", [FORGETFUL, *LIES])
def test_a_solver_that_lies_about_parts_is_found_out(dividing_interface: Interface, seed: int) -> None:
    interface = dividing_interface
    interface.anonymize("patients", 3, seed=1)
    before = everything(interface.connection)
    with pytest.raises(VerificationFailed):
        interface.anonymize("patients", 3, seed=seed, p=2)
    assert everything(interface.connection) == before


def test_the_prices_of_a_bound_are_kept_with_the_mapping(dividing_interface: Interface) -> None:
    interface = dividing_interface
    interface.anonymize("patients", 3, seed=1)
    prices = interface.connection.execute(
        f"select price from {record(interface)[1]} order by 1".encode()
    ).fetchall()
    assert prices == [(0,), (1,), (2,)]
