"""What the ledger costs a query, and what it withholds, after up to 10,000 others."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap
from rich.table import Table

from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.journal import create_journal
from kanon_pg.worker.ledger.rules import LedgerRules, Mode
from kanon_pg.worker.ledger.session import LedgerSession, LoggedQuery, RelationPart, decide
from tests.benchmarks.settings import Settings, table

CARDINALITIES = (2, 3, 5, 8, 12, 4, 6, 10)
KEY = bytes(range(16))
K = 5

Columns = list[npt.NDArray[np.int64]]


def queries(settings: Settings) -> Iterator[Table]:
    """Random filters and groupings on 8 columns, k = 5: time of a decision, journal included."""
    cases: list[tuple[int, int, Mode]] = [(1_000, 1_000, "pairwise"), (100_000, 1_000, "linear")]
    if not settings.quick:
        cases = [
            (1_000, 1_000, "pairwise"),
            (1_000, 1_000, "linear"),
            (100_000, 10_000, "off"),
            (100_000, 10_000, "pairwise"),
            (100_000, 10_000, "linear"),
            (1_000_000, 300, "pairwise"),
        ]
    yield table(
        "Decisions of the ledger, k = 5 (ms over the last tenth of the queries; opening a checkpoint in s)",
        [
            "people",
            "queries",
            "mode",
            "median",
            "95 %",
            "worst",
            "withheld",
            "sets",
            "rank",
            "MB",
            "opening",
        ],
        [_measured(*case) for case in cases],
    )


def _measured(people: int, count: int, mode: Mode) -> list[object]:
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, cardinality, people) for cardinality in CARDINALITIES]
    population = Population(BitMap(range(people)))
    rules = LedgerRules(K, mode)
    reasons: Counter[str] = Counter()
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "1.journal"
        create_journal(path)
        session = LedgerSession(path, rules, KEY)
        for number in range(count):
            part = RelationPart(session, population, _answer(columns, rng))
            start = time.perf_counter()
            decision = decide(LoggedQuery(float(number), "analyst", "SELECT"), [part])
            spent.append(1000 * (time.perf_counter() - start))
            reasons[decision.reason or "told"] += 1
        checkpoint = session.to_bytes()
        start = time.perf_counter()
        LedgerSession(path, rules, KEY, checkpoint=checkpoint).close()
        opening = time.perf_counter() - start
        sets, rank = session.history.distinct_sets, session.history.rank
        session.close()
    last = sorted(spent[-max(1, count // 10) :])
    del reasons["told"]
    withheld = ", ".join(f"{reason} {number}" for reason, number in sorted(reasons.items())) or "none"
    figures = [statistics.median(last), last[int(0.95 * len(last))], last[-1]]
    return [people, count, mode, *figures, withheld, sets, rank, len(checkpoint) / 1e6, opening]


def _answer(columns: Columns, rng: np.random.Generator) -> AnswerSets:
    """Return the groups of one column under up to three conditions on others."""
    chosen = np.ones(len(columns[0]), dtype=np.bool_)
    for index in rng.choice(len(columns), rng.integers(0, 4), replace=False):
        bound = rng.integers(0, CARDINALITIES[index])
        chosen &= columns[index] <= bound if rng.random() < 0.5 else columns[index] == bound
    by = rng.integers(0, len(columns))
    groups = (np.flatnonzero(chosen & (columns[by] == value)) for value in range(CARDINALITIES[by]))
    return AnswerSets((tuple(BitMap(group.astype(np.uint32)) for group in groups if len(group)),))
