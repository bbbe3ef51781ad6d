"""Releases over time, trap by trap: who keeps all versions finds nobody among fewer than k people."""

from typing import Any

import psycopg
import pytest

from kanon_pg.errors import InputError, KanonError, NotPermitted, UnknownName, UnsuitableRelation
from tests.fixtures.interfaces import Interface
from tests.fixtures.versions import Version, fewest_people, version_of

K = 3


@pytest.fixture
def visits(interface: Interface) -> Interface:
    """Return an interface to 24 rows in four classes of six, with a key."""
    run(
        interface,
        "create table visits (id integer primary key, age integer, sex text, secret integer);"
        "insert into visits select i, i % 4, case when i % 2 = 0 then 'f' else 'm' end, i"
        " from generate_series(1, 24) as i",
    )
    interface.declare("visits", quasi_identifiers=["age", "sex"], sensitive=["secret"])
    return interface


def run(interface: Interface, text: str) -> None:
    interface.connection.execute(text.encode())


def start(interface: Interface, **rules: Any) -> list[Version]:
    interface.anonymize("visits", K, over_time=rules)
    return [version_of(interface, "visits")]


def after(interface: Interface, versions: list[Version], *changes: str) -> Version:
    """Publish the next version after some changes, add it to the versions and return it."""
    for change in changes:
        run(interface, change)
    interface.refresh("visits")
    versions.append(version_of(interface, "visits"))
    return versions[-1]


def figures(interface: Interface) -> tuple[Any, ...]:
    found = interface.connection.execute(
        "select version, pending_people, longest_wait, withheld_rows, retained_rows from kanon.releases"
    ).fetchone()
    assert found is not None
    return found


def left_behind(interface: Interface) -> list[str]:
    query = (
        "select relname from pg_class where relname like '%visits%' and relnamespace = 'kanon'::regnamespace"
    )
    return [name for (name,) in interface.connection.execute(query.encode())]


def test_the_first_version_has_every_row(visits: Interface) -> None:
    (first,) = start(visits)
    assert set(first) == set(range(1, 25))
    assert figures(visits) == (1, 0, 0, 0, 0)


def test_without_cohorts_the_attacker_finds_somebody(visits: Interface) -> None:
    visits.anonymize("visits", K)
    versions: list[Version] = [version_of(visits, "visits")]
    after(visits, versions, "insert into visits values (25, 1, 'm', 25)")
    assert fewest_people(versions) == 1


def test_who_arrives_waits_for_k(visits: Interface) -> None:
    versions = start(visits)
    for number in (25, 26):
        shown = after(visits, versions, f"insert into visits values ({number}, 1, 'm', {number})")
        assert shown == versions[0]
        assert figures(visits) == (number - 23, number - 24, number - 24, 0, 0)
    shown = after(visits, versions, "insert into visits values (27, 1, 'm', 27)")
    assert set(shown) == set(range(1, 28))
    assert figures(visits) == (4, 0, 0, 0, 0)
    assert fewest_people(versions) >= K


def test_who_leaves_is_retained_until_k_leave_together(visits: Interface) -> None:
    versions = start(visits)
    for number in (1, 5):
        assert after(visits, versions, f"delete from visits where id = {number}") == versions[0]
    assert figures(visits) == (3, 0, 0, 0, 2)
    shown = after(visits, versions, "delete from visits where id = 9")
    assert set(versions[0]) - set(shown) == {1, 5, 9}
    assert fewest_people(versions) >= K


def test_who_leaves_is_retained_for_so_many_versions_at_most(visits: Interface) -> None:
    versions = start(visits, longest_retain=2)
    assert after(visits, versions, "delete from visits where id = 1") == versions[0]
    assert after(visits, versions) == versions[0]
    shown = after(visits, versions)
    assert set(versions[0]) - set(shown) == {1, 5, 9, 13, 17, 21}
    assert figures(visits) == (4, 0, 0, 5, 0)
    assert fewest_people(versions) >= K
    back = after(visits, versions, "delete from visits where id in (5, 9)")
    assert set(versions[0]) - set(back) == {1, 5, 9}
    assert fewest_people(versions) >= K


