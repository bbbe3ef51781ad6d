"""The way in: ``check(text, snapshot, options) -> Verdict``.

Interface
---------
``check(text: str, snapshot: CatalogSnapshot, options: Options = Options()) -> Verdict`` never raises on
any text. An accepted verdict holds ``canonical_sql``; run it once, read-only, with ``search_path`` set to
``pg_catalog, pg_temp``, and for every row compare every column of ``verdict.hidden`` (they follow the
``verdict.outputs``) with its ``minimum``. NULL or smaller: refuse everything. No row at all and
``verdict.empty_refused``: refuse. Any error while running: the same refusal. ``verdict.entity_sets``
are statements for the ledger, to be run in the same snapshot.
"""

from __future__ import annotations

from kanon_pg.queries.check.bind.plans import Binder
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.findings import Finding, Refusal
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import Output, Plan
from kanon_pg.queries.check.plan.typed import number_type, size_of
from kanon_pg.queries.check.read.selects import read_query
from kanon_pg.queries.check.rules import findings
from kanon_pg.queries.check.types import LABEL
from kanon_pg.queries.check.verdict import OutputColumn, Verdict
from kanon_pg.queries.check.write.canonical import CanonicalWriter, parameters
from kanon_pg.queries.check.write.entity_sets import combined_sql, entity_sets

__all__ = ["CatalogSnapshot", "Finding", "Options", "Verdict", "check"]


def check(text: str, snapshot: CatalogSnapshot, options: Options | None = None) -> Verdict:
    """Check a query against the catalog and say what may run instead of it.

    Parameters
    ----------
    text : str
        The query as the analyst wrote it.

    Returns
    -------
    Verdict
        Accepted with the canonical SQL, or refused with at least one finding.
    """
    chosen = options if options is not None else Options()
    try:
        return _checked(text, snapshot, chosen)
    except Refusal as refusal:
        return _refused([refusal.finding])
    except RecursionError:
        return _refused(
            [Finding("Q001", 0, len(text), "The query is too deeply nested.", "Write a simpler query.")]
        )
    except Exception:
        # a defect of the checker must not let a query pass, nor show anything but this sentence
        return _refused(
            [Finding("Q099", 0, len(text), "The query cannot be checked.", "Write it differently.")]
        )


def _checked(text: str, snapshot: CatalogSnapshot, options: Options) -> Verdict:
    plan = Binder(snapshot).plan(read_query(text, options.limits), outermost=True)
    size = sum(size_of(item) for level in plan.levels() for item in level.expressions())
    if size > options.limits.expressions:
        return _refused(
            [Finding("Q001", 0, len(text), "The query has too many parts.", "Write a simpler query.")]
        )
    found = list(findings(plan, options))
    if found:
        return _refused(found)
    canonical = CanonicalWriter(plan, options)
    sql = canonical.sql()
    if len(sql) > options.limits.rendered:
        return _refused(
            [Finding("Q001", 0, len(text), "The query grows too large.", "Write a simpler query.")]
        )
    return _accepted(plan, canonical, sql, options)


def _accepted(plan: Plan, canonical: CanonicalWriter, sql: str, options: Options) -> Verdict:
    read = [item for level in plan.levels() for item in level.instances if item.relation is not None]
    protected = {
        item.relation.oid for item in read if item.relation is not None and item.protection is not None
    }
    return Verdict(
        accepted=True,
        canonical_sql=sql,
        outputs=tuple(_output(output) for output in plan.branches[0].outputs),
        hidden=tuple(canonical.hidden),
        parameters=parameters(plan, canonical.numbers()),
        protected=tuple(sorted(protected)),
        relations=tuple(sorted({item.relation.oid for item in read if item.relation is not None})),
        entity_sets=entity_sets(plan, canonical, options),
        combined_sql=combined_sql(plan, options),
        empty_refused=bool(protected) and options.mode == "reject",
    )


def _output(output: Output) -> OutputColumn:
    kind = number_type(output.expression)
    return OutputColumn(output.name, "text" if kind == LABEL else kind)


def _refused(findings: list[Finding]) -> Verdict:
    ordered = sorted(set(findings), key=lambda item: (item.start, item.end, item.code, item.sentence))
    return Verdict(accepted=False, findings=tuple(ordered))
