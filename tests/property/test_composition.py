"""What releases disclose together is what an attacker counts who has all of them, and knows rows by a secret.

The attacker reads the views alone (`tests.fixtures.versions`), and counts by brute force.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.versions import Version, version_of

pytestmark = pytest.mark.slow

CELLS = st.sampled_from([1, 2, None])
PEOPLE = st.sampled_from([None, *range(1, 9)])
ROWS = st.lists(st.tuples(PEOPLE, CELLS, CELLS, CELLS), min_size=8, max_size=16)
RELEASES = st.lists(
    st.fixed_dictionaries(
        {
            "columns": st.sampled_from([["a"], ["b"], ["a", "b"], ["b", "c"], ["a", "b", "c"]]),
            "k": st.integers(2, 3),
            "kind": st.sampled_from(["remembered", "remembered", "over time"]),
        }
    ),
    min_size=2,
    max_size=3,
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), PEOPLE, CELLS, CELLS, CELLS),
        st.tuples(st.just("insert"), PEOPLE, CELLS, CELLS, CELLS),
        st.tuples(st.just("delete"), st.integers(0, 99)),
        st.tuples(st.just("update"), st.integers(0, 99), CELLS),
        st.tuples(st.just("swap"), st.integers(0, 99), st.integers(0, 99)),
        st.tuples(st.just("touch"), st.integers(0, 99)),
        st.tuples(st.just("refresh"), st.integers(0, 2)),
    ),
    min_size=1,
    max_size=4,
)
OPTIONS: Mapping[str, dict[str, Any]] = {
    "remembered": {"remember": 2},
    "over time": {"over_time": {"waiting": 0}, "remember": 3},
}


class Table:
    """A table and the versions of its releases that the attacker has, by the names that kanon gives them."""

    def __init__(self, interface: Interface, rows: Sequence[tuple[Any, ...]]) -> None:
        self.interface = interface
        interface.connection.prepare_threshold = None  # views of one name have other columns in each example
        self.person_of: dict[int, int | None] = {}
        self.here: list[int] = []
        self.row_of: dict[int, int] = {}  # by secret; rows that change places exchange their secrets, too
        self.versions: dict[str, Version] = {}
        self.number: dict[str, int] = {}
        self.run("drop table if exists stays cascade")
        self.run(
            "create table stays (id integer primary key, person integer, a integer, b integer, c text,"
            " secret integer)"
        )
        for row in rows:
            self.change("insert", *row)

    def run(self, text: str, *arguments: Any) -> None:
        self.interface.connection.execute(text.encode(), arguments)

    def publish(self, place: int, release: Mapping[str, Any]) -> None:
        kind, name = release["kind"], f"release_{place}"
        self.interface.anonymize(
            "stays",
            release["k"],
            quasi_identifiers=release["columns"],
            sensitive=["secret"],
            method="greedy",
            release=name,
            **OPTIONS[kind],
        )
        self.number[name] = 0
        self.keep(name)

    def keep(self, name: str) -> None:
        seen = {self.row_of[secret]: cells for secret, cells in version_of(self.interface, name).items()}
        if name in self.number:
            self.number[name] += 1
            self.versions[f"{name}@{self.number[name]}"] = seen
        self.versions[name] = seen

    def change(self, what: str, *arguments: Any) -> None:
        if what == "insert":
            secret = len(self.person_of) + 1
            self.person_of[secret], *cells = arguments
            self.row_of[secret] = secret
            self.here.append(secret)
            values = (secret, arguments[0], *cells, secret)
            self.run("insert into stays values (%s, %s, %s, %s, %s, %s)", *values)
        elif what == "delete":  # but for three people who are always there
            row = self.here.pop(3 + arguments[0] % (len(self.here) - 3))
            self.run("delete from stays where id = %s", row)
        elif what == "update":
            row = self.here[arguments[0] % len(self.here)]
            self.run("update stays set a = %s where id = %s", arguments[1], row)
        elif what == "swap":
            one, other = (self.here[place % len(self.here)] for place in arguments)
            self.run(
                "update stays as s set (a, b, c, secret) = (o.a, o.b, o.c, o.secret) from stays as o"
                " where (s.id, o.id) in ((%s, %s), (%s, %s))",
                *(one, other, other, one),
            )
            exchanged = {one: other, other: one}
            self.row_of = {secret: exchanged.get(row, row) for secret, row in self.row_of.items()}
        elif what == "touch":
            self.run("update stays set a = a where id = %s", self.here[arguments[0] % len(self.here)])
        elif what == "refresh":
            name = f"release_{arguments[0]}"
            if name in self.versions:
                self.interface.refresh(name)
                self.keep(name)

    def known(self, remembered: Mapping[str, int]) -> list[str]:
        """Return what can be compared: every release as readers see it, and what is remembered of it."""
        return [
            name
            for name in self.versions
            if "@" not in name
            or int(name.partition("@")[2])
            > self.number[name.partition("@")[0]] - remembered[name.partition("@")[0]]
        ]


def together(versions: Sequence[Version], person_of: Mapping[int, int | None] | None) -> dict[int, int]:
    """Return by person how many people have a row in the same classes, for the row with the fewest."""
    rows: dict[Hashable, set[int]] = defaultdict(set)
    for row in set().union(*versions):
        rows[tuple(version.get(row) for version in versions)].add(row)
    candidates: dict[int, int] = {}
    for history in rows.values():
        people = {row if person_of is None else person_of[row] for row in history} - {None}
        for person in people:
            assert person is not None
            candidates[person] = min(len(people), candidates.get(person, len(people)))
    return candidates


@given(ROWS, RELEASES, CHANGES, st.booleans())
@settings(max_examples=examples(16), deadline=None)
def test_it_counts_what_an_attacker_counts(
    lasting_interface: Interface,
    rows: list[tuple[Any, ...]],
    releases: list[dict[str, Any]],
    changes: list[tuple[Any, ...]],
    has_entity: bool,
) -> None:
    kinds = {f"release_{place}": one["kind"] for place, one in enumerate(releases)}
    remembered = {name: OPTIONS[kind]["remember"] for name, kind in kinds.items()}
    table = Table(lasting_interface, [(1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 1), *rows])
    lasting_interface.declare(
        "stays", quasi_identifiers=["a", "b", "c"], entity="person" if has_entity else None
    )
    person_of = table.person_of if has_entity else None
    try:
        table.publish(0, releases[0])
        for change in changes:
            # What a release over time retains has the secret of before: it would not say whose row it is.
            if change[0] != "swap" or releases[0]["kind"] != "over time":
                table.change(*change)
        for place, release in enumerate(releases[1:], 1):
            table.publish(place, release)
        # A release over time stands for all its versions unless it has a number.
        names = [name for name in table.known(remembered) if kinds.get(name) != "over time"]
        for found in lasting_interface.composition(names[:12]):
            candidates = together([table.versions[name] for name in found.releases], person_of)
            assert found.unseen_rows == 0
            assert (found.people, found.smallest) == (len(candidates), min(candidates.values(), default=None))
            assert found.people_below == sum(count < found.k for count in candidates.values())
    finally:
        for row in lasting_interface.connection.execute("select release from kanon.releases").fetchall():
            lasting_interface.drop(row[0])
