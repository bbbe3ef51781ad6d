"""The people of linked tables: defines what a release reads of them, in the place of the person table."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.db.catalog import RelationFacts, describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, reading, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import NameTaken, UnsuitableColumn
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.subject import Subject, resolve
from kanon_pg.release.linked.figures import (
    LONGEST,
    ColumnFigure,
    NumbersFigure,
    column_figures,
    column_parts,
    numbers,
    numbers_figures,
    published,
    require_single_values,
    there,
)
from kanon_pg.release.linked.tables import (
    LinkedGroup,
    LinkedTable,
    key_columns,
    linked_group,
    linked_rows,
    record_group,
)
from kanon_pg.release.plan.advice import notice_unique_published
from kanon_pg.release.plan.base import OWNER, require_suitable
from kanon_pg.release.plan.planning import (
    FigureHierarchy,
    LinkedFigures,
    merged_roles,
    release_name,
    require_countable,
)
from kanon_pg.release.plan.pseudonyms import Pseudonym, secret_name
from kanon_pg.release.plan.request import AnonymizeRequest
from kanon_pg.release.publish.telling import refuse_generated_columns


@dataclass(frozen=True, slots=True)
class PeopleOfTables:
    """Linked tables, and what is read of their people."""

    group: LinkedGroup
    """The tables."""
    figures: tuple[NumbersFigure, ...]
    """The numbers of rows that somebody could know."""
    planned: LinkedFigures
    """What the plan of the release takes from it."""
    secret: str
    """Name of the secret of all pseudonyms."""
    names: Mapping[int, str]
    """Per OID of a further table the name of its view."""
    models: PrivacyModels
    """What the sensitive columns of further tables satisfy in each class."""

    def pseudonym(self, table: LinkedTable, text: str) -> Fragment:
        """Return the pseudonym of a row, by the text of its key."""
        return Pseudonym(Literal(self.secret), table.domain).of(text)

    def constrained(self, table: LinkedTable) -> tuple[CanonicalColumn, ...]:
        """Return the columns of a further table that privacy models constrain, none without a model."""
        names = table.roles.sensitive if self.models else ()
        found = [column for column in table.shown if column.name in names]
        return tuple(CanonicalColumn(c, Identifier.of(f"s{number}")) for number, c in enumerate(found, 1))

    @property
    def sensitive(self) -> tuple[CanonicalColumn, ...]:
        """All columns of further tables that privacy models constrain."""
        return tuple(column for table in self.group.tables for column in self.constrained(table))

    def figure_of(self, table: LinkedTable) -> NumbersFigure | None:
        """Return the figure that has the numbers of a table's rows, if it has one."""
        top = self.group.top_of(table).facts.oid
        return next((one for one in self.figures if table.is_known and one.table.facts.oid == top), None)


def define_people(db: Database, request: AnonymizeRequest, role: str) -> PeopleOfTables | None:
    """Resolve the tables of a request and define what is read of their people.

    Returns
    -------
    PeopleOfTables or None
        None if a single table is published, of which nobody can follow several rows.

    Raises
    ------
    KanonError
        If they cannot be published together; with what to do.
    """
    if not (request.tables or request.pseudonyms):
        return None
    subject = resolve(db, request.relation, role=role)
    roles = merged_roles(request, subject)
    if request.tables:
        require_suitable(db, subject.relation)
        group = linked_group(db, subject, request.tables, request.rows or {}, role)
        _require_key(subject, group, request.pseudonyms or ())
    elif _follows_rows(request, subject):
        require_suitable(db, subject.relation)
        group = record_group(db, subject, roles, request.rows or {})
        db.notice(
            f"Rows of {subject.relation.identifier} can be followed by their pseudonym, so that each "
            "person's class is that of all their rows. What others could know of the rows is published of "
            "the person."
        )
    else:
        return None
    root, reader = subject.relation, require_reader(db, subject.relation)
    roles.check(root)
    name, token = release_name(db, request, root), secrets.token_hex(4)
    names = _free_names(db, group, name, named=name != root.name)
    secret = secret_name(db, name, root, request.secret)
    columns = column_figures(db, group, request.figures or {})
    figures = numbers_figures(group)
    rows = db.row(statement("estimate_rows"), str(root.identifier))["rows"]
    with reading(db, root):
        require_single_values(db, columns)
        (people_count,) = db.read(statement("count_rows", relation=group.people.typed()))
        hierarchies = {one.name: _hierarchy(db, one, people_count["rows"]) for one in figures}
    for table in group.tables:
        facts = replace(table.facts, oid=root.oid)  # read by the reader of the person table
        sensitive = [column for column in table.shown if column.name in table.roles.sensitive]
        notice_unique_published(db, facts, table.shown, sensitive)
    keys = group.people.key
    withheld = {*keys, *key_columns(db, root, [root, *(table.facts for table in group.tables)])}
    if group.people.is_made:
        withheld |= {column.name for column in root.columns}
    shown = {*roles.quasi_identifiers, *roles.sensitive, *roles.insensitive} - withheld
    kept_columns = [column.name for column in root.columns if column.name in shown]
    further = [*(one.name for one in figures), *(one.name for one in columns)]
    _require_free(root, [*kept_columns, *keys], further)
    people = Identifier.of(BASES_SCHEMA, derived_name(name, token, "people"))
    text = _people_text(group, kept_columns, figures, columns)
    define_base(db, reader, people, text, rows=rows)
    found = describe(db, str(people), OWNER).columns
    pseudonym = Pseudonym(Literal(secret), group.people.domain)
    planned = LinkedFigures(
        columns=tuple(replace(column, selectable=True) for column in found),
        view=people,
        figures=tuple(further),
        hierarchies=hierarchies,
        pseudonyms=dict.fromkeys(keys, pseudonym),
        hidden=tuple(there_of(group, one) for one in group.tables if one.is_known),
        tables=tuple(table.facts.oid for table in group.tables),
    )
    found_people = PeopleOfTables(group, figures, planned, secret, names, request.models)
    for table in group.tables:
        constrained = found_people.constrained(table)
        require_countable(db, constrained, request.models)
        masked = {*table.roles.quasi_identifiers, *(column.facts.name for column in constrained)}
        carried = {column.name for column in table.shown} - masked
        refuse_generated_columns(db, table.facts.oid, carried, masked)
    return found_people


