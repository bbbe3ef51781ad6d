"""The state of releases and protected tables as metrics in OpenMetrics text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from kanon_pg.monitoring.states import HealthState


class Gauge(NamedTuple):
    """A figure of one kind of objects; those of which it is None have no sample."""

    name: str
    help: str
    kind: str
    label: str
    value: Callable[[HealthState], float | None]


def _release(name: str, text: str, value: Callable[[HealthState], float | None]) -> Gauge:
    return Gauge(f"kanon_release_{name}", text, "release", "release", value)


def _queries(name: str, text: str, value: Callable[[HealthState], float | None]) -> Gauge:
    return Gauge(f"kanon_queries_{name}", text, "queries", "table", value)


_HOLDS = ("holds", "waits")
"""Guards that hold: a linked table that waits shows nothing."""

GAUGES = (
    _release("age_seconds", "Time since it was published or brought up to date.", lambda one: one.age),
    _release("changed_rows", "Changes of its table since then.", lambda one: one.changes_since),
    _release("rows", "Rows that it shows.", lambda one: one.rows),
    _release("missing_rows", "Rows of its table that it does not show.", lambda one: one.missing_rows),
    _release("guard_holds", "Whether every class has k people.", lambda one: one.guard in _HOLDS),
    _release("pending_people", "People who wait for a later version.", lambda one: one.pending_people),
    _release("longest_wait_versions", "Versions for which rows have waited.", lambda one: one.longest_wait),
    _release("withheld_rows", "Rows withheld until others leave.", lambda one: one.withheld_rows),
    _release("retained_rows", "Rows shown until others leave.", lambda one: one.retained_rows),
    _queries("ledger_usable", "Whether queries are answered.", lambda one: one.ledger == "usable"),
    _queries("epsilon_left", "What noisy answers may still reveal.", lambda one: one.epsilon_left),
    _queries("account_left_ratio", "What is left of the account of noise.", lambda one: one.share_left),
    _release("needs_attention", "Whether something needs doing.", lambda one: one.advice is not None),
    _queries("needs_attention", "Whether something needs doing.", lambda one: one.advice is not None),
)


class _Health(Collector):
    """Gauges of what was read."""

    def __init__(self, states: Sequence[HealthState]) -> None:
        self._states = states

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield all gauges, also those without samples: then it is known that there is nothing."""
        return map(self._family, GAUGES)

    def _family(self, gauge: Gauge) -> GaugeMetricFamily:
        family = GaugeMetricFamily(gauge.name, gauge.help, labels=[gauge.label])
        for name, value in self._samples(gauge):
            family.add_metric([name], value)
        return family

    def _samples(self, gauge: Gauge) -> Iterator[tuple[str, float]]:
        for state in self._states:
            value = gauge.value(state) if state.kind == gauge.kind else None
            if value is not None:
                yield state.object, float(value)


def open_metrics(states: Sequence[HealthState]) -> str:
    """Return the metrics as text; it ends in ``# EOF``."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Health(states))
    text: str = generate_latest(registry).decode()  # type: ignore[no-untyped-call]
    return text
