"""The command ``measure``: how anonymous a table, view or release is."""

from __future__ import annotations

from typing import Annotated

from rich.table import Table

from kanon_pg import client
from kanon_pg.cli.arguments import AnyRelation, column_list, fields_in
from kanon_pg.cli.connection import Dsn, answer_of
from kanon_pg.cli.output import Json, errors_as, facts, show
from kanon_pg.measures import MEASURE, Measures


def measure(
    relation: AnyRelation,
    quasi_identifiers: Annotated[
        list[str] | None,
        column_list("--quasi-identifier", "In place of the declared ones.", "--qi"),
    ] = None,
    sensitive: Annotated[
        list[str] | None, column_list("--sensitive", "In place of the declared ones.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Measure how anonymous a table, view or release is.

    Needs no more than the right to read it; works also where kanon is not installed. Without a
    declaration every column is a quasi-identifier, except single-column keys.
    """
    arguments = fields_in(MEASURE, locals())
    with errors_as(as_json):
        found = answer_of(client.measure, dsn, as_json, arguments)
        show(found, as_json, measures_facts)


def measures_facts(found: Measures) -> Table:
    """Lay out measures, one fact per line."""
    sizes = f"{found.average_class:,.1f} people on average, {found.largest_class:,} at most"
    lines = [
        ("rows, people", f"{found.rows:,}, {found.people:,}"),
        ("k", f"{found.k:,} (people in the smallest class)"),
        ("classes", f"{found.classes:,}, {sizes}"),
        ("prosecutor risk", f"{found.prosecutor_risk:.2%}"),
        ("journalist risk", f"{found.journalist_risk:.2%}"),
        ("marketer risk", f"{found.marketer_risk:.2%}"),
        *_sensitive_facts(found),
        ("discernibility", f"{found.discernibility:,}"),
        ("average class / k", f"{found.average_class_ratio:,.3f}"),
        ("usefulness", f"{found.usefulness:,.3f} (smaller is better)"),
        *_loss_facts(found),
    ]
    return facts(lines)


def _loss_facts(found: Measures) -> list[tuple[str, str]]:
    if found.certainty_penalty is None or found.generalization_height is None:
        return []
    lines = [
        ("certainty penalty", f"{found.certainty_penalty:.2%} (when published; 0 % keeps every value)"),
        ("generalization height", f"{found.generalization_height:.2%}"),
    ]
    if found.entropy_loss is not None and found.marginal_divergence is not None:
        lines.append(("entropy loss", f"{found.entropy_loss:.2%}"))
        lines.append(("divergence of columns", f"{found.marginal_divergence:,.4f} bits"))
    return lines


def _sensitive_facts(found: Measures) -> list[tuple[str, str]]:
    if found.distinct_l is None:
        return [("sensitive columns", "none: l, p, t, delta and beta are not defined")]
    ordered = "" if found.t_ordered is None else f", ordered {found.t_ordered:.4f}"
    counted = f"entropy {found.entropy_l:,.3f}, frequency {found.frequency_l:,.3f}"
    return [
        ("l-diversity", f"distinct {found.distinct_l:,}, {counted}"),
        ("p-sensitivity", f"{found.p:,}"),
        ("t-closeness", f"equal {found.t_equal:.4f}{ordered}"),
        ("delta-disclosure", f"{found.delta_disclosure:,.4f}"),
        ("beta-likeness", f"{found.beta_likeness:,.4f}"),
    ]
