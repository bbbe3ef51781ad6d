"""Releases in which cells are published at levels of hierarchies."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from psycopg import sql

from kanon_pg.errors import InputError, KanonError, UnsuitableColumn, VerificationFailed
from kanon_pg.tables.export import export_release
from tests.fixtures.generalizing_solver import LIES, SHAMELESS, generalizing
from tests.fixtures.hierarchy_interfaces import HierarchyInterface
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything, people_by_class, published

pytestmark = pytest.mark.slow

HIERARCHIES = {"age": {"hierarchy": "ages", "lowest": 0}, "zip": "zips"}


def store(interface: Interface, name: str, output: str, rows: list[list[str]]) -> None:
    height = len(rows[0])
    interface.connection.execute(
        "insert into kanon.hierarchy (name, version, kind, spec, output, height, nodes, created_by)"
        " values (%s, 1, 'rows', '{}', %s, %s, '{}', 'postgres')",
        [name, output, height],
    )
    for value, *nodes in rows:
        interface.connection.execute(
            "insert into kanon.hierarchy_value values (%s, 1, %s, %s)", [name, value, nodes]
        )


@pytest.fixture
def solved_people(interface: Interface) -> Interface:
    """Return an interface to a table of 200 people with ages 20 to 39 and zip codes of two levels."""
    interface.connection.execute(
        "create table people as select i as id, 20 + i * 7 %% 20 as age,"
        " case when i %% 4 = 0 then null else (13000 + i * 11 %% 40)::text end as zip, i %% 5 as ward,"
        " i %% 6 as diagnosis from generate_series(1, 200) as i".replace("%%", "%")
    )
    ages = [
        [str(age), f"[{age - age % 5},{age - age % 5 + 5})", f"[{age - age % 10},{age - age % 10 + 10})"]
        for age in range(20, 40)
    ]
    store(interface, "ages", "int4range", ages)
    store(interface, "zips", "text", [[str(zip_), f"{zip_ // 10}*"] for zip_ in range(13000, 13060)])
    interface.declare(
        "people",
        quasi_identifiers=["age", "zip", "ward"],
        sensitive=["diagnosis"],
        insensitive=["id"],
        weights={"age": 2},
    )
    return interface


@pytest.fixture
def people(solved_people: Interface) -> Iterator[Interface]:
    """Yield the same interface with a stand-in for the solvers."""
    with generalizing(solved_people.connection):
        yield solved_people


def value(interface: Interface, query: str) -> Any:
    row = interface.connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def node_of_age(age: int, cell: str) -> bool:
    low, high = cell.strip("[)").split(",")
    return int(low) <= age < int(high) and int(high) - int(low) in (1, 5, 10)


def check_cells(interface: Interface) -> Counter[str]:
    """Compare every published cell with the row it stands for; return how many of each width there are."""
    base = {row[0]: row[1:] for row in interface.connection.execute("select id, age, zip, ward from people")}
    seen: Counter[str] = Counter()
    for row in published(interface.connection, "people", ["age", "zip", "ward"], "id"):
        age, zip_, ward = row.cells
        true_age, true_zip, true_ward = base[row.carried]
        for name, cell in zip(("age", "zip", "ward"), row.cells, strict=True):
            assert cell is None or name not in row.suppressed
        if "age" not in row.suppressed:
            assert age is not None
            assert node_of_age(true_age, age)
            seen[f"age {int(age.strip('[)').split(',')[1]) - int(age.strip('[)').split(',')[0])}"] += 1
        if "zip" not in row.suppressed:
            assert zip_ in ((None,) if true_zip is None else (true_zip, f"{true_zip[:4]}*"))
            seen["no zip" if zip_ is None else f"zip {len(zip_.strip('*'))}"] += 1
        if "ward" not in row.suppressed:
            assert ward == str(true_ward)
            seen["ward"] += 1
    return seen


def test_every_cell_is_a_node_of_its_value_and_every_class_has_k_people(people: Interface) -> None:
    report = people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    rows = published(people.connection, "people", ["age", "zip", "ward"], "id")
    classes = people_by_class(rows)
    assert len(rows) == report.rows == 200
    assert min(classes.values()) >= 3
    seen = check_cells(people)
    assert set(seen) >= {"age 1", "age 5", "age 10", "zip 5", "zip 4", "no zip", "ward"}
    assert report.suppressed_cells == sum(len(row.suppressed) for row in rows)
    assert (
        value(
            people,
            "select format_type(atttypid, atttypmod) from pg_attribute"
            " where attrelid = 'safe.people'::regclass and attname = 'age'",
        )
        == "int4range"
    )
    assert value(people, "select generalized::text from kanon.releases") == "{age,zip}"


def test_the_cost_is_the_weighted_loss(people: Interface) -> None:
    report = people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    loss = 0.0
    for row in published(people.connection, "people", ["age", "zip", "ward"], "id"):
        age, zip_, _ = row.cells
        loss += "ward" in row.suppressed
        if "age" in row.suppressed:
            loss += 2
        elif age is not None:
            low, high = age.strip("[)").split(",")
            loss += 2 * (int(high) - int(low) - 1) / 19
        if "zip" in row.suppressed:
            loss += 1
        elif zip_ is not None and zip_.endswith("*"):
            loss += 9 / 59
    assert report.weighted_cost == pytest.approx(loss)


@pytest.mark.parametrize("loss", ["levels", [0.1, 0.2, 0.5, 1]])
def test_losses_by_level_count_for_missing_values_too(people: Interface, loss: Any) -> None:
    per_level = [0, 1 / 3, 2 / 3, 1] if loss == "levels" else loss
    people.connection.execute("update people set age = null where id % 4 = 0")
    report = people.anonymize(
        "people",
        3,
        quasi_identifiers=["age"],
        hierarchies={"age": {"hierarchy": "ages", "loss": loss}},
        seed=2,
    )
    storage = value(people, "select storage::text from kanon.releases")
    levels = people.connection.execute(
        f"select kanon_pattern & 3, count(*) from {storage} group by 1".encode()
    ).fetchall()
    assert report.weighted_cost == pytest.approx(sum(2 * per_level[level] * n for level, n in levels))


def test_values_below_the_lowest_level_are_never_published(people: Interface) -> None:
    wishes = {"age": {"hierarchy": "ages", "lowest": 2}, "zip": {"hierarchy": "zips", "lowest": 1}}
    people.anonymize("people", 2, hierarchies=wishes, seed=4)
    assert set(check_cells(people)) <= {"age 10", "zip 4", "no zip", "ward"}


def test_a_hierarchy_built_for_the_release(people: Interface) -> None:
    people.anonymize(
        "people", 3, hierarchies={"age": {"builder": "intervals", "width": 5, "lowest": 1}}, seed=4
    )
    assert "age 5" in check_cells(people)
    assert value(people, "select count(*) from pg_class where relname ~ 'given'") == 0


def test_classes_of_single_columns_are_recodings(people: Interface) -> None:
    """Those of `kanon_intervals` and `kanon_groups`, built for the release."""
    classes = {"builder": "classes", "least": 40, "lowest": 1}
    for column, kind in (("age", "int4range"), ("zip", "text")):
        people.anonymize(
            "people", 3, quasi_identifiers=[column], hierarchies={column: classes}, seed=SHAMELESS
        )
        classes_of = f"select count(*) as n from safe.people where {column} is not null group by {column}"
        query = f"select min(n) from ({classes_of}) as c"
        assert value(people, query) >= 40
        assert value(people, f"select pg_typeof({column})::text from safe.people limit 1") == kind


def test_values_that_came_later_are_suppressed_and_counted(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    people.connection.execute(
        "insert into people select i, 99, '13001', 0, 1 from generate_series(301, 303) as i"
    )
    people.connection.execute(
        "insert into people select i, 21, null, 0, 1 from generate_series(311, 315) as i"
    )
    people.connection.execute("alter table people rename column age to years")
    people.refresh("people")
    assert any('3 rows have values of column "age"' in notice for notice in people.notices)
    assert not any('column "zip"' in notice for notice in people.notices)
    rows = published(people.connection, "people", ["age", "zip", "ward"], "id")
    new = [row for row in rows if row.carried > 300]
    assert all({"age", "zip", "ward"} == row.suppressed for row in new if row.carried < 310)
    assert min(people_by_class(rows).values()) >= 3


def test_a_known_value_in_a_pattern_of_another_row_type_is_masked_by_the_guard(people: Interface) -> None:
    """Whatever the mapping says, also levels that there are not, the guard counts what is shown."""
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    storage, mapping = people.connection.execute(
        "select storage::text, mapping::text from kanon.release"
    ).fetchone()  # type: ignore[misc]
    for pattern in (0, 1, 6, 31, -1, 1 << 40, 21):
        people.connection.execute(
            f"update {mapping} set pattern = {pattern} where row_type % 3 <> 1".encode()
        )
        people.connection.execute("update people set age = 77 where id % 17 = 0")
        people.connection.execute(f"refresh materialized view {storage}".encode())
        rows = published(people.connection, "people", ["age", "zip", "ward"], "id")
        assert min(people_by_class(rows).values(), default=3) >= 3
        assert not any(row.cells[0] == "[77,78)" for row in rows)
        assert all(
            cell is None
            for row in rows
            for cell, name in zip(row.cells, ("age", "zip", "ward"), strict=True)
            if name in row.suppressed
        )


def test_a_value_that_the_release_no_longer_knows_is_suppressed_whatever_its_pattern(
    people: Interface,
) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    nodes = value(people, "select nodes[1]::text from kanon.release")
    people.connection.execute(f"delete from {nodes} where value between 20 and 24".encode())
    people.refresh("people")
    assert any('column "age"' in notice for notice in people.notices)
    young = {row[0] for row in people.connection.execute("select id from people where age < 25")}
    rows = published(people.connection, "people", ["age", "zip", "ward"], "id")
    assert young & {row.carried for row in rows}
    assert all("age" in row.suppressed for row in rows if row.carried in young)
    assert min(people_by_class(rows).values()) >= 3


def test_a_class_that_lost_people_is_withheld(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    people.connection.execute("delete from people where id % 3 = 0")
    people.refresh("people")
    assert (
        min(people_by_class(published(people.connection, "people", ["age", "zip", "ward"], "id")).values())
        >= 3
    )


def test_a_release_keeps_its_own_copy_and_leaves_nothing_behind(people: Interface) -> None:
    before = value(people, "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace")
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    shown = Counter(published(people.connection, "people", ["age", "zip", "ward"], "id"))
    people.connection.execute("delete from kanon.hierarchy")
    people.refresh("people")
    assert Counter(published(people.connection, "people", ["age", "zip", "ward"], "id")) == shown
    people.drop("people")
    assert value(people, "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace") == before


def test_no_hierarchy_is_dropped_while_a_release_copies_it(people: Interface) -> None:
    with psycopg.connect(people.dsn) as publishing, psycopg.connect(people.dsn, autocommit=True) as dropping:
        publishing.execute("select kanon_anonymize('people', 3, hierarchies => '{\"age\": \"ages\"}')")
        dropping.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.Error, match="lock"):
            dropping.execute("select kanon_hierarchy_drop('ages')")
        publishing.commit()
        dropping.execute("select kanon_hierarchy_drop('ages')")


def test_publishing_anew_replaces_the_tables_and_the_types_of_columns(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    with_hierarchies = value(people, "select count(*) from pg_class where relname ~ '^people_v'")
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=5)
    assert value(people, "select count(*) from pg_class where relname ~ '^people_v'") == with_hierarchies
    people.anonymize("people", 3, hierarchies={}, seed=5)
    assert value(people, "select pg_typeof(age)::text from safe.people limit 1") == "integer"
    assert value(people, "select count(*) from pg_class where relname ~ '^people_v.*(nodes|unknown)'") == 0


def test_dropping_the_base_table_leaves_no_tables(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    people.connection.execute("drop table people cascade")
    people.drop("people")
    assert value(people, "select count(*) from pg_class where relname ~ '^people_v'") == 0


def test_no_definition_quotes_a_value_or_a_node(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    texts = value(
        people,
        "select string_agg(pg_get_viewdef(oid), ' ') from pg_class where relkind in ('v', 'm')"
        " and relnamespace in ('kanon'::regnamespace, 'safe'::regnamespace) and relname ~ 'people'",
    )
    assert "people_v1_nodes_1" in texts
    assert "1300" not in texts
    assert "[20" not in texts


@pytest.mark.parametrize("seed", [*LIES, SHAMELESS])
def test_a_solver_that_lies_publishes_nothing(people: Interface, seed: int) -> None:
    before = everything(people.connection)
    with pytest.raises(VerificationFailed):
        people.anonymize("people", 9, hierarchies=HIERARCHIES, seed=seed)
    assert everything(people.connection) == before


def test_an_incomplete_hierarchy_is_refused_by_column(people: Interface) -> None:
    people.connection.execute("update people set age = 991 where id = 1")
    before = everything(people.connection)
    with pytest.raises(InputError, match='column "age" lacks 1 of the values') as caught:
        people.anonymize("people", 3, hierarchies=HIERARCHIES)
    assert "991" not in f"{caught.value} {caught.value.detail} {caught.value.hint}"
    assert everything(people.connection) == before
    (_, query) = (caught.value.hint or "").split("SELECT ")
    listed = people.connection.execute(f"select {query.removesuffix(' lists them.')}".encode()).fetchall()
    assert listed == [("991", 1)]


def test_a_refresh_says_what_lists_the_values_that_the_hierarchy_does_not_know(people: Interface) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES)
    people.connection.execute("update people set age = 991 where id <= 2")
    people.notices.clear()
    people.refresh("people")
    (notice,) = [text for text in people.notices if "does not know" in text]
    assert "991" not in notice
    query = notice[notice.index("SELECT ") :].removesuffix(" lists them.")
    assert people.connection.execute(query.encode()).fetchall() == [("991", 2)]


@pytest.mark.parametrize(
    ("rows", "output"),
    [
        ([["secret77", "x"]], "text"),
        ([["20", "[secret77,3)"]], "int4range"),
        ([["20", "[4,secret77)"], ["020", "[4,5)"]], "text"),
    ],
    ids=["no value of the type", "no range", "one value twice"],
)
def test_a_hierarchy_that_does_not_fit_the_column_is_refused_without_quoting_it(
    people: Interface, rows: list[list[str]], output: str
) -> None:
    store(people, "wrong", output, rows)
    with pytest.raises(UnsuitableColumn, match='hierarchy of column "age"') as caught:
        people.anonymize("people", 3, hierarchies={"age": "wrong"})
    shown = f"{caught.value} {caught.value.detail} {caught.value.hint}"
    assert "secret77" not in shown
    assert "020" not in shown


def test_a_hierarchy_of_short_texts_does_not_cut_longer_ones(people: Interface) -> None:
    people.undeclare("people")
    people.connection.execute("alter table people alter zip type varchar(5)")
    store(people, "long", "text", [["13000-77", "x"], *([str(zip_), "y"] for zip_ in range(13001, 13050))])
    with pytest.raises(UnsuitableColumn):
        people.anonymize("people", 3, hierarchies={"zip": "long"})


def test_columns_may_have_the_names_that_queries_use_inside(interface: Interface) -> None:
    names = [
        "nodes",
        "value",
        "given",
        "source",
        "typed",
        "node",
        "level_0",
        "loss_0",
        "h1",
        "l1",
        "q2",
        "n1_0",
    ]
    names += [
        "base",
        "pattern",
        "counted",
        "person",
        "known",
        "seen",
        "cell",
        "row_type",
        "class_hash",
        "a\"b'%",
    ]
    columns = [sql.Identifier(name) for name in names]
    interface.connection.execute(
        sql.SQL("create table odd as select {} from generate_series(1, 40) as i").format(
            sql.SQL(", ").join(
                sql.SQL("i % {} as {}").format(sql.Literal(2 + number % 3), column)
                for number, column in enumerate(columns)
            )
        )
    )
    wish = {"builder": "intervals", "cuts": [1]}
    report = interface.anonymize("odd", 2, hierarchies=dict.fromkeys(names, wish))
    assert report.rows == 40
    interface.refresh("odd")
    (seen,) = interface.connection.execute("select count(*) from safe.odd")
    assert seen == (40,)


@pytest.mark.parametrize("is_stored", [False, True])
def test_floating_point_numbers_keep_their_digits_whatever_the_session_shows(
    interface: Interface, is_stored: bool
) -> None:
    interface.connection.execute("set extra_float_digits = -3")
    interface.connection.execute(
        "create table numbers as select i % 3 / 7.0::float8 as a from generate_series(1, 12) as i"
    )
    wish: dict[str, Any] = {"builder": "intervals", "width": 0.25}
    if is_stored:
        HierarchyInterface(interface).build("sevenths", "numbers", "a", wish)
        wish = {"hierarchy": "sevenths"}
    assert interface.anonymize("numbers", 4, hierarchies={"a": wish}).weighted_cost == 0


@pytest.mark.parametrize(("kind", "greatest"), [("integer", 2**31 - 1), ("bigint", 2**63 - 1)])
def test_the_greatest_integer_has_a_range(interface: Interface, kind: str, greatest: int) -> None:
    interface.connection.execute(
        f"create table numbers (a {kind});"
        f" insert into numbers select case when i % 2 = 0 then {greatest} else {-greatest - 1} end"
        " from generate_series(1, 12) as i".encode()
    )
    interface.anonymize("numbers", 5, hierarchies={"a": {"builder": "intervals", "width": 10}})
    shown = interface.connection.execute(
        "select a::text, count(*) from safe.numbers group by a order by a"
    ).fetchall()
    assert shown == [(f"[{-greatest - 1},{-greatest})", 6), (f"[{greatest},)", 6)]


def test_values_that_would_look_alike_need_a_lowest_level(people: Interface) -> None:
    people.connection.execute("alter table people add seen timestamp")
    people.connection.execute(
        "update people set seen = '2020-01-01 10:00'::timestamp + id % 3 * interval '1 h'"
    )
    store(
        people,
        "days",
        "daterange",
        [[f"2020-01-01 1{hour}:00:00", "[2020-01-01,2020-01-02)"] for hour in range(3)],
    )
    with pytest.raises(UnsuitableColumn, match="look alike as daterange"):
        people.anonymize("people", 3, quasi_identifiers=["seen"], hierarchies={"seen": "days"})
    people.anonymize(
        "people",
        3,
        quasi_identifiers=["seen"],
        hierarchies={"seen": {"hierarchy": "days", "lowest": 1}},
        seed=SHAMELESS,
    )
    assert (
        value(people, "select seen::text from safe.people where seen is not null limit 1")
        == "[2020-01-01,2020-01-02)"
    )


@pytest.mark.parametrize(
    ("hierarchies", "error", "sentence"),
    [
        ([], InputError, "must be a JSON object"),
        ({"age": 3}, InputError, "neither a name nor a JSON object"),
        ({"age": {}}, InputError, "either the name of a stored hierarchy or a builder"),
        ({"age": {"hierarchy": "ages", "builder": "intervals"}}, InputError, "either the name"),
        ({"age": {"hierarchy": "ages", "width": 3}}, InputError, "takes lowest and loss, and nothing else"),
        ({"age": {"hierarchy": "ages", "lowest": -1}}, InputError, "whole number of at least 0"),
        ({"age": {"hierarchy": "ages", "lowest": 4}}, InputError, "its hierarchy ends at 3"),
        ({"age": {"hierarchy": "ages", "loss": "none"}}, InputError, "not one of those there are"),
        ({"age": {"hierarchy": "ages", "loss": [0, 0.5, 0.4, 1]}}, InputError, "not one of those there are"),
        ({"age": {"hierarchy": "ages", "loss": [0, 1]}}, InputError, "has 2 numbers; its hierarchy has 4"),
        ({"diagnosis": "ages"}, InputError, "is not a quasi-identifier"),
        ({"nothing": "ages"}, KanonError, 'has no column "nothing"'),
        (
            {"age": {"builder": "intervals", "width": "x"}},
            InputError,
            'Argument hierarchies, column "age": "width" must be',
        ),
        (
            {"age": {"builder": "intervals", "width": 5, "secret1": 1}},
            InputError,
            'Argument hierarchies, column "age": 1 of the keys',
        ),
        ({"age": "nothing"}, KanonError, 'There is no hierarchy "nothing"'),
    ],
)
def test_hierarchies_that_cannot_be_had_as_requested_are_refused(
    people: Interface, hierarchies: Any, error: type[KanonError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        people.anonymize("people", 3, hierarchies=hierarchies)


def test_a_column_with_several_spellings_of_one_value_has_no_hierarchy(people: Interface) -> None:
    people.connection.execute("create extension citext")
    people.undeclare("people")
    people.connection.execute("alter table people alter zip type citext")
    with pytest.raises(UnsuitableColumn, match="several spellings"):
        people.anonymize("people", 3, hierarchies={"zip": "zips"})


def test_other_sessions_habits_do_not_change_what_a_refresh_shows(people: Interface) -> None:
    people.connection.execute("alter table people add born date, add weight double precision")
    people.connection.execute("update people set born = date '1990-01-01' + id % 7, weight = id % 6 / 7.0")
    hierarchies = {
        "born": {"builder": "dates", "levels": ["month", "year"]},
        "weight": {"builder": "intervals", "width": 0.5},
    }
    options = {"quasi_identifiers": ["born", "weight"], "hierarchies": hierarchies, "seed": 3}
    people.anonymize("people", 3, **options)
    before = Counter(published(people.connection, "people", ["born", "weight"], "id"))
    storage = value(people, "select storage::text from kanon.releases")
    for habit in ("datestyle = 'sql, dmy'", "extra_float_digits = -15", "search_path = ''"):
        people.connection.execute(f"set {habit}".encode())
    people.connection.execute(f"refresh materialized view {storage}".encode())
    for habit in ("datestyle", "extra_float_digits", "search_path"):
        people.connection.execute(f"reset {habit}".encode())
    assert Counter(published(people.connection, "people", ["born", "weight"], "id")) == before


def test_measures_say_what_was_lost(people: Interface) -> None:
    report = people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    found = people.measure("safe.people")
    penalty = height = 0.0
    for row in published(people.connection, "people", ["age", "zip", "ward"], "id"):
        age, zip_, _ = row.cells
        if "age" in row.suppressed:
            penalty, height = penalty + 1, height + 1
        elif age is not None:
            low, high = age.strip("[)").split(",")
            penalty += (int(high) - int(low) - 1) / 19
            height += {1: 0, 5: 1, 10: 2}[int(high) - int(low)] / 3
        if "zip" in row.suppressed:
            penalty, height = penalty + 1, height + 1
        elif zip_ is not None and zip_.endswith("*"):
            penalty, height = penalty + 9 / 59, height + 1 / 2
        penalty, height = penalty + ("ward" in row.suppressed), height + ("ward" in row.suppressed)
    levels = people.connection.execute(
        f"select count(*) from {value(people, 'select storage::text from kanon.releases')}"
        " where zip is null and (kanon_pattern >> 2) & 3 = 1".encode()
    ).fetchone()
    assert levels is not None
    assert (found.rows, found.classes, found.k) == (200, report.classes, report.smallest_class)
    assert found.certainty_penalty == pytest.approx(penalty / 600)
    assert found.generalization_height == pytest.approx((height + levels[0] / 2) / 600)
    assert found.usefulness > 0
    named = people.measure("safe.people", quasi_identifiers=["age"])
    assert named.certainty_penalty is None


def test_audits_and_exports_take_generalized_releases(people: Interface, tmp_path: Path) -> None:
    people.anonymize("people", 3, hierarchies=HIERARCHIES, seed=4)
    assert value(people, "select count(*) from kanon.violations") == 0
    assert (
        value(
            people,
            "select count(*) from kanon_audit('safe.people', 3, '{age,zip,ward,kanon_suppressed}',"
            " time_limit => '5 minutes')",
        )
        == 0
    )
    assert value(people, "select count(*) from kanon_risk('safe.people', time_limit => '5 minutes')") == 1
    for name in ("people.csv", "people.parquet"):
        assert export_release(people.connection, "people", tmp_path / name).rows == 200
    assert "[20,25)" in (tmp_path / "people.csv").read_text(encoding="utf-8")
    cells = pq.read_table(tmp_path / "people.parquet").column("age").to_pylist()
    assert "[20,25)" in cells


def test_queries_about_a_generalized_release_are_answered_as_about_any_other(people: Interface) -> None:
    answers = []
    for hierarchies in (None, HIERARCHIES):
        people.anonymize("people", 3, hierarchies=hierarchies, seed=4)
        try:
            rows = people.connection.execute(
                "select count(*) from kanon_query('select age, count(*) as n from safe.people group by age')"
            ).fetchall()
            answers.append(bool(rows))
        except psycopg.Error as error:
            answers.append(error.sqlstate)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", ["auto", "greedy", "local", "mondrian", "full_domain", "exact"])
def test_every_method_publishes_what_it_promises(solved_people: Interface, method: str) -> None:
    report = solved_people.anonymize("people", 8, hierarchies=HIERARCHIES, method=method, l=2, time_limit=60)
    rows = published(solved_people.connection, "people", ["age", "zip", "ward"], "id")
    assert min(people_by_class(rows).values()) == report.smallest_class >= 8
    assert report.rows == len(rows) == 200
    check_cells(solved_people)
    assert report.lower_bound is None or 0 <= report.lower_bound <= report.weighted_cost
    found = solved_people.measure("safe.people")
    assert found.frequency_l is not None
    assert found.frequency_l >= 2
    assert found.entropy_loss is not None
    assert 0 < found.entropy_loss < 1
    assert found.marginal_divergence is not None
    assert found.marginal_divergence >= 0


def test_a_column_of_one_level_shows_it_in_all_rows_also_after_a_plain_refresh(
    solved_people: Interface,
) -> None:
    connection = solved_people.connection
    report = solved_people.anonymize("people", 8, hierarchies=HIERARCHIES, same_level=["age"])
    assert report.lower_bound is None or report.lower_bound <= report.weighted_cost
    widths = "select distinct upper(age) - lower(age) from safe.people where age is not null"
    before = connection.execute(widths.encode()).fetchall()
    assert len(before) == 1
    check_cells(solved_people)
    connection.execute("update people set age = 20 + id % 40 where id % 3 = 0")
    storage = value(solved_people, "select storage::text from kanon.releases")
    connection.execute(f"refresh materialized view {storage}".encode())
    assert connection.execute(widths.encode()).fetchall() in (before, [])
    solved_people.refresh("people")
    assert connection.execute(widths.encode()).fetchall() in (before, [])


def test_full_domain_recoding_has_one_level_per_column_and_keeps_its_share(solved_people: Interface) -> None:
    solved_people.anonymize("people", 8, hierarchies=HIERARCHIES, method="full_domain", suppressed_rows=0.1)
    rows = published(solved_people.connection, "people", ["age", "zip", "ward"], "id")
    assert sum(len(row.suppressed) == 3 for row in rows) <= 20
    storage = value(solved_people, "select storage::text from kanon.releases")
    patterns = solved_people.connection.execute(f"select distinct kanon_pattern from {storage}".encode())
    everything_suppressed = 3 + (2 << 2) + (1 << 4)
    assert len({pattern for (pattern,) in patterns} - {everything_suppressed}) == 1


SEEN = "select count(*) as n from safe.people group by age, zip, ward, kanon_suppressed"
"""The classes of the release, as its readers can count them."""


def test_classes_are_counted_as_readers_tell_them_apart(people: Interface) -> None:
    # Levels 1 and 2 of zip codes have the same name, so that a cell does not show at which it is.
    store(people, "all", "text", [[str(zip_), "all", "all"] for zip_ in range(13000, 13060)])
    wishes = {"age": {"hierarchy": "ages", "lowest": 2}, "zip": {"hierarchy": "all", "lowest": 1}}
    report = people.anonymize("people", 2, seed=1, hierarchies=wishes)
    assert report.classes == value(people, f"select count(*) from ({SEEN}) as class")
    assert report.smallest_class == value(people, f"select min(n) from ({SEEN}) as class")
    levels = "select count(distinct (age, zip, ward, kanon_pattern)) from kanon.people_storage"
    assert report.classes < value(people, levels)


def test_a_stored_hierarchy_whose_names_have_two_meanings_is_refused(people: Interface) -> None:
    # "rest" is the node of one zip code, and of all others one level above.
    rows = [[str(zip_), "rest" if zip_ == 13000 else "few", "odd" if zip_ == 13000 else "rest"]
            for zip_ in range(13000, 13060)]  # fmt: skip
    store(people, "mixed", "text", rows)
    with pytest.raises(UnsuitableColumn, match='One name of the hierarchy of column "zip" stands'):
        people.anonymize("people", 2, hierarchies={"zip": "mixed"})
    people.anonymize("people", 2, hierarchies={"zip": {"hierarchy": "mixed", "lowest": 2}})
