"""The proof about a code, where people share columns, and its search, against exact linear algebra."""

from __future__ import annotations

from array import array

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given, settings
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import Population, digest_of, packed
from kanon_pg.worker.ledger.disclosed_sets import DisclosedSets, sketch_of
from kanon_pg.worker.ledger.field import PrimeField
from kanon_pg.worker.ledger.linear_code import LinearCode, SystematicForm, holds_sparse_vector
from kanon_pg.worker.ledger.sketched_answer import SketchedAnswer, VectorCache
from kanon_pg.worker.ledger.table_snapshot import bitmap_of
from tests.fixtures.examples import examples
from tests.fixtures.tracking import singled_out

SIZE = 12
LARGEST = 2**52 + 2**40
keys = st.binary(min_size=16, max_size=16)
subsets = st.frozensets(st.integers(0, SIZE - 1), min_size=1)


def code_of(sets: list[frozenset[int]], field: PrimeField, k: int) -> LinearCode:
    code = LinearCode.empty(field, k)
    for units in sets:
        code = code.extended(code.independent_part(field.vectors([BitMap(units)], None)))
    return code


@settings(max_examples=examples(100))
@given(keys, st.integers(3, SIZE), st.lists(subsets, min_size=1, max_size=6), st.integers(2, 5))
def test_a_proof_holds_even_if_people_share_columns(
    key: bytes, width: int, sets: list[frozenset[int]], k: int
) -> None:
    if code_of(sets, PrimeField(key, width), k).proof() == "safe":
        assert not singled_out(sets, range(SIZE), k)


@settings(max_examples=examples(100))
@given(keys, st.lists(subsets, min_size=1, max_size=7), st.integers(2, 5))
def test_with_a_column_for_everybody_the_proof_is_right_both_ways(
    key: bytes, sets: list[frozenset[int]], k: int
) -> None:
    expected = "unsafe" if singled_out(sets, range(SIZE), k) else "safe"
    assert code_of(sets, PrimeField(key, SIZE), k).proof() == expected


@settings(max_examples=examples(100))
@given(keys, st.lists(subsets, min_size=1, max_size=7), st.integers(2, 5))
def test_the_search_alone_finds_sparse_vectors_and_nothing_else(
    key: bytes, sets: list[frozenset[int]], k: int
) -> None:
    field = PrimeField(key, SIZE)
    every_column = np.ones(SIZE, dtype=np.bool_)
    form = SystematicForm.empty(SIZE).extended(
        field.vectors([BitMap(units) for units in sets], None), every_column, field
    )
    assert form is not None
    assert np.array_equal(form.rows[:, form.pivots], np.eye(len(form.pivots)))
    assert holds_sparse_vector(form, k, k - 1, 100_000, field) is singled_out(sets, range(SIZE), k)
    assert holds_sparse_vector(form, k, k - 1, 0, field) is None


@given(keys, st.lists(st.lists(subsets, min_size=1, max_size=3), min_size=1, max_size=3))
def test_all_forms_span_the_same_space_from_disjoint_columns(
    key: bytes, answers: list[list[frozenset[int]]]
) -> None:
    field = PrimeField(key, 40)
    code = LinearCode.empty(field, 7)
    for sets in answers:
        code = code.extended(code.independent_part(field.vectors([BitMap(units) for units in sets], None)))
    pivots = np.concatenate([form.pivots for form in code.forms])
    assert len(set(pivots.tolist())) == len(pivots)
    for form in code.forms:
        assert len(form.pivots) == code.rank
        for other in code.forms:
            assert not form.remainder(other.rows, field).any()
        for sets in answers:
            assert not form.remainder(field.vectors([BitMap(units) for units in sets], None), field).any()


@given(keys, st.frozensets(st.integers(0, 5000)), st.frozensets(st.integers(0, 5000)))
def test_vectors_add_as_sets_do(key: bytes, first: frozenset[int], second: frozenset[int]) -> None:
    field = PrimeField(key, 64)
    whole, one, two, both = (
        field.vector(BitMap(units), None) for units in (first | second, first, second, first & second)
    )
    assert not field.reduced(whole + both - one - two).any()


