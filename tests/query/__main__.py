"""``python -m tests.query``: size of the corpus, and share of the honest workload that is accepted."""

from __future__ import annotations

import statistics
import sys
import time

from kanon_pg.query.check import check
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
    for question in workload():
        start = time.perf_counter()
        verdict = check(question.text, snapshot)
        seconds.append(time.perf_counter() - start)
        if not verdict.accepted:
            refused.append((question, verdict.findings[0]))
    for question, finding in refused:
        say(f"refused  {question.author}: {question.name} ({question.expected.value})\n")
        say(f"         {finding.code} {finding.sentence}\n")
    asked = len(workload())
    say(f"\naccepted {asked - len(refused)} of {asked}: {1 - len(refused) / asked:.0%}\n")
    say(f"check: median {1000 * statistics.median(seconds):.2f} ms, worst {1000 * max(seconds):.2f} ms\n")


if __name__ == "__main__":
    main()
