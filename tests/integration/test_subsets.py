"""Releases by any m columns, through both interfaces: what they say, keep and refuse."""

from typing import Any

import pytest

from kanon_pg.errors import InputError, KanonError
from kanon_pg.reports.release import release_page
from tests.fixtures.interfaces import Interface

CYCLE = [(place, (place + step) % 6) for place in range(6) for step in (0, 1)]
"""Each value of either column belongs to two people, no combination to more than one."""


@pytest.fixture
def ring(interface: Interface) -> Interface:
    interface.connection.execute("create table ring (id integer generated always as identity, a int, b int)")
    for row in [*CYCLE, (100, 100), (100, 100)]:
        interface.connection.execute("insert into ring (a, b) values (%s, %s)", row)
    interface.declare("ring", quasi_identifiers=["a", "b"], sensitive=["id"])
    return interface


def shown(interface: Interface) -> list[Any]:
    return interface.connection.execute("select a, b from safe.ring order by id").fetchall()


def refresh_plainly(interface: Interface) -> None:
    (storage,) = interface.connection.execute("select storage::text from kanon.release").fetchone() or ()
    interface.connection.execute(f"refresh materialized view {storage}".encode())


def test_a_ring_is_shown_whole_where_one_column_is_known(ring: Interface) -> None:
    report = ring.anonymize("ring", 2, subsets=1)
    assert (report.suppressed_cells, report.optimal, report.smallest_class, report.classes) == (
        0,
        True,
        2,
        13,
    )
    assert shown(ring) == [*CYCLE, (100, 100), (100, 100)]
    asked = "select obj_description('safe.ring'::regclass), subsets from kanon.published_roles"
    comment, size = ring.connection.execute(asked).fetchone() or ()
    assert size == 1
    assert "every combination of any 1 quasi-identifiers" in comment
    assert ring.connection.execute("select from kanon.violations where kind = 'release'").fetchall() == []
    assert ring.connection.execute("select guard from kanon.health where kind = 'release'").fetchall() == [
        ("holds",)
    ]
    ring.refresh("ring")
    assert ring.connection.execute("select smallest_class from kanon.releases").fetchone() == (2,)


def test_a_chain_of_people_who_get_rare_one_after_the_other_is_withheld(ring: Interface) -> None:
    """Whoever is left out leaves the next one alone."""
    ring.anonymize("ring", 2, subsets=1)
    ring.connection.execute("delete from ring where a = 0 and b = 0")
    refresh_plainly(ring)
    assert shown(ring) == [(100, 100), (100, 100)]
    ring.connection.execute("insert into ring (a, b) values (0, 0)")
    refresh_plainly(ring)
    assert len(shown(ring)) == len(CYCLE) + 2


def test_who_shares_all_columns_with_too_few_others_is_counted(ring: Interface) -> None:
    ring.anonymize("ring", 2, subsets=1)
    ring.connection.execute("update kanon.release set k = 3")
    found = ring.connection.execute("select * from kanon.small_release_classes('ring')").fetchone()
    assert found == (2, 14, 28, 28, None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"subsets": 0}, "must be at least 1"),
        ({"subsets": 2}, "promises without it"),
        ({"subsets": 1, "method": "greedy"}, "method"),
        ({"subsets": 1, "l": 2}, "together with l"),
        ({"subsets": 1, "remember": 3}, "remember"),
        ({"subsets": 1, "patterns": {"never": ["a"]}}, "patterns"),
        ({"subsets": 1, "over_time": {}}, "over_time"),
    ],
)
def test_refused(ring: Interface, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ring.anonymize("ring", 2, **options)
    assert ring.connection.execute("select from kanon.release").fetchall() == []


def test_too_many_sets_are_refused(interface: Interface) -> None:
    columns = ", ".join(f"c{number} int" for number in range(12))
    interface.connection.execute(f"create table wide ({columns})".encode())
    with pytest.raises(InputError, match="220 sets of 3"):
        interface.anonymize("wide", 2, subsets=3)


def test_no_certificate_is_written(ring: Interface) -> None:
    ring.anonymize("ring", 2, subsets=1)
    with pytest.raises(KanonError, match="subsets"):
        ring.certificate("ring")


def test_all_but_one_of_many_columns_are_counted(interface: Interface) -> None:
    """Of 40 columns 39 can be chosen in 40 ways, any number of them in 2 to the power of 40."""
    names = [f"c{number}" for number in range(40)]
    columns = ", ".join(f"i % 2 as {name}" for name in names)
    interface.connection.execute(
        f"create table wide as select {columns} from generate_series(1, 8) as i".encode()
    )
    interface.declare("wide", quasi_identifiers=names)
    assert interface.anonymize("wide", 4, subsets=39).smallest_class == 4
    interface.connection.execute("set statement_timeout = '30s'")
    found = interface.connection.execute("select * from kanon.small_release_classes('wide')").fetchone()
    assert found == (4, 0, 0, 0, None)


def test_its_report_promises_no_more(ring: Interface) -> None:
    ring.anonymize("ring", 2, subsets=1)
    found = ring.release_report("ring")
    assert "any 1 of its quasi-identifiers everybody" in release_page(found).verdict
