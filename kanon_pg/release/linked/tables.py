"""Tables that are released together: how they hang on their people, and what is shown of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, describe_readable
from kanon_pg.db.citus import owner_reads, reads_tables_of_citus
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reader_role, reading, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, NotPermitted, UnsuitableColumn, UnsuitableRelation, as_given
from kanon_pg.relations.subject import Roles, Subject, stored_declaration
from kanon_pg.release.plan.pseudonyms import key_text, key_value, require_key_types


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table of the group; the person table is one without a parent."""

    facts: RelationFacts
    """The table."""
    key: tuple[str, ...]
    """The columns that tables below refer to, in the order of their names; none at the ends of chains."""
    order: tuple[str, ...]
    """A primary key or the like, by which rows to leave out are drawn."""
    parent: LinkedTable | None = None
    """What its rows belong to."""
    up: tuple[str, ...] = ()
    """Its columns that refer to the parent's key, in the order of that."""
    further: Mapping[str, tuple[LinkedTable, str]] = field(default_factory=dict)
    """Columns of other foreign keys to tables above, with what each refers to."""
    roles: Roles = field(default_factory=Roles)
    """Of its columns but keys."""
    most: int | None = None
    """Rows of one parent's that are shown at most."""
    is_known: bool = True
    """Whether somebody could know how many rows a person has here."""
    is_made: bool = False
    """Whether it is made of the rows of a table in which people may have several."""

    @property
    def name(self) -> str:
        """Its name without schema."""
        return self.facts.name

    @property
    def prefix(self) -> tuple[str, ...]:
        """What the names of its figures begin with: nothing, if its people are made of its own rows."""
        return () if self.parent is not None and self.parent.is_made else (self.name,)

    @property
    def above(self) -> tuple[LinkedTable, ...]:
        """What it hangs on: its parent, and so on up to the person table."""
        return () if self.parent is None else (self.parent, *self.parent.above)

    @property
    def depth(self) -> int:
        """0 of the person table."""
        return len(self.above)

    @property
    def domain(self) -> Literal:
        """What pseudonyms of its rows are told apart by from those of others."""
        name = str(self.facts.identifier)
        return Literal(f"{name}.{Identifier.of(*self.key)}" if len(self.key) == 1 else name)

    @property
    def shown(self) -> tuple[ColumnFacts, ...]:
        """Columns that are published as they are."""
        names = {*self.roles.sensitive, *self.roles.insensitive} - self.pseudonyms().keys()
        return tuple(column for column in self.facts.columns if column.name in names)

    def pseudonyms(self) -> dict[str, LinkedTable]:
        """Return per key column the table whose row its pseudonym stands for."""
        found = dict.fromkeys(self.key, self)
        for name, (table, column) in self.further.items():
            found[name] = table.pseudonyms()[column]
        if self.parent is not None:
            above = self.parent.pseudonyms()
            found |= {own: above[name] for own, name in zip(self.up, self.parent.key, strict=True)}
        return found

    def references(self) -> list[tuple[LinkedTable, tuple[str, ...]]]:
        """Return the tables above that it refers to, the parent first, with its columns that do."""
        found = [] if self.parent is None else [(self.parent, self.up)]
        for above in self.above:
            own = {name: column for column, (table, name) in self.further.items() if table == above}
            if own:
                found.append((above, tuple(own.get(name, "") for name in above.key)))
        return [(above, own) for above, own in found if all(own)]

    def typed(self, columns: Mapping[str, Fragment] | None = None) -> Fragment:
        """Return its rows as a subquery: keys, and expressions over its columns by name.

        A key of one column is its value, one of several a text that has all of them.
        """
        return render(
            "linked/typed",
            relation=self._people() if self.is_made else self.facts.identifier,
            key=self.key_of(self.key) if self.key else Fragment("NULL"),
            has_key=bool(self.key),
            up=self.key_of(self.up) if self.up else None,
            order=_joined([_order_text(self.facts.column(name)) for name in self.order]),
            columns=[
                {"value": value, "alias": Identifier.of(name)} for name, value in (columns or {}).items()
            ],
        )

    def _people(self) -> Fragment:
        (name,) = map(Identifier.of, self.key)
        return Fragment(
            f"(SELECT DISTINCT {name} FROM {self.facts.identifier} WHERE {name} IS NOT NULL) AS people"
        )

    def key_of(self, names: Sequence[str]) -> Fragment:
        """Return what tells the values of some columns apart."""
        facts = [self.facts.column(name) for name in names]
        if len(facts) == 1:
            return key_value(facts[0])
        return _joined([key_text(one) for one in facts])


