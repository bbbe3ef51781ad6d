"""Decides, before anything is counted, what a release will contain, and finds or builds its hierarchies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb

from kanon_pg.core.generalization import LevelFields
from kanon_pg.core.privacy_models import MODEL_PARAMETERS, ModelRules, PrivacyModels
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, NameTaken, UnsuitableColumn, UnsuitableRelation
from kanon_pg.hierarchies.build import build
from kanon_pg.hierarchies.storage import held_hierarchy
from kanon_pg.relations.canonical import CanonicalColumn, canonical_columns
from kanon_pg.relations.subject import (
    Roles,
    Subject,
    entity_column,
    refuse_identifying,
    require_quasi_identifiers,
    require_usable,
    resolve,
)
from kanon_pg.release.plan.advice import (
    notice_repeated_identifiers,
    notice_undeclared,
    notice_unique_published,
)
from kanon_pg.release.plan.base import OWNER, require_suitable
from kanon_pg.release.plan.generalized import GeneralizedColumn, HierarchyRequest, level_fields, require_fit
from kanon_pg.release.plan.nodes import require_nodes
from kanon_pg.release.plan.pseudonyms import Pseudonym, require_key_types, require_one_row_each, secret_name
from kanon_pg.release.plan.record import ReleaseRecord, name_to_publish
from kanon_pg.release.plan.request import AnonymizeRequest


def plan_hierarchies(
    db: Database,
    base: RelationFacts,
    columns: tuple[CanonicalColumn, ...],
    requested_hierarchies: tuple[HierarchyRequest, ...],
    role: str,
) -> tuple[GeneralizedColumn, ...]:
    """Return the generalized ones of the quasi-identifiers, in their order.

    Raises
    ------
    UnknownName
        If there is no such column or hierarchy.
    NotPermitted
        If a hierarchy is somebody else's.
    InputError
        If a hierarchy cannot be had as requested.
    """
    by_column = {base.column(requested.column).name: requested for requested in requested_hierarchies}
    chosen = {column.facts.name for column in columns}
    for name in by_column:
        if name not in chosen:
            raise InputError(
                f"Column {base.column(name).identifier} has a hierarchy, but is not a quasi-identifier.",
                hint="Only cells of quasi-identifiers are generalized; leave the hierarchy out.",
            )
        if not base.column(name).runs_no_code:
            raise UnsuitableColumn(
                f"Column {base.column(name).identifier} of type {base.column(name).type} cannot have a "
                "hierarchy: what makes its values of texts may be somebody's function.",
                hint="Cast it to text in a view, and use that as the base.",
            )
    return tuple(
        _generalized(db, base, column, by_column[column.facts.name], role)
        for column in columns
        if column.facts.name in by_column
    )


def _generalized(
    db: Database, base: RelationFacts, column: CanonicalColumn, requested: HierarchyRequest, role: str
) -> GeneralizedColumn:
    if requested.hierarchy is None:
        argument = f"hierarchies, column {column.facts.identifier}"
        built = build(db, base, column.facts, requested.builder, argument=argument)
        require_fit(column, requested, built.hierarchy.height)
        return GeneralizedColumn(
            column, requested, built.output, built.hierarchy.height, rows=json.dumps(built.hierarchy.rows())
        )
    stored = held_hierarchy(db, requested.hierarchy, role)
    require_fit(column, requested, stored.height)
    source = render("stored_nodes", name=Literal(stored.name), version=stored.version)
    return GeneralizedColumn(column, requested, stored.output, stored.height, source=source)


RESERVED = ("kanon_pattern", "kanon_person", "kanon_suppressed")
"""Names of columns that releases add."""

ROW = "kanon_row"
"""Column of a storage that says which row is which; no reader sees it."""


@dataclass(frozen=True, slots=True)
class FigureHierarchy:
    """The hierarchy of a figure of linked tables."""

    rows: str
    """As `kanon_pg.release.plan.generalized.GeneralizedColumn` has them."""
    loss: tuple[float, ...]
    """Loss per level."""
    weight: float
    """Cost of a suppressed cell."""


@dataclass(frozen=True, slots=True)
class LinkedFigures:
    """The people of linked tables, in the place of the rows of the person table."""

    columns: tuple[ColumnFacts, ...]
    """All that is read of them."""
    view: Identifier
    """What has them."""
    figures: tuple[str, ...]
    """Further quasi-identifiers."""
    hierarchies: Mapping[str, FigureHierarchy]
    """Of those that have one."""
    pseudonyms: Mapping[str, Pseudonym]
    """Of the columns of the key."""
    hidden: tuple[str, ...]
    """Columns that the storage has and readers do not see."""
    tables: tuple[int, ...]
    """The OIDs of the tables besides the person table."""

    def of(self, subject: Subject) -> Subject:
        """Return the person table with the columns that are read."""
        facts = replace(subject.relation, columns=self.columns, people=self.view)
        return replace(subject, relation=facts)

    def roles_of(self, roles: Roles) -> Roles:
        """Return roles with the further columns."""
        there = {column.name for column in self.columns}
        kept = there - self.pseudonyms.keys() - {*self.figures}
        quasi, sensitive, insensitive = (
            tuple(name for name in names if name in kept)
            for names in (roles.quasi_identifiers, roles.sensitive, roles.insensitive)
        )
        weights = {name: weight for name, weight in (roles.weights or {}).items() if name in there}
        weights |= {name: one.weight for name, one in self.hierarchies.items()}
        return Roles((), (*quasi, *self.figures), sensitive, (*insensitive, *self.pseudonyms), None, weights)


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """What goes into a release."""

    base: RelationFacts
    """The base relation."""
    name: str
    """Name of the view in schema ``safe``."""
    quasi_identifiers: tuple[CanonicalColumn, ...]
    """Columns in which cells may be suppressed."""
    sensitive: tuple[ColumnFacts, ...]
    insensitive: tuple[ColumnFacts, ...]
    """`sensitive`, `insensitive`: columns published unchanged."""
    entity: CanonicalColumn | None
    """What identifies a person."""
    models: PrivacyModels = field(default_factory=PrivacyModels)
    """What every class must satisfy besides k people."""
    generalized: tuple[GeneralizedColumn, ...] = ()
    """The quasi-identifiers that have a hierarchy; cells of the others are published or suppressed."""
    keys: tuple[CanonicalColumn, ...] = ()
    """Columns that identify a row, where the storage says which row is which; else none."""
    pseudonyms: Mapping[str, Pseudonym] = field(default_factory=dict)
    """Columns in the place of whose values pseudonyms are published; they are insensitive."""
    people: LinkedFigures | None = None
    """What a release of linked tables has besides."""
    subsets: int | None = None
    """Of how many quasi-identifiers each combination is shared by k people; None for all of them."""

    @property
    def model_columns(self) -> tuple[CanonicalColumn, ...]:
        """The sensitive columns that privacy models constrain, none without a model."""
        if not self.models:
            return ()
        return tuple(
            CanonicalColumn(column, Identifier.of(f"s{number}"))
            for number, column in enumerate(self.sensitive, 1)
        )

    @property
    def carried(self) -> tuple[ColumnFacts, ...]:
        """Columns published unchanged, in the base relation's order."""
        unchanged = {column.name for column in self.sensitive + self.insensitive}
        return tuple(column for column in self.base.columns if column.name in unchanged)

    @property
    def readable(self) -> tuple[ColumnFacts, ...]:
        """Those of them whose values readers see."""
        return tuple(column for column in self.carried if column.name not in self.pseudonyms)

    @property
    def hidden(self) -> tuple[ColumnFacts, ...]:
        """Columns that the storage has and readers do not see."""
        return () if self.people is None else tuple(map(self.base.column, self.people.hidden))

    @property
    def levels(self) -> LevelFields:
        """Where the level of each quasi-identifier stands in a pattern vector."""
        return level_fields(self.quasi_identifiers, self.generalized)

    def hierarchy_of(self, column: CanonicalColumn) -> GeneralizedColumn | None:
        """Return the hierarchy of a quasi-identifier, None if its cells are only suppressed."""
        return next((found for found in self.generalized if found.column == column), None)

    def suppressed_in(self, pattern: str, position: int) -> Fragment:
        """Return the condition that a pattern vector suppresses the quasi-identifier at a position."""
        return suppressed_in(self.levels, pattern, position)

    @property
    def read_oids(self) -> tuple[int, ...]:
        """The OIDs of all tables that are read."""
        return self.base.oid, *(() if self.people is None else self.people.tables)

    @property
    def secret(self) -> str | None:
        """Name of the secret of its pseudonyms, if it has any."""
        return next((one.secret.value for one in self.pseudonyms.values()), None)

    @property
    def view(self) -> Identifier:
        """The quoted name of the view that analysts read."""
        return Identifier.of("safe", self.name)


