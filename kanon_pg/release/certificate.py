"""The certificate of a release: what proves its lower bound, for a third party to check.

Nothing but the mapping is stored for it. The row types are counted again, the prices that the mapping
holds are checked against them in the worker, and only where it holds none, because the bound has another
proof, a search finds some within the time limit. So publishing costs no time and no space for certificates
that nobody asks for, a release that was published before can be certified too, and what is written was proven
for the rows that it speaks of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from kanon_pg.core.certificate import CertificateTask, StoredMapping
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import kernels_for
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, ReleaseError, UnknownName, as_given
from kanon_pg.relations.arguments import DEFAULT_SECONDS, check_time_limit
from kanon_pg.relations.counting import count_row_types
from kanon_pg.relations.subject import Subject, no_rows, require_usable, resolve
from kanon_pg.release.linked.publishing import published_people
from kanon_pg.release.plan.base import require_readable_base
from kanon_pg.release.plan.generalized import parse_hierarchies
from kanon_pg.release.plan.planning import ReleasePlan, recorded_plan
from kanon_pg.release.plan.record import ReleaseRecord, existing_release
from kanon_pg.release.publish.node_tables import packed_hierarchies, with_hierarchies
from kanon_pg.runner.parent import certify_in_worker, compile_once, memory_budget
from kanon_pg.runner.session import Caller
from kanon_pg.runner.solver_session import solver_session


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """The arguments of ``kanon_certificate``."""

    release: Annotated[str, Argument("text", "Its name, or its view: 'patients' or 'safe.patients'.")]
    """See `kanon_pg.release.plan.record.existing_release`."""
    time_limit: Annotated[
        float, Argument("interval", "How long to search for a proof, if what was stored is none.")
    ] = DEFAULT_SECONDS
    """Seconds for a search for prices, > 0, where the release has none."""

    def check(self) -> None:
        """Refuse a time limit that is no time."""
        check_time_limit(self.time_limit)


CERTIFICATE = Operation(CertificateRequest)


def certificate(db: Database, request: CertificateRequest, *, role: str) -> str:
    """Return the certificate of a release in JSON, see `kanon_pg.worker.certifier`.

    Parameters
    ----------
    role : str
        Whose rights count: it has to be allowed to read the base relation, about which a certificate tells
        which rows have equal values.

    Raises
    ------
    UnknownName
        If there is no such release.
    NotPermitted
        If the role may not read the base relation.
    InputError
        If it is a release over time.
    ReleaseError
        If the base relation is not what was published.
    """
    request.check()
    record = existing_release(db, request.release)
    proofs = db.rows(statement("fetch_proof"), record.name)
    if not proofs:
        raise UnknownName(f"Release {as_given(record.name)} was dropped meanwhile.")
    proof = proofs[0]
    _require_certifiable(record)
    subject = published_people(db, record, resolve(db, str(record.base), role=role), role)
    base = subject.relation
    require_readable_base(db, base)
    weights = dict(subject.roles.weights or {}) if subject.roles is not None else {}
    parameters = json.loads(proof["parameters"])
    weights |= parameters.get("weights") or {}
    plan = _published_plan(db, record, subject, weights, parameters)
    memory = memory_budget(db)
    compile_once(db, memory, kernels_for("auto", plan.models, has_hierarchies=bool(plan.generalized)))
    solver_session.start()
    with working_memory(db, memory), exact_text(db):
        db.progress("counting")
        with reading(db, base):
            counted = count_row_types(
                db, plan.base.source, plan.quasi_identifiers, plan.entity,
                sensitive=plan.model_columns, memory_bytes=memory,
            )  # fmt: skip
        if not counted.rows:
            raise no_rows(base)
        hierarchies = packed_hierarchies(db, plan, record.nodes)
        row_types = with_hierarchies(plan, counted.row_types, hierarchies)
        task = CertificateTask(
            release=record.name,
            k=record.k,
            patterns=json.loads(proof["patterns"]) if proof["patterns"] else None,
            rows=proof["rows"],
            cost=proof["weighted_cost"],
            seconds=request.time_limit,
            mapping=_stored_mapping(db, record),
            models=plan.models,
        )
        return certify_in_worker(row_types, task, Caller.of(db, memory))


def _published_plan(
    db: Database,
    record: ReleaseRecord,
    subject: Subject,
    weights: Mapping[str, float],
    parameters: Mapping[str, Any],
) -> ReleasePlan:
    """Return the plan by which a release was published; its reader must be allowed all columns."""
    constrained = record.sensitive if PrivacyModels.of(parameters) else ()
    people = () if record.entity is None else (record.entity,)
    require_usable(db, subject, subject.columns([*record.quasi_identifiers, *constrained, *people]))
    return recorded_plan(
        db,
        record,
        subject.relation,
        weights=weights,
        models=PrivacyModels.of(parameters),
        hierarchies=parse_hierarchies(parameters.get("hierarchies")),
    )


def _stored_mapping(db: Database, record: ReleaseRecord) -> StoredMapping:
    found = db.row(statement("read_mapping", mapping=record.mapping))
    whole = StoredMapping(found["keys"], found["patterns"], found["prices"])
    if record.parts is None:
        return whole
    parts = db.row(statement("read_parts", parts=record.parts))
    return StoredMapping(
        whole.keys, whole.patterns, whole.prices, parts["keys"], parts["first_rows"], parts["patterns"]
    )


def _require_certifiable(record: ReleaseRecord) -> None:
    if record.storage is None:
        raise ReleaseError(
            "The base table of this release was dropped, and the release with it.",
            hint="Remove its record: SELECT kanon_drop(...);",
        )
    if record.subsets is not None:
        raise InputError(
            "This release was published with subsets, of which no certificate can be written.",
            detail="A certificate is about classes by all quasi-identifiers.",
            hint="SELECT * FROM kanon.releases has what is proven about it.",
        )
    if record.mapping is None:
        raise InputError(
            "This release is a release over time, of which no certificate can be written.",
            detail="What is proven about it was proven for the rows that entered with each version.",
            hint="SELECT * FROM kanon.releases has what is proven about it.",
        )
