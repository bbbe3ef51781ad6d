"""Cover by triples as pattern-guided 3-anonymity with two vectors and three columns.

R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013), Theorem 1.
"""

from collections.abc import Sequence
from itertools import combinations, count

from tests.instances.known import Known, Row

VECTORS = ((1, 2), (0,))
"""Suppressed columns of the two vectors (keep, *, *) and (*, keep, keep)."""

K = 3
FULL_IS_DEAR = (3, 2, 2)
"""Weights under which full suppression never pays, see `set_cover_table`."""

Triple = tuple[int, int, int]


def smallest_set_cover(universe: int, triples: Sequence[Triple]) -> int:
    """Return how few triples cover all elements, by trying all families."""
    for size in range(len(triples) + 1):
        for chosen in combinations(triples, size):
            if len({element for triple in chosen for element in triple}) == universe:
                return size
    raise AssertionError("the triples do not cover the universe")


def set_cover_rows(universe: int, triples: Sequence[Triple]) -> tuple[Row, ...]:
    """Return two rows per element, with symbols of their own, and three per triple."""
    unique = (f"unique {number}" for number in count())
    rows: list[Row] = [
        (f"u{element}", next(unique), next(unique)) for element in range(universe) for _ in range(2)
    ]
    for number, triple in enumerate(triples):
        rows += [(f"u{element}", f"S{number}", f"S{number}") for element in triple]
    return tuple(rows)


def limit(universe: int, triples: Sequence[Triple], most: int) -> int:
    """Return the allowed suppressions s = 4 |U| + 3 |F| + 3 h of the question for `most` triples."""
    return 4 * universe + 3 * len(triples) + 3 * most


def set_cover_table(universe: int, triples: Sequence[Triple]) -> Known:
    """Return the table with weights under which the vector that suppresses everything does no harm.

    The theorem allows two vectors. This package adds the fully suppressed one to every mask, and with
    weights of 1 it can pay to suppress the two rows of an element (2 cells) rather than to open one more
    triple (3 cells). With the weights 3, 2, 2 opening costs 3 and suppressing the two rows 6; so the
    optimum is 8 |U| + 9 |F| + 3 h for a smallest cover of h triples.
    """
    first, second, third = FULL_IS_DEAR
    optimum = (
        2 * universe * (second + third)
        + 3 * len(triples) * first
        + 3 * smallest_set_cover(universe, triples) * (second + third - first)
    )
    rows = set_cover_rows(universe, triples)
    return Known(rows, K, optimum, [list(vector) for vector in VECTORS], FULL_IS_DEAR)