_BYTES = {"date": "date_send", "timestamp": "timestamp_send", "timestamptz": "timestamptz_send"}
"""Of moments, whose text depends on the session."""


def _order_text(column: ColumnFacts) -> Fragment:
    """Return the one text of a value of a key that nobody refers to."""
    if column.base_type in _BYTES:
        return Fragment(
            f"pg_catalog.encode(pg_catalog.{_BYTES[column.base_type]}({column.identifier}), 'hex')"
        )
    return key_text(column)


def _joined(texts: Sequence[Fragment]) -> Fragment:
    """Return one text that has several, each with its length."""
    if not texts:
        return Fragment("NULL")
    parts = (f"pg_catalog.length({text})::text || ':' || ({text})" for text in texts)
    return Fragment(f'({" || ".join(parts)}) COLLATE "C"')


@dataclass(frozen=True, slots=True)
class LinkedGroup:
    """Tables that are released together."""

    people: LinkedTable
    """The person table."""
    tables: tuple[LinkedTable, ...]
    """The others, each after what it hangs on."""

    def below(self, table: LinkedTable) -> tuple[LinkedTable, ...]:
        """Return the tables whose rows belong to those of a table."""
        return tuple(one for one in self.tables if one.parent and one.parent.facts.oid == table.facts.oid)

    def known_below(self, table: LinkedTable) -> tuple[LinkedTable, ...]:
        """Return those of them whose number of rows somebody could know."""
        return tuple(one for one in self.below(table) if one.is_known)

    def top_of(self, table: LinkedTable) -> LinkedTable:
        """Return the table right below the people on which a table hangs, or which it is."""
        return (table, *table.above)[-2]


def linked_group(
    db: Database, subject: Subject, names: Sequence[str], rows: Mapping[str, Any], role: str
) -> LinkedGroup:
    """Return the tables of a release, refused unless all of them hang on the people of the first.

    Parameters
    ----------
    subject : Subject
        The person table.
    names : sequence of str
        The others, as SQL writes them.
    rows : mapping
        Per table ``"unknown"``, or how many rows are shown at most.
    role : str
        Whose rights count.

    Raises
    ------
    InputError, UnsuitableRelation, UnsuitableColumn
        With what to do.
    """
    root = subject.relation
    given = [describe_readable(db, name, role) for name in names]
    require_group(db, (root, *given))
    _require_read(db, root, given)
    links = {facts.oid: _link(db, facts) for facts in given}
    own = _key_of(db, root, [link for link in links.values() if link.parent == root.oid])
    people = LinkedTable(root, key=own, order=own)
    _require_one_row_each(db, subject, people)
    placed = {root.oid: people}
    left = list(given)
    while left:
        ready = [facts for facts in left if links[facts.oid].parent in placed]
        if not ready:
            raise _unlinked(left[0], subject)
        for facts in ready:
            parent, link = placed[links[facts.oid].parent], links[facts.oid]
            below = [one for one in links.values() if one.parent == facts.oid]
            table = LinkedTable(
                facts,
                key=_key_of(db, facts, below) if below else (),
                order=_order(db, facts),
                parent=parent,
                up=tuple(link.columns[link.parent_columns.index(name)] for name in parent.key),
            )
            with reading(db, root):
                table = replace(table, further=_further_keys(db, table))
            placed[facts.oid] = replace(
                table, roles=_roles(db, table, (root, *given)), **_knowledge(table, rows)
            )
        left = [facts for facts in left if facts.oid not in placed]
    group = LinkedGroup(people, tuple(sorted((t for t in placed.values() if t.depth), key=lambda t: t.depth)))
    _require_rows(group, rows)
    return group