def suppressed_in(fields: LevelFields, pattern: str, position: int) -> Fragment:
    """Return the condition that a pattern vector has a column's top level."""
    offset, height = fields.offsets[position], fields.heights[position]
    if height == 1:
        return Fragment(f"{pattern} & {1 << offset} <> 0")
    return Fragment(f"({pattern} >> {offset}) & {(1 << fields.widths[position]) - 1} = {height}")


MOST_SUBSETS = 200
"""Most sets of columns whose combinations the guard of a release counts."""


def plan_release(
    db: Database, request: AnonymizeRequest, role: str, people: LinkedFigures | None = None
) -> ReleasePlan:
    """Resolve names and roles and refuse what cannot be published.

    Parameters
    ----------
    role : str
        Whose rights count.
    people : LinkedFigures, optional
        Those of linked tables.

    Raises
    ------
    InputError
        With a sentence that says what to change.
    """
    subject = resolve(db, request.relation, role=role)
    base = subject.relation
    if subject.people is not None:
        raise UnsuitableRelation(
            f"{base.identifier} is linked to {subject.people.relation.identifier}, whose people no release "
            "of it counts.",
            hint="Publish it together with its people, if these have a table with a row for each: "
            "kanon_anonymize "
            f"('{subject.people.relation.name}', ..., tables => '{{{base.name}}}'). Or publish a view that "
            "joins the "
            "column which names the person, declared as its entity.",
        )
    require_suitable(db, base)
    require_nodes(db, base)
    pseudonyms: Mapping[str, Pseudonym] = {} if people is not None else _pseudonyms(db, request, subject)
    roles = merged_roles(request, subject, tuple(pseudonyms))
    roles.check(base)
    declared = subject.roles
    if people is not None:
        roles, subject = people.roles_of(roles), people.of(subject)
        base, pseudonyms = subject.relation, people.pseudonyms
        roles.check(base)
    quasi = subject.columns(roles.quasi_identifiers)
    require_quasi_identifiers(base, quasi)
    require_usable(db, subject, quasi)
    columns = canonical_columns(quasi, dict(roles.weights or {}))
    hierarchies = plan_hierarchies(db, base, columns, request.requested_hierarchies, role)
    if people is not None:
        hierarchies = _with_figures(columns, hierarchies, people)
    plan = ReleasePlan(
        base=base,
        name=release_name(db, request, base),
        quasi_identifiers=columns,
        sensitive=subject.columns(roles.sensitive),
        insensitive=subject.columns(roles.insensitive),
        entity=None if people is not None or pseudonyms else subject.entity,
        models=request.models if roles.sensitive else PrivacyModels(),
        generalized=hierarchies,
        pseudonyms=pseudonyms,
        people=people,
        subsets=request.subsets,
    )
    _check_subsets(plan)
    plan.levels.require_room()
    require_countable(db, plan.model_columns, plan.models)
    _check_names(plan)
    require_free_name(db, plan)
    _advise(db, plan, request, declared)
    return plan


