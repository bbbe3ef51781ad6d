"""Who waits for the next version of a release over time: what must be true of every choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.core.waiting import FUTURES, WaitingTask
from kanon_pg.errors import MemoryExceeded
from kanon_pg.worker import chooser
from kanon_pg.worker.chooser import choose
from kanon_pg.worker.clock import Clock, no_progress
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.waiting.choice import search
from kanon_pg.worker.solvers.waiting.worlds import OUT, STAYS, cost_at, draw_worlds
from tests.fixtures.examples import examples
from tests.fixtures.packing import masks, pack

EARLIER = -1


class Batch(NamedTuple):
    """Rows with the versions for which they have waited, and the rules."""

    rows: tuple[tuple[tuple[int, ...], int], ...]
    k: int
    longest: int
    most: int
    seed: int
    weights: tuple[float, ...]

    @property
    def packed(self):
        """Return them as they travel, the versions last."""
        rows = [(*cells, waited) for cells, waited in self.rows]
        names = [f"c{number}" for number in range(len(self.weights))]
        return pack(
            rows,
            [*names, "waited"],
            numeric=["waited"],
            weights=dict(zip(names, self.weights, strict=True)),
        )

    def task(self, seconds=60.0, patterns=None):
        return WaitingTask(self.k, self.most, self.longest, patterns, self.seed, seconds)

    def worlds(self):
        packed = self.packed
        waited = np.frombuffer(packed.values[-1], dtype=">f8").astype(np.int64)
        table = RowTypeTable.from_packed(
            type(packed)(
                packed.columns[:-1],
                packed.keys,
                packed.rows,
                packed.people,
                packed.cells[:-1],
                packed.values[:-1],
            )
        )
        vectors = all_patterns(table.columns).vectors
        return draw_worlds(
            table, waited, vectors, self.k, Clock(), longest=self.longest, most=self.most, seed=self.seed
        )

    def chosen(self, **options):
        """Return how many rows of which cells and versions wait; None if nothing is chosen."""
        packed = self.packed
        found = choose(packed, self.task(**options), no_progress)
        if found is None:
            return None
        of_key = {}
        for cells, waited in self.rows:
            of_key[int(masks(pack([(*cells, waited)]).keys)[0])] = (cells, waited)
        waiting = zip(masks(found.keys).tolist(), masks(found.rows).tolist(), strict=True)
        return {of_key[key]: rows for key, rows in waiting}


@st.composite
def batches(draw):
    """Draw batches of which most leave somebody the choice; many rows are alike and waited differently."""
    width = draw(st.integers(1, 4))
    k = draw(st.integers(2, 4))
    cells = st.tuples(*[st.integers(0, 2)] * width)
    came = draw(st.lists(cells, min_size=k, max_size=25))
    waited = draw(st.lists(st.tuples(cells, st.integers(1, 4)), min_size=3, max_size=10))
    earlier = draw(st.lists(cells, min_size=k, max_size=40))
    return Batch(
        tuple([(one, 0) for one in came] + waited + [(one, EARLIER) for one in earlier]),
        k,
        draw(st.integers(1, 4)),
        draw(st.integers(1, 12)),
        draw(st.integers(0, 3)),
        tuple(draw(st.lists(st.sampled_from([1.0, 0.5, 3.0]), min_size=width, max_size=width))),
    )


several = settings(max_examples=examples(60), deadline=None)


@several
@given(batches())
def test_no_more_wait_than_may_and_nobody_longer(batch):
    chosen = batch.chosen()
    if chosen is None:
        return  # rare: too many waited at the end of the search
    pool = sum(waited >= 0 for _, waited in batch.rows)
    assert sum(chosen.values()) <= min(batch.most, pool - batch.k)
    for (cells, waited), rows in chosen.items():
        assert 0 <= waited < batch.longest
        assert 1 <= rows <= batch.rows.count((cells, waited))


@several
@given(batches(), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order_of_the_rows(batch, random):
    shuffled = list(batch.rows)
    random.shuffle(shuffled)
    assert batch.chosen() == batch._replace(rows=tuple(shuffled)).chosen()


@several
@given(batches())
def test_every_class_of_every_world_has_k_rows_and_all_is_counted(batch):
    row_type, worlds = batch.worlds()
    assert len(row_type) == worlds.held.shape[1]
    search(worlds, Clock(), batch.seed)
    waits = worlds.held[0, : worlds.pool] == OUT
    assert worlds.waiting[0] == waits.sum()
    assert not (waits & worlds.due).any()
    later = np.zeros(worlds.pool)
    for world in range(FUTURES + 1):
        places = worlds.held[world]
        inside = np.flatnonzero(places >= 0)
        assert np.array_equal(worlds.rows[world], np.bincount(places[inside], minlength=worlds.cost.size))
        assert not ((worlds.rows[world] > 0) & (worlds.rows[world] < batch.k)).any()
        for row in inside:
            assert row in worlds.member[worlds.begin[places[row]] : worlds.begin[places[row] + 1]]
        present = np.zeros(len(places), dtype=bool)
        present[worlds.arrival[world] : worlds.arrival[world + 1]] = True
        if world == 0:
            assert (places[~present] == OUT).all()
            continue
        present[: worlds.pool] = waits
        assert np.array_equal(places != OUT, present)
        assert ((places == STAYS) | (places >= 0))[present].all()
        later += [cost_at(worlds, world, row, places[row]) for row in range(worlds.pool)]
    assert worlds.later == pytest.approx(later, abs=1e-9)


COMMON, OTHER, NEW = (1, 1, 1), (2, 2, 2), (9, 8, 7)


def _three_of_each(most=3, **options):
    """Return who waits of three rows that will get company and three that never had any; k = 4."""
    lone = [((9, 8, number), 0) for number in range(3)]
    earlier = [(COMMON, EARLIER)] * 40 + [(OTHER, EARLIER)] * 40
    rows = (*[(COMMON, 0)] * 3, *lone, *[(OTHER, 0)] * 8, *earlier)
    return Batch(rows, 4, 3, most, 1, (1.0, 1.0, 1.0)).chosen(**options)


def test_those_wait_who_will_get_company():
    """The others are four with one of these, which costs no more than if all three of these waited."""
    assert _three_of_each() in ({(COMMON, 0): 3}, {(COMMON, 0): 2})


def test_nobody_waits_who_gains_nothing_by_it():
    rows = [(OTHER, 0)] * 20 + [(COMMON, 0)] * 20 + [(OTHER, EARLIER)] * 40 + [(COMMON, EARLIER)] * 40
    assert Batch(tuple(rows), 4, 3, 10, 1, (1.0, 1.0, 1.0)).chosen() == {}


def test_nobody_waits_who_may_not():
    assert _three_of_each(most=0) is None


def test_without_time_nothing_is_chosen():
    assert _three_of_each(seconds=1e-9) is None


def test_only_allowed_patterns_are_looked_at(monkeypatch):
    asked = []
    monkeypatch.setattr(
        chooser, "choose_waiting", lambda _table, _waited, vectors, *_, **__: asked.append(vectors)
    )
    _three_of_each()
    _three_of_each(patterns=[["c1"], ["c0", "c2"]])
    assert [vectors.tolist() for vectors in asked] == [list(range(8)), [2, 5, 7]]


@pytest.mark.parametrize("error", [MemoryExceeded("too many pairs"), MemoryError()])
def test_what_memory_does_not_hold_is_left_to_the_other_rule(monkeypatch, error):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(chooser, "choose_waiting", fails)
    assert _three_of_each() is None


@pytest.mark.parametrize(("came", "earlier"), [(3, 40), (8, 3)])
def test_fewer_than_k_rows_are_no_future(came, earlier):
    rows = (*[(COMMON, 0)] * came, *[(COMMON, 1)] * 9, *[(COMMON, EARLIER)] * earlier)
    assert Batch(rows, 4, 3, 3, 1, (1.0, 1.0, 1.0)).chosen() is None


def test_a_few_wait_where_k_of_a_small_batch_must_enter():
    rows = (*[((number, number, 1), 0) for number in range(6)], *[(COMMON, EARLIER)] * 20)
    _, worlds = Batch(rows, 4, 3, 5, 1, (1.0, 1.0, 1.0)).worlds()
    assert worlds.most == 2


@pytest.mark.parametrize("k", [10, 40, 350])
def test_larger_k(k):
    """Rows that fit a class, and rows that make one likely, are multiples of k."""
    common = [(COMMON, 0)] * (k - 1)
    earlier = [(COMMON, EARLIER)] * 4 * k + [(OTHER, EARLIER)] * 4 * k
    rows = (*common, (NEW, 0), *[(OTHER, 0)] * 2 * k, *earlier)
    chosen = Batch(rows, k, 3, k, 1, (1.0, 1.0, 1.0)).chosen()
    assert chosen is not None
    assert chosen[COMMON, 0] >= k - 2


def test_rows_that_fit_no_class_enter_with_those_of_another():
    """Two rows are unlike all others and may not wait any longer: some of these are suppressed, too."""
    rows = (*[(COMMON, 0)] * 9, (NEW, 3), ((5, 5, 5), 3), *[(COMMON, EARLIER)] * 20)
    _, worlds = Batch(rows, 4, 3, 1, 1, (1.0, 1.0, 1.0)).worlds()
    assert search(worlds, Clock(), 1)
    assert worlds.rows[0, -1] >= 4
    assert worlds.rows[0].sum() == 11 - worlds.waiting[0]
