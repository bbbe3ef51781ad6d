"""What stands behind a release: definitions without data, order without meaning, what a refresh may show."""

import re
from itertools import pairwise

import pytest

from kanon_pg.errors import KanonError
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import people_by_class, published


@pytest.fixture
def patients(interface: Interface) -> str:
    interface.connection.execute(
        "create table patients as"
        " select i as id, 'zipcode' || i % 5 as zip, date '1815-12-10' + i % 3 as born,"
        " 'tellable' || i % 7 as diagnosis, 100000 + i / 2 as who from generate_series(1, 300) as i"
    )
    interface.connection.execute(
        "insert into patients values (301, 'lonelyzip', '1912-06-23', 'rarest', 424242)"
    )
    interface.declare(
        "patients",
        quasi_identifiers=["zip", "born"],
        sensitive=["diagnosis", "id"],
        entity="who",
        weights={"born": 2},
    )
    interface.anonymize("patients", 5)
    return "patients"


def storage_of(interface: Interface) -> str:
    row = interface.connection.execute("select storage::text from kanon.release").fetchone()
    assert row is not None
    name: str = row[0]
    return name


@pytest.mark.usefixtures("patients")
def test_no_definition_or_comment_quotes_the_data(interface: Interface) -> None:
    texts = interface.connection.execute(
        "select pg_get_viewdef(c.oid) || coalesce(obj_description(c.oid, 'pg_class'), '') from pg_class as c"
        " where c.relnamespace in ('kanon'::regnamespace, 'safe'::regnamespace) and c.relkind in ('v', 'm')"
    ).fetchall()
    assert len(texts) >= 4
    everything = "\n".join(text for (text,) in texts)
    assert "patients" in everything
    for secret in ("zipcode", "lonelyzip", "1912", "1815", "tellable", "rarest", "424242", "100000"):
        assert secret not in everything


def test_rows_are_published_in_random_order(interface: Interface, patients: str) -> None:
    orders = []
    for _ in range(2):
        interface.anonymize(patients, 5)
        rows = interface.connection.execute(f"select id from {storage_of(interface)}".encode()).fetchall()
        orders.append([row_id for (row_id,) in rows])
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(1, 302))
    neighbours = sum(abs(a - b) == 1 for a, b in zip(orders[0], orders[0][1:], strict=False))
    assert neighbours < 30, "expected are 2 of 300"


def test_no_seed_of_a_session_repeats_the_order(interface: Interface, patients: str) -> None:
    """What a session can seed must not order rows: who knows the seed would undo the order."""
    run = interface.connection.execute
    run("alter table patients add primary key (id)")
    orders = []
    for over_time in (None, {}):
        options = {} if over_time is None else {"over_time": over_time, "release": "versions"}
        run("select setseed(0.5)")
        interface.anonymize(patients, 5, **options)
        ((storage,),) = run(
            "select storage::text from kanon.release order by published_at desc limit 1"
        ).fetchall()
        for _ in range(3):
            orders.append([row_id for (row_id,) in run(f"select id from {storage}".encode()).fetchall()])
            run("select setseed(0.5)")
            run(f"refresh materialized view {storage}".encode())
    assert len(orders) == len(set(map(tuple, orders)))
    for order in orders:
        steps = sum(before < after for before, after in pairwise(order))
        assert 100 < steps < 200, "expected are 150 of 300"


def test_nothing_that_is_stored_draws_from_a_session(interface: Interface, patients: str) -> None:
    interface.connection.execute("alter table patients add primary key (id)")
    interface.anonymize(patients, 5)
    interface.anonymize(patients, 5, release="versions", over_time={})
    definitions = interface.connection.execute(
        "select definition from pg_matviews where schemaname = 'kanon'"
        " union all select definition from pg_views where schemaname in ('kanon', 'safe')"
    ).fetchall()
    drawing = [text for (text,) in definitions if re.search(r"\brandom(_normal)?\(", text)]
    assert drawing == []
    assert sum("gen_random_uuid()" in text for (text,) in definitions) == 2


@pytest.mark.usefixtures("patients")
def test_statistics_are_fresh(interface: Interface) -> None:
    for command in (None, "refresh"):
        if command:
            interface.connection.execute(
                "insert into patients (id, zip, who) select i, 'z', i from generate_series(1, 9) i"
            )
            interface.refresh("patients")
        tuples = interface.connection.execute(
            "select reltuples from pg_class where oid = %s::regclass", [storage_of(interface)]
        ).fetchone()
        assert tuples == interface.connection.execute("select count(*) from safe.patients").fetchone()


@pytest.mark.usefixtures("patients")
def test_a_refresh_by_a_session_with_other_habits_shows_the_same(interface: Interface) -> None:
    before = sorted(
        published(interface.connection, "patients", ["zip", "born"], "id"), key=lambda row: row.carried
    )
    for habit in (
        "datestyle = 'sql, dmy'",
        "intervalstyle = 'iso_8601'",
        "extra_float_digits = -15",
        "search_path = ''",
    ):
        interface.connection.execute(f"set {habit}".encode())
    interface.connection.execute(f"refresh materialized view {storage_of(interface)}".encode())
    for habit in ("datestyle", "intervalstyle", "extra_float_digits", "search_path"):
        interface.connection.execute(f"reset {habit}".encode())
    after = sorted(
        published(interface.connection, "patients", ["zip", "born"], "id"), key=lambda row: row.carried
    )
    assert before == after


