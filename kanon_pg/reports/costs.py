"""The sections on what k-anonymity costs, and on what releases changed."""

from __future__ import annotations

from kanon_pg.audit.findings import AuditResult, ReleaseRisk, RiskFigures
from kanon_pg.audit.sentences import about_not_compared, about_together, counted, percent
from kanon_pg.curves import Curve, CurvePoint
from kanon_pg.errors import in_words
from kanon_pg.release.compare.composition import NOT_SEEN
from kanon_pg.reports.document import Bar, BarChart, BarGroup, PageFigure, Section, Table, counts, thousands


def curve_section(curve: Curve, k: int) -> Section:
    """Return the cost of each k; one of them was audited."""
    weight = curve.rows * curve.row_weight
    shares = [percent(point.weighted_cost / weight) for point in curve.points]
    sentences = [
        "A release hides single cells until every class has at least k people. This is the share of cells of "
        f"{_named(curve.quasi_identifiers)} that each k costs."
    ]
    for point, share in zip(curve.points, shares, strict=True):
        if point.k == k:
            words = f" ({point.termination.words}: a longer search may find less)"
            cut = words if point.termination.is_cut else ""
            sentences.append(f"k = {k} costs {counted(point.suppressed_cells, 'cell')}, {share}{cut}.")
    first, last = curve.points[0], curve.points[-1]
    ended_early = sum(point.termination.is_cut for point in curve.points)
    figure = PageFigure(
        "cost-curve",
        "Share of suppressed cells over k",
        f"Bars that grow from {shares[0]} at k = {thousands(first.k)} to {shares[-1]} at k = "
        f"{thousands(last.k)}; {sum(point.optimal for point in curve.points)} of "
        f"{counted(len(curve.points), 'bar')} proven to be the least"
        + (f", {ended_early} from searches that a limit cut." if ended_early else "."),
        _bars(curve),
        Table(
            "What each k costs",
            ("k", "suppressed cells", "share", "at least", "classes", "average class", "search"),
            tuple(_point(point, weight) for point in curve.points),
        ),
    )
    return Section("curve", "What each k would cost", tuple(sentences), (figure,))


def _bars(curve: Curve) -> BarChart:
    """Return the cost of each k, and how much of it is proven to be necessary."""
    weight = curve.rows * curve.row_weight
    bars = []
    for point in curve.points:
        share = point.weighted_cost / weight
        proven = share if point.optimal else (point.lower_bound or 0.0) / weight
        cut = f" {_CUT}" if point.termination.is_cut else ""
        bars.append(Bar(share, f"{percent(share)}{cut}", "safe", label=f"k = {point.k:,}", proven=proven))
    legend = [("safe", "suppressed cells, proven to be necessary")]
    if not all(point.optimal for point in curve.points):
        has_cut = any(point.termination.is_cut for point in curve.points)
        note = f"; {_CUT}: a limit cut the search" if has_cut else ""
        legend.append(("tint", f"found, but may be avoidable{note}"))
    return BarChart((BarGroup("", tuple(bars)),), tuple(legend))


_CUT = "cut"
"""Mark of costs whose search a limit ended."""


def _named(columns: tuple[str, ...], most: int = 6) -> str:
    return in_words(columns) if len(columns) <= most else f"{len(columns)} quasi-identifiers"


def _point(point: CurvePoint, weight: float) -> tuple[str, ...]:
    bound = point.lower_bound
    return (
        thousands(point.k),
        thousands(point.suppressed_cells),
        percent(point.weighted_cost / weight),
        thousands(None) if bound is None else percent(bound / weight),
        thousands(point.classes),
        f"{point.average_class:,.1f}",
        point.termination.words,
    )


def releases_section(audit: AuditResult) -> Section | None:
    """Return the releases of the table beside it; None if there is none."""
    if not audit.releases:
        return None
    return Section(
        "releases",
        "Before and after the release" if len(audit.releases) == 1 else "Before and after the releases",
        sentences=tuple(_sentence(release) for release in audit.releases),
        figures=tuple(_figure(release, place) for place, release in enumerate(audit.releases, 1)),
    )