def test_a_cohort_is_withheld_until_k_leave_together(visits: Interface) -> None:
    versions = start(visits, leavers="withhold")
    shown = after(visits, versions, "delete from visits where id = 1")
    assert set(versions[0]) - set(shown) == {1, 5, 9, 13, 17, 21}
    assert figures(visits) == (2, 0, 0, 5, 0)
    shown = after(visits, versions, "delete from visits where id in (5, 9)")
    assert set(versions[0]) - set(shown) == {1, 5, 9}
    assert fewest_people(versions) >= K


def test_leavers_who_are_shown_are_the_documented_loss(visits: Interface) -> None:
    versions = start(visits, leavers="show")
    shown = after(visits, versions, "delete from visits where id = 1")
    assert set(versions[0]) - set(shown) == {1}
    assert fewest_people(versions) == 1
    classes = list(shown.values())
    assert min(classes.count(one) for one in classes) >= K


@pytest.mark.parametrize("leavers", ["retain", "withhold"])
def test_a_second_round_of_fewer_than_k_leavers(visits: Interface, leavers: str) -> None:
    versions = start(visits, leavers=leavers)
    after(visits, versions, "delete from visits where id in (1, 5, 9)")
    after(visits, versions, "delete from visits where id in (13, 17)")
    after(visits, versions)
    assert fewest_people(versions) >= K
    shown = after(visits, versions, "delete from visits where id = 21")
    assert not {13, 17, 21} & set(shown)
    assert fewest_people(versions) >= K


@pytest.mark.parametrize("leavers", ["retain", "withhold"])
def test_k_leavers_leave_no_two_behind(visits: Interface, leavers: str) -> None:
    versions = start(visits, leavers=leavers)
    after(visits, versions, "delete from visits where id in (1, 5, 9, 13)")
    assert fewest_people(versions) >= K
    shown = after(visits, versions, "delete from visits where id in (17, 21)")
    assert set(versions[0]) - set(shown) == {1, 5, 9, 13, 17, 21}
    assert fewest_people(versions) >= K


def test_who_leaves_and_comes_back_alone_waits(visits: Interface) -> None:
    versions = start(visits)
    after(visits, versions, "delete from visits where id in (1, 5, 9)")
    back = "insert into visits values ({0}, 1, 'm', {0})"
    shown = after(visits, versions, back.format(1), back.format(25), back.format(26), back.format(27))
    assert set(shown) == set(range(2, 28)) - {5, 9}
    assert figures(visits)[1] == 1
    assert fewest_people(versions) >= K
    shown = after(visits, versions, back.format(5))
    assert 5 not in shown
    shown = after(visits, versions, back.format(9))
    assert {1, 5, 9} <= set(shown)
    assert fewest_people(versions) >= K


def test_who_comes_back_leaves_nobody_alone_who_stays_away(visits: Interface) -> None:
    versions = start(visits)
    after(
        visits,
        versions,
        "delete from visits where id in (1, 5, 9, 13)",
        "delete from visits where id in (17, 21)",
    )
    back = "insert into visits select i, 1, 'm', i from unnest(array{}) as i"
    shown = after(visits, versions, back.format([1, 5, 9, 13]))
    assert not {1, 5, 9, 13} & set(shown), "two would be known as those who stay away"
    assert fewest_people(versions) >= K
    after(visits, versions, "delete from visits where id = 13")
    assert {1, 5, 9} <= set(versions[-1])
    assert fewest_people(versions) >= K


def test_who_is_back_before_leaving_never_left(visits: Interface) -> None:
    versions = start(visits)
    after(visits, versions, "delete from visits where id = 1")
    assert after(visits, versions, "insert into visits values (1, 1, 'm', 1)") == versions[0]
    assert figures(visits) == (3, 0, 0, 0, 0)


def test_an_update_is_a_leave_and_an_arrival(visits: Interface) -> None:
    versions = start(visits)
    shown = after(visits, versions, "update visits set age = 3 where id = 1")
    assert shown == versions[0]
    assert figures(visits) == (2, 1, 1, 0, 1)
    shown = after(visits, versions, "update visits set age = 3 where id in (5, 9)")
    assert {row: cells for row, cells in shown.items() if row not in (1, 5, 9)} == {
        row: cells for row, cells in versions[0].items() if row not in (1, 5, 9)
    }
    assert {shown[row] for row in (1, 5, 9)} == {(3, "m", ())}
    assert fewest_people(versions) >= K


