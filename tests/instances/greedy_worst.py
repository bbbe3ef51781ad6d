"""A table on which the greedy heuristic is as far from the optimum as it can get.

R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013), Theorem 4.
"""

from __future__ import annotations

from itertools import count

from tests.instances.known import Known, Row


def greedy_trap(width: int) -> Known:
    """Return the tight example with k = m = `width` columns and m^2 rows.

    m rows hold the symbol 1 everywhere; for each column there are m - 1 rows that hold a symbol of their
    own there and 1 elsewhere. Vectors suppress nothing, one column, or everything. The optimum suppresses
    one cell per row, m^2 in all; the heuristic, by the papers' rule or the strict one, keeps the first m
    rows together and suppresses everything else, (m - 1) m^2 cells.
    """
    unique = (f"unique {number}" for number in count())
    rows: list[Row] = [("1",) * width] * width
    for column in range(width):
        for _ in range(width - 1):
            row = ["1"] * width
            row[column] = next(unique)
            rows.append(tuple(row))
    patterns = [[], *([column] for column in range(width))]
    return Known(tuple(rows), width, width * width, patterns)