def record_group(db: Database, subject: Subject, roles: Roles, rows: Mapping[str, Any]) -> LinkedGroup:
    """Return a table in which people may have several rows as two: its people, and the rows of each.

    Parameters
    ----------
    roles : Roles
        Of its columns.
    rows : mapping
        As for `linked_group`.
    """
    facts, entity = subject.relation, str(subject.entity_name)
    _require_ordinary(db, (facts,))
    require_key_types(facts.identifier, (facts.column(entity),))
    people = LinkedTable(replace(facts, oid=-facts.oid), key=(entity,), order=(), is_made=True)
    table = LinkedTable(facts, key=(), order=_order(db, facts), parent=people, up=(entity,))
    keys = {entity, *table.order, *key_columns(db, facts, (facts,))}
    group = LinkedGroup(people, (replace(table, roles=roles.without(keys), **_knowledge(table, rows)),))
    _require_rows(group, rows)
    return group


@dataclass(frozen=True, slots=True)
class _Link:
    parent: int
    columns: tuple[str, ...]
    parent_columns: tuple[str, ...]


def _link(db: Database, facts: RelationFacts) -> _Link:
    way = db.rows(statement("way_to_people"), facts.oid)
    if not way or way[0]["person"] is None:
        raise UnsuitableRelation(
            f"{facts.identifier} is not linked to the people of another table, or its link leads to nobody "
            "any more.",
            hint=f"Link it by a foreign key: SELECT kanon_link({Literal(str(facts.identifier))}, ...);",
        )
    first = way[0]
    for row in db.rows(statement("linked/nullable"), first["parent"], first["parent_columns"]):
        raise UnsuitableRelation(
            f"{facts.identifier} is linked to a key that may be NULL: column {Identifier.of(row['column'])}. "
            "Whoever has none would be told apart by that.",
            hint="Set the column NOT NULL, or let the foreign key refer to the primary key.",
        )
    return _Link(int(first["parent"]), tuple(first["columns"]), tuple(first["parent_columns"]))


def _unlinked(facts: RelationFacts, subject: Subject) -> InputError:
    return InputError(
        f"The links of {facts.identifier} do not lead to {subject.relation.identifier} through the tables "
        "that are named.",
        hint="Name the tables between them, too. SELECT * FROM kanon.links; shows the links.",
    )


def _require_ordinary(db: Database, relations: Sequence[RelationFacts]) -> None:
    names = [facts.name for facts in relations]
    for facts in relations:
        for column in facts.columns:
            if column.name.startswith("kanon_"):
                raise UnsuitableColumn(
                    f"A column of {facts.identifier} is named {column.identifier}: what begins so, kanon "
                    "adds.",
                    hint="Rename the column.",
                )
        if not facts.name.isprintable():
            raise UnsuitableRelation(
                f"The name of table {as_given(facts.name)} would be published, and has characters that "
                "cannot be printed.",
                hint="Rename the table.",
            )
        if names.count(facts.name) > 1:
            raise InputError(
                f"Table {as_given(facts.name)} is named twice, or two tables have this name.",
                hint="Each becomes a view of its name in schema safe; rename one, or leave it out.",
            )
        if not facts.can_have_key or facts.temporary or facts.row_security:
            raise UnsuitableRelation(
                f"{facts.identifier} is no ordinary table without row-level security, so it cannot be "
                "released together with others.",
                hint="Name tables, not views of them; publish what is no such table by itself.",
            )
        if owner_reads(db, facts.oid) or reads_tables_of_citus(db, facts.oid):
            raise UnsuitableRelation(
                f"{facts.identifier} is a table of Citus, and linked tables are released on one server "
                "alone.",
                hint="Copy the tables to one server, or publish each table by itself.",
            )


