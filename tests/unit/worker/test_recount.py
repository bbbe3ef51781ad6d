"""The check of a solution believes no solver: what it refuses, whoever made it."""

import numpy as np
import pytest

from kanon_pg.errors import SolverError
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.packing import pack

SIX_ROWS = [("a",)] * 6


def divided(*rows: int) -> Solution:
    """Return one row type in two parts, the second of them suppressed."""
    return Solution(np.array([0, 0]), np.array([0, 1]), np.array(rows))


def test_a_row_type_may_be_divided_where_every_row_is_a_person() -> None:
    found = recount(pack(SIX_ROWS), divided(4, 2), np.array([0, 1]))
    assert (found.smallest, found.suppressed_cells) == (2, 2)


def test_a_row_type_whose_people_are_told_apart_is_not_divided() -> None:
    with pytest.raises(SolverError, match="divides row types whose people are told apart"):
        recount(pack(SIX_ROWS, people=range(6)), divided(3, 3), np.array([0, 1]))


@pytest.mark.parametrize("rows", [(7, -1), (6, 0), (3, 2), (4, 3)])
def test_every_row_is_held_exactly_once(rows: tuple[int, int]) -> None:
    with pytest.raises(SolverError, match="does not hold every row exactly once"):
        recount(pack(SIX_ROWS), divided(*rows), np.array([0, 1]))
