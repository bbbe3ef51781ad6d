"""The argument ``hierarchies``: hierarchies of columns, how fine these may be published, what levels cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.errors import InputError

LOSSES = ("ncp", "levels")
"""Names of losses: the share of values that a node stands for, and the share of the height."""

_EXAMPLE = """For example: hierarchies => '{"age": "ages", "zip": {"hierarchy": "zips", "lowest": 1}}'."""
_LOSS_HINT = (
    'Give "ncp", "levels", or one number per level from 0 to the top: not falling, the last one 1, '
    "for example [0, 0.2, 0.6, 1]."
)


@dataclass(frozen=True, slots=True)
class HierarchyWish:
    """What is asked for one column.

    Parameters
    ----------
    column : str
        Name of the quasi-identifier.
    hierarchy : str or None
        Name of a stored hierarchy.
    builder : mapping or None
        How to build one from the column instead; exactly one of the two is given.
    lowest : int
        Finest level at which a cell may be published, >= 0.
    loss : str or tuple of float
        One of `LOSSES`, or the loss of a cell per level: 0 to 1, not falling, the last one 1.
    """

    column: str
    hierarchy: str | None = None
    builder: Mapping[str, Any] | None = None
    lowest: int = 0
    loss: str | tuple[float, ...] = "ncp"


def parse_hierarchies(argument: Any) -> tuple[HierarchyWish, ...]:
    """Read the argument ``hierarchies`` as far as it can be judged without the database.

    Parameters
    ----------
    argument : dict or None
        Parsed JSON: column -> name of a stored hierarchy, or an object with ``hierarchy`` or ``builder``,
        and optionally ``lowest`` and ``loss``; further keys belong to the builder.

    Returns
    -------
    tuple of HierarchyWish
        In the order given; empty for None.

    Raises
    ------
    InputError
        With the column, for the first wish that cannot be understood.
    """
    if argument is None:
        return ()
    if not isinstance(argument, Mapping):
        raise InputError("Argument hierarchies must be a JSON object of columns.", hint=_EXAMPLE)
    return tuple(_wish(column, asked) for column, asked in argument.items())


def _wish(column: str, asked: Any) -> HierarchyWish:
    quoted = Identifier.of(column)
    if isinstance(asked, str):
        asked = {"hierarchy": asked}
    if not isinstance(asked, Mapping):
        raise InputError(
            f"The hierarchy of column {quoted} is neither a name nor a JSON object.", hint=_EXAMPLE
        )
    named, built = asked.get("hierarchy"), asked.get("builder")
    if (named is None) == (built is None):
        raise InputError(
            f"Column {quoted} needs either the name of a stored hierarchy or a builder.", hint=_EXAMPLE
        )
    if not isinstance(built if named is None else named, str):
        raise InputError(f"The name of the hierarchy of column {quoted} is no text.", hint=_EXAMPLE)
    rest = {key: value for key, value in asked.items() if key not in ("hierarchy", "lowest", "loss")}
    if named is not None and set(rest) - {"builder"}:
        raise InputError(
            f"The stored hierarchy of column {quoted} takes lowest and loss, and nothing else.", hint=_EXAMPLE
        )
    return HierarchyWish(
        column=column,
        hierarchy=named,
        builder=rest if named is None else None,
        lowest=_lowest(quoted, asked.get("lowest")),
        loss=_loss(quoted, asked.get("loss")),
    )


def _lowest(column: Identifier, lowest: Any) -> int:
    if lowest is None:
        return 0
    if not isinstance(lowest, int) or isinstance(lowest, bool) or lowest < 0:
        raise InputError(
            f"The lowest level of column {column} is not a whole number of at least 0.",
            hint="Level 0 publishes values, level 1 at least their nodes.",
        )
    return lowest


def _loss(column: Identifier, loss: Any) -> str | tuple[float, ...]:
    if loss is None:
        return "ncp"
    if isinstance(loss, str) and loss in LOSSES:
        return loss
    if not isinstance(loss, Sequence) or isinstance(loss, str) or not _is_scale(loss):
        raise InputError(f"The loss of column {column} is not one of those there are.", hint=_LOSS_HINT)
    return tuple(float(number) for number in loss)


def _is_scale(losses: Sequence[Any]) -> bool:
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in losses):
        return False
    rising = all(low <= high for low, high in pairwise(losses))
    return len(losses) >= 2 and rising and losses[0] >= 0 and losses[-1] == 1
