"""Suppression curves agree with releases of them."""

from itertools import pairwise

import psycopg
import pytest

from kanon_pg.errors import InfeasibleError, MemoryExceeded
from tests.fixtures.services import COLUMNS, Services

KS = [2, 3, 5, 10, 25]


@pytest.fixture(scope="module")
def prepared(prepared: psycopg.Connection) -> psycopg.Connection:
    declared = {"identifiers": ["id"], "quasi_identifiers": COLUMNS, "entity": "person"}
    Services(prepared).declare("of_persons", **declared, weights={"age": 2.5})
    return prepared


@pytest.mark.parametrize("relation", ["people", "of_persons"])
def test_points_are_as_good_as_releases(services: Services, relation: str) -> None:
    """Declared weights and people count as they do for a release."""
    points = services.curve(relation, ks=KS[::-1], quasi_identifiers=COLUMNS, method="greedy").points
    assert [point.k for point in points] == KS
    for point in points:
        release = services.anonymize(relation, point.k, quasi_identifiers=COLUMNS, method="greedy")
        assert point.weighted_cost <= release.weighted_cost
        assert point.lower_bound is not None
        assert release.lower_bound is not None
        assert release.lower_bound <= point.lower_bound <= point.weighted_cost
        if point.method == release.method and point.weighted_cost == release.weighted_cost:
            figures = ("suppressed_cells", "suppressed_share", "classes", "average_class")
            assert {name: getattr(point, name) for name in figures} == pytest.approx(
                {name: getattr(release, name) for name in figures}
            )
    for smaller, larger in pairwise(points):
        assert smaller.weighted_cost <= larger.weighted_cost
        assert (smaller.lower_bound or 0) <= (larger.lower_bound or 0)


def test_people_are_counted_not_rows(services: Services) -> None:
    """106 people have 211 rows: nobody can be hidden among 107."""
    assert services.curve("of_persons", ks=[106]).points[0].classes == 1
    with pytest.raises(InfeasibleError, match="has 106 people, fewer than k = 107 and 211"):
        services.curve("of_persons", ks=[2, 107, 211])


def test_rows_of_a_release_are_counted_and_that_is_said(services: Services) -> None:
    services.anonymize("of_persons", 3, method="greedy")
    services.notices.clear()
    found = services.curve("safe.of_persons", ks=[3], method="greedy")
    assert (found.quasi_identifiers, found.people) == (tuple(COLUMNS), found.rows)
    assert services.notices == ["Whose rows they are is not published, so each row counts as a person."]


def test_too_large_k_are_refused_with_those_that_are_possible(services: Services) -> None:
    with pytest.raises(InfeasibleError) as raised:
        services.curve("people", ks=[300, 5, 2], quasi_identifiers=COLUMNS)
    assert raised.value.hint == "Ask for what is possible: ks => '{2,5}'."


def test_constraints_on_patterns_are_respected(services: Services) -> None:
    free, bound = (
        services.curve("people", ks=[5], quasi_identifiers=COLUMNS, patterns=patterns).points[0]
        for patterns in (None, {"never": ["age"]})
    )
    assert free.weighted_cost < bound.weighted_cost


def test_each_k_is_a_phase(services: Services) -> None:
    services.curve("people", ks=[2, 5], quasi_identifiers=COLUMNS)
    phases = services.phases
    assert list(dict.fromkeys(phase for phase, _ in phases)) == [
        "counting",
        "solving for k = 5",
        "solving for k = 2",
    ]
    shares = [share for _, share in phases if share is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1


def test_the_memory_budget_holds(services: Services) -> None:
    services.table("many", {"a": "integer", "b": "integer"}, [(i, i) for i in range(9000)])
    services.execute("set kanon.memory_budget = '1MB'")
    for call in (
        lambda: services.curve("many", ks=[2]),
        lambda: services.audit("many", 2),
        lambda: services.anonymize("many", 2),
    ):
        with pytest.raises(MemoryExceeded, match="memory budget"):
            call()
    services.execute("reset kanon.memory_budget")
