"""What draws noise and adds up losses: OpenDP, of which this is the one importer.

OpenDP maps how far two neighbouring tables may differ to the loss of a measurement, and the losses of many
measurements to that of all. Nothing here computes a loss by itself. Loading it takes some tenths of a second,
so it is loaded with the first noisy answer of a session.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from kanon_pg.core.extras import missing

FINE = 1000
"""Counts of people are drawn in thousandths, because OpenDP takes integers as distances only."""


class Loss(NamedTuple):
    """A loss of approximate zero-concentrated differential privacy."""

    rho: float
    delta: float


@cache
def _opendp() -> Any:
    try:
        import opendp  # noqa: PLC0415
        from opendp import combinators, domains, measurements, measures, metrics, mod  # noqa: F401, PLC0415
    except ImportError as error:
        raise missing("opendp") from error
    # a measurement of ours stands for a loss that OpenDP gave before, so that OpenDP adds them up
    mod.enable_features("contrib", "honest-but-curious")
    return opendp


# --- measurements ------------------------------------------------------------------------------------------


class Gaussian:
    """Discrete Gaussian noise on integers that one person changes by a distance at most.

    Parameters
    ----------
    distance : float
        Euclidean, over all numbers together.
    rho : float
        What it may cost; `loss` is what OpenDP says it does.
    """

    def __init__(self, distance: float, rho: float) -> None:
        dp = _opendp()
        self.scale = distance / math.sqrt(2 * rho)
        self._measurement = dp.measurements.make_gaussian(
            dp.domains.vector_domain(dp.domains.atom_domain(T="i64")),
            dp.metrics.l2_distance(T="f64"),
            scale=self.scale,
        )
        self.loss = Loss(float(self._measurement.map(float(distance))), 0.0)

    def draw(self, values: Sequence[int]) -> list[int]:
        """Return the values with noise."""
        return [int(one) for one in self._measurement(list(values))]


class Thresholded:
    """Counts of people by key, of which a person is in some groups at most; small ones are left out.

    A key that only one of two neighbouring tables has is shown with a probability of `delta` at most.
    """

    def __init__(self, groups: int, rho: float, delta: float) -> None:
        # the distance in all groups together, rounded up
        distance = math.ceil(FINE * math.sqrt(groups))
        self.scale = distance / math.sqrt(2 * rho)
        self._distances = (groups, distance, FINE)
        low, high = FINE, FINE + int(40 * self.scale) + 1
        while low < high:
            middle = (low + high) // 2
            if self._at(middle).map(self._distances)[1] <= delta:
                high = middle
            else:
                low = middle + 1
        self.threshold = low
        self._measurement = self._at(low)
        rho_, delta_ = self._measurement.map(self._distances)
        if not delta_ <= delta:
            raise ArithmeticError("No threshold has the delta that was asked for.")
        self.loss = Loss(float(rho_), float(delta_))

    def _at(self, threshold: int) -> Any:
        dp = _opendp()
        return dp.measurements.make_gaussian_threshold(
            dp.domains.map_domain(dp.domains.atom_domain(T="String"), dp.domains.atom_domain(T="i64")),
            dp.metrics.l02inf_distance(dp.metrics.absolute_distance(T="i64")),
            scale=self.scale,
            threshold=threshold,
        )

    def draw(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return noisy counts of the keys that are shown."""
        drawn = self._measurement({key: FINE * count for key, count in counts.items()})
        return {key: value / FINE for key, value in drawn.items()}


class NoisyLeast:
    """The place of the least of some scores, by noise on each; one person changes each by a distance."""

    def __init__(self, distance: int, rho: float) -> None:
        dp = _opendp()
        self.scale = distance / math.sqrt(2 * rho)
        self._measurement = dp.measurements.make_noisy_max(
            dp.domains.vector_domain(dp.domains.atom_domain(T="i64")),
            dp.metrics.linf_distance(T="i64"),
            dp.measures.zero_concentrated_divergence(),
            scale=self.scale,
            negate=True,
        )
        self.loss = Loss(float(self._measurement.map(distance)), 0.0)

    def draw(self, scores: Sequence[int]) -> int:
        """Return a place."""
        return int(self._measurement(list(scores)))


# --- composition -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _standing_for(loss: Loss) -> Any:
    """Return a measurement that stands for one that OpenDP gave a loss to."""
    dp = _opendp()
    return dp.measurements.make_user_measurement(
        dp.domains.atom_domain(T="i64"),
        dp.metrics.absolute_distance(T="i64"),
        dp.measures.approximate(dp.measures.zero_concentrated_divergence()),
        lambda value: value,
        lambda _: tuple(loss),
        TO="i64",
    )


def _composed(losses: Sequence[Loss]) -> Any:
    return _opendp().combinators.make_composition([_standing_for(loss) for loss in losses])


def together(losses: Sequence[Loss]) -> Loss:
    """Return the loss of several measurements together, each chosen after the results of those before."""
    return Loss(*map(float, _composed(losses).map(1))) if losses else Loss(0.0, 0.0)


def epsilon_of(losses: Sequence[Loss], delta: float) -> float:
    """Return the epsilon that measurements reveal together at a delta; infinite if there is none."""
    if not losses:
        return 0.0
    if together(losses).delta >= delta:
        return math.inf
    dp = _opendp()
    converted = dp.combinators.make_zCDP_to_approxDP(_composed(losses))
    return float(dp.combinators.make_fix_delta(converted, delta).map(1)[0])


@lru_cache(maxsize=64)
def capacity(epsilon: float, delta: float) -> Loss:
    """Return an account's capacity: half of delta is for thresholds, half for the conversion of rho."""
    # the textbook's bound is below OpenDP's, and above half of it
    spread = math.log(1 / delta)
    low = (math.sqrt(spread + epsilon) - math.sqrt(spread)) ** 2 / 2
    high = 4 * low
    if epsilon_of([Loss(low, delta / 2)], delta) > epsilon:
        low = 0.0
    while high - low > 2e-3 * high:
        middle = (low + high) / 2
        if epsilon_of([Loss(middle, delta / 2)], delta) <= epsilon:
            low = middle
        else:
            high = middle
    if not low > 0:
        raise ArithmeticError("An account with this epsilon and delta holds nothing.")
    return Loss(low, delta / 2)
