"""Noise hides what it says: draws on neighbouring tables, and attacks that spend the whole account."""

import math

import numpy as np
import pytest

from kanon_pg.queries.noise.drawing import Drawing, scores
from kanon_pg.queries.noise.mechanism import Gaussian, Loss, Thresholded, capacity, epsilon_of, together
from kanon_pg.queries.noise.plan import CELLS, ROW, Cells, NoisyFigure, NoisyForm, Number
from tests.fixtures.noise_attacks import ATTACKS, Attack, advantage, most, works_without_noise

pytestmark = pytest.mark.slow

_DRAWS = 6000
_ROWS = 4
_DELTA = 0.05

_COUNTED = NoisyForm("", 0, _ROWS, 1, (Number("", float(_ROWS * ROW)),), (), (NoisyFigure("count", count=0),))


def counts(drawing: Drawing, rows: int) -> np.ndarray:
    found = [{"people": 0, "numbers": f"[{rows * ROW}]", "cells": "[]"}]
    return np.array(
        [int(drawing.rows(found, {"f1": "bigint"})[0]["f1"] or 0) for _ in range(_DRAWS)], dtype=float
    )


def revealed(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """Return the delta that draws show at an epsilon, by the best threshold."""
    return max(
        float(np.mean(other > at) - math.exp(epsilon) * np.mean(one > at))
        for at in np.quantile(np.concatenate([one, other]), np.linspace(0.01, 0.99, 99))
    )


def test_answers_of_neighbouring_tables_reveal_no_more_than_epsilon() -> None:
    drawing = Drawing(_COUNTED, Loss(0.5, 0.0), k=5)
    epsilon = epsilon_of([drawing.loss], _DELTA)
    assert revealed(counts(drawing, 1000), counts(drawing, 1000 + _ROWS), epsilon) <= _DELTA


def test_half_the_noise_is_detected() -> None:
    drawing = Drawing(_COUNTED, Loss(0.5, 0.0), k=5)
    epsilon = epsilon_of([drawing.loss], _DELTA)
    drawing.numbers = [Gaussian(_ROWS * ROW / 2, 0.5)]
    assert revealed(counts(drawing, 1000), counts(drawing, 1000 + _ROWS), epsilon) > 3 * _DELTA


def test_a_key_of_one_person_is_shown_no_more_often_than_delta() -> None:
    threshold = Thresholded(1, 0.5, 0.02)
    shown = sum("alone" in threshold.draw({"alone": 1, "many": 500}) for _ in range(_DRAWS))
    assert shown / _DRAWS <= 0.02 * 1.5
    assert threshold.loss.delta <= 0.02


def test_an_account_holds_as_many_answers_as_it_says() -> None:
    whole = capacity(1.0, 1e-6)
    part = Loss(whole.rho / 50 * (1 - 1e-6), whole.delta / 50)
    assert epsilon_of([part] * 50, 1e-6) <= 1
    assert epsilon_of([part] * 53, 1e-6) > 1
    assert together([part] * 50).rho == pytest.approx(whole.rho, rel=1e-4)


def test_scores_say_how_far_candidates_are_from_the_rank() -> None:
    held = [(0, 10), (5, 30), (CELLS, 10)]
    found = scores(held, Cells("", "", 1, 500))
    assert len(found) == CELLS + 1
    assert min(range(CELLS + 1), key=found.__getitem__) in range(1, CELLS + 1)
    # at cell 6 there are 40 rows below, and 10 above
    assert found[6] == abs(500 * 40 - 500 * 10)


_TRIALS = 300


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_with_the_whole_account_gains_no_more_than_epsilon_allows(attack: Attack) -> None:
    # three standard errors of the estimate
    assert advantage(attack, 1.0, _TRIALS) <= most(1.0) + 3 / math.sqrt(_TRIALS)
    assert works_without_noise(attack)
