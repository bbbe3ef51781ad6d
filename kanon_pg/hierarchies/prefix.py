"""Beginnings of texts: 13053, 1305*, 130** ..."""

from __future__ import annotations

from itertools import pairwise

from kanon_pg.core.hierarchy import MAX_HEIGHT, GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.hierarchies.values import ColumnValues

_LONGEST = 500


def prefixes(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy that keeps fewer and fewer characters from the left.

    What is not kept is masked up to the length of the longest value. A value that is no longer than what is
    kept stays as it is.

    Parameters
    ----------
    values : ColumnValues
        Values of any type, taken as texts.
    spec : Spec
        ``keep``: characters kept at each level, falling; unless given, one less each level, or ``step`` less.
        ``mask``: one character, ``*`` unless given.

    Raises
    ------
    InputError
        If the keys do not fit the values.
    """
    longest = max(len(text) for text in values.texts)
    step, mask = spec.whole("step", 1, _LONGEST), spec.text("mask")
    keep = spec.wholes("keep", 0, _LONGEST)
    if keep is not None and step is not None:
        raise InputError(
            '"keep" and "step" of the prefixes cannot be given together.', hint="Give one of them."
        )
    mask = "*" if mask is None else mask
    if len(mask) != 1:
        raise InputError('"mask" of the prefixes must be one character.', hint='For example "*".')
    if keep is not None and (not keep or any(a <= b for a, b in pairwise(keep))):
        raise InputError('"keep" of the prefixes must fall.', hint="For example: [4, 3, 2].")
    kept = list(range(longest - (step or 1), 0, -(step or 1))) if keep is None else keep
    if len(kept) >= MAX_HEIGHT:
        raise InputError(
            f"The longest value has {longest} characters, too many for a level each.",
            hint='Say how many to keep per level, for example {"builder": "prefix", "keep": [8, 4, 2]}.',
        )

    def node(text: str, count: int) -> str:
        return text if len(text) <= count else text[:count] + mask * (longest - count)

    levels = [[node(text, count) for text in values.texts] for count in values.by_level(kept)]
    return from_levels(values.texts, levels, keeps_all=keep is not None)
