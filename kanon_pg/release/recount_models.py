"""Measures a release again: whether every class satisfies the privacy models that were asked for.

The figures are those of ``kanon_measure``, computed by its own query on what will be published. Nothing is
shared with the solver, nor with the guard of the view but the definitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from kanon_pg.core.request import PrivacyModels
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import VerificationFailed
from kanon_pg.release.canonical import CanonicalColumn
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.recount import Recount

_TOLERANCE = 2e-9
"""Twice that of the guard: entropies and distances are sums of rounded numbers, added in another order."""

_ROWS_WORTH_STORING = 4
"""Rows per class from which storing the classes is cheaper than counting them twice."""


def require_models(
    db: Database, plan: ReleasePlan, storage: Identifier, found: Recount, *, is_whole: bool
) -> None:
    """Measure a filled storage and compare it with the privacy models of its plan.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan : ReleasePlan
        What is published, under which models.
    storage : Identifier
        The materialized view.
    found : Recount
        What `kanon_pg.release.recount.recount` found in it.
    is_whole : bool
        Whether it holds every row of the base relation. Otherwise its own distribution is not the one
        that t-closeness compares with, and only the guard can judge that.

    Raises
    ------
    VerificationFailed
        If a class violates a model.
    """
    for column in plan.judged:
        for figures in _measured(db, plan, storage, column, found):
            if any(_violated(plan.models, figures, is_whole=is_whole)):
                raise VerificationFailed(
                    f"The recount found a class that violates a privacy model in column {column.output}; "
                    "nothing was published.",
                    hint="This is a defect: please report it.",
                )


def _violated(models: PrivacyModels, figures: Row, *, is_whole: bool) -> Iterator[bool]:
    if models.p is not None:
        yield figures["distinct_l"] < models.p
    if models.l is not None:
        if models.diversity == "entropy":
            yield math.log(figures["entropy_l"]) < math.log(models.l) - _TOLERANCE
        else:
            yield figures["distinct_l" if models.diversity == "distinct" else "frequency_l"] < models.l
    if models.t is not None and is_whole:
        yield figures["t_ordered" if models.distance == "ordered" else "t_equal"] > models.t + _TOLERANCE


def _measured(
    db: Database, plan: ReleasePlan, storage: Identifier, column: CanonicalColumn, found: Recount
) -> Iterator[Row]:
    """Yield the figures of a column in rows, which readers can count, and in people if these differ."""
    parts = {
        "relation": storage,
        "columns": [{"column": c.output, "alias": c.alias} for c in plan.quasi_identifiers],
        "keys": Fragment(", ".join([*(str(c.alias) for c in plan.quasi_identifiers), "suppressed"])),
        "suppressed": Identifier.of("kanon_pattern"),
        "sensitive": column.output,
        "ordered": plan.models.t is not None and plan.models.distance == "ordered",
        "many_classes": found.classes * _ROWS_WORTH_STORING > found.rows,
        "equals": _equality(db, plan, column),
        "people_once": True,
    }
    people: list[Any] = [] if plan.entity is None else [Identifier.of("kanon_person")]
    for entity in (None, *people):
        yield db.row(statement("measure_sensitive", **parts, entity=entity))


def _equality(db: Database, plan: ReleasePlan, column: CanonicalColumn) -> Fragment:
    """The operator of GROUP BY, whatever the search_path is."""
    own = db.rows(statement("measure_equality"), plan.base.oid, column.facts.name)
    schema, name = (own[0]["schema"], own[0]["name"]) if own else ("pg_catalog", "=")
    return Fragment(f"OPERATOR({Identifier.of(schema)}.{name})")
