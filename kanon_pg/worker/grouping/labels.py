"""Labels without order -> groups: the min-max bin covering of the paper's section 4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import UnknownName
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.exact_labels import exact_labels
from kanon_pg.worker.grouping.fold import fold
from kanon_pg.worker.grouping.relaxed import DEFAULT_EPSILON, relaxed
from kanon_pg.worker.grouping.result import CostKind, SingleAttribute
from kanon_pg.worker.grouping.spread import spread

METHODS = ("spread", "fold", "exact", "relaxed")


def group_labels(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    method: str = "spread",
    cost_kind: CostKind = "max",
    *,
    epsilon: float = DEFAULT_EPSILON,
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels into classes of at least k.

    Parameters
    ----------
    weights : array of int, shape (n,)
        People per label, each >= 0.
    k : int
        Least size, >= 1.
    method : str
        One of `METHODS`: within 5/2 of the least largest class, within 3, proven optimal if the time
        allows, or the relaxed scheme.
    cost_kind : str
        See `result.cost_of`.
    epsilon : float
        Of the relaxed scheme.
    clock : Clock, optional
        Time for 'exact' and 'relaxed'.

    Raises
    ------
    UnknownName
        If there is no such method.
    KanonError
        As the method's function.
    """
    if method == "fold":
        return fold(weights, k, cost_kind)
    if method == "spread":
        return spread(weights, k, cost_kind)
    if method == "exact":
        return exact_labels(weights, k, cost_kind, clock)
    if method == "relaxed":
        return relaxed(weights, k, cost_kind, epsilon, clock)
    raise UnknownName(f'There is no method "{method}".', hint=f"Methods are: {', '.join(METHODS)}.")
