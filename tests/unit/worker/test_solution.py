"""Solutions as bytes for another process."""

import numpy as np

from kanon_pg.worker.solution import Solution


def test_a_solution_is_the_same_after_its_way_to_another_process():
    parts = Solution.of_parts(np.array([2, 0, 0, 1]), np.array([5, 4, 1, 0]), np.array([3, 1, 2, 7]))
    again = Solution.from_bytes(parts.to_bytes())
    for name in ("row_type", "vector", "rows"):
        assert np.array_equal(getattr(again, name), getattr(parts, name))
        assert getattr(again, name).dtype == np.int64
