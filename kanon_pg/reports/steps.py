"""The sections on suggested roles and on what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.audit.findings import AuditResult, Suggestion
from kanon_pg.audit.sentences import next_steps
from kanon_pg.audit.suggest import declaring
from kanon_pg.db.identifiers import Literal
from kanon_pg.reports.document import Section, Statement, Table

_BETWEEN = ",\n    "
"""An argument per line."""


def roles_section(suggestions: Sequence[Suggestion]) -> Section | None:
    """Return the proposed roles; None if nothing is proposed.

    Parameters
    ----------
    suggestions : sequence of Suggestion
        In the table's order.
    """
    if not suggestions:
        return None
    rows = tuple(
        (
            one.column,
            one.role.replace("_", "-"),
            " ".join(one.reasons),
        )
        for one in suggestions
    )
    return Section(
        "roles",
        "Which roles the columns might have",
        sentences=(
            "Proposed from keys, types, names and statistics. Nothing was declared: whoever knows the data "
            "decides.",
        ),
        tables=(
            Table(
                "Proposed roles",
                ("column", "role", "because"),
                rows,
                texts=3,
            ),
        ),
    )


def steps_section(audit: AuditResult, suggestions: Sequence[Suggestion]) -> Section:
    """Return what to do next, with the exact SQL.

    Parameters
    ----------
    audit : AuditResult
        With details.
    suggestions : sequence of Suggestion
        Proposed roles, if any were asked for.
    """
    statements = [Statement(step.why, step.sql) for step in next_steps(audit)]
    is_proposed = any(one.role == "quasi_identifier" for one in suggestions)
    if is_proposed and all(column.role is None for column in audit.column_figures):
        statements.insert(
            0 if not statements else 1,
            Statement(
                "Declare the roles, once they are right.", declaring(audit.relation, suggestions, _BETWEEN)
            ),
        )
    statements.append(
        Statement(
            "Look again whenever the table has changed.",
            f"SELECT * FROM kanon_audit({Literal(audit.relation)}, {audit.k});",
        )
    )
    return Section("next", "What to do next", statements=tuple(statements))