def _people_text(
    group: LinkedGroup,
    kept_columns: Sequence[str],
    figures: Sequence[NumbersFigure],
    columns: Sequence[ColumnFigure],
) -> Fragment:
    """Return the query of the view of people: columns of the person table, its key, and all figures."""
    return render(
        "linked/people",
        typed=group.people.typed({column: Fragment(str(Identifier.of(column))) for column in kept_columns}),
        columns=[Identifier.of(column) for column in kept_columns],
        keys=[Identifier.of(column) for column in group.people.key],
        numbers=[
            {
                "alias": Identifier.of(f"f{number}"),
                "numbers": numbers(group, one.table),
                "numbers_published": published(group, one.table, f"f{number}.numbers"),
                "name": Identifier.of(one.name),
                "longest": LONGEST,
                "there": _there(group, one.table, f"f{number}"),
            }
            for number, one in enumerate(figures, 1)
        ],
        column_figures=column_parts(columns),
    )


def there_of(group: LinkedGroup, table: LinkedTable) -> str:
    """Return the column of the person table's storage that tells which rows of a table there were.

    No reader sees it.
    """
    return f"kanon_there_{group.tables.index(table) + 1}"


def _there(group: LinkedGroup, top: LinkedTable, alias: str) -> list[dict[str, object]]:
    """Return these columns of a child of the person table and of what hangs on it, and what they are."""
    return [
        {
            "name": Identifier.of(there_of(group, one)),
            "state": Fragment(
                f"coalesce({alias}.n, 0)" if one.depth == 1 else f"coalesce(h{number}.there, {there(one)[1]})"
            ),
            "rows": linked_rows(one, {}, counted=True) if one.depth > 1 else None,
            "alias": Identifier.of(f"h{number}"),
            "now": there(one)[0],
            "person_key": Identifier.of(f"kanon_above_{one.depth}"),
        }
        for number, one in enumerate(group.tables, 1)
        if one.is_known and group.top_of(one).facts.oid == top.facts.oid
    ]


def _require_key(subject: Subject, group: LinkedGroup, pseudonyms: Sequence[str]) -> None:
    """Refuse pseudonyms of other columns than the key, which has some in any case."""
    for column in subject.columns(pseudonyms):
        if column.name not in group.people.key:
            raise UnsuitableColumn(
                f"Column {column.identifier} of {subject.relation.identifier} is not what the linked tables "
                "refer to.",
                hint="Leave pseudonyms out: keys of linked tables become pseudonyms by themselves.",
            )


def _follows_rows(request: AnonymizeRequest, subject: Subject) -> bool:
    entity = subject.entity
    return (
        entity is not None
        and not entity.facts.is_key
        and [*(request.pseudonyms or ())] == [entity.facts.name]
    )


def _free_names(db: Database, group: LinkedGroup, release: str, *, named: bool) -> dict[int, str]:
    """Return the names of the views of the further tables; a name given to the release begins all of them."""
    names = {
        table.facts.oid: derived_name(release, table.name) if named else table.name for table in group.tables
    }
    if group.people.is_made:
        names = dict.fromkeys(names, derived_name(release, "rows"))
    for name in names.values():
        db.row(statement("lock_release_name"), name)  # nobody else publishes under it until this ends
        if db.row(statement("linked/is_taken"), release, name)["taken"]:
            raise NameTaken(
                f"{Identifier.of('safe', name)} exists already and is no table of this release.",
                hint="Give the release another name, with which those of all its views begin: "
                "release => 'other_name'.",
            )
    return names


def _require_free(root: RelationFacts, published: list[str], figures: list[str]) -> None:
    taken = {*published}
    for name in figures:
        if name in taken:
            raise UnsuitableColumn(
                f"A column of {root.identifier} is named {Identifier.of(name)}, as a figure of a linked "
                "table is.",
                hint="Rename the column.",
            )
        taken.add(name)


def _hierarchy(db: Database, figure: NumbersFigure, people: int) -> FigureHierarchy:
    """Return the hierarchy of numbers of rows; a row that is left out costs as much as a suppressed cell."""
    told = numbers(figure.group, figure.table)
    found = db.read(statement("linked/different_numbers", numbers=told))
    rows, losses, total = figure.hierarchy([(row["numbers"], int(row["people"])) for row in found])
    return FigureHierarchy(json.dumps(rows), losses, max(1.0, total / max(1, people)))
