"""The ledger against an attacker who tries every group of people by exact linear algebra."""

from __future__ import annotations

from array import array

import hypothesis.strategies as st
from hypothesis import given, note, settings
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import DisclosureHistory
from kanon_pg.worker.ledger.rules import LedgerRules, Mode
from tests.fixtures.examples import examples
from tests.fixtures.tracking import singled_out

KEY = bytes(range(16))
Groups = tuple[frozenset[int], ...]


@st.composite
def partitions(draw: st.DrawFn, size: int) -> Groups:
    """Draw disjoint non-empty groups of some of the units."""
    labels = draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size))
    groups = [frozenset(u for u, label in enumerate(labels) if label == wanted) for wanted in range(3)]
    return tuple(group for group in groups if group)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], list[Groups], int]:
    """Draw owners of units, queries and k."""
    size = draw(st.integers(4, 11))
    owners = draw(
        st.one_of(
            st.just(list(range(size))),
            st.lists(st.integers(0, size - 1), min_size=size, max_size=size),
        )
    )
    queries = draw(st.lists(partitions(size).filter(bool), min_size=1, max_size=6))
    return owners, queries, draw(st.integers(2, 4))


def answer_of(groups: Groups) -> AnswerSets:
    return AnswerSets((tuple(BitMap(group) for group in groups),))


def population_of(owners: list[int]) -> Population:
    units = BitMap(range(len(owners)))
    return Population(units, None if owners == list(range(len(owners))) else array("I", owners))


def leaves_few(groups: Groups, owners: list[int], k: int) -> bool:
    """Whether a group or the total leaves out 1 to k - 1 people's units."""
    every = frozenset(range(len(owners)))
    return any(
        0 < len({owners[unit] for unit in every - disclosed}) < k
        for disclosed in (*groups, frozenset().union(*groups))
    )


@settings(max_examples=examples(100))
@given(histories())
def test_linear_mode_refuses_exactly_what_lets_an_attacker_solve(
    drawn: tuple[list[int], list[Groups], int],
) -> None:
    owners, queries, k = drawn
    population = population_of(owners)
    ledger = DisclosureHistory(LedgerRules(k, "linear"), KEY)
    disclosed: list[frozenset[int]] = []
    for groups in queries:
        decision = ledger.check(answer_of(groups), population)
        note(f"{groups} {decision.reason}")
        harmless = not leaves_few(groups, owners, k) and not singled_out([*disclosed, *groups], owners, k)
        assert decision.reason != "undecided"
        assert decision.allowed <= harmless
        if population.owners is None:
            # several rows of a person share a column, which may refuse more than it must
            assert decision.allowed == harmless
        if decision.allowed:
            ledger.disclose(decision)
            disclosed += groups


@settings(max_examples=examples(50))
@given(histories(), st.sampled_from(["pairwise", "linear"]), st.booleans())
def test_what_is_disclosed_never_lets_an_attacker_solve(
    drawn: tuple[list[int], list[Groups], int], mode: Mode, one_sided: bool
) -> None:
    owners, queries, k = drawn
    population = population_of(owners)
    ledger = DisclosureHistory(LedgerRules(k, mode, one_sided=one_sided, rank=64), KEY)
    disclosed: list[frozenset[int]] = []
    for groups in queries:
        decision = ledger.check(answer_of(groups), population)
        if decision.allowed:
            ledger.disclose(decision)
            disclosed += groups
    assert not singled_out(disclosed, owners, k)


@settings(max_examples=examples(50))
@given(histories(), st.sampled_from(["pairwise", "linear"]))
def test_a_ledger_read_back_decides_the_same(drawn: tuple[list[int], list[Groups], int], mode: Mode) -> None:
    owners, queries, k = drawn
    population = population_of(owners)
    rules = LedgerRules(k, mode, rank=8)
    ledger = DisclosureHistory(rules, KEY)
    for groups in queries:
        again = DisclosureHistory.from_bytes(ledger.to_bytes(), rules, KEY)
        decision = ledger.check(answer_of(groups), population)
        assert again.check(answer_of(groups), population).reason == decision.reason
        if decision.allowed:
            ledger.disclose(decision)


@settings(max_examples=examples(50))
@given(histories(), st.sampled_from(["pairwise", "linear"]))
def test_replaying_decides_as_the_process_that_disclosed(
    drawn: tuple[list[int], list[Groups], int], mode: Mode
) -> None:
    owners, queries, k = drawn
    population = population_of(owners)
    here, there = (DisclosureHistory(LedgerRules(k, mode, rank=8), KEY) for _ in range(2))
    for groups in queries:
        answer = answer_of(groups)
        decision = here.check(answer, population)
        assert there.check(answer, population).reason == decision.reason
        if decision.allowed:
            here.disclose(decision)
            there.replay(AnswerSets.from_bytes(answer.to_bytes()), population)


@st.composite
def secret_queries(draw: st.DrawFn) -> tuple[list[bool], list[tuple[frozenset[int], bool]]]:
    """Draw who has a secret, and queries: whom known columns choose, and whether the secret is wanted."""
    size = draw(st.integers(8, 24))
    sets = st.frozensets(st.integers(0, size - 1), min_size=1)
    secrets = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return secrets, draw(st.lists(st.tuples(sets, st.booleans()), min_size=1, max_size=8))


@settings(max_examples=examples(100))
@given(secret_queries(), st.integers(1, 3))
def test_known_people_that_differ_little_are_withheld_whatever_is_secret(
    drawn: tuple[list[bool], list[tuple[frozenset[int], bool]]], margin: int
) -> None:
    secrets, queries = drawn
    k = 2
    everybody = Population(BitMap(range(len(secrets))))
    ledger = DisclosureHistory(LedgerRules(k, "pairwise", margin=margin, rank=64), KEY)
    earlier: list[frozenset[int]] = []
    answered: set[tuple[frozenset[int], frozenset[int]]] = set()
    for known, wanted in queries:
        figures = frozenset(unit for unit in known if secrets[unit] == wanted)
        levels = ((BitMap(figures),),) if figures else ()
        answer = AnswerSets(levels, ((BitMap(known),),), ((BitMap(known),),))
        decision = ledger.check(answer, everybody, None if figures else "size")
        is_small = len(known) < k * margin
        is_near = any(0 < len(known ^ other) < k * margin for other in earlier)
        if (is_small or is_near) and (known, figures) not in answered:
            assert decision.reason == ("size" if is_small else "people")
            assert decision.known is None
        elif decision.allowed:
            ledger.disclose(decision)
            answered.add((known, figures))
            earlier.append(known)
        elif decision.known is not None:
            ledger.replay(decision.known, everybody)
            earlier.append(known)