def release_name(db: Database, request: AnonymizeRequest, base: RelationFacts) -> str:
    """Return the name of the view in schema ``safe``."""
    return base.name if request.release is None else name_to_publish(db, request.release)


def _pseudonyms(db: Database, request: AnonymizeRequest, subject: Subject) -> dict[str, Pseudonym]:
    """Return the pseudonyms of a table that is published alone, without the name of their secret."""
    if not request.pseudonyms:
        return {}
    columns, relation = subject.columns(request.pseudonyms), subject.relation.identifier
    require_key_types(relation, columns)
    require_one_row_each(subject, columns)
    domain = (Literal(f"{relation}.{column.identifier}") for column in columns)
    secret = Literal(
        secret_name(db, release_name(db, request, subject.relation), subject.relation, request.secret)
    )
    return {column.name: Pseudonym(secret, one) for column, one in zip(columns, domain, strict=True)}


def _with_figures(
    columns: tuple[CanonicalColumn, ...], found: tuple[GeneralizedColumn, ...], people: LinkedFigures
) -> tuple[GeneralizedColumn, ...]:
    """Return hierarchies with those of figures, in the order of the columns."""
    by_name = {one.column.facts.name: one for one in found}
    for column in columns:
        name = column.facts.name
        if name in people.hierarchies and name in by_name:
            raise InputError(
                f"Column {Identifier.of(name)} has the numbers of rows of a linked table, and a hierarchy of "
                "its own.",
                hint="Leave it out of hierarchies.",
            )
        if name in people.hierarchies:
            one = people.hierarchies[name]
            requested = HierarchyRequest(name, loss=one.loss)
            by_name[name] = GeneralizedColumn(column, requested, "text", len(one.loss) - 1, rows=one.rows)
    return tuple(by_name[c.facts.name] for c in columns if c.facts.name in by_name)