def _require_read(db: Database, root: RelationFacts, relations: Sequence[RelationFacts]) -> None:
    """Refuse unless the reader of the person table may read all; keep them from being changed by DDL."""
    reader = reader_role(require_reader(db, root))
    for facts in relations:
        seen = describe(db, str(facts.oid), reader)
        db.lock(facts.identifier)
        if not (seen.selectable and seen.reachable):
            raise NotPermitted(
                f"The role {reader}, which reads {root.identifier}, may not read {facts.identifier}.",
                hint=f"Its owner can allow it: GRANT SELECT ON {facts.identifier} TO {reader};",
            )


def require_group(db: Database, relations: Sequence[RelationFacts]) -> None:
    """Refuse tables that cannot be read together, when they are published and whenever they are refreshed.

    Raises
    ------
    UnsuitableRelation
        With what to do.
    """
    _require_ordinary(db, relations)
    for row in db.rows(statement("linked/strangers"), [facts.oid for facts in relations]):
        names = {facts.oid: facts.identifier for facts in relations}
        raise UnsuitableRelation(
            f"{Identifier((row['owner'],))}, who owns {names[row['own']]}, may not read "
            f"{names[row['other']]}: "
            "what a table brings along runs with the rights of the role that reads all of them.",
            hint="Publish tables of owners together who may read each other's.",
        )


def require_links(db: Database, root: RelationFacts, others: Sequence[RelationFacts]) -> None:
    """Refuse tables that are no longer linked to each other as they were when they were published.

    Raises
    ------
    UnsuitableRelation
        With what to do.
    """
    group = {root.oid, *(facts.oid for facts in others)}
    for facts in others:
        if _link(db, facts).parent not in group:
            raise UnsuitableRelation(
                f"{facts.identifier} is linked to another table than when it was published.",
                hint="Publish the tables anew with kanon_anonymize.",
            )


def _key_of(db: Database, facts: RelationFacts, links: Sequence[_Link]) -> tuple[str, ...]:
    """Return the columns that links refer to, which must be the same for all."""
    keys = {tuple(sorted(link.parent_columns)) for link in links}
    if len(keys) > 1:
        raise UnsuitableRelation(
            f"The tables that are linked to {facts.identifier} refer to different keys of it.",
            hint="Let their foreign keys refer to the same columns.",
        )
    key = keys.pop() if keys else _order(db, facts)
    require_key_types(facts.identifier, tuple(map(facts.column, key)))
    return key


def _order(db: Database, facts: RelationFacts) -> tuple[str, ...]:
    found = db.rows(statement("linked/key_columns"), facts.oid)
    if not found:
        raise UnsuitableRelation(
            f"{facts.identifier} has no primary key, so nothing tells its rows apart.",
            hint=f"ALTER TABLE {facts.identifier} ADD PRIMARY KEY (...);",
        )
    key = tuple(found[0]["columns"])
    columns = map(facts.column, key)
    require_key_types(facts.identifier, [column for column in columns if column.base_type not in _BYTES])
    return key


def _require_one_row_each(db: Database, subject: Subject, people: LinkedTable) -> None:
    """Refuse a person table in which somebody may have several rows, or that is linked itself."""
    root, entity = subject.relation, None if subject.roles is None else subject.roles.entity
    if subject.people is not None:
        raise UnsuitableRelation(
            f"{root.identifier} is linked to {subject.people.relation.identifier}, which has the people.",
            hint=f"Publish that one, with this among the tables: tables => '{{{root.name}}}'.",
        )
    if entity is not None and not root.column(entity).is_key:
        raise UnsuitableRelation(
            f"{root.identifier} may have several rows for a person: {Identifier.of(entity)} is not unique.",
            hint="Linked tables hang on a table with one row for each person. Make one, and link this one to "
            "it.",
        )


def _further_keys(db: Database, table: LinkedTable) -> dict[str, tuple[LinkedTable, str]]:
    """Return columns of other foreign keys that lead where the link does, in every row."""
    found: dict[str, tuple[LinkedTable, str]] = {}
    for distance, above in enumerate(table.above, 1):
        for key in db.rows(statement("find_foreign_keys"), table.facts.oid, above.facts.oid):
            refers = dict(zip(key["parent_columns"], key["columns"], strict=True))
            if not key["validated"] or set(refers) != set(above.key) or {*refers.values()} <= {*table.up}:
                continue
            if any(one.facts.oid == above.facts.oid for one, _ in found.values()):
                continue  # one to each table: the others say the same
            own = table.key_of([refers[name] for name in above.key])
            rows, same = linked_rows(table, {"own": own}), Identifier.of(f"kanon_above_{distance}")
            (other,) = db.read(statement("linked/disagreeing", rows=rows, same=same))
            if not other["rows"]:
                found |= {own: (above, name) for name, own in refers.items() if own not in table.up}
    return found