@given(keys, st.integers(0, LARGEST), st.integers(-LARGEST, LARGEST))
def test_numbers_are_reduced_exactly(key: bytes, positive: int, any_number: int) -> None:
    field = PrimeField(key, 1)
    for number in (positive, any_number, any_number // field.modulus * field.modulus):
        rest = field.reduced(np.array([[float(number)]]))[0, 0]
        assert (number - int(rest)) % field.modulus == 0
        assert abs(rest) <= field.modulus / 2 + 8
        assert (rest == 0) == (number % field.modulus == 0)


@given(keys, st.integers(1, 400), st.booleans())
def test_products_of_any_length_are_exact(key: bytes, terms: int, negative: bool) -> None:
    field = PrimeField(key, 1)
    largest = field.modulus // 2 - np.arange(terms)
    left = np.where(negative, -largest, largest).astype(np.float64)
    product = field.product(left[None, :], largest.astype(np.float64)[:, None])[0, 0]
    exact = sum(int(a) * int(b) for a, b in zip(left, largest, strict=True))
    assert (int(product) - exact) % field.modulus == 0


@given(keys)
def test_the_modulus_is_a_prime_of_24_bits(key: bytes) -> None:
    modulus = PrimeField(key, 1).modulus
    assert modulus.bit_length() == 24
    assert all(modulus % divisor for divisor in range(2, int(modulus**0.5) + 1))


@given(
    keys,
    st.lists(st.frozensets(st.integers(0, 300), max_size=40), min_size=1, max_size=8),
    st.frozensets(st.integers(0, 300), max_size=6),
    st.integers(2, 8),
    st.booleans(),
)
def test_no_near_set_is_overlooked(
    key: bytes, sets: list[frozenset[int]], change: frozenset[int], k: int, by_size: bool
) -> None:
    assume(len(change) < k)
    field = PrimeField(key, 256)
    disclosed = DisclosedSets(64)
    everybody, vectors = Population(BitMap()), VectorCache(field)
    for units in sets:
        for one in SketchedAnswer.of([(BitMap(units),)], everybody, vectors, 64).sets():
            disclosed.add(one)
    new = BitMap(sets[0] ^ change)
    (sketched,) = SketchedAnswer.of([(new,)], everybody, vectors, 64).sets()
    found = list(disclosed.near(sketched, k, by_size=by_size))
    for units in sets:
        if len(new ^ BitMap(units)) < k:
            assert BitMap(units) in found


@given(st.lists(st.integers(0, 2**20), unique=True), st.integers(0, 2**20))
def test_a_set_has_its_numbers_whether_they_are_marked_or_sorted(spread: list[int], start: int) -> None:
    for numbers in (spread, [start + number % 999 for number in spread]):
        distinct = sorted(set(numbers))
        for order in (distinct, distinct[::-1]):
            assert list(bitmap_of(np.array(order, dtype=np.uint32))) == distinct


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from([0, 1, 4_095, 4_096, 4_097, 9_000, 2**16]), max_size=5), st.integers(0, 9))
def test_a_set_of_many_numbers_has_the_bytes_that_it_would_have_if_they_were_added(
    counts: list[int], seed: int
) -> None:
    draw = np.random.default_rng(seed)
    blocks = [number << 16 | draw.choice(2**16, count, replace=False) for number, count in enumerate(counts)]
    numbers = np.concatenate([np.zeros(0), *blocks]).astype(np.uint32)
    found, added = bitmap_of(draw.permutation(numbers)), BitMap(numbers.tolist())
    assert found == added
    assert packed(found) == packed(added)


@given(keys, st.lists(st.lists(subsets, min_size=1, max_size=3), min_size=1, max_size=4), st.integers(1, 4))
def test_what_is_remembered_of_a_set_is_its_vector(
    key: bytes, levels: list[list[frozenset[int]]], per_person: int
) -> None:
    """Totals are added up, and everything comes from the cache when it comes again."""
    field = PrimeField(key, 64)
    population = Population(BitMap(range(SIZE)), array("I", [unit // per_person for unit in range(SIZE)]))
    apart = [
        tuple(BitMap(units - frozenset().union(*level[:place])) for place, units in enumerate(level))
        for level in levels
    ]
    cache = VectorCache(field)
    for _ in range(2):
        for one in SketchedAnswer.of(apart, population, cache, 64).sets():
            vector = field.vector(one.units, population.owners)
            assert (one.sketch == sketch_of(vector, 64, field.modulus)).all()
            assert one.digest == digest_of(packed(one.units))
