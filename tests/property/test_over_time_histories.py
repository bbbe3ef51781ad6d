"""Whatever happens to a table: its versions together show nobody among fewer than k people.

The attacker has every version that was ever published and knows each row by its secret, which is the same for
one row in all of them (`tests.fixtures.versions`).
"""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.versions import Version, fewest_people, version_of

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

K = 2

AGES = st.sampled_from([1, 2, None])
PEOPLE = st.sampled_from([None, *range(1, 9)])
CHANGES = st.one_of(
    st.tuples(st.just("insert"), PEOPLE, AGES),
    st.tuples(st.just("delete"), st.integers(0, 99)),
    st.tuples(st.just("delete"), st.integers(0, 99)),
    st.tuples(st.just("update"), st.integers(0, 99), AGES),
    st.tuples(st.just("return"), st.integers(0, 99)),
    st.tuples(st.just("plain refresh")),
    st.tuples(st.just("roll back")),
)
HISTORIES = st.lists(st.lists(CHANGES, max_size=6), min_size=2, max_size=5)
RULES = st.fixed_dictionaries(
    {
        "leavers": st.sampled_from(["retain", "withhold"]),
        "longest_retain": st.integers(1, 3),
        "waiting": st.sampled_from([0, 0.5]),
        "longest_wait": st.integers(1, 3),
    }
)
GROWING = [[("insert", None, age) for age in (1, 1, 1, 2, None)], [("delete", 4), ("insert", None, 2)]] * 3
WAITING = {"leavers": "retain", "longest_retain": 2, "waiting": 0.5, "longest_wait": 2}
"""A history in which the server chooses several times who waits."""


@dataclass
class Table:
    """A table with the rows that it has and had: person and age by the row's secret.

    What was `changed` may enter anew at any later time, with other cells.
    """

    interface: Interface
    rows: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    gone: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    person_of: dict[int, int | None] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)

    def run(self, text: str, *arguments: Any) -> None:
        self.interface.connection.execute(text.encode(), arguments)

    def put(self, secret: int, person: int | None, age: int | None) -> None:
        self.rows[secret] = person, age
        self.person_of[secret] = person
        self.run("insert into stays values (%s, %s, %s, %s)", secret, person, age, secret)

    def take(self, secret: int) -> None:
        self.gone[secret] = self.rows.pop(secret)
        self.run("delete from stays where secret = %s", secret)

    def change(self, what: str, *arguments: Any) -> None:
        if what == "insert":
            self.put(len(self.person_of) + 1, *arguments)
        elif what == "return" and self.gone:
            secret = sorted(self.gone)[arguments[0] % len(self.gone)]
            self.put(secret, *self.gone.pop(secret))
        elif what == "delete" and self.rows:
            self.take(sorted(self.rows)[arguments[0] % len(self.rows)])
        elif what == "update" and self.rows:
            self.update(sorted(self.rows)[arguments[0] % len(self.rows)], arguments[1])
        elif what == "plain refresh":
            self.run("refresh materialized view kanon.stays_storage")
        elif what == "roll back":
            with psycopg.connect(self.interface.dsn) as builder:
                builder.execute("select kanon_refresh('stays')")
                assert builder.execute("select count(*) from safe.stays").fetchone() == (0,)
                builder.rollback()

    def update(self, secret: int, age: int | None) -> None:
        """Change a row, which may enter anew from now on."""
        person, _ = self.rows[secret]
        self.rows[secret] = person, age
        self.changed.add(secret)
        self.run("update stays set age = %s where id = %s", age, secret)


@given(
    st.lists(st.tuples(PEOPLE, AGES), min_size=6, max_size=12),
    HISTORIES,
    RULES,
    st.booleans(),
    st.sampled_from(["greedy", "auto"]),
)
@example([(None, 1), (None, 2)] * 4, GROWING, WAITING, False, "auto")
@settings(max_examples=examples(8), deadline=None)
def test_no_atom_of_all_versions_has_fewer_than_k_people(
    lasting_interface: Interface,
    first: list[tuple[int | None, int | None]],
    history: list[list[tuple[Any, ...]]],
    rules: dict[str, Any],
    has_entity: bool,
    method: str,
) -> None:
    interface = lasting_interface
    interface.notices.clear()
    table = Table(interface)
    table.run("drop table if exists stays cascade")
    table.run("create table stays (id integer primary key, person integer, age integer, secret integer)")
    for secret, (person, age) in enumerate([*first, (101, 1), (102, 1)], 1):
        table.put(secret, person, age)
    interface.declare(
        "stays",
        quasi_identifiers=["age"],
        sensitive=["secret"],
        entity="person" if has_entity else None,
    )
    person_of: dict[int, int | None] | None = table.person_of if has_entity else None
    try:
        interface.anonymize("stays", K, method=method, over_time=rules)
        versions: list[Version] = [version_of(interface, "stays")]
        for changes in history:
            for change in changes:
                table.change(*change)
            interface.refresh("stays")
            versions.append(version_of(interface, "stays"))
            check(table, versions, person_of)
    finally:
        interface.drop("stays")


def check(table: Table, versions: list[Version], person_of: dict[int, int | None] | None) -> None:
    before, now = versions[-2:]
    assert fewest_people(versions, person_of) >= K
    classes: dict[Hashable, set[int | None]] = defaultdict(set)
    for row, cells in now.items():
        classes[cells].add(row if person_of is None else person_of[row])
    assert all(len(people - {None}) >= K for people in classes.values())
    stayed = (before.keys() & now.keys()) - table.changed
    assert {row: now[row] for row in stayed} == {row: before[row] for row in stayed}
    found = table.interface.connection.execute(
        "select pending_people, withheld_rows, retained_rows from kanon.releases where release = 'stays'"
    ).fetchone()
    assert found is not None
    pending, withheld, retained = found
    if person_of is None:
        assert len(now) == len(table.rows) - pending - withheld + retained