def recorded_plan(
    db: Database,
    record: ReleaseRecord,
    base: RelationFacts,
    *,
    weights: Mapping[str, float] | None = None,
    models: PrivacyModels | None = None,
    hierarchies: Sequence[HierarchyRequest] = (),
) -> ReleasePlan:
    """Return the plan of a release as its record has it, whatever was declared since.

    The record has the columns and their roles. What a plan has besides, the caller adds if it needs it.

    Parameters
    ----------
    record : ReleaseRecord
        The record of the release.
    base : RelationFacts
        Its base relation, or one with the same columns.
    weights : mapping, optional
        Cost of a suppressed cell per quasi-identifier.
    models : PrivacyModels, optional
        What every class satisfies besides k people.
    hierarchies : sequence of HierarchyRequest
        What was requested for generalized columns.

    Raises
    ------
    UnknownName
        If a column of the base relation has another name now.
    """
    base = with_people(db, record, base)
    columns = canonical_columns(tuple(map(base.column, record.quasi_identifiers)), dict(weights or {}))
    return ReleasePlan(
        base=base,
        name=record.name,
        quasi_identifiers=columns,
        sensitive=tuple(map(base.column, record.sensitive)),
        insensitive=tuple(map(base.column, record.insensitive)),
        entity=None if record.entity is None else entity_column(base.column(record.entity)),
        models=models if models and record.sensitive else PrivacyModels(),
        generalized=_recorded_hierarchies(db, record, columns, hierarchies),
    )


def with_people(db: Database, record: ReleaseRecord, base: RelationFacts) -> RelationFacts:
    """Return a base relation with the columns that a release of linked tables reads in its place."""
    if record.people_view is None:
        return base
    columns = describe(db, str(record.people_view), OWNER).columns
    shown = tuple(replace(column, selectable=True) for column in columns)
    return replace(base, columns=shown, people=record.people_view)


def _recorded_hierarchies(
    db: Database,
    record: ReleaseRecord,
    columns: tuple[CanonicalColumn, ...],
    requested: Sequence[HierarchyRequest],
) -> tuple[GeneralizedColumn, ...]:
    if not record.generalized:
        return ()
    heights = db.rows(statement("fetch_heights"), record.name)
    outputs = db.rows(statement("series/published_types"), record.name)
    by_name = {column.facts.name: column for column in columns}
    requests = {one.column: one for one in requested}
    return tuple(
        GeneralizedColumn(
            by_name[name], requests.get(name) or HierarchyRequest(name), output["output"], height["height"]
        )
        for name, height, output in zip(record.generalized, heights, outputs, strict=True)
    )


def _advise(db: Database, plan: ReleasePlan, request: AnonymizeRequest, declared: Roles | None) -> None:
    if declared is None and request.quasi_identifiers is None:
        notice_undeclared(db, plan.base)
    elif declared is not None and declared.entity is None and plan.people is None:
        notice_repeated_identifiers(db, plan.base, declared.identifiers)
    notice_unique_published(db, plan.base, plan.readable, plan.sensitive)


