"""``python -m tests.query``: size of the corpus, and share of the honest workload that is accepted."""

from __future__ import annotations

import statistics
import sys
import time

from kanon_pg.queries.check.checker import CatalogSnapshot, Verdict, check
from tests.query.cases import Via, flat
from tests.query.corpus import ATTACKS, counts
from tests.query.honest import workload
from tests.query.snapshot import hospital


def main() -> None:
    """Print the figures."""
    say = sys.stdout.write
    for kind, number in counts().items():
        say(f"{number:5}  {kind}\n")
    say(f"{len(ATTACKS):5}  attacks\n\n")
    snapshot, seconds, refused = hospital(), [], []
    check("select 1", snapshot)
    for query in workload():
        verdict, taken = timed(query.text, snapshot)
        seconds.append(taken)
        if not verdict.accepted:
            refused.append((query, verdict.findings[0]))
    attacked = [
        timed(step.text, snapshot)[1]
        for attack in ATTACKS
        for step in flat(attack.steps)
        if step.via is Via.INTERFACE
    ]
    for query, finding in refused:
        say(f"refused  {query.author}: {query.name} ({query.expected.value})\n")
        say(f"         {finding.code} {finding.sentence}\n")
    asked = len(workload())
    say(f"\naccepted {asked - len(refused)} of {asked}: {1 - len(refused) / asked:.0%}\n")
    for name, times in (("honest queries", seconds), ("attacks", attacked)):
        median, worst = 1000 * statistics.median(times), 1000 * max(times)
        say(f"check of {name}: median {median:.2f} ms, worst {worst:.2f} ms\n")


def timed(text: str, snapshot: CatalogSnapshot) -> tuple[Verdict, float]:
    """Check a text; return the verdict and the seconds of the processor, the smallest of three times."""
    times = []
    for _ in range(3):
        start = time.process_time()
        verdict = check(text, snapshot)
        times.append(time.process_time() - start)
    return verdict, min(times)


if __name__ == "__main__":
    main()
