"""A small catalog with one of everything that the checker has to tell apart."""

from __future__ import annotations

from dataclasses import replace

from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.checker import Options, Verdict, check

PEOPLE = Relation(
    1,
    "shop",
    "people",
    RelationKind.TABLE,
    (
        Column("id", "int4", nullable=False, role=ColumnRole.IDENTIFIER, collation=0),
        Column("name", "text", role=ColumnRole.IDENTIFIER),
        Column("city", "varchar", nullable=False),
        Column("sex", "bpchar", nullable=False),
        Column("age", "int4", nullable=False),
        Column("income", "numeric", role=ColumnRole.SENSITIVE),
        Column("score", "float8", nullable=False, role=ColumnRole.INSENSITIVE),
        Column("born", "date", nullable=False),
        Column("seen", "timestamptz", nullable=False),
        Column("member", "bool", nullable=False),
        Column("note", "text", role=ColumnRole.WITHHELD),
        Column("mood", "shop.mood"),
        Column("nick", "text", deterministic=False),
        Column("dutch", "text", nullable=False, collation=900),
        Column("latin", "text", nullable=False, collation=901),
        Column("decade", "int4range", nullable=False),
    ),
    Protection(5, "id"),
    (frozenset({"id"}),),
)
ORDERS = Relation(
    2,
    "shop",
    "orders",
    RelationKind.PARTITIONED,
    (
        Column("buyer", "int4", nullable=False, role=ColumnRole.IDENTIFIER),
        Column("amount", "numeric", nullable=False, role=ColumnRole.SENSITIVE),
        Column("paid", "bool", role=ColumnRole.SENSITIVE),
        Column("city", "text", nullable=False),
    ),
    Protection(7, "buyer"),
)
ANSWERS = Relation(
    3,
    "shop",
    "answers",
    RelationKind.TABLE,
    (
        Column("question", "text", nullable=False),
        Column("grade", "int4", nullable=False, role=ColumnRole.SENSITIVE),
    ),
    Protection(3),
)
CITIES = Relation(
    4,
    "shop",
    "cities",
    RelationKind.TABLE,
    (
        Column("city", "text", nullable=False),
        Column("country", "text", nullable=False),
        Column("size", "int4", nullable=False),
        Column("price", "numeric", nullable=False),
    ),
    unique_keys=(frozenset({"city"}),),
)
UNDECLARED = replace(
    PEOPLE, oid=5, name="rich", kind=RelationKind.VIEW, protection=Protection(5, declared=False)
)
FOREIGN = replace(CITIES, oid=6, name="far", kind=RelationKind.FOREIGN)
GUARDED = replace(CITIES, oid=7, name="guarded", safe_to_read=False)
CARELESS = replace(PEOPLE, oid=8, name="careless", protection=Protection(1, "id"))
ANONYMOUS_VIEW = replace(ANSWERS, oid=9, name="replies", kind=RelationKind.VIEW)
OTHER_CITIES = replace(CITIES, oid=10, schema="other")
ODD = replace(CITIES, oid=11, name='Odd "name"')

SHOP = CatalogSnapshot(
    (
        PEOPLE,
        ORDERS,
        ANSWERS,
        CITIES,
        UNDECLARED,
        FOREIGN,
        GUARDED,
        CARELESS,
        ANONYMOUS_VIEW,
        OTHER_CITIES,
        ODD,
    ),
    search_path=("shop", "other"),
)


def ask(text: str, options: Options | None = None) -> Verdict:
    """Return the verdict on a query to the shop."""
    return check(text, SHOP, options)


def accepted(text: str, options: Options | None = None) -> Verdict:
    """Return the verdict on a query that is accepted."""
    verdict = ask(text, options)
    assert verdict.accepted, verdict.findings
    return verdict


def codes(text: str, options: Options | None = None) -> set[str]:
    """Return the codes of all findings."""
    return {finding.code for finding in ask(text, options).findings}


def counted(text: str, options: Options | None = None) -> set[tuple[str, int, int]]:
    """Return what is counted: kind, relation and minimum."""
    verdict = accepted(text, options)
    return {(hidden.what, hidden.relation, hidden.minimum) for hidden in verdict.hidden}
