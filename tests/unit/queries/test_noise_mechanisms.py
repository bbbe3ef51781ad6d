"""Noise hides what it says: draws on neighbouring tables, and attacks that spend the whole account."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kanon_pg.queries.noise.drawing import Drawing, scores
from kanon_pg.queries.noise.mechanism import Gaussian, Loss, Thresholded, capacity, epsilon_of, together
from kanon_pg.queries.noise.plan import CELLS, ROW, Cells, NoisyFigure, NoisyForm, Number

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


# --- attacks: the whole account is spent on one person -----------------------------------------------------

_EPSILON = 1.0
_ANSWERS = 50
_TRIALS = 300
_PEOPLE = 24

Answerer = Callable[[int], int]
Attack = Callable[[Answerer, list[int], Random], bool]


def averaging(ask: Answerer, secrets: list[int], random: Random) -> bool:
    """Ask how many people have the secret, each time in other words, and average."""
    others = sum(secrets[1:])
    return sum(ask(sum(secrets)) for _ in range(_ANSWERS)) / _ANSWERS - others > 0.5


def differencing(ask: Answerer, secrets: list[int], random: Random) -> bool:
    """Subtract the count of all others from the count of all."""
    half = _ANSWERS // 2
    everybody = sum(ask(sum(secrets)) for _ in range(half))
    others = sum(ask(sum(secrets[1:])) for _ in range(half))
    return (everybody - others) / half > 0.5


def bisection(ask: Answerer, secrets: list[int], random: Random) -> bool:
    """Ask about ever smaller groups around the person, as long as there are answers."""
    votes, group = 0.0, list(range(_PEOPLE))
    for _ in range(_ANSWERS):
        known = sum(secrets[one] for one in group if one)
        votes += ask(sum(secrets[one] for one in group)) - known - 0.5
        group = [0, *random.sample(group[1:], max(1, len(group[1:]) // 2))] if len(group) > 2 else group
    return votes > 0


def membership(ask: Answerer, secrets: list[int], random: Random) -> bool:
    """Ask for the person alone."""
    return sum(ask(secrets[0]) for _ in range(_ANSWERS)) / _ANSWERS > 0.5


def reconstruction(ask: Answerer, secrets: list[int], random: Random) -> bool:
    """Solve for everybody by least squares from counts of random subsets."""
    subsets = np.array([[random.random() < 0.5 for _ in secrets] for _ in range(_ANSWERS)], dtype=float)
    told = np.array([ask(int(one @ np.array(secrets))) for one in subsets], dtype=float)
    return bool(np.linalg.lstsq(subsets, told, rcond=None)[0][0] > 0.5)


@pytest.mark.parametrize("attack", [averaging, differencing, bisection, membership, reconstruction])
def test_an_attack_with_the_whole_account_gains_no_more_than_epsilon_allows(attack: Attack) -> None:
    whole = capacity(_EPSILON, 1e-6)
    noise = Gaussian(1.0, whole.rho / _ANSWERS)
    random = Random(attack.__name__)
    right = 0
    for _ in range(_TRIALS):
        secrets = [random.randrange(2) for _ in range(_PEOPLE)]
        drawn = noise.draw([0] * (_ANSWERS + 1))
        right += attack(lambda count, drawn=drawn: count + drawn.pop(), secrets, random) == bool(secrets[0])  # type: ignore[misc]
    advantage = 2 * right / _TRIALS - 1
    # three standard errors of the estimate
    assert advantage <= math.tanh(_EPSILON / 2) + 1e-6 + 3 / math.sqrt(_TRIALS)
    # without noise each of them finds the secret
    secrets = [1, *[random.randrange(2) for _ in range(_PEOPLE - 1)]]
    assert attack(lambda count: count, secrets, random)
