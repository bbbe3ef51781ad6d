"""The whole corpus: every attack, by class."""

from __future__ import annotations

from collections import Counter

from tests.query.attacks import (
    averaging,
    commands,
    complements,
    dependency,
    derived_tables,
    differencing,
    encodings,
    errors,
    filters,
    grouping_sets,
    hashing,
    having,
    identifiers,
    lateral,
    limit_and_order,
    linear_systems,
    listing_aggregates,
    masks,
    mixed_conditions,
    oracles,
    own_functions,
    own_objects,
    packing,
    padding,
    parameters,
    races,
    reaching_functions,
    recursion,
    row_selections,
    rows_and_system_columns,
    search_path,
    selected_values,
    set_operations,
    size,
    statistics,
    subqueries,
    time,
    trackers,
    volatile,
    windows,
)
from tests.query.cases import Attack

_CLASSES = (
    padding,
    set_operations,
    row_selections,
    subqueries,
    lateral,
    derived_tables,
    recursion,
    listing_aggregates,
    windows,
    limit_and_order,
    grouping_sets,
    rows_and_system_columns,
    hashing,
    identifiers,
    masks,
    filters,
    packing,
    selected_values,
    mixed_conditions,
    having,
    errors,
    time,
    reaching_functions,
    volatile,
    encodings,
    size,
    parameters,
    commands,
    search_path,
    own_objects,
    statistics,
    dependency,
    own_functions,
    races,
    differencing,
    complements,
    trackers,
    linear_systems,
    oracles,
    averaging,
)

ATTACKS: tuple[Attack, ...] = tuple(attack for module in _CLASSES for attack in module.ATTACKS)


def counts() -> Counter[str]:
    """Return the number of attacks of each class."""
    return Counter(attack.kind for attack in ATTACKS)