def key_columns(db: Database, facts: RelationFacts, group: Sequence[RelationFacts]) -> set[str]:
    """Return the columns of a table that tell its rows apart, or refer to rows of the group."""
    own = {column.name for column in facts.columns if column.is_key}
    return own | {
        column
        for other in group
        for key in db.rows(statement("find_foreign_keys"), facts.oid, other.oid)
        for column in key["columns"]
    }


def _roles(db: Database, table: LinkedTable, group: Sequence[RelationFacts]) -> Roles:
    """Return the roles of the columns that are no keys: declared ones, or else all quasi-identifiers."""
    facts = table.facts
    keys = {*table.pseudonyms(), *table.order, *key_columns(db, facts, group)}
    declared = stored_declaration(db, facts)
    if declared is None:
        quasi = (c.name for c in facts.columns if c.name not in keys and not c.is_key)
        return Roles(quasi_identifiers=tuple(quasi))
    facts.require_declared(declared.names())
    return declared.without(keys)


def _knowledge(table: LinkedTable, rows: Mapping[str, Any]) -> dict[str, Any]:
    asked = rows.get(table.name)
    hidden = table.parent is not None and not table.parent.is_known
    if asked == "unknown" or hidden:
        return {"is_known": False}
    return {"most": asked}


_ROWS_EXAMPLE = """For example: options => '{"rows": {"lab_results": "unknown", "admissions": 5}}'."""


def _require_rows(group: LinkedGroup, rows: Mapping[str, Any]) -> None:
    known = {table.name: table for table in group.tables}
    for name in rows:
        if name not in known:
            raise InputError(
                f"Option rows names {as_given(name)}, which is none of the tables.",
                hint=f"They are: {', '.join(known)}.",
            )
        if known[name].most is not None and group.below(known[name]):
            raise InputError(
                f"Rows of {as_given(name)} cannot be left out by option rows: other tables hang on them.",
                hint=_ROWS_EXAMPLE,
            )
    for table in group.tables:
        if not table.is_known and rows.get(table.name) != "unknown":
            raise InputError(
                f"Numbers of rows of {table.facts.identifier} cannot be kept once those of a table on which "
                "it hangs are unknown.",
                detail="Joins show them for each row above, and so for each person.",
                hint=f"Declare both, if nobody can know them, or leave {as_given(table.name)} out. "
                f"{_ROWS_EXAMPLE}",
            )


def linked_rows(table: LinkedTable, columns: Mapping[str, Fragment], *, counted: bool = False) -> Fragment:
    """Return a table's rows as a subquery, with the keys of all that they hang on.

    Parameters
    ----------
    columns : mapping of str to Fragment
        What else: expressions over the table's columns, by name.
    counted : bool
        Whether there is one row for each of the table above on which any hang, with their number.
    """
    typed = table.typed(columns)
    steps = [
        {
            "alias": Identifier.of(f"a{number + 1}"),
            "typed": above.typed(),
            "below": Identifier.of(f"a{number}"),
        }
        for number, above in enumerate(table.above)
        if above.parent is not None
    ]
    names = [Identifier.of(f"kanon_above_{number}") for number, _ in enumerate(table.above, 1)]
    keys = [Identifier.of("a0"), *(step["alias"] for step in steps)]
    return render(
        "linked/rows",
        typed=render("linked/counted", typed=typed) if counted else typed,
        counted=counted,
        columns=[Identifier.of(name) for name in columns],
        steps=steps,
        above=[{"alias": alias, "name": name} for alias, name in zip(keys, names, strict=True)],
    )
