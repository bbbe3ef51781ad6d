"""The section on class sizes."""

from __future__ import annotations

from kanon_pg.audit.amounts import counted, percent
from kanon_pg.audit.findings import AuditResult, ClassSizes, Whole
from kanon_pg.audit.sentences import column_list
from kanon_pg.reports.bars import Bar, bar_chart
from kanon_pg.reports.document import Figure, Section, Table
from kanon_pg.reports.wording import number, sizes


def classes_section(audit: AuditResult) -> Section | None:
    """Return the histogram of class sizes by the quasi-identifiers; None if it was not counted.

    Parameters
    ----------
    audit : AuditResult
        With details.
    """
    whole = audit.quasi_identifiers
    if whole is None or not whole.sizes:
        return None
    together = named_columns(whole.columns, audit)
    share = percent(whole.classes_at_risk / whole.classes)
    return Section(
        "classes",
        "How large the groups of alike people are",
        sentences=(
            f"By {together} the table falls into {counted(whole.classes, 'class', 'classes')} of people "
            f"who share their values. {number(whole.classes_at_risk)} of them ({share}) have fewer than "
            f"{audit.k} people; the smallest has {number(whole.smallest_class)}.",
        ),
        figures=(_figure(audit.k, whole),),
    )


def named_columns(columns: tuple[str, ...], audit: AuditResult, most: int = 6) -> str:
    """Return columns as a sentence has them: by name if they are few."""
    if len(columns) <= most:
        return column_list(columns)
    if len(columns) == len(audit.columns):
        return f"all {len(columns)} audited columns"
    return f"the {len(columns)} quasi-identifiers"


def risky_bars(bars: tuple[ClassSizes, ...], k: int) -> int | None:
    """Return the number of the first bar of classes with at least k people; None if there is no border."""
    first = sum(bar.smallest < k for bar in bars)
    return first if 0 < first < len(bars) else None


def _figure(k: int, whole: Whole) -> Figure:
    bars = [
        Bar(
            sizes(bar.smallest, bar.largest),
            bar.classes,
            number(bar.classes),
            "risk" if bar.smallest < k else "safe",
        )
        for bar in whole.sizes
    ]
    tallest = max(whole.sizes, key=lambda bar: bar.classes)
    return Figure(
        "class-sizes",
        "Number of classes by their size in people",
        f"{counted(len(bars), 'bar')}. Most classes, {number(tallest.classes)}, have "
        f"{sizes(tallest.smallest, tallest.largest)} people; {number(whole.classes_at_risk)} of "
        f"{number(whole.classes)} have fewer than {k}.",
        bar_chart(bars, risky_bars(whole.sizes, k), f"at least {k} people"),
        Table(
            "Classes by their size",
            ("people in the class", "classes", "people", "rows"),
            tuple(
                (
                    sizes(bar.smallest, bar.largest),
                    number(bar.classes),
                    number(bar.people),
                    number(bar.rows),
                )
                for bar in whole.sizes
            ),
        ),
    )
