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
    width = draw(st.integers(1, 4))
    cells = st.tuples(*[st.integers(0, 3)] * width)
    came = draw(st.lists(cells, min_size=1, max_size=25))
    waited = draw(st.lists(st.tuples(cells, st.integers(1, 4)), max_size=10))
    earlier = draw(st.lists(cells, min_size=1, max_size=40))
    return Batch(
        tuple([(one, 0) for one in came] + waited + [(one, EARLIER) for one in earlier]),
        draw(st.integers(2, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(0, 12)),
        draw(st.integers(0, 3)),
        tuple(draw(st.lists(st.sampled_from([1.0, 0.5, 3.0]), min_size=width, max_size=width))),
    )


several = settings(max_examples=examples(60), deadline=None)


@several
@given(batches())
def test_no_more_wait_than_may_and_nobody_longer(batch):
    chosen = batch.chosen()
    came = sum(waited == 0 for _, waited in batch.rows)
    pool = sum(waited >= 0 for _, waited in batch.rows)
    earlier = len(batch.rows) - pool
    if chosen is None:
        assert min(came, earlier, pool - batch.most) < batch.k
        return
    assert min(came, earlier, pool - batch.most) >= batch.k
    assert sum(chosen.values()) <= batch.most
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
    drawn = batch.worlds()
    if drawn is None:
        return
    row_type, worlds = drawn
    assert len(row_type) == worlds.held.shape[1]
    search(worlds, Clock(), batch.seed)
    assert worlds.waiting[0] <= batch.most
    waits = worlds.held[0, : worlds.pool] == OUT
    assert worlds.waiting[0] == waits.sum()
    later = np.zeros(worlds.pool)
    for world in range(FUTURES + 1):
        places = worlds.held[world]
        inside = np.flatnonzero(places >= 0)
        assert np.array_equal(worlds.rows[world], np.bincount(places[inside], minlength=worlds.cost.size))
        assert not ((worlds.rows[world] > 0) & (worlds.rows[world] < batch.k)).any()
        for row in inside:
            fitting = worlds.member[worlds.begin[places[row]] : worlds.begin[places[row] + 1]]
            assert row in fitting
        present = np.zeros(len(places), dtype=bool)
        present[worlds.arrival[world] : worlds.arrival[world + 1]] = True
        if world == 0:
            assert (places[~present] == OUT).all()
            continue
        present[: worlds.pool] = waits
        assert np.array_equal(places != OUT, present)
        later += [cost_at(worlds, world, row, places[row]) for row in range(worlds.pool)]
        assert ((places == STAYS) | (places >= 0))[present].all()
    assert worlds.later == pytest.approx(later, abs=1e-9)


COMMON, NEW = (1, 1, 1), (9, 8, 7)
OTHERS = [((2, 2, 2), 0)] * 8


def _three_of_each(most=3, patterns=None, **options):
    """Return who waits of three rows that will get company and three that never had any; k = 4."""
    lone = [((9, 8, number), 0) for number in range(3)]
    earlier = [(COMMON, EARLIER)] * 40 + [((2, 2, 2), EARLIER)] * 40
    rows = (*[(COMMON, 0)] * 3, *lone, *OTHERS, *earlier)
    return Batch(rows, 4, 3, most, 1, (1.0, 1.0, 1.0)).chosen(patterns=patterns, **options)


def test_those_wait_who_will_get_company():
    """Six rows enter fully suppressed, unless they wait; a class of (1, 1, 1) will probably come."""
    assert _three_of_each() == {(COMMON, 0): 3} or _three_of_each() == {(COMMON, 0): 2}


def test_nobody_waits_who_may_not():
    assert _three_of_each(most=0) == {}


def test_without_time_the_choice_is_still_one():
    chosen = _three_of_each(seconds=1e-9)
    assert sum(chosen.values()) <= 3


def test_only_allowed_patterns_are_classes():
    """If columns are suppressed together or not at all, whoever waits waits for the same rows."""
    assert (COMMON, 0) in _three_of_each(patterns=[[]])


def test_too_much_to_look_at_is_left_to_the_other_rule(monkeypatch):
    monkeypatch.setattr(chooser, "_MOST_TRIALS", 10)
    assert _three_of_each() is None


def test_too_large_a_graph_is_left_to_the_other_rule(monkeypatch):
    def fails(*_, **__):
        raise MemoryExceeded("too many pairs")

    monkeypatch.setattr(chooser, "choose_waiting", fails)
    assert _three_of_each() is None


@pytest.mark.parametrize(("came", "earlier"), [(3, 40), (8, 3)])
def test_fewer_than_k_rows_are_no_future(came, earlier):
    rows = (*[(COMMON, 0)] * came, *[(COMMON, 1)] * 9, *[(COMMON, EARLIER)] * earlier)
    assert Batch(rows, 4, 3, 3, 1, (1.0, 1.0, 1.0)).chosen() is None


def test_rows_that_fit_no_class_enter_with_those_of_another():
    """Nobody may wait, and two rows are unlike all others: some of these are suppressed, too."""
    rows = (*[(COMMON, 0)] * 9, (NEW, 0), ((5, 5, 5), 0), *[(COMMON, EARLIER)] * 20)
    drawn = Batch(rows, 4, 3, 0, 1, (1.0, 1.0, 1.0)).worlds()
    assert drawn is not None
    _, worlds = drawn
    search(worlds, Clock(), 1)
    assert worlds.waiting[0] == 0
    assert worlds.rows[0, -1] >= 4
    assert worlds.rows[0].sum() == 11