def test_an_update_of_a_secret_is_one_too(visits: Interface) -> None:
    versions = start(visits)
    assert after(visits, versions, "update visits set secret = 100 where id = 1") == versions[0]
    run(visits, "update visits set secret = 1 where id = 1")
    assert after(visits, versions) == versions[0]
    assert figures(visits) == (3, 0, 0, 0, 0)


def test_updates_that_are_kept_show_what_was_published(visits: Interface) -> None:
    versions = start(visits, updates="keep")
    assert after(visits, versions, "update visits set age = 3, secret = -id where id < 4") == versions[0]
    assert figures(visits) == (2, 0, 0, 0, 0)
    after(visits, versions, "delete from visits where id = 1")
    assert figures(visits) == (3, 0, 0, 0, 1)


def test_a_class_that_cohorts_share(visits: Interface) -> None:
    """Six and three people share a class; one of each cohort leaves, and one more of the first."""
    versions = start(visits)
    after(visits, versions, "insert into visits select i, 1, 'm', i from generate_series(25, 27) as i")
    assert sum(cells == (1, "m", ()) for cells in versions[-1].values()) == 9
    assert after(visits, versions, "delete from visits where id in (1, 5, 25)") == versions[1]
    shown = after(visits, versions, "delete from visits where id = 9")
    assert set(versions[1]) - set(shown) == {1, 5, 9}
    assert fewest_people(versions) >= K


def test_a_version_cannot_be_read_by_the_transaction_that_builds_it(visits: Interface) -> None:
    versions = start(visits)
    run(visits, "insert into visits select i, 1, 'm', i from generate_series(25, 27) as i")
    with psycopg.connect(visits.dsn) as builder:
        builder.execute("select kanon_refresh('visits')")
        builder.execute("savepoint inner_one")
        assert builder.execute("select count(*) from safe.visits").fetchone() == (0,)
        builder.rollback()
    run(visits, "delete from visits where id = 27")
    assert after(visits, versions) == versions[0]
    assert fewest_people(versions) >= K


def test_a_plain_refresh_after_departures_shows_the_same_version(visits: Interface) -> None:
    versions = start(visits)
    run(visits, "delete from visits where id in (1, 2, 3, 4, 5)")
    run(visits, "refresh materialized view kanon.visits_storage")
    assert version_of(visits, "visits") == versions[0]
    after(visits, versions)
    assert fewest_people(versions) >= K


def test_a_cohort_whose_numbers_do_not_add_up_is_withheld(visits: Interface) -> None:
    (first,) = start(visits)
    (members,) = visits.connection.execute("select members::text from kanon.series").fetchone() or ()
    run(visits, f"delete from {members} where row_id = (select min(row_id) from {members})")
    run(visits, "refresh materialized view kanon.visits_storage")
    missing = set(first) - set(version_of(visits, "visits"))
    assert len(missing) == 6
    assert len({first[row] for row in missing}) == 1


def test_a_new_series_needs_its_word_and_says_what_it_tells(visits: Interface) -> None:
    start(visits)
    for rules in (None, {}, {"leavers": "withhold"}):
        with pytest.raises(InputError, match="is a release over time"):
            visits.anonymize("visits", K, over_time=rules)
    run(visits, "update visits set age = 1, sex = 'm' where id = 2")
    visits.anonymize("visits", K, over_time={"new_series": True})
    assert any("sees 1 people among fewer than 3, the fewest among 1" in notice for notice in visits.notices)
    assert figures(visits) == (1, 0, 0, 0, 0)


def test_dropping_leaves_nothing(visits: Interface) -> None:
    start(visits)
    run(visits, "insert into visits values (25, 1, 'm', 25)")
    visits.refresh("visits")
    before = left_behind(visits)
    assert len(before) > 6
    visits.drop("visits")
    assert [name for name in left_behind(visits) if "row_types" not in name] == []
    visits.anonymize("visits", K)
    assert figures(visits) == (None,) * 5


