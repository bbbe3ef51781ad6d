"""Rows that enter and leave in cohorts: no two versions single out fewer than k people, whatever happens.

Histories of small tables are run through the model of `tests.fixtures.cohorts`; the attacker of `violations`
looks at what was shown, and links what one person left and entered with. Which classes a batch forms, and
who waits, is drawn at random: the promise must not depend on it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.cohorts import (
    Cells,
    Entry,
    Plan,
    Row,
    Rules,
    Series,
    Version,
    violations,
)
from tests.fixtures.examples import examples

K = 2
PEOPLE = st.sampled_from([None, *range(8)])
AGES = st.sampled_from([1, 2, None])
PLACES = st.integers(0, 99)
_CHANGES = (
    st.tuples(st.just("insert"), PEOPLE, AGES),
    st.tuples(st.just("delete"), PLACES),
    st.tuples(st.just("delete"), PLACES),
    st.tuples(st.just("update"), PLACES, AGES),
    st.tuples(st.just("return"), PLACES),
    st.tuples(st.just("leave"), PEOPLE),
)
CHANGES_WITHOUT_ERASURE = st.one_of(*_CHANGES)
CHANGES = st.one_of(*_CHANGES, st.tuples(st.just("erase"), PEOPLE))
HISTORIES = st.lists(st.lists(CHANGES, max_size=8), min_size=2, max_size=8)
FIRST = st.lists(st.tuples(PEOPLE, AGES), min_size=4, max_size=14)
RULES = st.builds(
    Rules,
    k=st.just(K),
    leavers=st.sampled_from(["retain", "withhold"]),
    longest_retain=st.integers(1, 3),
    updates=st.sampled_from(["replace", "keep"]),
    whole=st.booleans(),
)


def random_plan(seed: int) -> Plan:
    """Return a planner that suppresses and makes wait at random, and never makes a class of fewer than k."""
    chance = random.Random(seed)

    def plan(rows: Mapping[Row, Entry], k: int, ages: Mapping[Row, int]) -> Sequence[tuple[Cells, list[Row]]]:
        classes: dict[Cells, list[Row]] = {}
        for row, entry in rows.items():
            cells = entry.contents if chance.random() < 0.6 else ("*",)
            classes.setdefault(cells, []).append(row)
        rest = classes.setdefault(("*",), [])
        for cells in list(classes):
            if cells != ("*",) and len({rows[row].person for row in classes[cells]} - {None}) < k:
                rest += classes.pop(cells)
        if len({rows[row].person for row in rest} - {None}) < k:
            if rest and len(classes) > 1 and chance.random() < 0.5:
                rest += classes.pop(next(iter(classes)))
            else:
                classes.pop(("*",))
        return [(cells, chosen) for cells, chosen in classes.items() if chosen]

    return plan


@dataclass
class World:
    """A table, and all that a release over time of it showed."""

    series: Series
    has_key: bool = True
    rows: dict[Row, Entry] = field(default_factory=dict)
    gone: dict[Row, Entry] = field(default_factory=dict)
    person_of: dict[Row, Any] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    ever: int = 0

    def put(self, person: int | None, age: int | None, row: Row | None = None) -> None:
        self.ever += 1
        row = self.ever if row is None else row
        self.rows[row] = Entry(person, (age,))
        self.person_of[row] = person if self.series.has_entity else row

    def take(self, row: Row) -> None:
        self.gone[row] = self.rows.pop(row)

    def change(self, what: str, *arguments: Any) -> None:
        if what == "insert":
            self.put(*arguments)
        elif what == "delete" and self.rows:
            self.take(list(self.rows)[arguments[0] % len(self.rows)])
        elif what == "leave":
            for row in [row for row, entry in self.rows.items() if entry.person == arguments[0]]:
                self.take(row)
        elif what == "return" and self.gone:
            row = list(self.gone)[arguments[0] % len(self.gone)]
            self.rows[row] = self.gone.pop(row)
        elif what == "update" and self.rows:
            row = list(self.rows)[arguments[0] % len(self.rows)]
            person = self.rows[row].person
            if self.has_key:
                self.rows[row] = Entry(person, (arguments[1],))
            else:
                self.take(row)
                self.put(person, arguments[1])
        elif what == "erase" and arguments[0] is not None and self.series.has_entity:
            self.change("leave", arguments[0])
            self.versions.append(self.series.erase(arguments[0]))

    def publish(self) -> None:
        self.versions.append(self.series.publish(self.rows))

    def found(self) -> list[str]:
        return violations(self.versions, self.person_of, self.series.rules.k, self.series)


def world_after(series: Series, has_key: bool, first: Any, history: Any) -> World:
    world = World(series, has_key)
    for person, age in first:
        world.put(person, age)
    world.publish()
    for changes in history:
        for change in changes:
            world.change(*change)
        world.publish()
    return world


@given(FIRST, HISTORIES, RULES, st.sampled_from(["key", "key and entity", "entity"]), st.integers(0, 999))
@settings(max_examples=examples(400), deadline=None)
def test_no_atom_of_all_versions_has_fewer_than_k_people(
    first: Any, history: Any, rules: Rules, identity: str, seed: int
) -> None:
    series = Series(rules, random_plan(seed), has_entity="entity" in identity)
    world = world_after(series, "key" in identity, first, history)
    assert world.found() == []
    for before, after in zip(world.versions, world.versions[1:], strict=False):
        for row in before.keys() & after.keys():
            assert before[row] == after[row] or entered_again(world, row)


def entered_again(world: World, row: Row) -> bool:
    """Say whether a row entered more than once: it left in between, and may be shown otherwise."""
    return sum(row in rows for _, cohorts, _ in world.series.entries for rows in cohorts.values()) > 1


@pytest.mark.parametrize("leavers", ["retain", "withhold"])
def test_a_second_round_of_leavers_smaller_than_k(leavers: str) -> None:
    world = _ages_of(6, leavers)
    for row in (1, 2):
        world.take(row)
    world.publish()
    assert len(world.versions[-1]) == 4
    world.take(3)
    world.publish()
    assert len(world.versions[-1]) == (4 if leavers == "retain" else 0)
    world.take(4)
    world.publish()
    assert len(world.versions[-1]) == 2
    assert world.found() == []


def _ages_of(people: int, leavers: str = "retain", **chosen: Any) -> World:
    series = Series(Rules(K, leavers), _as_it_is, **chosen)
    world = World(series)
    for person in range(people):
        world.put(person, 1)
    world.publish()
    return world


def _as_it_is(rows: Mapping[Row, Entry], k: int, ages: Mapping[Row, int]) -> list[tuple[Cells, list[Row]]]:
    classes: dict[Cells, list[Row]] = {}
    for row, entry in rows.items():
        classes.setdefault(entry.contents, []).append(row)
    return [
        (cells, chosen)
        for cells, chosen in classes.items()
        if len({rows[row].person for row in chosen} - {None}) >= k
    ]


def test_who_leaves_and_returns_alone_waits() -> None:
    world = _ages_of(6)
    world.take(1), world.take(2)
    world.publish()
    world.change("return", 0)
    world.put(7, 1), world.put(8, 1)
    world.publish()
    assert 1 not in world.versions[-1]
    world.change("return", 0)
    world.publish()
    assert {1, 2} <= world.versions[-1].keys()
    assert world.found() == []


def test_an_updated_row_waits_until_k_have_changed() -> None:
    world = _ages_of(6)
    world.change("update", 0, 2)
    world.publish()
    assert world.versions[-1] == world.versions[0]
    world.change("update", 1, 2)
    world.publish()
    assert [world.versions[-1][row] for row in (1, 2, 3)] == [(2,), (2,), (1,)]
    assert world.found() == []


def test_a_further_row_needs_a_cohort_of_k_people() -> None:
    world = _ages_of(4, has_entity=True)
    world.put(0, 1)
    world.put(0, 1)
    world.publish()
    assert world.versions[-1] == world.versions[0]


def test_who_was_erased_is_gone_at_once_with_their_cohort() -> None:
    world = _ages_of(5, has_entity=True)
    world.change("erase", 0)
    assert world.versions[-1] == {}
    world.publish()
    assert world.versions[-1] == {}
    world.change("leave", 1)
    world.publish()
    assert len(world.versions[-1]) == 3
    assert world.found() == []


def _stays_away_alone(series: Series) -> World:
    """Person 0 leaves two cohorts; the others who left the first one return without them."""
    world = World(series)
    for person in range(5):
        world.put(person, 1)
    for person in (0, 5, 6, 7):
        world.put(person, 2)
    world.publish()
    for person in (0, 1, 2, 5):
        world.change("leave", person)
    world.publish()
    world.put(1, 1)
    world.put(2, 1)
    world.publish()
    return world


def test_who_left_two_cohorts_does_not_stay_away_alone_from_one() -> None:
    assert _stays_away_alone(Series(Rules(K), _as_it_is, has_entity=True)).found() == []


@given(
    st.lists(st.tuples(PEOPLE, AGES), min_size=12, max_size=12),
    st.lists(st.lists(CHANGES_WITHOUT_ERASURE, max_size=8), min_size=8, max_size=10),
    st.integers(0, 999),
)
@settings(max_examples=examples(200), deadline=None)
def test_who_returns_in_long_histories_is_never_alone(first: Any, history: Any, seed: int) -> None:
    world = world_after(
        Series(Rules(K, "withhold"), random_plan(seed), has_entity=True), False, first, history
    )
    assert world.found() == []


# --- the attacker sees what goes wrong without the construction --------------------------------------------


def test_the_attacker_sees_who_stays_away_alone() -> None:
    broken = Series(Rules(K), _as_it_is, has_entity=True, only_same_history=True)
    assert "stayed away of 1" in _stays_away_alone(broken).found()


def test_the_attacker_sees_who_leaves_at_once() -> None:
    world = _ages_of(6, "show")
    world.take(1)
    world.publish()
    assert {"history of 1", "atom of 1"} <= set(world.found())


@given(FIRST, HISTORIES, st.integers(0, 999))
@settings(max_examples=examples(100), deadline=None)
def test_the_attacker_sees_single_arrivals_after_plain_refreshes(first: Any, history: Any, seed: int) -> None:
    """A class that is there already takes in whoever comes: k-anonymous each time, and not in comparison."""
    world = World(Series(Rules(K), _as_it_is))
    for person, age in first:
        world.put(person, age)
    world.put(1, 1), world.put(2, 1)
    plain = [_refreshed(world)]
    for changes in history:
        for change in changes:
            if change[0] != "erase":
                world.change(*change)
        plain.append(_refreshed(world))
    world.put(3, 1)
    world.put(4, 1)
    plain.append(_refreshed(world))
    world.put(5, 1)
    plain.append(_refreshed(world))
    found = violations(plain, world.person_of, K)
    assert any(one.startswith("history") for one in found)
    assert not any(one.startswith("class") for one in found)


def _refreshed(world: World) -> Version:
    return {row: cells for cells, rows in _as_it_is_by_row(world) for row in rows}


def _as_it_is_by_row(world: World) -> list[tuple[Cells, list[Row]]]:
    return _as_it_is({row: Entry(row, entry.contents) for row, entry in world.rows.items()}, K, {})