def merged_roles(request: AnonymizeRequest, subject: Subject, pseudonyms: tuple[str, ...] = ()) -> Roles:
    """Merge arguments, declaration and defaults: a column that nobody mentions is withheld."""
    known = subject.roles or Roles()
    sensitive = known.sensitive if request.sensitive is None else tuple(request.sensitive)
    if request.quasi_identifiers is None:
        quasi = tuple(column.name for column in subject.quasi_identifiers(but=sensitive))
    else:
        quasi = tuple(request.quasi_identifiers)
    chosen = {*quasi, *sensitive} - {*pseudonyms}
    quasi, sensitive = (tuple(n for n in names if n in chosen) for names in (quasi, sensitive))
    insensitive = tuple(name for name in known.insensitive if name not in {*chosen, *pseudonyms})
    refuse_identifying(subject, (*quasi, *sensitive, *insensitive))
    return Roles((), quasi, sensitive, (*insensitive, *pseudonyms), known.entity, known.weights)


def _check_subsets(plan: ReleasePlan) -> None:
    """Refuse subsets of so many columns that they are no subsets, or that there are too many."""
    if plan.subsets is None:
        return
    columns, size = len(plan.quasi_identifiers), plan.subsets
    if size >= columns:
        raise InputError(
            f"Option subsets is {size}, and there are {columns} quasi-identifiers: that is what a release "
            "promises without it.",
            hint="Leave it out.",
        )
    if comb(columns, size) > MOST_SUBSETS:
        raise InputError(
            f"Of {columns} quasi-identifiers there are {comb(columns, size):,} sets of {size}, each of which "
            f"is counted; at most {MOST_SUBSETS} can be.",
            hint="Give a smaller number, name fewer quasi-identifiers, or leave subsets out, which promises "
            "more.",
        )


def require_countable(db: Database, columns: Sequence[CanonicalColumn], models: PrivacyModels) -> None:
    """Refuse sensitive columns whose values a privacy model cannot count or put in order.

    Raises
    ------
    UnsuitableColumn
        With what to do.
    """
    if not columns:
        return
    asking = " or ".join((", ".join([*MODEL_PARAMETERS][:-1]), [*MODEL_PARAMETERS][-1]))
    facts = tuple(column.facts for column in columns)
    require_equality(db, facts, f"be counted for {asking}")
    for require, _ in COLUMNS.of(models):
        if require is not None:
            for column in columns:
                require(column)


def _require_order(column: CanonicalColumn) -> None:
    if column.kind != "numeric":
        raise UnsuitableColumn(
            f"The values of sensitive column {column.output} have no order that a distance could follow.",
            hint="Take the equal distance, or publish the column in another release.",
        )


COLUMNS: ModelRules[Callable[[CanonicalColumn], None] | None] = ModelRules(
    "the columns of a release",
    {"distinct": None, "frequency": None, "entropy": None, "equal": None, "ordered": _require_order},
)
"""What a sensitive column has to be like besides having an equality."""


def _check_names(plan: ReleasePlan) -> None:
    if not plan.name:
        raise InputError("The release name is empty.", hint="Leave it out to use the table's name.")
    Identifier.of(plan.name)
    published = [c.facts.name for c in plan.quasi_identifiers] + [c.name for c in plan.carried]
    for name in published:
        if name in RESERVED:
            raise UnsuitableColumn(
                f'A column is named "{name}", which a release adds itself.',
                hint="Rename the column, or use a view that renames it. If this is a release, publish what "
                "it is made from.",
            )


def require_free_name(db: Database, plan: ReleasePlan) -> None:
    """Refuse a name that belongs to something else; to be asked again when it is this call's turn.

    Raises
    ------
    NameTaken
        With what to do.
    """
    state = db.row(statement("find_release"), plan.name, plan.base.oid)
    if state["taken"]:
        raise NameTaken(
            f"{plan.view} exists already and is not a release of {plan.base.identifier}.",
            hint="Give the release another name: release => 'other_name'.",
        )