@pytest.mark.usefixtures("patients")
def test_below_k_people_nothing_is_shown(interface: Interface) -> None:
    interface.connection.execute("delete from patients where who >= 100004")
    left = interface.connection.execute("select count(*) from patients").fetchone()
    interface.refresh("patients")
    assert published(interface.connection, "patients", ["zip", "born"], "id") == []
    assert left is not None
    assert any(f"{left[0]} rows are withheld" in notice for notice in interface.notices)
    interface.connection.execute("truncate patients")
    interface.refresh("patients")
    assert published(interface.connection, "patients", ["zip", "born"], "id") == []


@pytest.mark.usefixtures("patients")
def test_one_person_with_many_rows_is_no_class(interface: Interface) -> None:
    interface.connection.execute(
        "update patients set zip = 'zipcode0', born = '1815-12-10', who = 7 where zip = 'zipcode0'"
    )
    interface.refresh("patients")
    rows = published(interface.connection, "patients", ["zip", "born"], "id")
    assert not any(row.cells == ("zipcode0", "1815-12-10") for row in rows)
    person_of = dict(interface.connection.execute("select id, who from patients").fetchall())
    assert min(people_by_class(rows, person_of).values()) >= 5


@pytest.mark.usefixtures("patients")
def test_rows_without_a_person_count_for_nobody(interface: Interface) -> None:
    for known, is_shown in ((4, False), (5, True)):
        # twenty rows look alike; whose they are is known of some, and of no other row
        interface.connection.execute(
            "update patients set who = case when id %% 15 = 0 and id <= %s then id end", [known * 15]
        )
        interface.refresh("patients")
        assert bool(published(interface.connection, "patients", ["zip", "born"], "id")) == is_shown


@pytest.mark.usefixtures("patients")
def test_columns_of_the_base_table_that_a_release_needs_cannot_go_unnoticed(interface: Interface) -> None:
    for command in ("alter table patients drop column zip", "alter table patients alter born type text"):
        with pytest.raises(Exception, match=r"depend|used by a view"):
            interface.connection.execute(command.encode())


@pytest.mark.usefixtures("patients")
def test_renaming_the_base_table_and_its_columns_leaves_the_release_as_it_was(interface: Interface) -> None:
    interface.connection.execute("alter table patients rename column zip to postcode")
    interface.connection.execute("alter table patients rename to people")
    interface.refresh("patients")
    assert not any("withheld" in notice for notice in interface.notices)
    rows = published(interface.connection, "patients", ["zip", "born"], "id")
    assert len(rows) == 301


@pytest.mark.usefixtures("patients")
def test_dropping_the_base_table_takes_the_release_along(interface: Interface) -> None:
    interface.connection.execute("drop table patients cascade")
    with pytest.raises(KanonError, match="base table of this release was dropped"):
        interface.refresh("patients")
    interface.drop("patients")
    left = interface.connection.execute(
        "select relname from pg_class where relname ~ 'patients'"
        " and relnamespace in ('kanon'::regnamespace, 'safe'::regnamespace)"
    ).fetchall()
    assert left == []


@pytest.mark.usefixtures("patients")
def test_the_release_is_recorded_with_its_report(interface: Interface) -> None:
    report = interface.anonymize("patients", 7, method="greedy", seed=3)
    recorded = interface.connection.execute(
        "select k, rows, people, classes, smallest_class, suppressed_cells, weighted_cost, lower_bound,"
        " method, base::text, entity::text, parameters ->> 'seed',"
        " changes_since is null or changes_since >= 0, published_by from kanon.releases"
    ).fetchone()
    assert recorded == (
        *(7, 301, 152, report.classes, report.smallest_class, report.suppressed_cells),
        *(report.weighted_cost, report.lower_bound, report.method, "patients", "who", "3", True, "postgres"),
    )


@pytest.mark.parametrize(
    "change",
    [
        "insert into changing select i % 2 from generate_series(1, 3) as i",
        "update changing set a = 1 - a",
        "delete from changing where ctid = (select min(ctid) from changing)",
    ],
)
def test_what_this_session_changed_just_before_is_no_change_since(interface: Interface, change: str) -> None:
    """A session hands its numbers to the server's statistics once a second at most."""
    connection = interface.connection
    connection.execute("create table changing as select i % 2 as a from generate_series(1, 20) as i")

    def since() -> int:
        connection.execute("select pg_stat_clear_snapshot()")
        (found,) = connection.execute("select changes_since from kanon.releases where release = 'changing'")
        return int(found[0])

    for _ in range(2):
        connection.execute(change.encode())
        interface.anonymize("changing", 5, quasi_identifiers=["a"])
        assert since() == 0
    connection.execute("select pg_stat_force_next_flush()")
    assert since() == 0
    connection.execute("insert into changing values (0), (1)")
    assert since() == 2
    connection.execute("select pg_stat_force_next_flush()")
    assert since() == 2


def test_of_a_mapping_that_publishes_too_much_nothing_is_shown(interface: Interface, patients: str) -> None:
    """Whoever can write the mapping, the guard counts what would be published."""
    row = interface.connection.execute("select mapping::text from kanon.release").fetchone()
    assert row is not None
    interface.connection.execute(f"update {row[0]} set pattern = 0".encode())
    interface.connection.execute(f"refresh materialized view {storage_of(interface)}".encode())
    rows = published(interface.connection, patients, ["zip", "born"], "id")
    assert rows
    assert not any("lonelyzip" in row.cells for row in rows)
