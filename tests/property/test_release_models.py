"""Releases with divided row types, under privacy models: what they publish, and what a refresh may show."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import DISTANCES, DIVERSITIES, PrivacyModels
from kanon_pg.errors import InfeasibleError
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.privacy_oracle import TOLERANCE, Held, satisfies
from tests.fixtures.releases import base_table, people_by_class, published, suppressed_cells_with_values

QUASI = ["a", "b"]
COLUMNS = "a text, b integer, disease citext, wage numeric, who integer"
SENSITIVE = {"disease": ("flu", "cold", "FLU", None), "wage": (0.0, 1.0, 2.5, None)}
"""The first of type citext, the second numeric without a scale."""

K = 2
_INSERT = "insert into base (a, b, disease, wage, who) values (%s, %s, %s, %s, %s)"

Row = tuple[Any, ...]

row = st.tuples(
    st.sampled_from("uv"),
    st.sampled_from([1, None]),
    *(st.sampled_from(values) for values in SENSITIVE.values()),
    st.none() | st.integers(1, 9),
)


@st.composite
def demands(draw: st.DrawFn) -> tuple[tuple[str, ...], PrivacyModels]:
    distance = draw(st.sampled_from(DISTANCES))
    number = st.none() | st.sampled_from([2, 3])
    models = PrivacyModels(
        l=draw(number),
        diversity=draw(st.sampled_from(DIVERSITIES)),
        p=draw(number),
        t=draw(st.none() | st.sampled_from([0.1, 0.2, 0.25, 1 / 3, 0.5])),
        distance=distance,
    )
    columns = [("wage",)] if distance == "ordered" else [("disease",), ("wage",), ("disease", "wage")]
    return draw(st.sampled_from(columns)), models


changes = st.one_of(
    st.lists(row, min_size=1, max_size=4).map(lambda rows: [(_INSERT, new) for new in rows]),
    st.integers(0, 2).map(lambda rest: [("delete from base where id %% 3 = %s", (rest,))]),
    st.tuples(st.sampled_from(SENSITIVE["disease"]), st.integers(0, 3)).map(
        lambda new: [("update base set disease = %s where id %% 4 = %s", new)]
    ),
    st.tuples(st.sampled_from(SENSITIVE["wage"]), st.integers(0, 3)).map(
        lambda new: [("update base set wage = %s where id %% 4 = %s", new)]
    ),
    st.just([("update base set who = who %% 5", None)]),
    st.just([("update {parts} set first_row = first_row + 100 where row_type %% 2 = 0", None)]),
    st.sampled_from([0, 1, 2, -1, 1 << 40]).map(
        lambda pattern: [
            ("update {parts} set pattern = %s where first_row > 1", (pattern,)),
            ("update {mapping} set pattern = %s where row_type %% 2 = 0", (pattern,)),
        ]
    ),
    st.just([("delete from {parts} where first_row = 1", None)]),
)


@pytest.fixture(scope="module")
def dividing_interface(lasting_interface: Interface) -> Iterator[Interface]:
    lasting_interface.connection.execute("create extension citext")
    with dividing(lasting_interface.connection):
        yield lasting_interface


def options_of(models: PrivacyModels, columns: Sequence[str], seed: int) -> dict[str, Any]:
    given: dict[str, Any] = {"sensitive": list(columns), "seed": seed}
    given |= {name: getattr(models, name) for name in "lpt" if getattr(models, name) is not None}
    if models.l is not None:
        given["diversity"] = models.diversity
    if models.t is not None:
        given["distance"] = models.distance
    return given


def check_what_readers_see(
    interface: Interface, columns: Sequence[str], models: PrivacyModels, entity: str | None
) -> int:
    """Check every published class against the base table as it is; return the number of rows."""
    seen = published(interface.connection, "base", QUASI, "id")
    who = "id" if entity is None else entity
    base = {
        row[0]: row[1:]
        for row in interface.connection.execute(
            f"select id, {who}, lower(disease::text), wage::float8 from base".encode()
        )
    }
    classes = people_by_class(seen, {row_id: facts[0] for row_id, facts in base.items()})
    assert min(classes.values(), default=K) >= K
    assert len({row.carried for row in seen}) == len(seen) <= len(base)
    assert suppressed_cells_with_values(seen, QUASI) == 0
    for name in columns:
        place = 1 + list(SENSITIVE).index(name)
        whole = Held()
        held: dict[Hashable, Held] = defaultdict(Held)
        for facts in base.values():
            whole.add(facts[place], 1, {facts[0]} - {None})
        for row in seen:
            facts = base[row.carried]
            held[row.seen_class].add(facts[place], 1, {facts[0]} - {None})
        for one in held.values():
            assert satisfies(models, one, whole, entity=entity is not None)
    return len(seen)


def check_measures(interface: Interface, columns: Sequence[str], models: PrivacyModels) -> None:
    found = interface.measure("safe.base", QUASI, list(columns))
    assert found.k >= K
    assert found.p is not None
    assert found.p >= (models.p or 0)
    if models.l is not None:
        diversities = {
            "distinct": found.distinct_l,
            "frequency": found.frequency_l,
            "entropy": found.entropy_l,
        }
        measured = diversities[models.diversity]
        assert measured is not None
        assert measured >= models.l - TOLERANCE
    if models.t is not None:
        distance = found.t_ordered if models.distance == "ordered" else found.t_equal
        assert distance is not None
        assert distance <= models.t + TOLERANCE


@given(
    content=st.lists(row, min_size=8, max_size=30),
    demand=demands(),
    entity=st.sampled_from([None, None, "who"]),
    seed=st.integers(0, 99),
    history=st.lists(st.lists(changes, min_size=1, max_size=2), max_size=3),
)
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
def test_no_class_ever_violates_what_was_asked_for(
    dividing_interface: Interface,
    content: Sequence[Row],
    demand: tuple[tuple[str, ...], PrivacyModels],
    entity: str | None,
    seed: int,
    history: Sequence[Sequence[Any]],
) -> None:
    columns, models = demand
    interface = dividing_interface
    if entity is not None:
        content = [*content, *(("u", 1, "flu", 1.0, who) for who in range(1, K + 1))]
    facts = {"quasi_identifiers": QUASI, "insensitive": ["id"], "entity": entity}
    with base_table(interface, COLUMNS, content, **facts):
        try:
            report = interface.anonymize("base", K, **options_of(models, columns, seed))
        except InfeasibleError:
            event("infeasible")
            return
        assert report.rows == len(content) == check_what_readers_see(interface, columns, models, entity)
        check_measures(interface, columns, models)
        names = interface.connection.execute(
            "select storage::text, mapping::text, parts::text from kanon.release"
        ).fetchone()
        assert names is not None
        event(f"divided: {names[2] is not None}")
        for step in history:
            for change in step:
                for query, values in change:
                    run_change(interface, query, values, names)
            interface.connection.execute(f"refresh materialized view {names[0]}".encode())
            shown = check_what_readers_see(interface, columns, models, entity)
            event(f"shown after a change: {min(shown, 1)}")
        interface.drop("base")
        assert leftovers(interface) == []


def run_change(interface: Interface, query: str, values: Any, names: Any) -> None:
    if "{parts}" in query and names[2] is None:
        return
    text = query.replace("{parts}", names[2] or "").replace("{mapping}", names[1])
    interface.connection.execute(
        text.replace("%%", "%").encode() if values is None else text.encode(), values
    )


def leftovers(interface: Interface) -> list[Any]:
    return interface.connection.execute(
        "select relname from pg_class where relnamespace = 'kanon'::regnamespace"
        " and relname ~ '^base_[0-9a-z_]+_v[0-9]'"
    ).fetchall()