_TOGETHER = "What the releases disclose together"


def together_section(audit: AuditResult) -> Section | None:
    """Return the disclosure of several releases together, or that it was not checked; None for one."""
    not_checked = about_not_compared(audit)
    sentences = () if not_checked is None else (not_checked,)
    if not audit.together:
        return Section("together", _TOGETHER, sentences=sentences) if sentences else None
    return Section(
        "together",
        _TOGETHER,
        sentences=(about_together(audit.together[0]), *sentences, NOT_SEEN),
        tables=(
            Table(
                "People by how many are like them in all of these releases",
                (
                    "releases",
                    "k",
                    "people",
                    "below k",
                    "fewest",
                    "on average",
                    "rows not seen",
                ),
                tuple(
                    (
                        in_words(one.releases),
                        f"{one.k}",
                        *counts(one.people, one.people_below, one.smallest),
                        thousands(None) if one.average is None else f"{one.average:,.1f}",
                        thousands(one.unseen_rows),
                    )
                    for one in audit.together
                ),
            ),
        ),
    )


def _sentence(release: ReleaseRisk) -> str:
    before, after = release.before, release.after
    return (
        f"Release {release.release} (k = {release.k}) hides {counted(release.suppressed_cells, 'cell')} "
        f"({percent(release.suppressed_share)}). The chance of picking the right person falls from "
        f"{percent(before.prosecutor_risk)} to {percent(after.prosecutor_risk)} at worst, and from "
        f"{percent(before.prosecutor_average)} to {percent(after.prosecutor_average)} on average."
    )


def _measures(risk: RiskFigures) -> tuple[tuple[str, float], ...]:
    return (
        (f"chance above {percent(risk.threshold)}: share of people", risk.share_above),
        ("chance of being picked, at worst", risk.prosecutor_risk),
        ("chance of being picked, on average", risk.prosecutor_average),
        ("right guesses if everybody is linked", risk.marketer_risk),
    )


def _losses(release: ReleaseRisk) -> tuple[tuple[str, str], ...]:
    """Return the losses of a release when it was published, as far as they are known."""
    divergence = release.marginal_divergence
    losses = (
        ("certainty lost, of all", _share(release.certainty_penalty)),
        ("height of generalization, of all", _share(release.generalization_height)),
        ("information lost, of all", _share(release.entropy_loss)),
        ("divergence of the columns, in bits", None if divergence is None else f"{divergence:.3f}"),
    )
    return tuple((name, text) for name, text in losses if text is not None)


def _share(loss: float | None) -> str | None:
    return None if loss is None else percent(loss)


def _figure(release: ReleaseRisk, place: int) -> PageFigure:
    figures_after = dict(_measures(release.after))
    pairs = [(name, before, figures_after[name]) for name, before in _measures(release.before)]
    groups = tuple(
        BarGroup(name, (Bar(before, percent(before), "risk"), Bar(after, percent(after), "safe")))
        for name, before, after in pairs
    )
    figures = "; ".join(
        f"{name}: {percent(before)} before, {percent(after)} after" for name, before, after in pairs
    )
    legend = (("risk", f"before: {release.before.relation}"), ("safe", f"after: {release.after.relation}"))
    return PageFigure(
        f"release-{place}",
        f"Risk before and after release {release.release}",
        f"Pairs of bars. {figures}.",
        BarChart(groups, legend, 1.0),
        Table(
            f"Before and after release {release.release}",
            ("measure", "before", "after"),
            (
                *((name, percent(before), percent(after)) for name, before, after in pairs),
                ("smallest class", *counts(release.before.smallest_class, release.after.smallest_class)),
                ("classes", *counts(release.before.classes, release.after.classes)),
                ("people alone", *counts(release.before.sample_uniques, release.after.sample_uniques)),
                *((name, "none", after) for name, after in _losses(release)),
            ),
        ),
    )