@pytest.mark.parametrize("rules", [{}, {"updates": "keep"}])
@pytest.mark.parametrize("entity", [None, "id"])
def test_a_base_without_key_is_refused(visits: Interface, rules: dict[str, Any], entity: str | None) -> None:
    run(visits, "create table plain as table visits; create view seen as table visits")
    for relation, hint in (("plain", "ADD PRIMARY KEY"), ("seen", "Publish a table that has a primary key")):
        visits.declare(relation, quasi_identifiers=["age"], entity=entity)
        with pytest.raises(UnsuitableRelation, match="no primary key") as refusal:
            visits.anonymize(relation, K, over_time=rules)
        assert hint in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([], "must be a JSON object"),
        ({"leaver": "show"}, 'has no key "leaver"'),
        ({"leavers": "hide"}, "Key leavers"),
        ({"updates": 3}, "Key updates"),
        ({"waiting": 2}, "Key waiting"),
        ({"longest_wait": 0}, "Key longest_wait"),
        ({"longest_retain": 1.5}, "Key longest_retain"),
        ({"new_series": 1}, "Key new_series"),
    ],
)
def test_rules_that_make_no_sense_are_refused(visits: Interface, rules: Any, message: str) -> None:
    with pytest.raises(KanonError, match=message):
        visits.anonymize("visits", K, over_time=rules)
    with pytest.raises(InputError, match="option classes"):
        visits.anonymize("visits", K, over_time={}, most_classes=3)


def test_erasing_a_person_takes_their_cohort_along(visits: Interface) -> None:
    versions = start(visits)
    after(visits, versions, "delete from visits where id = 1")
    visits.erase("visits", "1")
    versions.append(version_of(visits, "visits"))
    assert set(versions[0]) - set(versions[-1]) == {1, 5, 9, 13, 17, 21}
    assert fewest_people(versions) >= K
    (members,) = visits.connection.execute("select members::text from kanon.series").fetchone() or ()
    query = f"select count(*) from {members} as m where m::text ~ ',1\\)$'"
    assert visits.connection.execute(query.encode()).fetchone() == (0,)
    assert after(visits, versions) == versions[-1]
    shown = after(visits, versions, "delete from visits where id in (5, 9)")
    assert set(versions[0]) - set(shown) == {1, 5, 9}
    assert fewest_people(versions) >= K
    with pytest.raises(UnknownName, match="no rows of this person"):
        visits.erase("visits", "1")
    for wrong in (["x"], ["1", "2"], []):
        with pytest.raises(InputError, match="values"):
            visits.erase("visits", *wrong)


def test_an_ordinary_release_has_nobody_to_erase(visits: Interface) -> None:
    visits.anonymize("visits", K)
    with pytest.raises(InputError, match="no release over time"):
        visits.erase("visits", "1")


def test_the_last_version_stays_when_everybody_leaves(visits: Interface) -> None:
    versions = start(visits)
    assert after(visits, versions, "truncate visits") == {}
    assert figures(visits) == (2, 0, 0, 0, 0)
    shown = after(
        visits, versions, "insert into visits select i, 1, 'm', i from generate_series(31, 36) as i"
    )
    assert len(shown) == 6


def test_a_further_row_of_somebody_needs_a_cohort_too(interface: Interface) -> None:
    people(interface)
    versions: list[Version] = [version_of(interface, "visits")]
    person_of = {i: i for i in range(1, 13)} | {25: 1, 26: 1, 27: 1, 28: 2, 29: 3}
    for row in (25, 26, 27):
        shown = after(interface, versions, f"insert into visits values (1, 1, 'm', {row})")
        assert shown == versions[0], "three rows, but one person"
    shown = after(interface, versions, "insert into visits values (2, 1, 'm', 28), (3, 1, 'm', 29)")
    assert len(shown) == 17
    assert fewest_people(versions, person_of) >= K


def test_who_left_two_cohorts_does_not_stay_away_alone_from_one(interface: Interface) -> None:
    run(
        interface,
        "create table visits (who integer, age integer, sex text, secret integer,"
        " id integer generated always as identity primary key);"
        "insert into visits select i, 1, 'm', i from generate_series(1, 8) as i;"
        "insert into visits select i, 2, 'm', 100 + i from unnest(array[1, 9, 10, 11, 12, 13]) as i",
    )
    interface.declare("visits", quasi_identifiers=["age", "sex"], sensitive=["secret"], entity="who")
    interface.anonymize("visits", K, over_time={})
    versions: list[Version] = [version_of(interface, "visits")]
    gone = after(interface, versions, "delete from visits where who in (1, 2, 3, 4, 9, 10)")
    assert len(gone) == 7
    back = "insert into visits select i, 1, 'm', 200 + i from generate_series(2, 4) as i"
    assert after(interface, versions, back) == gone, "1 would be known to stay away"


