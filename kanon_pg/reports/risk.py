"""The sections on class sizes and on how likely people are found again."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.audit.findings import AuditResult, ClassSizes, CombinedClasses, RiskFigures
from kanon_pg.audit.sentences import counted, percent
from kanon_pg.core.risk import DEEPEST
from kanon_pg.errors import in_words
from kanon_pg.reports.document import (
    Bar,
    BarChart,
    BarGroup,
    Kind,
    PageFigure,
    Section,
    Table,
    counts,
    sizes,
    thousands,
)


def classes_section(audit: AuditResult) -> Section | None:
    """Return the histogram of class sizes by the quasi-identifiers; None if it was not counted."""
    combined = audit.quasi_identifiers
    if combined is None or not combined.sizes:
        return None
    together = named_columns(combined.columns, audit)
    share = percent(combined.classes_at_risk / combined.classes)
    return Section(
        "classes",
        "How large the groups of alike people are",
        sentences=(
            f"By {together} the table falls into {counted(combined.classes, 'class', 'classes')} of "
            f"people who share their values. {thousands(combined.classes_at_risk)} of them ({share}) have "
            f"fewer than {audit.k} people; the smallest has {thousands(combined.smallest_class)}.",
        ),
        figures=(_class_sizes(audit.k, combined),),
    )


def named_columns(columns: tuple[str, ...], audit: AuditResult, most: int = 6) -> str:
    """Return columns as a sentence has them: by name if they are few."""
    if len(columns) <= most:
        return in_words(columns)
    if len(columns) == len(audit.columns):
        return f"all {len(columns)} audited columns"
    return f"the {len(columns)} quasi-identifiers"


def _divided(bars: Sequence[tuple[ClassSizes, Bar]], k: int, title: str) -> BarChart:
    """Return bars of which those with at least k people in a class stand below a title."""
    risky = tuple(bar for sizes, bar in bars if sizes.smallest < k)
    others = tuple(bar for sizes, bar in bars if sizes.smallest >= k)
    groups = (BarGroup("", risky), BarGroup(title if risky else "", others))
    return BarChart(tuple(group for group in groups if group.bars))


def _class_sizes(k: int, combined: CombinedClasses) -> PageFigure:
    bars = [
        (bar, Bar(bar.classes, thousands(bar.classes), _kind(bar, k), label=sizes(bar.smallest, bar.largest)))
        for bar in combined.sizes
    ]
    tallest = max(combined.sizes, key=lambda bar: bar.classes)
    return PageFigure(
        "class-sizes",
        "Number of classes by their size in people",
        f"{counted(len(bars), 'bar')}. Most classes, {thousands(tallest.classes)}, have "
        f"{sizes(tallest.smallest, tallest.largest)} people; {thousands(combined.classes_at_risk)} of "
        f"{thousands(combined.classes)} have fewer than {k}.",
        _divided(bars, k, f"at least {k} people"),
        Table(
            "Classes by their size",
            ("people in the class", "classes", "people", "rows"),
            tuple(
                (sizes(bar.smallest, bar.largest), *counts(bar.classes, bar.people, bar.rows))
                for bar in combined.sizes
            ),
        ),
    )


_UNCOUNTED = " There was no time for combinations of more columns."


def risk_section(audit: AuditResult) -> Section | None:
    """Return the risk distribution and the risk by attackers; None if it was not counted."""
    risk, combined = audit.risk, audit.quasi_identifiers
    if risk is None:
        return None
    tables = [_attackers(risk)]
    if risk.people_by_unique:
        tables.append(_uniques(risk))
    if risk.homogeneous:
        tables.append(_homogeneous(risk))
    return Section(
        "risk",
        "How likely somebody is found",
        sentences=tuple(_sentences(audit, risk)),
        figures=() if combined is None or not combined.sizes else (_risky_classes(audit.k, combined),),
        tables=tuple(tables),
    )


def _sentences(audit: AuditResult, risk: RiskFigures) -> list[str]:
    sentences = [
        f"Somebody who knows {named_columns(risk.columns, audit)} of a person in the table picks the right "
        f"one with a chance of {percent(risk.prosecutor_risk)} at worst and "
        f"{percent(risk.prosecutor_average)} on average."
    ]
    if risk.sample_uniques:
        alone = counted(risk.sample_uniques, "person has", "people have")
        sentences.append(f"{alone} a combination of values that nobody else has.")
    for one in risk.homogeneous:
        if one.people:
            sentences.append(
                f"For {counted(one.people, 'person', 'people')} it is not even necessary to pick: everybody "
                f"in the class has the same {one.column}."
            )
    return sentences


def _risky_classes(k: int, combined: CombinedClasses) -> PageFigure:
    people = sum(bar.people for bar in combined.sizes)
    bars = []
    for bar in combined.sizes:
        text = f"{thousands(bar.people)} ({percent(bar.people / people)})"
        bars.append((bar, Bar(bar.people, text, _kind(bar, k), label=_chance(bar))))
    at_risk = sum(bar.people for bar in combined.sizes if bar.smallest < k)
    return PageFigure(
        "risk-distribution",
        "People by the chance of picking them",
        f"{counted(len(bars), 'bar')}, the greatest chance first. For {thousands(at_risk)} of "
        f"{thousands(people)} people ({percent(at_risk / people)}) the chance is greater than 1 in {k}.",
        _divided(bars, k, f"at most 1 in {k}"),
        Table(
            "People by the chance that an attacker who knows their quasi-identifiers picks the right one",
            ("chance", "people", "share"),
            tuple(
                (_chance(bar), thousands(bar.people), percent(bar.people / people)) for bar in combined.sizes
            ),
        ),
    )


def _kind(bar: ClassSizes, k: int) -> Kind:
    return "risk" if bar.smallest < k else "safe"


def _chance(bar: ClassSizes) -> str:
    if bar.largest == 1:
        return "certain"
    return f"1 in {sizes(bar.smallest, bar.largest)}"


def _attackers(risk: RiskFigures) -> Table:
    basis = f"looks anybody up in a register (known from: {risk.journalist_basis})"
    return Table(
        "Risk by attacker (El Emam and Dankar 2008; El Emam et al. 2009)",
        ("attacker", "what is known", "at worst", "on average"),
        (
            (
                "prosecutor",
                "that the person is in the table",
                percent(risk.prosecutor_risk),
                percent(risk.prosecutor_average),
            ),
            ("journalist", basis, percent(risk.journalist_risk), percent(risk.journalist_average)),
            (
                "marketer",
                "links everybody; share of right guesses",
                thousands(None),
                percent(risk.marketer_risk),
            ),
        ),
        texts=2,
    )


def _uniques(risk: RiskFigures) -> Table:
    figures = zip(risk.people_by_unique, risk.minimal_uniques, strict=False)
    return Table(
        "How many columns suffice to be the only one",
        ("columns", "people", "combinations of values"),
        tuple(
            (f"{size}", thousands(people), thousands(sets)) for size, (people, sets) in enumerate(figures, 1)
        ),
        note="A person is counted once, with the fewest columns that suffice."
        + ("" if len(risk.minimal_uniques) >= min(DEEPEST, len(risk.columns)) else _UNCOUNTED),
    )


def _homogeneous(risk: RiskFigures) -> Table:
    return Table(
        "Sensitive columns that a class gives away, since everybody in it has the same value",
        ("sensitive column", "people", "classes", "rows"),
        tuple((one.column, *counts(one.people, one.classes, one.rows)) for one in risk.homogeneous),
    )
