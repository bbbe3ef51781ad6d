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
        "`avg(bonus / salary)`: a quotient by a column that is no whole number",
        "Each person would be weighed by a number of their own.",
        ("bonus quota", "discount rate of each order", "salary at full time"),
        "`sum(bonus) / nullif(sum(salary), 0)`",
        "SELECT grade, sum(bonus) / nullif(sum(salary), 0) FROM employees WHERE bonus IS NOT NULL"
        " GROUP BY grade",
    ),
    RefusedForm(
        "`avg(age(a, b))`",
        "Months have different lengths, so it is no mean of days.",
        ("mean age as an interval", "mean tenure with age()"),
        "`avg(a - b)`, or `avg(extract(year from age(a, b)))`",
        "SELECT site, avg(coalesce(left_on, date '2024-12-31') - hired) FROM employees GROUP BY site",
    ),
    RefusedForm(
        "`avg(shipped_at::date - ordered_at::date)` of moments with a time zone",
        "The time zone of a session would move the days.",
        ("delivery time in days",),
        "`avg(shipped_at - ordered_at)`",
        "SELECT store, avg(shipped_at - ordered_at) FROM orders GROUP BY store",
    ),
    RefusedForm(
        "`sum(o.items * p.price)`: a product with a column of another table",
        "Somebody may have chosen the numbers of that table.",
        ("list price against amount",),
        "`sum(n * price)` over a subquery that groups by `price`",
        "SELECT category, sum(n * price) FROM (SELECT p.category, p.price, sum(o.items) AS n FROM orders o"
        " JOIN products p ON p.product = o.product GROUP BY p.category, p.price) AS q GROUP BY category",
    ),
    RefusedForm(
        "`avg(o.ordered_at::date - c.signup)`: columns of two tables of people in one figure",
        "What is joined repeats and would weigh people.",
        ("days from signup to order",),
        "a figure of each table",
        "SELECT segment, avg(date '2024-12-31' - signup) FROM customers GROUP BY segment",
    ),
)