def test_who_returns_with_other_rows_in_two_rounds(interface: Interface) -> None:
    """Each round has a history of its own, so that a third row enters with those of one round alone."""
    run(
        interface,
        "create table visits (id integer primary key, who integer, age integer, secret integer);"
        "insert into visits select i, i, 1, i from generate_series(1, 9) as i;",
    )
    interface.declare("visits", quasi_identifiers=["age"], sensitive=["secret"], entity="who")
    interface.anonymize("visits", K, over_time={})
    versions: list[Version] = [version_of(interface, "visits")]
    after(interface, versions, "delete from visits where id < 7")
    again = "insert into visits select {0} + i, i, 1, {0} + i from unnest(array{1}) as i"
    for first, people_of_round in ((20, [1, 2, 3]), (30, [4, 5, 6])):
        shown = after(interface, versions, again.format(first, people_of_round))
    assert len(shown) == 9
    shown = after(interface, versions, again.format(40, [1, 2, 4]))
    assert len(shown) == 9, "two of one round and one of the other have no history in common"
    shown = after(interface, versions, again.format(40, [3]))
    assert len(shown) == 12


def people(interface: Interface) -> None:
    """Start a release of people who may have several rows."""
    run(
        interface,
        "create table visits (who integer, age integer, sex text, secret integer,"
        " id integer generated always as identity primary key);"
        "insert into visits select i, 1, 'm', i from generate_series(1, 12) as i",
    )
    interface.declare("visits", quasi_identifiers=["age", "sex"], sensitive=["secret"], entity="who")
    interface.anonymize("visits", K, over_time={})


def test_two_rows_of_one_key_are_refused(visits: Interface) -> None:
    start(visits)
    run(visits, "create table children () inherits (visits)")
    run(visits, "insert into children values (1, 1, 'm', 100)")
    with pytest.raises(InputError, match="same key"):
        visits.refresh("visits")
    run(
        visits,
        "delete from children where secret = 100;"
        "insert into children values (50, 1, 'm', 1), (50, 1, 'm', 2)",
    )
    with pytest.raises(InputError, match="same key"):
        visits.refresh("visits")


@pytest.mark.parametrize(
    "change",
    [
        "",
        "alter table visits add primary key (secret)",
        "alter table visits add unique (id) deferrable",
        "create unique index on visits (id) where id > 0",
        "alter table visits alter id drop not null; create unique index on visits (id)",
        "create unique index on visits (id, sex)",
        "create unique index on visits ((id + 1))",
        # another column takes the name
        "alter table visits rename id to legacy; alter table visits add id serial primary key",
        "alter table visits rename id to legacy; alter table visits rename secret to id;"
        " alter table visits add primary key (id)",
    ],
)
def test_a_key_that_is_gone_is_refused(visits: Interface, change: str) -> None:
    versions = start(visits)
    run(visits, f"alter table visits drop constraint visits_pkey; {change}")
    with pytest.raises(UnsuitableRelation) as raised:
        after(visits, versions, "insert into visits select i, 1, 'm', i from generate_series(25, 27) as i")
    name = '"legacy"' if "legacy" in change else '"id"'
    assert raised.value.message == (
        f'"safe"."visits" knows the rows of "public"."visits" by {name}, which no primary key or unique '
        "index tells apart any more: a row could be taken for another."
    )
    assert f"Make {name} the primary key again" in (raised.value.hint or "")
    assert "new_series" in (raised.value.hint or "")
    assert version_of(visits, "visits") == versions[0]
    run(visits, f"create unique index on visits ({name}); alter table visits alter {name} set not null")
    assert len(after(visits, versions)) == 27
    assert fewest_people(versions) >= K


@pytest.mark.parametrize(
    "change",
    [
        "alter table visits add constraint other primary key (id)",
        "alter table visits add primary key (id) include (sex)",
        "create unique index on visits (id); alter table visits add primary key (id, sex)",
        "alter table visits rename id to number; alter table visits add primary key (number)",
    ],
)
def test_a_key_that_is_made_anew_goes_on(visits: Interface, change: str) -> None:
    versions = start(visits)
    run(visits, f"alter table visits drop constraint visits_pkey; {change}")
    new = "insert into visits select i, 1, 'm', i from generate_series(25, 27) as i"
    assert len(after(visits, versions, new)) == 27


