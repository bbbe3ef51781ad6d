"""Every bad input has a sentence, hint and SQLSTATE of its own, equal by both interfaces, and no effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    InputError,
    KanonError,
    NameTaken,
    UnknownName,
    UnsuitableColumn,
    UnsuitableRelation,
    by_sqlstate,
)
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything

_PREPARE = """
create table t as select i as id, i % 3 as a, i % 2 as b, 'd' || i % 4 as c, '{}'::json as doc,
    '(1,2)'::point as spot, '7'::xid as tx, '<a/>'::xml as page, i / 2 as who,
    (acldefault('r', 10))[1] as right
from generate_series(1, 20) as i;
alter table t add primary key (id);
create table empty (a integer);
create table only_a_key (id integer primary key);
insert into only_a_key select generate_series(1, 10);
create table one_null_person (a integer, who integer);
insert into one_null_person values (1, null), (1, null), (1, 1);
create index idle_index on t (a);
create sequence numbers;
create type shape as (a integer);
create table secret (a integer, owner name);
insert into secret select 1, 'x' from generate_series(1, 5);
alter table secret enable row level security;
create table reserved as select 1 as kanon_suppressed, 1 as a from generate_series(1, 5);
create table other as select 1 as a from generate_series(1, 5);
create view safe.alien as select 1 as a;
create table of_other as select 1 as a from generate_series(1, 5);
"""


@dataclass(frozen=True)
class Case:
    title: str
    call: Callable[[Interface], object]
    kind: type[KanonError]
    sentence: str


CASES = [
    Case("k is NULL", lambda d: d.anonymize("t", None), InputError, "k is NULL."),
    Case("k is 0", lambda d: d.anonymize("t", 0), InputError, "k must be at least 2, not 0."),
    Case("k is 1", lambda d: d.anonymize("t", 1), InputError, "k must be at least 2, not 1."),
    Case("k is negative", lambda d: d.anonymize("t", -5), InputError, "k must be at least 2, not -5."),
    Case(
        "k exceeds the rows",
        lambda d: d.anonymize("t", 21, quasi_identifiers=["a"]),
        InfeasibleError,
        '"public"."t" has 20 rows, fewer than k = 21.',
    ),
    Case(
        "k exceeds the people",
        lambda d: d.anonymize("one_null_person", 2),
        InfeasibleError,
        '"public"."one_null_person" has 1 people, fewer than k = 2.',
    ),
    Case(
        "no such relation",
        lambda d: d.anonymize("987654321", 2),
        UnknownName,
        'There is no table or view "987654321".',
    ),
    Case(
        "an index",
        lambda d: d.anonymize("idle_index", 2),
        UnknownName,
        '"public"."idle_index" is not a table or view.',
    ),
    Case(
        "a sequence",
        lambda d: d.anonymize("numbers", 2),
        UnknownName,
        '"public"."numbers" is not a table or view.',
    ),
    Case(
        "a composite type",
        lambda d: d.declare("shape"),
        UnknownName,
        '"public"."shape" is not a table or view.',
    ),
    Case(
        "no such quasi-identifier",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a", "A"]),
        UnknownName,
        'Relation "public"."t" has no column "A".',
    ),
    Case(
        "no such sensitive column",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a"], sensitive=['no"such']),
        UnknownName,
        'Relation "public"."t" has no column "no""such".',
    ),
    Case(
        "a system column",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["ctid"]),
        UnknownName,
        'Relation "public"."t" has no column "ctid".',
    ),
    Case(
        "a column of nested names",
        lambda d: d.declare("t", entity="nobody"),
        UnknownName,
        'Relation "public"."t" has no column "nobody".',
    ),
    Case("an empty table", lambda d: d.anonymize("empty", 2), InfeasibleError, '"public"."empty" is empty.'),
    Case(
        "no quasi-identifier left",
        lambda d: d.anonymize("only_a_key", 2),
        InputError,
        'No quasi-identifier is left in "public"."only_a_key".',
    ),
    Case(
        "no quasi-identifier given",
        lambda d: d.anonymize("t", 2, quasi_identifiers=[]),
        InputError,
        'No quasi-identifier is left in "public"."t".',
    ),
    Case(
        "quasi-identifier and sensitive",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a", "b"], sensitive=["b"]),
        UnsuitableColumn,
        'Column "b" is named twice: in quasi_identifiers and sensitive.',
    ),
    Case(
        "declared quasi-identifier and sensitive",
        lambda d: d.declare("t", quasi_identifiers=["a", "b"], sensitive=["b"]),
        UnsuitableColumn,
        'Column "b" is named twice: in quasi_identifiers and sensitive.',
    ),
    Case(
        "the same quasi-identifier twice",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a", "a"]),
        UnsuitableColumn,
        'Column "a" is named twice: in quasi_identifiers.',
    ),
    *(
        Case(
            f"{kind} as quasi-identifier",
            lambda d, name=name: d.anonymize("t", 2, quasi_identifiers=["a", name]),  # type: ignore[misc]
            UnsuitableColumn,
            f'Column "{name}" of type {kind} cannot be a quasi-identifier: {reason}.',
        )
        for name, kind, reason in [
            ("doc", "json", "the type has no equality"),
            ("spot", "point", "the type has no equality"),
            ("page", "xml", "the type has no equality"),
            ("tx", "xid", "the type has no order"),
            ("right", "aclitem", "the type has no order"),
        ]
    ),
    Case(
        "declared json as quasi-identifier",
        lambda d: d.declare("t", quasi_identifiers=["doc"]),
        UnsuitableColumn,
        'Column "doc" of type json cannot be a quasi-identifier: the type has no equality.',
    ),
    Case(
        "json as entity",
        lambda d: d.declare("t", quasi_identifiers=["a"], entity="doc"),
        UnsuitableColumn,
        'Column "doc" of type json cannot identify people: the type has no equality.',
    ),
    Case(
        "more quasi-identifiers than bits",
        lambda d: d.anonymize("wide", 2),
        InputError,
        "63 quasi-identifiers are more than the 62 that a release can have.",
    ),
    Case(
        "more patterns than can be searched",
        lambda d: d.anonymize(
            "wide", 2, quasi_identifiers=[f"c{i}" for i in range(20)], patterns={"max_suppressed": 19}
        ),
        InputError,
        "More than 65536 patterns satisfy these wishes; they are too many: at most 65536 can be searched.",
    ),
    Case(
        "row-level security",
        lambda d: d.anonymize("secret", 2),
        UnsuitableRelation,
        'Relation "public"."secret" has row-level security: a release could silently miss rows.',
    ),
    Case(
        "a relation of kanon itself",
        lambda d: d.anonymize("kanon.release", 2),
        UnsuitableRelation,
        'Relation "kanon"."release" belongs to kanon_pg itself.',
    ),
    Case(
        "a column with a name that releases add",
        lambda d: d.anonymize("reserved", 2),
        UnsuitableColumn,
        'A column is named "kanon_suppressed", which a release adds itself.',
    ),
    Case(
        "a release name that belongs to somebody's view",
        lambda d: d.anonymize("other", 2, release="alien"),
        NameTaken,
        '"safe"."alien" exists already and is not a release of "public"."other".',
    ),
    Case(
        "a release name that belongs to another table's release",
        lambda d: d.anonymize("other", 2, release="of_other"),
        NameTaken,
        '"safe"."of_other" exists already and is not a release of "public"."other".',
    ),
    Case(
        "an empty release name",
        lambda d: d.anonymize("other", 2, release=""),
        InputError,
        "The release name is empty.",
    ),
    Case(
        "an unknown method",
        lambda d: d.anonymize("t", 2, method="magic"),
        UnknownName,
        "There is no such method.",
    ),
    *(
        Case(
            f"time_limit {limit}",
            lambda d, limit=limit: d.anonymize("t", 2, time_limit=limit),  # type: ignore[misc]
            InputError,
            "time_limit must be a positive interval.",
        )
        for limit in (None, 0, -1)
    ),
    Case(
        "argument hierarchies is no object",
        lambda d: d.anonymize("t", 2, hierarchies=["ages"]),
        InputError,
        "Argument hierarchies must be a JSON object of columns.",
    ),
    *(
        Case(
            f"{name} without sensitive columns",
            lambda d, name=name, value=value, rest=rest: d.anonymize(  # type: ignore[misc]
                "t", 2, quasi_identifiers=["a"], **{name: value, **rest}
            ),
            InputError,
            f"Argument {name} is about sensitive columns, but there are none.",
        )
        for name, value in [("l", 2), ("p", 2), ("t", 0.5)]
        for rest in ({}, {"sensitive": []})
    ),
    *(
        Case(
            f"{name} = {value}",
            lambda d, name=name, value=value: d.anonymize("t", 2, sensitive=["c"], **{name: value}),  # type: ignore[misc]
            InputError,
            f"{name} must be at least 2 and at most 2147483647, not {value}.",
        )
        for name in ("l", "p")
        for value in (1, 0, -3)
    ),
    *(
        Case(
            f"t = {t}",
            lambda d, t=t: d.anonymize("t", 2, sensitive=["c"], t=t),  # type: ignore[misc]
            InputError,
            "t must be a number of at least 0 and less than 1.",
        )
        for t in (1.0, -0.1, float("nan"), float("inf"))
    ),
    *(
        Case(
            f"an unknown {name}",
            lambda d, name=name, of=of, value=value: d.anonymize(  # type: ignore[misc]
                "t", 2, sensitive=["c"], **{of: 0.5 if of == "t" else 2, name: value}
            ),
            UnknownName,
            f"There is no such {name}.",
        )
        for name, of in [("diversity", "l"), ("distance", "t")]
        for value in ("strict", 7, ["entropy"])
    ),
    *(
        Case(
            f"{name} without {of}",
            lambda d, name=name, value=value: d.anonymize("t", 2, sensitive=["c"], p=2, **{name: value}),  # type: ignore[misc]
            InputError,
            f"Option {name} says what {of} means, but {of} is not given.",
        )
        for name, value, of in [("diversity", "entropy", "l"), ("distance", "ordered", "t")]
    ),
    *(
        Case(
            f"{limit} = {value!r}",
            lambda d, limit=limit, value=value: d.anonymize("t", 2, **{limit: value}),  # type: ignore[misc]
            InputError,
            f"The {words} number of classes must be {wrong}.",
        )
        for limit, words in [("fewest_classes", "least"), ("most_classes", "largest")]
        for value, wrong in [
            (0, "at least 1 and at most 2147483647, not 0"),
            (10**12, f"at least 1 and at most 2147483647, not {10**12}"),
            (1.5, "an integer"),
            (True, "an integer"),
            ("7", "an integer"),
        ]
    ),
    Case(
        "more classes at least than at most",
        lambda d: d.anonymize("t", 2, fewest_classes=3, most_classes=2),
        InputError,
        "At least 3 classes and at most 2 classes contradict each other.",
    ),
    Case(
        "patterns of another form",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a"], patterns="a"),
        InputError,
        "The patterns are neither a list nor an object of wishes.",
    ),
    Case(
        "patterns with a foreign name",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a"], patterns=[["b"]]),
        UnknownName,
        'A pattern names "b", which is not a quasi-identifier.',
    ),
    Case(
        "an unknown wish",
        lambda d: d.anonymize("t", 2, quasi_identifiers=["a"], patterns={"always": ["a"]}),
        UnknownName,
        'There is no wish "always".',
    ),
    Case(
        "weights that are no object",
        lambda d: d.declare("t", quasi_identifiers=["a"], weights=["a"]),
        InputError,
        "weights must be a JSON object of column names and numbers.",
    ),
    Case(
        "the weight of no column",
        lambda d: d.declare("t", quasi_identifiers=["a"], weights={"z": 1}),
        UnknownName,
        'Relation "public"."t" has no column "z".',
    ),
    *(
        Case(
            f"the weight {weight!r}",
            lambda d, weight=weight: d.declare(  # type: ignore[misc]
                "t", quasi_identifiers=["a"], weights={"a": weight}
            ),
            InputError,
            'The weight of column "a" is not a positive number.',
        )
        for weight in (0, -1, True, "heavy", None)
    ),
    Case(
        "an entity that is published",
        lambda d: d.anonymize("other_with_entity", 2, quasi_identifiers=["who"]),
        UnsuitableColumn,
        'Column "who" identifies people (entity), so it cannot be published.',
    ),
    Case(
        "nothing to undeclare",
        lambda d: d.undeclare("t"),
        UnknownName,
        'Relation "public"."t" has no declaration.',
    ),
    Case("no such release to drop", lambda d: d.drop("nothing"), UnknownName, "There is no such release."),
    Case(
        "no such release to refresh", lambda d: d.refresh("nothing"), UnknownName, "There is no such release."
    ),
    Case("NULL as release to drop", lambda d: d.drop(None), UnknownName, "There is no such release."),  # type: ignore[arg-type]
    Case("NULL as relation", lambda d: d.anonymize(None, 2), InputError, "The relation is NULL."),  # type: ignore[arg-type]
]


@pytest.fixture(scope="module")
def interfaces(both_interfaces: tuple[Interface, Interface]) -> tuple[Interface, Interface]:
    """Two interfaces to a database with tables to fail on."""
    functions = both_interfaces[0]
    functions.connection.execute(_PREPARE)
    columns = ", ".join(f"1 as c{number}" for number in range(63))
    functions.connection.execute(f"create table wide as select {columns} from generate_series(1, 5)".encode())
    functions.connection.execute("create table other_with_entity as select a, who from t")
    functions.declare("one_null_person", quasi_identifiers=["a"], entity="who")
    functions.declare("other_with_entity", quasi_identifiers=["a"], entity="who")
    functions.anonymize("of_other", 2)
    return both_interfaces


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_refusal(interfaces: tuple[Interface, Interface], case: Case) -> None:
    before = everything(interfaces[0].connection)
    refusals = []
    for interface in interfaces:
        with pytest.raises(KanonError) as raised:
            case.call(interface)
        refusals.append(raised.value)
    first, second = refusals
    assert (type(first), first.message) == (case.kind, case.sentence)
    assert by_sqlstate(first.sqlstate) is case.kind
    assert first.hint
    assert (type(second), second.message, second.detail, second.hint) == (
        type(first),
        first.message,
        first.detail,
        first.hint,
    )
    assert everything(interfaces[0].connection) == before


@pytest.mark.parametrize(
    "name",
    ["nothing", "no_schema.t", '"T"', "²", "987654321987654321987", "a.b.c.d", 't"', "", "drop table t;"],
)
def test_a_name_that_stands_for_nothing(interfaces: tuple[Interface, Interface], name: str) -> None:
    """SQL itself refuses it in the server's interface: there the argument's type is regclass."""
    before = everything(interfaces[0].connection)
    with pytest.raises(DatabaseError if name != "987654321987654321987" else KanonError):
        interfaces[0].anonymize(name, 2)
    with pytest.raises(UnknownName) as raised:
        interfaces[1].anonymize(name, 2)
    assert raised.value.hint
    assert everything(interfaces[0].connection) == before


def test_a_temporary_table(interfaces: tuple[Interface, Interface]) -> None:
    for interface in interfaces:
        interface.connection.execute(
            "create temporary table passing as select 1 as a from generate_series(1, 5)"
        )
        for call in (interface.anonymize, interface.declare):
            with pytest.raises(UnsuitableRelation, match="is temporary: only one session") as raised:
                call("passing", *([2] if call == interface.anonymize else []))
            assert raised.value.hint
        interface.connection.execute("drop table passing")


@pytest.mark.parametrize("budget", ["plenty", "0B", "-1GB", "4gb"])
def test_a_memory_budget_that_is_no_size(interfaces: tuple[Interface, Interface], budget: str) -> None:
    refusals = []
    for interface in interfaces:
        interface.connection.execute("select set_config('kanon.memory_budget', %s, false)", [budget])
        with pytest.raises(InputError, match=r"kanon\.memory_budget") as raised:
            interface.anonymize("t", 2, quasi_identifiers=["a"])
        interface.connection.execute("reset kanon.memory_budget")
        refusals.append((raised.value.message, raised.value.hint))
    assert refusals[0] == refusals[1]


def test_a_release_name_that_is_too_long(interfaces: tuple[Interface, Interface]) -> None:
    """SQL's type name cuts it off before the server's interface can see it."""
    with pytest.raises(InputError, match="longer than 63 bytes"):
        interfaces[1].anonymize("other", 2, release="x" * 64)


def test_more_columns_than_all_patterns_can_be_searched_for(interfaces: tuple[Interface, Interface]) -> None:
    """The mask is bounded instead, and the notice says so."""
    for interface in interfaces:
        interface.notices.clear()
        report = interface.anonymize("wide", 2, quasi_identifiers=[f"c{i}" for i in range(20)])
        assert report.smallest_class >= 2
        assert any("pattern" in notice for notice in interface.notices)
        interface.drop("wide")


def test_sentences_differ() -> None:
    """Cases share a sentence only if the same thing is wrong with the same object."""
    by_sentence: dict[str, set[type[KanonError]]] = {}
    for case in CASES:
        by_sentence.setdefault(case.sentence, set()).add(case.kind)
    assert all(len(kinds) == 1 for kinds in by_sentence.values())
    assert len(by_sentence) > len(CASES) * 2 / 3
