"""Hierarchies through both interfaces: what is stored, what is refused, who may see it."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.errors import InputError, KanonError, NotPermitted, UnknownName, UnsuitableColumn
from kanon_pg.hierarchies import sources
from tests.fixtures.databases import role
from tests.fixtures.hierarchy_interfaces import HierarchyInterface
from tests.fixtures.interfaces import Interface, SqlInterface, interface_of

_TABLES = """
    create table people as select i as id, 17 + i % 74 as age, lpad((i * 37 % 300)::text, 5, '0') as zip,
        date '1950-01-01' + i * 5 as born, 'secret' || i % 3 as illness, point(i, i) as place,
        timestamptz '2020-01-01 00:00+00' + i * interval '7 hours' as seen, (i / 8.0)::float8 as score,
        i::numeric / 4 as cost, null::text as empty
    from generate_series(1, 200) as i;
    create table codes (code text, parent text);
    insert into codes values ('I21', 'I'), ('I22', 'I'), ('J10', 'J'), ('I', null), ('J', null);
    create view spans as select a as value, int4range(a / 10 * 10, a / 10 * 10 + 10) as ten,
        int4range(a / 20 * 20, a / 20 * 20 + 20) as twenty, '*' as top from generate_series(0, 39) as a;
"""


@pytest.fixture
def here(interface: Interface) -> HierarchyInterface:
    interface.connection.execute(_TABLES)
    return HierarchyInterface(interface)


def listed(interface: Interface, name: str) -> dict[str, Any]:
    with interface.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        query = """select version, description, kind, spec, output, height, nodes, shared
            from kanon.hierarchies where hierarchy = %s"""
        found = cursor.execute(query, [name]).fetchone()
    assert found is not None
    return found


_BUILT = {
    "age": ({"builder": "intervals", "width": 5}, "int4range"),
    "cost": ({"builder": "intervals", "groups": 8}, "numrange"),
    "score": ({"builder": "intervals", "cuts": [5, 10, 20]}, "numrange"),
    "born": ({"builder": "dates"}, "daterange"),
    "seen": ({"builder": "dates", "levels": ["day", "month"]}, "tstzrange"),
    "zip": ({"builder": "prefix"}, "text"),
    "illness": ({"builder": "priority"}, "text"),
}


@pytest.mark.parametrize("builder", ["its own", "classes"])
@pytest.mark.parametrize("column", _BUILT)
def test_every_value_of_a_column_lies_in_its_nodes_in_any_style_of_dates(
    interface: Interface, here: HierarchyInterface, column: str, builder: str
) -> None:
    spec, output = _BUILT[column]
    spec = {"builder": "classes", "least": 67} if builder == "classes" else spec
    interface.connection.execute("set datestyle = 'German'")
    interface.connection.execute("set timezone = 'Asia/Kathmandu'")
    assert here.build(column, "people", column, spec) == 1
    found = listed(interface, column)
    assert (found["output"], found["kind"], found["spec"]) == (
        output,
        spec["builder"],
        spec | {"table": '"public"."people"', "column": column},
    )
    assert found["nodes"][0] > found["nodes"][1] > 1
    assert found["nodes"][-1] == 1
    assert len(here.rows(column)) == found["nodes"][0]
    query = f"""
        select count(*) filter (where v.value is null),
            bool_and({"true" if output == "text" else f"v.nodes[1]::{output} @> {_element(column)}"})
        from people as p left join kanon_hierarchy_values(%s) as v on v.value::{_type(column)} = p.{column}
    """
    assert interface.connection.execute(query, [column]).fetchone() == (0, True)


def _element(column: str) -> str:
    return f"p.{column}::numeric" if column == "score" else f"p.{column}"


def _type(column: str) -> str:
    types = {"age": "int", "cost": "numeric", "score": "float8", "born": "date", "seen": "timestamptz"}
    return types.get(column, "text")


def test_a_table_of_ranges_keeps_its_type(interface: Interface, here: HierarchyInterface) -> None:
    here.load("spans", "spans")
    found = listed(interface, "spans")
    assert (found["output"], found["nodes"], found["kind"]) == ("int4range", [40, 4, 2, 1], "table")
    assert here.rows("spans")[0] == ["0", "[0,10)", "[0,20)"]


def test_columns_of_a_table_can_be_chosen(interface: Interface, here: HierarchyInterface) -> None:
    here.load("spans", "spans", {"columns": ["value", "twenty"]})
    assert listed(interface, "spans")["nodes"] == [40, 2, 1]


def test_a_table_of_parents_is_a_tree(interface: Interface, here: HierarchyInterface) -> None:
    here.load("codes", "codes", {"child": "code", "parent": "parent", "description": "by organ"})
    assert here.show("codes") == [
        "*  (3 values)",
        "├── I  (2 values)",
        "│   ├── I21",
        "│   └── I22",
        "└── J  (1 value)",
        "    └── J10",
    ]
    found = listed(interface, "codes")
    assert (found["description"], found["shared"], found["kind"]) == ("by organ", False, "taxonomy")


def test_storing_again_makes_a_version_and_dropping_forgets_all(
    interface: Interface, here: HierarchyInterface
) -> None:
    assert here.define("sexes", [["f", "any"], ["m", "any"]]) == 1
    assert here.define("sexes", [["f"], ["m"], ["x"]]) == 2
    assert here.rows("sexes") == [["f"], ["m"], ["x"]]
    assert (listed(interface, "sexes")["version"], listed(interface, "sexes")["height"]) == (2, 1)
    here.drop("sexes")
    left = "select (select count(*) from kanon.hierarchy), (select count(*) from kanon.hierarchy_value)"
    assert interface.connection.execute(left).fetchone() == (0, 0)
    with pytest.raises(UnknownName):
        here.drop("sexes")


_SECRET = "secret1"
_HOSTILE: dict[str, tuple[Any, dict[str, Any] | None]] = {
    "no values": ([], None),
    "JSON list": ({"rows": 5}, None),
    "gaps: row 2": ([[_SECRET, "x"], ["b"]], None),
    "gaps: 1 of its cells at level 1": ([[_SECRET, None], ["b", "x"]], None),
    "duplicates: 1 of 2": ([[_SECRET, "x"], [_SECRET, "x"]], None),
    "two parents at level 2": ([[_SECRET, "x", "p"], ["b", "x", "q"]], None),
    "Argument options: 1 of the keys": ([[_SECRET]], {_SECRET: 1}),
    'Argument options: "shared"': ([[_SECRET]], {"shared": _SECRET}),
    'Argument options: "output"': ([[_SECRET]], {"output": "json"}),
    "not of type integer": ([[_SECRET, "[1,2)"], ["2", "[2,3)"]], {"output": "int4range"}),
    "or nodes not of type": ([["1", _SECRET], ["2", "[2,3)"]], {"output": "int4range"}),
    "range of level 1 does not hold": ([["1", "[2,3)"], ["2", "[1,2)"]], {"output": "int4range"}),
    "range of level 1 does not lie within": (
        [["1", "[1,4)", "[1,3)"], ["5", "[5,6)", "[5,7)"]],
        {"output": "int4range"},
    ),
    "ranges of level 1 overlap": ([["1", "[1,4)"], ["3", "[2,6)"]], {"output": "int4range"}),
}


@pytest.mark.parametrize("sentence", _HOSTILE)
def test_hostile_hierarchies_are_refused_without_a_value(
    interface: Interface, here: HierarchyInterface, sentence: str
) -> None:
    rows, options = _HOSTILE[sentence]
    with pytest.raises(InputError) as refused:
        here.define("bad", rows, options)
    assert sentence in refused.value.message
    assert _SECRET not in str(refused.value)
    assert interface.connection.execute("select count(*) from kanon.hierarchy").fetchone() == (0,)


_MISTAKEN: dict[str, tuple[type[KanonError], str, str | None, Any]] = {
    "builder for numbers": (UnsuitableColumn, "people", "zip", {"builder": "intervals", "width": 5}),
    "builder for dates": (UnsuitableColumn, "people", "age", {"builder": "dates"}),
    "no equality": (UnsuitableColumn, "people", "place", {"builder": "prefix"}),
    "no values": (InputError, "people", "empty", {"builder": "prefix"}),
    "no column": (InputError, "people", None, {"builder": "prefix"}),
    "unknown column": (UnknownName, "people", "ages", {"builder": "prefix"}),
    "no builder": (InputError, "people", "age", {}),
    "unknown builder": (InputError, "people", "age", {"builder": "secret1"}),
    "no object": (InputError, "people", "age", [1]),
    "NULL": (InputError, "people", "age", None),
    "too deep": (InputError, "people", "seen", {"builder": "dates", "levels": ["year", "day"]}),
}


@pytest.mark.parametrize("mistake", _MISTAKEN)
def test_mistaken_specifications_are_refused_with_a_hint(here: HierarchyInterface, mistake: str) -> None:
    kind, relation, column, spec = _MISTAKEN[mistake]
    with pytest.raises(kind) as refused:
        here.build("bad", relation, column, spec)
    assert refused.value.hint
    assert "secret1" not in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        {"child": "code"},
        {"child": "code", "parent": "parent", "columns": ["code"]},
        {"uneven": "repeat"},
        {"columns": []},
        {"columns": ["codes"]},
        {"unknown": 1},
    ],
)
def test_options_that_do_not_fit_a_table_are_refused(
    here: HierarchyInterface, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        here.load("bad", "codes", options)


@pytest.mark.parametrize("name", ["", "n" * 64])
def test_a_name_is_a_name(here: HierarchyInterface, name: str) -> None:
    with pytest.raises(InputError):
        here.define(name, [["a"]])


@pytest.fixture
def strangers(interface: Interface, here: HierarchyInterface) -> Iterator[tuple[Interface, Interface]]:
    """Yield the interfaces of two curators, of whom the first may read the table people."""
    clause = (
        "IN ROLE kanon_curator, kanon_owner"
        if not isinstance(interface, SqlInterface)
        else "IN ROLE kanon_curator"
    )
    with role(interface.dsn, "first", clause) as first, role(interface.dsn, "second", clause) as second:
        interface.connection.execute(f"grant select on people to {first}; select kanon.grant_read('people')")
        with interface_of(first, interface) as one, interface_of(second, interface) as other:
            yield one, other


def test_a_hierarchy_is_its_makers_unless_it_is_shared(strangers: tuple[Interface, Interface]) -> None:
    mine, theirs = map(HierarchyInterface, strangers)
    mine.build("ages", "people", "age", {"builder": "prefix"})
    for refused in (
        lambda: theirs.rows("ages"),
        lambda: theirs.show("ages"),
        lambda: theirs.drop("ages"),
        lambda: theirs.define("ages", [["a"]]),
    ):
        with pytest.raises(NotPermitted):
            refused()
    assert listed(strangers[1], "ages")["spec"] is None
    assert listed(strangers[0], "ages")["spec"]["builder"] == "prefix"
    assert mine.build("ages", "people", "age", {"builder": "prefix"}, {"shared": True}) == 2
    assert theirs.rows("ages") == mine.rows("ages")
    with pytest.raises(NotPermitted):
        theirs.drop("ages")


def test_tables_are_read_with_the_rights_of_the_caller(
    strangers: tuple[Interface, Interface], interface: Interface
) -> None:
    if isinstance(
        interface, SqlInterface
    ):  # through the other interface, callers have the rights of that role
        interface.connection.execute("grant select on people to kanon_owner")
    theirs = HierarchyInterface(strangers[1])
    with pytest.raises(NotPermitted):
        theirs.build("ages", "people", "age", {"builder": "prefix"})
    with pytest.raises(NotPermitted):
        theirs.load("ages", "people", {"columns": ["id"]})


def test_hierarchies_of_a_role_that_is_gone_are_left_to_superusers(
    interface: Interface, here: HierarchyInterface, strangers: tuple[Interface, Interface]
) -> None:
    HierarchyInterface(strangers[0]).define("left", [["a"]])
    interface.connection.execute("update kanon.hierarchy set created_by = 'nobody_of_this_name'")
    with pytest.raises(NotPermitted):
        HierarchyInterface(strangers[0]).rows("left")
    assert here.rows("left") == [["a"]]
    here.drop("left")


def test_two_calls_that_store_the_same_name_at_once_do_not_mix(
    interface: Interface, here: HierarchyInterface
) -> None:
    with psycopg.connect(interface.dsn, autocommit=True) as other, other.transaction():
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1")
        here.define("sexes", [["f"], ["m"]])
        with pytest.raises(psycopg.Error) as refused:
            other.execute("""select kanon_hierarchy_define('sexes', '[["x"]]')""")
        assert refused.value.sqlstate == "KA105"
        raise psycopg.Rollback
    assert here.rows("sexes") == [["f"], ["m"]]


def test_json_that_is_too_deep_is_refused(interface: Interface, here: HierarchyInterface) -> None:
    with pytest.raises(psycopg.Error) as refused:
        interface.connection.execute(f"select kanon_hierarchy_define('deep', '{'[' * 5000}{']' * 5000}')")
    assert refused.value.sqlstate == "KA100"


def test_nodes_with_every_kind_of_sign_are_stored_as_they_are(here: HierarchyInterface) -> None:
    rows = [
        ["a", 'say "x"', "{a,b}"],
        ["b", "back\\slash", "{a,b}"],
        ["c", "a,b", "null"],
        ["d", "", " "],
        ["e", "NULL", "NULL"],
        ["f", "line\nend\t", "'"],
    ]
    here.define("odd", rows)
    assert here.rows("odd") == rows


def test_a_table_that_is_too_long_is_refused_rather_than_cut(
    connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute(
        "create table entries as select 'c' || i as code, 'top' as above from generate_series(1, 6) as i"
    )
    options = {"child": "code", "parent": "above"}
    monkeypatch.setattr(sources, "_MOST_ENTRIES", 6)
    assert client.load_hierarchy(connection, "codes", "entries", options).nodes == (6, 1)
    monkeypatch.setattr(sources, "_MOST_ENTRIES", 5)
    with pytest.raises(InputError, match="more than 5 rows"):
        client.load_hierarchy(connection, "codes", "entries", options)


@pytest.mark.parametrize("column", _BUILT)
def test_missing_values_are_those_that_no_spelling_of_the_hierarchy_is(
    interface: Interface, here: HierarchyInterface, column: str
) -> None:
    connection = interface.connection
    here.build(column, "people", column, _BUILT[column][0])
    connection.execute("set datestyle = 'German'")
    connection.execute("set timezone = 'Asia/Kathmandu'")
    assert here.missing(column, "people", column) == []
    kept = [row for row in here.rows(column) if row[0] not in {here.rows(column)[0][0]}]
    here.define("fewer", kept)
    lacking = here.rows(column)[0][0]
    counted = connection.execute(
        f"select count(*) from people where {column} = %s::{_type(column)}".encode(), [lacking]
    ).fetchone()
    assert counted is not None
    assert [rows for _, rows in here.missing("fewer", "people", column)] == [counted[0]]


def test_equal_numbers_are_not_missing_however_they_are_spelled(
    interface: Interface, here: HierarchyInterface
) -> None:
    interface.connection.execute(
        "create table spelled as select v::numeric as n from unnest('{1.0,1.00,2,3.5}'::text[]) as v"
    )
    here.define("some", [["1", "x"], ["2.000", "x"]])
    assert here.missing("some", "spelled", "n") == [("3.5", 1)]


def test_missing_values_are_refused_without_a_value_in_the_refusal(
    interface: Interface, here: HierarchyInterface
) -> None:
    here.define("words", [["secret77", "x"]])
    with pytest.raises(UnsuitableColumn, match='hierarchy of column "age"') as caught:
        here.missing("words", "people", "age")
    assert "secret77" not in f"{caught.value} {caught.value.detail} {caught.value.hint}"
    with pytest.raises(UnknownName):
        here.missing("nothing", "people", "age")
    with pytest.raises(UnknownName):
        here.missing("words", "people", "nothing")
    with pytest.raises(InputError):
        here.missing("words", "people", None)
    with pytest.raises(UnsuitableColumn):
        here.missing("words", "people", "place")