def test_a_part_of_a_key_that_identifies_rows_does(interface: Interface) -> None:
    run(
        interface,
        "create table visits (id integer, age integer, sex text, secret integer, primary key (id, secret));"
        "insert into visits select i, i % 4, 'm', i from generate_series(1, 24) as i",
    )
    interface.declare("visits", quasi_identifiers=["age"], sensitive=["secret"])
    versions = start(interface)
    change = "alter table visits drop constraint visits_pkey; alter table visits add primary key (secret)"
    assert after(interface, versions, change) == versions[0]


@pytest.mark.parametrize("updates", ["replace", "keep"])
def test_rows_that_change_hands_are_told_once(interface: Interface, updates: str) -> None:
    run(
        interface,
        "create table visits (id integer primary key, who integer, age integer, secret integer);"
        "insert into visits select i, nullif(i, 1), i % 2, i from generate_series(1, 24) as i",
    )
    interface.declare("visits", quasi_identifiers=["age"], sensitive=["secret"], entity="who")
    versions = start(interface, updates=updates)
    told = []
    for change in (
        "update visits set who = 2 where id in (1, 4)",
        "update visits set age = 1 where id = 6",
        "update visits set who = null where id = 8",
        "delete from visits where id = 4",
    ):
        interface.notices.clear()
        after(interface, versions, change)
        told += [[text.split()[0] for text in interface.notices if "are other people's" in text]]
    assert told == [["2"], [], ["1"], []]


def test_a_view_that_was_dropped_is_told_when_it_is_published_anew(visits: Interface) -> None:
    versions = start(visits)
    run(visits, "drop view safe.visits")
    assert after(visits, versions) == versions[0]
    assert [
        text for text in visits.notices if "was dropped" in text and "SELECT kanon_drop('visits');" in text
    ]
    visits.notices.clear()
    after(visits, versions)
    assert not [text for text in visits.notices if "was dropped" in text]


@pytest.mark.parametrize("options", [{}, {"over_time": {}}])
@pytest.mark.parametrize("kind", ["table", "schema"])
def test_a_base_that_cannot_be_read_any_more_says_who_may_change_it(
    visits: Interface, kind: str, options: dict[str, Any]
) -> None:
    run(
        visits, "create schema ward; alter table visits set schema ward; grant usage on schema ward to public"
    )
    visits.anonymize("ward.visits", K, **options)
    rights = ("select on ward.visits", "usage on schema ward")[kind == "schema"]
    (reader,) = visits.connection.execute(
        "select format('kanon_base_%s', reader) from kanon.base where relation = 'ward.visits'::regclass"
    ).fetchone()
    run(visits, f"revoke {rights} from {reader}, kanon_owner, public")
    with pytest.raises(NotPermitted) as raised:
        visits.refresh("visits")
    for _ in range(3):
        run(visits, (raised.value.hint or "").partition(": ")[2])
        try:
            visits.refresh("visits")
            break
        except NotPermitted as error:  # the next role that needs the schema
            raised.value.hint = error.hint
    else:
        pytest.fail("the hints do not lead to a refresh")


def test_a_dropped_base_leaves_the_last_version(visits: Interface) -> None:
    versions = start(visits)
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        run(visits, "drop table visits")
    run(visits, "drop table visits cascade")
    assert version_of(visits, "visits") == versions[0]
    with pytest.raises(KanonError, match="was dropped"):
        visits.refresh("visits")
    visits.drop("visits")
    assert left_behind(visits) == []


def test_renamed_columns_are_followed(visits: Interface) -> None:
    versions = start(visits)
    run(visits, "alter table visits rename column age to years; alter table visits rename to stays")
    after(visits, versions, "insert into stays select i, 1, 'm', i from generate_series(25, 27) as i")
    assert len(versions[-1]) == 27


def generalized(interface: Interface) -> list[Version]:
    run(interface, "update visits set age = 20 + id")
    interface.anonymize(
        "visits",
        K,
        over_time={},
        method="greedy",
        hierarchies={"age": {"builder": "intervals", "cuts": [30, 40, 50], "lowest": 1}},
    )
    return [version_of(interface, "visits")]


