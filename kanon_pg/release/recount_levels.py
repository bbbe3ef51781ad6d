"""Counts again what generalized cells cost, on what will be published and by the release's own tables."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import VerificationFailed
from kanon_pg.release.generalized import node_parts, number
from kanon_pg.release.plan import ReleasePlan


@dataclass(frozen=True, slots=True)
class LevelCosts:
    """What the cells of generalized columns cost, summed over rows and these columns.

    Parameters
    ----------
    weighted : float
        Loss that was asked for, times the weights of the columns.
    shares : float
        Share of the hierarchy's values that a node stands for, its own apart; 1 for a suppressed cell.
    heights : float
        Level as a share of the height.
    """

    weighted: float = 0.0
    shares: float = 0.0
    heights: float = 0.0


def recount_levels(
    db: Database, plan: ReleasePlan, storage: Identifier, nodes: tuple[Identifier, ...]
) -> LevelCosts:
    """Count what generalized cells cost, and check that each is what it may be.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan : ReleasePlan
        What is published.
    storage : Identifier
        The materialized view.
    nodes : tuple of Identifier
        The table of each generalized column.

    Raises
    ------
    VerificationFailed
        If a cell is none of its hierarchy at its level, or below the lowest level.
    """
    weighted = shares = heights = 0.0
    fields = plan.levels
    for generalized, table in zip(plan.generalized, nodes, strict=True):
        position = generalized.number - 1
        found = db.row(
            statement(
                "recount_levels",
                storage=storage,
                table=table,
                output=generalized.column.output,
                nodes=node_parts(generalized),
                offset=fields.offsets[position],
                mask=(1 << fields.widths[position]) - 1,
                height=generalized.height,
                lowest=generalized.wish.lowest,
                null_losses=Fragment(
                    f"ARRAY[{', '.join(str(number(loss)) for loss in generalized.null_losses())}]"
                ),
            )
        )
        if found["strange"]:
            raise VerificationFailed(
                f"The recount found cells of column {generalized.column.output} that their hierarchy "
                "does not have at their level; nothing was published.",
                hint="This is a defect: please report it.",
            )
        weighted += generalized.column.weight * found["loss"]
        shares += found["share"]
        heights += found["levels"] / generalized.height
    return LevelCosts(weighted, shares, heights)
