"""Values by priority: the first stay as they are, the rest becomes one node, more of it at each level."""

from __future__ import annotations

from itertools import pairwise

from kanon_pg.core.hierarchy import MAX_HEIGHT, GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.hierarchies.values import ColumnValues

_MOST = 500_000
_LABEL = "(other)"


def priority(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy that merges the least frequent values first, or the last of a given order.

    Parameters
    ----------
    values : ColumnValues
        Values of any type, taken as texts.
    spec : Spec
        ``keep``: how many values stay as they are at each level, falling; half of those below unless given.
        ``order``: values, the most important first; those not named follow, the most frequent first.
        ``label``: what the others are called, ``(other)`` unless given; from the second level on the
        number of the level follows, since there are more of them.

    Raises
    ------
    InputError
        If the numbers do not fall, or the label is one of the values.
    """
    keep, label = spec.wholes("keep", 0, _MOST), spec.text("label") or _LABEL
    named = {text: place for place, text in reversed(list(enumerate(spec.texts("order") or [])))}
    if not {label, *(_numbered(label, level) for level in range(2, MAX_HEIGHT))}.isdisjoint(values.texts):
        raise InputError(
            "The label of the other values is one of the values.", hint='Choose another "label".'
        )
    if keep is not None and (not keep or any(a <= b for a, b in pairwise(keep))):
        raise InputError('"keep" of the priorities must fall.', hint="For example: [20, 10, 5].")
    ranked = sorted(
        zip(values.texts, values.rows, strict=True),
        key=lambda one: (named.get(one[0], len(named)), -one[1], one[0]),
    )
    rank = {text: place for place, (text, _) in enumerate(ranked)}
    counts = list(_halves(len(rank))) if keep is None else keep
    levels = [
        [text if rank[text] < count else _numbered(label, level) for text in values.texts]
        for level, count in enumerate(values.by_level(counts), 1)
    ]
    return from_levels(values.texts, levels, keeps_all=keep is not None)


def _numbered(label: str, level: int) -> str:
    return label if level == 1 else f"{label} {level}"


def _halves(count: int) -> list[int]:
    halves = []
    while count > 1:
        count //= 2
        halves.append(count)
    return halves
