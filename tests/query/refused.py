"""Which honest queries to the registers are refused, why, and the form that passes instead, if any."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RefusedForm:
    """A kind of query that the checker refuses.

    Parameters
    ----------
    what : str
        As the documentation calls it.
    why : str
        One sentence.
    queries : tuple of str
        Names of the queries of the workload.
    instead : str
        What to write; empty if nothing passes.
    example : str
        A query to the registers in that form, which is answered.
    """

    what: str
    why: str
    queries: tuple[str, ...]
    instead: str = ""
    example: str = ""


REFUSED_FORMS = (
    RefusedForm(
        "`max(cost)`, `min(day)` of people",
        "It is one person's value.",
        ("first and last day", "dearest stay of a ward", "highest and lowest salary"),
        "`percentile_cont(0.95) WITHIN GROUP (ORDER BY cost)`; for dates `percentile_disc`",
        "SELECT ward, percentile_cont(0.05) WITHIN GROUP (ORDER BY cost), percentile_cont(0.95) WITHIN GROUP"
        " (ORDER BY cost) FROM stays GROUP BY ward",
    ),
    RefusedForm(
        "lists of people, their names or their rows",
        "They are single people.",
        ("names of a department", "best customers", "first look at the table"),
    ),
    RefusedForm(
        "`avg(bonus / salary)`: a quotient by a column of decimals",
        "Each person would be weighed by a number of their own.",
        ("bonus quota", "discount rate of each order"),
        "`sum(bonus) / nullif(sum(salary), 0)`",
        "SELECT grade, sum(bonus) / nullif(sum(salary), 0) FROM employees WHERE bonus IS NOT NULL"
        " GROUP BY grade",
    ),
    RefusedForm(
        "`avg(o.ordered_at::date - c.signup)`: columns of two tables of people in one figure",
        "What is joined repeats and would weigh people.",
        ("days from signup to order",),
        "a figure of each table",
        "SELECT segment, avg(date '2024-12-31' - signup) FROM customers GROUP BY segment",
    ),
)
