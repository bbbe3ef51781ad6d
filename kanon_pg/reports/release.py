"""The page of a release: what is guaranteed, what became of the table, and what is proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kanon_pg.audit.sentences import counted, percent
from kanon_pg.before_after.reporting import Report
from kanon_pg.errors import in_words
from kanon_pg.reports.document import (
    Bar,
    BarChart,
    BarGroup,
    Document,
    KeyFigure,
    PageFigure,
    Section,
    Table,
    made_on,
    shortened,
    sizes,
    thousands,
)

MOST_DRAWN = 30
"""Columns whose values are drawn; JSON has all of them."""

_LONGEST = 40
"""Letters of a value that are shown."""

_BEFORE_AFTER = (("quiet", "before: the table"), ("safe", "after: the release"))

_TERMS = (
    (
        "Class",
        "All rows of the release that agree on the quasi-identifiers and on which of their cells are "
        "suppressed. Its size is the number of different people in it.",
    ),
    (
        "Quasi-identifier",
        "A column that others may know of a person, such as the date of birth; together such columns single "
        "people out.",
    ),
    (
        "Sensitive column",
        "A column that nobody should be able to connect with a person; it is published as it is.",
    ),
    ("Suppressed cell", "A value that the release leaves out, so that its row joins a larger class."),
    ("Generalized cell", "A value that the release shows coarser, such as a decade in place of a date."),
    (
        "Prosecutor, journalist, marketer",
        "Attackers who know that somebody is in the table, who look anybody up in a register, and who link "
        "everybody (El Emam and Dankar 2008; El Emam et al. 2009). No register is known here but the table "
        "itself, so that the journalist's risk is at most the prosecutor's.",
    ),
    (
        "Association",
        "Cramer's V of two columns: 0 if they have nothing to do with each other, 1 if one tells the other.",
    ),
)


def release_page(report: Report, *, made: datetime | None = None) -> Document:
    """Return the page of a report about a release; parts that the report lacks are left out."""
    sections = (
        Section("guarantee", "What is guaranteed", tuple(report["guarantee"])),
        Section("not-promised", "What is not guaranteed", tuple(report["not_promised"])),
        *(_compared(report) if "columns" in report else ()),
        *((_curve(report),) if report.get("curve") else ()),
        _proof(report),
    )
    name = report["view"]
    return Document(
        title=f"What {name} keeps of its table",
        subtitle=_subtitle(report),
        verdict=f"By {_known(report)} everybody in {name} is among at least {report['k']} people."
        if "columns" in report
        else report["notes"][0],
        is_bad="columns" not in report,
        sentences=tuple(_in_short(report)),
        advice=_advice(report),
        key_figures=tuple(_key_figures(report)),
        sections=sections,
        terms=_TERMS,
        made=f"Made by kanon_pg{made_on(made)}. It contains no value and no count of fewer than "
        f"{report['k']} people.",
    )


def _subtitle(report: Report) -> str:
    people = "" if report["entity"] is None else f" (told apart by {report['entity']})"
    version = "" if report["version"] is None else f", version {report['version']}"
    refreshed = "" if report["refreshed_at"] is None else f", refreshed {report['refreshed_at']}"
    table = "a table that was dropped" if report["table"] is None else report["table"]
    return (
        f"{counted(report['rows'], 'row')} of {counted(report['people'], 'person', 'people')}{people}, from "
        f"{table}; published {report['published_at']}{refreshed} (UTC) by {report['published_by']}{version}; "
        f"k = {report['k']}."
    )


def _known(report: Report) -> str:
    some = report.get("subsets")
    return "its quasi-identifiers" if some is None else f"any {some} of its quasi-identifiers"


def _in_short(report: Report) -> Iterator[str]:
    is_news = report.get("table_has_changed", True)
    yield from report["notes"] if is_news else ()
    yield (
        f"{counted(report['suppressed_cells'], 'cell')} of the quasi-identifiers "
        f"({percent(report['suppressed_share'])}) {'is' if report['suppressed_cells'] == 1 else 'are'} "
        "suppressed."
    )
    risk = report.get("risk")
    if risk:
        one, other = risk["before"]["prosecutor"], risk["after"]["prosecutor"]
        yield (
            f"Somebody who knows {in_words(risk['known'])} of a person picks the right one with a chance of "
            f"{percent(one['average'])} on average in the table, of {percent(other['average'])} in the "
            f"release; at worst {percent(one['highest'])} and {percent(other['highest'])}."
        )
    two = (report.get("counts") or {}).get("two")
    if two:
        yield f"Counts by two columns are off by {percent(_error(two))} on average{_how(two)}."
    yield report["proof"]["sentence"]
    yield from () if is_news else report["notes"]


def _error(errors: Mapping[str, Any]) -> float:
    share: float = errors["as_published"] if errors["scaled"] is None else errors["scaled"]
    return share


def _how(errors: Mapping[str, Any]) -> str:
    return "" if errors["scaled"] is None else ", if they are scaled up for rows with suppressed cells"


def _advice(report: Report) -> str:
    if "columns" not in report:
        return "Nothing of it can be read. If the table was dropped, remove the record with kanon_drop."
    if report["table_has_changed"]:
        return "The table has changed since: publish it anew, or refresh the release, then report again."
    return "Give analysts the release in place of the table, and publish it anew when the table has changed."


def _key_figures(report: Report) -> Iterator[KeyFigure]:
    yield KeyFigure(thousands(report["k"]), "people at least look the same")
    yield KeyFigure(percent(report["suppressed_share"]), "of the quasi-identifiers' cells are suppressed")
    if "risk" in report:
        yield KeyFigure(
            percent(report["risk"]["after"]["prosecutor"]["average"]),
            "chance of picking somebody, on average",
        )
    two = (report.get("counts") or {}).get("two")
    if two:
        yield KeyFigure(percent(_error(two)), "error of counts by two columns")


def _compared(report: Report) -> Iterator[Section]:
    yield _columns(report)
    yield _values(report)
    yield _class_sizes(report)
    yield _risk(report)
    if report["associations"]["changed_most"]:
        yield _associations(report)
    if report["counts"]["two"]:
        yield _counts(report)
    for place, table in enumerate(report["linked"], 1):
        yield _table(report, table, f"table-{place}")


def _role(column: Mapping[str, Any]) -> str:
    role: str = column["role"]
    return role.replace("_", "-")


def _columns(report: Report) -> Section:
    quasi = [column for column in report["columns"] if column["role"] == "quasi_identifier"]
    groups = tuple(
        BarGroup(
            column["column"],
            (
                Bar(column["suppressed_share"], f"{percent(column['suppressed_share'])} suppressed", "risk"),
                *(
                    (Bar(share, f"{percent(share)} generalized", "quiet"),)
                    if (share := column["generalized_share"])
                    else ()
                ),
            ),
        )
        for column in quasi
    )
    most = max(quasi, key=lambda column: column["suppressed_share"])
    figure = PageFigure(
        "columns-figure",
        "Share of cells that are suppressed or generalized",
        f"Of {counted(len(quasi), 'column')} {most['column']} has the most suppressed cells, "
        f"{percent(most['suppressed_share'])}.",
        BarChart(groups, longest=1.0),
        Table(
            "What became of each column",
            ("column", "role", "vanished", "suppressed", "generalized"),
            tuple(
                (
                    column["column"],
                    _role(column),
                    _vanished_count(column),
                    percent(column["suppressed_share"]),
                    percent(column["generalized_share"]),
                )
                for column in report["columns"]
            ),
            texts=2,
            note="Vanished: different values of the table that no row of the release shows.",
        ),
    )
    sentences = [sentence for column in quasi for sentence in _vanished(column, report["k"])]
    unchanged = [column["column"] for column in report["columns"] if column["role"] != "quasi_identifier"]
    if unchanged:
        verb = "is" if len(unchanged) == 1 else "are"
        sentences.append(f"{in_words(unchanged)} {verb} published unchanged.")
    return Section("columns", "What became of each column", tuple(sentences), (figure,))


def _vanished_count(column: Mapping[str, Any]) -> str:
    vanished = column["vanished"]
    return thousands(None if vanished is None else vanished["different"])


def _vanished(column: Mapping[str, Any], k: int) -> Iterator[str]:
    vanished = column["vanished"]
    if not vanished or not vanished["different"]:
        return
    named = [f"{_short(one['value'])} ({thousands(one['before'])} rows)" for one in vanished["named"]]
    text = f"{counted(vanished['different'], 'value')} of {column['column']} vanished"
    if not named:
        yield f"{text}; none is named, because fewer than {k} people have each of them."
        return
    others = f"; {counted(vanished['others'], 'other')}" if vanished["others"] else ""
    yield f"{text}: {in_words(named)}{others}."


def _values(report: Report) -> Section:
    first = (
        "Rows that have a value, or a value in a range, in the table and in the release. What fewer than "
        f"{report['k']} people have is not shown by itself."
    )
    sentences, figures = _value_figures(report, "values")
    return Section("values", "Values before and after", (first, *sentences), figures)


def _value_figures(report: Report, section: str) -> tuple[list[str], tuple[PageFigure, ...]]:
    drawn = [column for column in report["columns"] if column["values"]][:MOST_DRAWN]
    figures = tuple(_value_figure(column, f"{section}-{n}", report) for n, column in enumerate(drawn, 1))
    untold = [column["column"] for column in report["columns"] if not column["values"]]
    sentences = [f"Nothing can be shown of {in_words(untold)}."] if untold else []
    left = len(report["columns"]) - len(untold) - len(drawn)
    if left:
        sentences.append(f"{counted(left, 'more column is', 'more columns are')} in the output of --json.")
    return sentences, figures


def _table(report: Report, table: Mapping[str, Any], section: str) -> Section:
    """Return what became of a further table."""
    title = f"What {table['view']} shows of its table"
    if not table["rows"]:
        return Section(section, title, ("It or its table has no rows now; kanon.health says what to do.",))
    sentences, figures = _value_figures({**report, **table}, section)
    sentences += [text for column in table["columns"] for text in _vanished(column, report["k"])]
    if table["counts"]:
        sentences.append(
            "Counts by a quasi-identifier of the person and a sensitive column of this table are off by "
            f"{percent(_error(table['counts']))} on average{_how(table['counts'])}."
        )
    shown, there = counted(table["rows"], "row"), table["table_rows"]
    if there is None:
        first = f"It shows {shown}; values of fewer than {report['k']} people could be told by comparing it."
    else:
        first = f"It shows {shown}; the table has about {thousands(there)}."
    return Section(section, title, (first, *sentences), figures)


def _short(value: str) -> str:
    return shortened(value, _LONGEST) or "(empty text)"


def _value_figure(column: Mapping[str, Any], identity: str, report: Report) -> PageFigure:
    rows = report["rows"]
    of = report["table_rows"] or rows
    is_same = column["role"] != "quasi_identifier" and all(
        one["before"] == one["after"] for one in column["values"]
    )
    groups, lines = list[BarGroup](), list[tuple[str, ...]]()
    same = list[Bar]()
    for one in column["values"]:
        before, after = one["before"], one["after"]
        bars = [Bar(after, f"{thousands(after)} ({percent(after / rows)})", "safe")]
        if before is not None and not is_same:
            share = percent(min(1.0, before / of))
            bars.insert(0, Bar(before, f"{thousands(before)} ({share})", "quiet"))
        if is_same:
            same.append(replace(bars[0], label=_short(one["value"])))
        else:
            groups.append(BarGroup(_short(one["value"]), tuple(bars)))
        lines.append((_short(one["value"]), thousands(before), thousands(after)))
    if column["suppressed"]:
        text = f"{thousands(column['suppressed'])} ({percent(column['suppressed_share'])})"
        groups.append(BarGroup("suppressed", (Bar(column["suppressed"], text, "risk"),)))
        lines.append(("suppressed", thousands(0), thousands(column["suppressed"])))
    if same:
        groups.append(BarGroup("", tuple(same)))
    notes = []
    if column["shown_level"]:
        notes.append(
            f"Cells that are shown finer are counted with the nodes of level {column['shown_level']} of the "
            "hierarchy."
        )
    if not column["is_compared"]:
        notes.append("The table's values are left out.")
    elif not is_same:
        notes.append(f"Before: rounded to multiples of {report['k']}.")
    legend = _BEFORE_AFTER if column["is_compared"] else _BEFORE_AFTER[1:]
    if is_same:
        legend = (("safe", "in the table and in the release"),)
    hidden = (("risk", "suppressed in the release"),) if column["suppressed"] else ()
    most = max(column["values"], key=lambda one: one["after"])
    return PageFigure(
        identity,
        f"{column['column']} ({_role(column)})",
        f"Bars of {counted(len(column['values']), 'value')}. Most rows of the release, "
        f"{thousands(most['after'])}, have {_short(most['value'])}.",
        BarChart(tuple(groups), (*legend, *hidden)),
        Table(
            f"Rows by values of {column['column']}",
            ("value", "before", "after"),
            tuple(lines),
        ),
        " ".join(notes),
    )


def _class_sizes(report: Report) -> Section:
    k = report["k"]
    groups = tuple(
        BarGroup(
            f"{sizes(one['from'], one['to'])} people",
            (
                Bar(one["before"], thousands(one["before"]), "risk" if one["to"] < k else "quiet"),
                Bar(one["after"], thousands(one["after"]), "safe"),
            ),
        )
        for one in report["class_sizes"]
    )
    lines = tuple(
        (sizes(one["from"], one["to"]), thousands(one["before"]), thousands(one["after"]))
        for one in report["class_sizes"]
    )
    return Section(
        "classes",
        "How large the groups of alike people are",
        (
            f"The release has {counted(report['classes'], 'class', 'classes')} of "
            f"{sizes(report['smallest_class'], report['largest_class'])} people, "
            f"{report['average_class']:,.1f} on average.",
        ),
        (
            PageFigure(
                "class-sizes",
                "People by the size of their smallest class",
                f"{counted(len(groups), 'pair')} of bars, before and after.",
                BarChart(
                    groups,
                    (("risk", f"before: in classes of fewer than {k}"), *_BEFORE_AFTER),
                ),
                Table(
                    "People by the size of their smallest class",
                    ("people in the class", "people before", "people after"),
                    lines,
                ),
                f"Before: rounded to multiples of {k}.",
            ),
        ),
    )


def _measures(risk: Mapping[str, Any], k: int) -> tuple[tuple[str, float | None], ...]:
    return (
        ("prosecutor, at worst", risk["prosecutor"]["highest"]),
        ("prosecutor, on average", risk["prosecutor"]["average"]),
        ("journalist, at worst", risk["journalist"]["highest"]),
        ("journalist, on average", risk["journalist"]["average"]),
        ("marketer: share of right guesses", risk["marketer"]),
        (f"people whose risk is above 1 in {k}", risk["share_above"]),
    )


def _risk(report: Report) -> Section:
    risk, k = report["risk"], report["k"]
    after = dict(_measures(risk["after"], k))
    wide = risk["with_insensitive"]
    all_published = {} if wide is None else dict(_measures(wide, k))
    groups, lines = [], []
    for name, before in _measures(risk["before"], k):
        one = after[name]
        bars = [Bar(before or 0.0, _told(before, k), "risk"), Bar(one or 0.0, _told(one, k), "safe")]
        groups.append(BarGroup(name, tuple(bars)))
        line = [name, _told(before, k), _told(one, k)]
        lines.append((*line, *([_told(all_published[name], k)] if wide else [])))
    sentences = [f"By {in_words(risk['known'])}, as in the table and as in the release."]
    if wide is not None:
        beside = [name for name in wide["known"] if name not in risk["known"]]
        sentences.append(
            f"Who knows {in_words(beside)} as well, which the release shows unchanged, picks the right "
            f"person with a chance of {percent(wide['prosecutor']['average'])} on average and "
            f"{percent(wide['prosecutor']['highest'])} at worst."
        )
    return Section(
        "risk",
        "How likely somebody is found",
        tuple(sentences),
        (
            PageFigure(
                "risk-figure",
                "Risk before and after",
                "Pairs of bars. "
                + "; ".join(f"{line[0]}: {line[1]} before, {line[2]} after" for line in lines)
                + ".",
                BarChart(
                    tuple(groups),
                    (("risk", "before: the table"), ("safe", "after: the release")),
                    1.0,
                ),
                Table(
                    "Risk by attacker",
                    ("attacker", "before", "after", *(("with insensitive columns",) if wide else ())),
                    tuple(lines),
                ),
            ),
        ),
    )


def _told(share: float | None, k: int) -> str:
    return f"not told: fewer than {k} people, or all but those" if share is None else percent(share)


def _associations(report: Report) -> Section:
    found = report["associations"]
    groups, lines = [], []
    for pair in found["changed_most"]:
        name = in_words(pair["columns"])
        after = "unknown" if pair["after"] is None else f"{pair['after']:.2f}"
        groups.append(
            BarGroup(
                name,
                (
                    Bar(pair["before"], f"{pair['before']:.2f}", "quiet"),
                    Bar(pair["after"] or 0.0, after, "safe"),
                ),
            )
        )
        lines.append((name, f"{pair['before']:.2f}", after))
    first = found["changed_most"][0]
    return Section(
        "associations",
        "Which columns belong together less, or more",
        (
            f"Of {counted(found['pairs'], 'pair')} of quasi-identifiers and sensitive columns these changed "
            "most: Cramer's V of the values above, in the release of the rows in which neither cell is "
            "suppressed.",
        ),
        (
            PageFigure(
                "associations-figure",
                "Association before and after",
                f"{counted(len(groups), 'pair')} of bars; the first is {in_words(first['columns'])}.",
                BarChart(tuple(groups), _BEFORE_AFTER, 1.0),
                Table("Cramer's V of pairs of columns", ("columns", "before", "after"), tuple(lines)),
            ),
        ),
    )


def _counts(report: Report) -> Section:
    rows = []
    for name, words in (("two", "two columns"), ("three", "three columns")):
        errors = report["counts"][name]
        if errors:
            scaled = "–" if errors["scaled"] is None else percent(errors["scaled"])  # noqa: RUF001
            rows.append((words, thousands(errors["tables"]), percent(errors["as_published"]), scaled))
    return Section(
        "counts",
        "How wrong counts on the release are",
        (
            "Rows are counted by the values above of two or three quasi-identifiers and sensitive columns, "
            "in the release and in the table. The error of a table of counts is the sum of all differences, "
            "as a share of the sum of the true counts; this is the mean over the tables.",
            "Suppressed cells are unknown: rows that have some are left out. Scaled means that the counts "
            "of the others are multiplied by all rows / rows left, as if the unknown ones were distributed "
            "alike.",
        ),
        tables=(Table("Error of counts by", ("columns", "tables", "as published", "scaled"), tuple(rows)),),
    )


def _curve(report: Report) -> Section:
    points: Sequence[Mapping[str, Any]] = report["curve"]
    bars = tuple(
        Bar(
            point["suppressed_share"],
            percent(point["suppressed_share"]) + (" (chosen)" if point["k"] == report["k"] else ""),
            "safe" if point["k"] == report["k"] else "quiet",
            label=f"k = {point['k']:,}",
        )
        for point in points
    )
    return Section(
        "curve",
        "What other k would cost",
        ("Suppressed cells if cells are only suppressed, without hierarchies and privacy models.",),
        (
            PageFigure(
                "curve-figure",
                "Share of suppressed cells over k",
                f"{counted(len(bars), 'bar')}, of k from {points[0]['k']} to {points[-1]['k']}.",
                BarChart((BarGroup("", bars),), (("safe", "chosen"), ("quiet", "others"))),
                Table(
                    "What each k costs",
                    ("k", "suppressed", "proven to be the least"),
                    tuple(
                        (
                            f"{point['k']:,}",
                            percent(point["suppressed_share"]),
                            "yes" if point["optimal"] else "no",
                        )
                        for point in points
                    ),
                ),
            ),
        ),
    )


def _proof(report: Report) -> Section:
    proof = report["proof"]
    facts = [("cost", f"{proof['cost']:,.6g}"), ("found by", proof["method"])]
    if proof["lower_bound"] is not None:
        facts.append(("at least, proven", f"{proof['lower_bound']:,.6g}"))
        facts.append(("gap", percent(proof["gap"] or 0.0)))
    if proof["bound_method"]:
        facts.append(("proven by", proof["bound_method"]))
    if proof["search"]:
        facts.append(("the search ended", proof["search"]))
    return Section(
        "proof",
        "What is proven about the cost",
        (proof["sentence"],),
        tables=(Table("Certificate", ("fact", "figure"), tuple(facts), texts=2),),
    )
