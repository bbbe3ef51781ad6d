"""The specs by name, in the order of a full run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.table import Table

from tests.benchmarks import (
    ablation,
    audit,
    bounds,
    citus,
    constants,
    first_call,
    gateway,
    generalization,
    grouping,
    growth,
    guards,
    linked,
    minimum,
    noise,
    papers,
    peers,
    quality,
    real,
    row_types,
    series,
    sessions,
    shards,
    synthetic,
    tpch,
    waiting,
    wide,
)
from tests.benchmarks.settings import Settings

Spec = Callable[[Settings], Iterator[Table]]

SPECS: dict[str, Spec] = {
    "adult14-solver": papers.adult14_solver,
    "adult14": papers.adult14_server,
    "adult9": papers.adult9_server,
    "nursery": papers.nursery_server,
    "cmc": papers.cmc_server,
    "exact-tables": minimum.exact_tables,
    "gaps": minimum.certified_gaps,
    "searching": minimum.worth_of_searching,
    "ablation": ablation.stages,
    "constants": constants.constants,
    "cost-by-seconds": quality.costs_by_seconds,
    "peers": peers.cells_against_arx,
    "generalization": generalization.adult,
    "generalized-gaps": bounds.generalized,
    "model-gaps": bounds.under_models,
    "entities": real.diabetes,
    "census": real.census,
    "series": series.over_time,
    "series-server": series.by_functions,
    "refresh": series.refreshes,
    "waiting": waiting.waiting,
    "synthetic": synthetic.phases,
    "synthetic-diverse": synthetic.diverse,
    "workers": synthetic.workers,
    "linked": linked.clinic,
    "wide": wide.limited,
    "shards": shards.foreign,
    "citus": citus.distributed,
    "growth-columns": growth.by_columns,
    "growth-types": row_types.by_row_types,
    "growth-k": growth.by_k,
    "gateway": gateway.round_trips,
    "tpch": tpch.guarded_queries,
    "guarded-table": guards.one_table,
    "record": guards.growing_record,
    "noise-attacks": noise.attacks,
    "sessions": sessions.at_once,
    "first-call": first_call.first_call,
    "group-names": grouping.names,
    "group-exact": grouping.exactly,
    "group-zips": grouping.zips,
    "group-counties": grouping.counties,
    "audit": audit.violating,
    "audit-identify": audit.identifying,
    "audit-large": audit.large,
}

__all__ = ["SPECS", "Settings"]
