"""How releases look on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from kanon_pg.cli.output import facts, listing
from kanon_pg.core.termination import Termination
from kanon_pg.db.protocol import Row
from kanon_pg.release.report import ReleaseReport


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """One line of ``kanon releases``: fields of ``kanon.releases``."""

    release: str
    base: str | None
    k: int
    rows: int
    people: int
    classes: int
    smallest_class: int
    suppressed_share: float
    lower_bound: float | None
    gap: float | None
    optimal: bool
    method: str
    changes_since: int | None
    published_by: str
    published_at: str
    refreshed_at: str | None
    termination: str | None


def release_list(rows: Sequence[Row]) -> list[ListedRelease]:
    """Turn rows of the named query ``list_releases`` into results."""
    return [ListedRelease(**row) for row in rows]


def release_table(releases: Sequence[ListedRelease]) -> Table | str:
    """Lay out releases, one per line."""
    if not releases:
        return "There are no releases yet; `kanon anonymize TABLE K` makes one."
    headings = ("release", "table", "k", "people", "classes", "suppressed", "gap", "changes", "published")
    rows = [
        (
            one.release,
            one.base or "(dropped)",
            str(one.k),
            f"{one.people:,}",
            f"{one.classes:,}",
            f"{one.suppressed_share:.1%}",
            _gap(one.gap, one.optimal, None if one.termination is None else Termination(one.termination)),
            "unknown" if one.changes_since is None else f"{one.changes_since:,}",
            one.published_at[:16],
        )
        for one in releases
    ]
    return listing(headings, rows, frozenset({"k", "people", "classes", "suppressed", "gap", "changes"}))


def report_facts(report: ReleaseReport) -> Table:
    """Lay out a report, one fact per line."""
    bound = (
        "nothing proven"
        if report.lower_bound is None
        else f"{report.lower_bound:,.0f} ({report.bound_method})"
    )
    return facts(
        [
            ("release", report.release),
            ("k", f"{report.k} (recounted: the smallest class has {report.smallest_class:,} people)"),
            ("rows, people", f"{report.rows:,}, {report.people:,}"),
            ("classes", f"{report.classes:,}, {report.average_class:,.1f} people on average"),
            ("suppressed cells", f"{report.suppressed_cells:,} ({report.suppressed_share:.2%})"),
            ("cost", f"{report.weighted_cost:,.0f}, found by {report.method}"),
            ("proven least cost", bound),
            ("gap", _gap(report.gap, report.optimal)),
            ("search", report.termination.words),
            ("time", f"{report.elapsed:.2f} s"),
        ]
    )


def _gap(gap: float | None, optimal: bool, ended: Termination | None = None) -> str:
    if optimal:
        return "optimal"
    words = "unknown" if gap is None else f"{gap:.1%}"
    return f"{words} ({ended})" if ended is not None and ended.is_cut else words
