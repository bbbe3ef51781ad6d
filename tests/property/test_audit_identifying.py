"""Identifying sets and risk, against counting every subset by hand."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.worker.audit.identifying import (
    greedy_factor,
    minimal_identifying_set,
    smallest_identifying_set,
)
from kanon_pg.worker.audit.risk import minimal_uniques, risk_of
from tests.fixtures.auditing import (
    EndingByLooks,
    classes_by_hand,
    identifies,
    minimal_by_hand,
    people_by_hand,
    read,
    tables,
    worst_by_hand,
)
from tests.fixtures.examples import examples

quick = settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])


def paper_algorithm(rows) -> tuple[int, ...]:
    """Run Algorithm 5.1 as the paper prints it."""
    fields = tuple(range(len(rows[0])))
    found = True
    while found and fields:
        found = False
        for following in combinations(fields, len(fields) - 1):
            if identifies(rows, following):
                found, fields = True, following
                break
    return fields


@quick
@given(tables(most_columns=7, may_share=False))
def test_algorithm_of_the_paper(table):
    rows, _ = table
    assert minimal_identifying_set(read(rows)) == paper_algorithm(rows)


@quick
@given(tables(most_columns=7, may_share=False), st.integers(0, 30))
def test_smallest_identifying_set(table, looks):
    rows, _ = table
    every = minimal_by_hand(len(rows[0]), lambda columns: identifies(rows, columns))
    found = smallest_identifying_set(read(rows))
    assert found.columns in every
    assert found.is_optimal
    assert len(found.columns) == found.lower_bound == len(every[0])
    early = smallest_identifying_set(read(rows), EndingByLooks(looks))
    assert identifies(rows, early.columns)
    assert early.lower_bound <= len(every[0])
    if early.method != "all columns":
        assert len(early.columns) <= greedy_factor(len(set(rows))) * max(1, len(every[0]))


def uniques_by_hand(rows, people, most):
    """Return the minimal sample uniques: pairs of a set and the values of a class, with their person."""
    width = len(rows[0])

    def alone(columns):
        classes: dict = {}
        for number, row in enumerate(rows):
            key = tuple(row[column] for column in columns)
            who = number if people is None else people[number]
            classes.setdefault(key, (set(), []))
            if who is not None:
                classes[key][0].add(who)
            classes[key][1].append(number)
        return {
            number: next(iter(known), ("nobody", rows[numbers[0]]))
            for known, numbers in classes.values()
            if len(known) <= 1
            for number in numbers
        }

    lonely = {
        columns: alone(columns) for size in range(most + 1) for columns in combinations(range(width), size)
    }
    found = {}
    for columns, who in lonely.items():
        for number, person in who.items():
            smaller = (s for size in range(len(columns)) for s in combinations(columns, size))
            if columns and not any(number in lonely[subset] for subset in smaller):
                found[columns, tuple(rows[number][column] for column in columns)] = person
    return found


@quick
@given(tables(most_rows=14, most_columns=5), st.integers(1, 5))
def test_minimal_sample_uniques(table, most):
    rows, people = table
    width = len(rows[0])
    expected = uniques_by_hand(rows, people, min(most, width))
    found = minimal_uniques(read(rows, people), range(width), max_columns=most)
    assert found.complete_columns == min(most, width)
    sizes = Counter(len(columns) for columns, _ in expected)
    assert found.sets_by_size == tuple(sizes[size] for size in range(1, min(most, width) + 1))
    smallest: dict = {}
    is_anybody_known = people is None or any(who is not None for who in people)
    for (columns, _), person in expected.items():
        if not isinstance(person, tuple):  # somebody
            smallest[person] = min(smallest.get(person, width), len(columns))
        elif not is_anybody_known:
            smallest[None] = min(smallest.get(None, width), len(columns))
    counted = Counter(smallest.values())
    assert found.people_by_size == tuple(counted[size] for size in range(1, min(most, width) + 1))
    assert sum(found.people_by_size) <= people_by_hand(who for _, who in classes_by_hand(rows, (), people))


@quick
@given(tables(), st.sampled_from([0.0, 0.2, 0.33, 0.5]), st.integers(1, 3))
def test_risk_of_attackers(table, threshold, times):
    rows, people = table
    columns = range(len(rows[0]))
    read_rows = read(rows, people)
    known = [who for _, who in classes_by_hand(rows, columns, people)]
    sizes = [max(1, len(who)) for who in known]
    population = times * np.maximum(read_rows.people, 1) - (times == 1)
    risk = risk_of(read_rows, columns, threshold=threshold, population=population)
    everybody = people_by_hand(known)
    assert risk.people == everybody
    assert risk.classes == len(sizes)
    assert risk.sample_uniques == people_by_hand(who for who in known if len(who) <= 1)
    larger = [times * size for size in sizes]
    assert risk.marketer == pytest.approx(len(sizes) / sum(larger))
    for attacker, within in ((risk.prosecutor, sizes), (risk.journalist, larger)):
        worst = worst_by_hand((who, 1 / size) for who, size in zip(known, within, strict=True))
        assert attacker.highest == 1 / min(within)
        assert attacker.average == pytest.approx(sum(worst.values()) / everybody)
        assert attacker.people_above == sum(one > threshold for one in worst.values())
        assert attacker.share_above == pytest.approx(attacker.people_above / everybody)
    # Where only the numbers of people by their smallest class are known, nothing else comes out.
    smallest = Counter(
        -round(one) for one in worst_by_hand(zip(known, (-s for s in sizes), strict=True)).values()
    )
    assert risk_of(read_rows, columns, threshold=threshold, people_by_size=smallest) == risk_of(
        read_rows, columns, threshold=threshold
    )


@quick
@given(st.integers(1, 40), st.floats(0.01, 1.0))
def test_expected_inverse_size_is_the_sum_of_its_distribution(size, fraction):
    from kanon_pg.worker.audit.risk import expected_inverse_sizes

    total, mass, chance, larger = 0.0, 0.0, fraction**size, size
    while mass < 1 - 1e-13 and larger < 200_000:
        total, mass = total + chance / larger, mass + chance
        chance *= (1 - fraction) * larger / (larger - size + 1)
        larger += 1
    found = float(expected_inverse_sizes(np.array([size, 1, 3]), fraction)[0])
    assert found == pytest.approx(total, rel=1e-6)
    assert found <= 1 / size
    assert math.isfinite(found)