def test_generalized_cells_enter_by_the_hierarchy_of_the_first_version(visits: Interface) -> None:
    versions = generalized(visits)
    run(
        visits,
        "insert into visits select i, 20 + i % 8, 'f', i from generate_series(31, 40) as i where i % 8 > 0",
    )
    run(visits, "insert into visits values (41, 99, 'f', 41)")
    shown = after(visits, versions)
    assert set(shown) == {*range(1, 25), *(i for i in range(31, 41) if i % 8)}, "99 is in no node"
    assert figures(visits)[1] == 1
    (unknown,) = [text for text in visits.notices if "its hierarchy does not know" in text]
    assert unknown.startswith('1 rows have values of column "age"')
    assert "they wait for good" in unknown
    assert fewest_people(versions) >= K
    assert len(set(shown.values())) > 1
    shown = after(visits, versions, "delete from visits where id between 1 and 24")
    assert fewest_people(versions) >= K
    visits.drop("visits")
    assert [name for name in left_behind(visits) if "row_types" not in name] == []


@pytest.mark.parametrize("model", [{"p": 2}, {"l": 2}, {"l": 2, "diversity": "entropy"}, {"t": 0.4}])
def test_each_cohort_satisfies_the_models_by_itself(visits: Interface, model: dict[str, Any]) -> None:
    """Those who leave as well: a cohort goes as a whole."""
    run(visits, "alter table visits add column ill text; update visits set ill = id / 4 % 2")
    visits.declare("visits", quasi_identifiers=["age", "sex"], sensitive=["ill"], insensitive=["secret"])
    visits.anonymize("visits", K, over_time={}, method="greedy", **model)
    versions: list[Version] = [classes_of(visits)]
    cohorts = "insert into visits select i, 1, 'm', i, {} from generate_series({}, {}) as i"
    assert figures(visits)[0] == 1
    run(visits, cohorts.format("'0'", 31, 33))
    visits.refresh("visits")
    versions.append(classes_of(visits))
    diverse = "p" in model or "l" in model
    assert len(versions[-1]) == (24 if diverse else 27), "three with one illness satisfy t among themselves"
    run(visits, cohorts.format("'1'", 34, 36))
    visits.refresh("visits")
    versions.append(classes_of(visits))
    assert len(versions[-1]) == 30
    run(visits, "delete from visits where id in (select id from visits where age = 1 order by id limit 3)")
    visits.refresh("visits")
    assert classes_of(visits) == versions[-1], "a cohort leaves as a whole"
    run(visits, "delete from visits where age = 1")
    visits.refresh("visits")
    versions.append(classes_of(visits))
    assert len(versions[-1]) < 30
    assert fewest_people(versions) >= K


def classes_of(interface: Interface) -> Version:
    query = "select secret, age, sex, kanon_suppressed::text from safe.visits"
    return {row[0]: row[1:] for row in interface.connection.execute(query.encode())}


def test_the_costliest_class_waits(visits: Interface) -> None:
    """Three rows are like none, and no more may wait: who came with company enters."""
    versions = start(visits, waiting=0.1)
    unlike = "(25, 50, 'x', 25), (26, 50, 'y', 26), (27, 50, 'z', 27)"
    shown = after(
        visits,
        versions,
        f"insert into visits values {unlike};"
        "insert into visits select i, 2, 'f', i from generate_series(30, 33) as i",
    )
    assert set(range(1, 34)) - {28, 29} - set(shown) == {25, 26, 27}
    assert figures(visits) == (2, 3, 1, 0, 0)
    assert fewest_people(versions) >= K


@pytest.mark.slow
@pytest.mark.parametrize("method", ["greedy", "auto"])
def test_some_wait_within_their_limits(visits: Interface, method: str) -> None:
    """What they would lose they lose less of later, and nobody waits too long."""
    costs = {}
    for waiting in (0, 0.1):
        run(visits, "delete from visits where id > 24")
        rules = {"waiting": waiting, "longest_wait": 3, "new_series": True}
        visits.anonymize("visits", K, method=method, over_time=rules)
        versions: list[Version] = [version_of(visits, "visits")]
        waited = 0
        for first in range(100, 700, 100):
            after(
                visits,
                versions,
                "insert into visits select i, i * 7 % 11, case when i * 5 % 3 = 0 then 'f' else 'm' end, i"
                f" from generate_series({first}, {first + 29}) as i",
            )
            _, pending, longest, _, _ = figures(visits)
            assert pending <= waiting * (len(versions[-1]) + pending)
            assert longest <= 3
            waited = max(waited, pending)
        assert (waited > 0) == (waiting > 0)
        assert fewest_people(versions) >= K
        found = visits.connection.execute("select weighted_cost / rows from kanon.releases").fetchone()
        assert found is not None
        costs[waiting] = found[0]
    assert costs[0.1] < costs[0]
