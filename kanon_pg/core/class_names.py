"""What classes of labels are called: the heaviest of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

_WIDEST = 60
_SEPARATOR = ", "
OTHER = "other"
MISSING = "(none)"

Weighed = tuple[str | None, int]
"""A label, None for a missing one, and what it weighs."""


def class_names(
    labels: Sequence[Weighed], classes: Sequence[int], count: int, other: int | None = None
) -> list[str]:
    """Return for each class the names of its heaviest labels and how many more there are, all different.

    Parameters
    ----------
    labels : sequence of (str or None, int)
        With their weights.
    classes : sequence of int
        Of each label, from 0.
    count : int
        Number of classes.
    other : int, optional
        Class of what belongs nowhere else.

    Examples
    --------
    >>> class_names([("b", 1), ("a", 2), ("c", 5)], [0, 0, 1], 2)
    ['a, b', 'c']
    """
    members: list[list[Weighed]] = [[] for _ in range(count)]
    for label, number in zip(labels, classes, strict=True):
        members[number].append(label)
    names: list[str] = []
    taken = set[str]()
    for number, inside in enumerate(members):
        name = OTHER if number == other else _listed(inside)
        while name in taken:
            name = f"{name} ({number + 1})"
        taken.add(name)
        names.append(name)
    return names


def _listed(inside: Sequence[Weighed]) -> str:
    heaviest = sorted(inside, key=lambda label: (-label[1], label[0] is None, label[0]))
    shown: list[str] = []
    width = 0
    for label, _ in heaviest:
        name = MISSING if label is None else label
        width += len(name) + len(_SEPARATOR)
        if shown and width > _WIDEST:
            return f"{_SEPARATOR.join(shown)} and {len(inside) - len(shown)} more"
        shown.append(name)
    return _SEPARATOR.join(shown)
