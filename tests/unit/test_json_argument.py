"""JSON arguments: what is nested too deeply is refused alike by every version of Python."""

import pytest

from kanon_pg.db.operation import read_json
from kanon_pg.errors import InputError


@pytest.mark.parametrize("depth", [1, 64])
def test_arguments_of_a_sensible_depth_are_read(depth: int) -> None:
    value = read_json("[" * depth + "1" + "]" * depth)
    for _ in range(depth):
        (value,) = value
    assert value == 1


@pytest.mark.parametrize("depth", [65, 500, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deeper_ones_are_refused(depth: int, opening: str, closing: str) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        read_json(opening * depth + "1" + closing * depth)
