"""What several releases of one table disclose together, through both interfaces and the command."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from kanon_pg.cli import app
from kanon_pg.errors import InputError, NotPermitted, UnknownName, UnsuitableRelation
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface, SqlInterface, interface_of

pytestmark = pytest.mark.slow

PATIENTS = """
create table patients (id integer primary key, age integer, sex text, zip text, secret integer);
insert into patients select i, i % 4, case when i % 3 = 0 then 'f' else 'm' end, 'Z' || i % 5, i
from generate_series(1, 240) as i
"""


@pytest.fixture
def hospital(interface: Interface) -> Interface:
    interface.connection.execute(PATIENTS.encode())
    interface.declare("patients", identifiers=["id"], sensitive=["secret"], quasi_identifiers=["age"])
    return interface


def publish(interface: Interface, release: str, *columns: str, k: int = 4, **options: Any) -> None:
    options = {"remember": None if "over_time" in options else 3} | options
    options |= {"quasi_identifiers": list(columns), "method": "greedy"}
    interface.anonymize("patients", k, release=release, **options)


def test_columns_that_are_published_apart_tell_together_what_none_tells(hospital: Interface) -> None:
    publish(hospital, "by_age", "age")
    publish(hospital, "by_sex", "sex", k=3)
    publish(hospital, "by_zip", "zip")
    whole, *others = hospital.composition(["by_age", "by_sex", "by_zip"])
    # 240 rows, 4 x 3 x 5 = 60 residues: 4 rows of f each, 8 of m.
    assert (whole.releases, whole.k, whole.people) == (("by_age", "by_sex", "by_zip"), 3, 240)
    assert (whole.smallest, whole.people_below, whole.unseen_rows) == (4, 0, 0)
    assert [len(one.releases) for one in others] == [2, 2, 2, 1, 1, 1]
    assert hospital.composition(["by_age", "by_sex", "by_zip"], 5)[0].people_below == 80


def test_a_row_that_only_one_release_shows_is_told_by_the_other(hospital: Interface) -> None:
    publish(hospital, "old", "age")
    hospital.connection.execute("insert into patients values (241, 1, 'f', 'Z1', 241)")
    publish(hospital, "new", "age")
    both, *_ = hospital.composition(["old", "new"])
    assert (both.smallest, both.people_below, both.unseen_rows) == (1, 1, 0)


def test_versions_that_are_remembered_are_compared_after_their_rows_are_gone(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=2)
    hospital.connection.execute("delete from patients where id = 4")
    hospital.refresh("patients")
    before_and_after, *_ = hospital.composition(["patients@1", "patients"])
    assert (before_and_after.people, before_and_after.smallest, before_and_after.unseen_rows) == (240, 1, 0)
    hospital.refresh("patients")
    with pytest.raises(UnknownName, match="not remembered") as refusal:
        hospital.composition(["patients@1", "patients"])
    assert refusal.value.detail == "Versions that are: 2, 3."
    found = hospital.connection.execute(
        "select version, remembered_versions, remembered_bytes > 0 from kanon.releases"
    ).fetchone()
    assert found == (3, 2, True)
    told = [notice for notice in hospital.notices if "2 in all" in notice]
    assert ["is forgotten" in notice for notice in told] == [False, True]
    assert told[1].endswith("; version 1 is forgotten, as option remember keeps 2.")


def hashes(interface: Interface, person: str) -> int:
    """Return how many rows of a person remembered versions have."""
    (number,) = interface.connection.execute(
        "select pg_catalog.hash_record_extended(row(%s::integer), 0)", [person]
    ).fetchone() or (None,)
    found = 0
    for (table,) in interface.connection.execute("select classes::text from kanon.remembered").fetchall():
        query = f"select count(*) from {table} where %s in (row_id, person)"
        found += (interface.connection.execute(query.encode(), [number]).fetchone() or (0,))[0]
    return found


@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}], ids=["ordinary", "over time"])
def test_who_is_erased_is_erased_from_remembered_versions(
    hospital: Interface, options: dict[str, Any]
) -> None:
    publish(hospital, "patients", "age", remember=4, **options)
    hospital.refresh("patients")
    assert hashes(hospital, "4") == 2
    hospital.connection.execute("delete from patients where id = 4")
    hospital.erase("patients", "4")
    assert hashes(hospital, "4") == 0
    shown = hospital.connection.execute("select count(*) from safe.patients where secret = 4").fetchone()
    assert shown == (0,)
    # What was seen of the person is gone: the row is counted, and the others of its class lack it.
    (first, *_) = hospital.composition(["patients@1"])
    assert (first.people, first.unseen_rows, first.people_below) == (240, 1, 0)
    with pytest.raises(UnknownName, match="no rows of this person"):
        hospital.erase("patients", "999")


@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}], ids=["ordinary", "over time"])
def test_who_is_still_in_the_table_is_not_erased(hospital: Interface, options: dict[str, Any]) -> None:
    publish(hospital, "patients", "age", remember=4, **options)
    with pytest.raises(InputError, match="still has rows of this person"):
        hospital.erase("patients", "4")
    for wrong in (("4", "5"), ("four",)):
        with pytest.raises(InputError, match="values"):
            hospital.erase("patients", *wrong)
    assert hashes(hospital, "4") == 1


@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}], ids=["ordinary", "over time"])
def test_who_may_not_read_the_table_does_not_learn_who_is_in_it(
    hospital: Interface, options: dict[str, Any]
) -> None:
    publish(hospital, "patients", "age", remember=4, **options)
    # The client's login acts as the owner role, which reads the table, and has none of its rights by itself.
    rights = (
        "IN ROLE kanon_curator" if isinstance(hospital, SqlInterface) else "NOINHERIT IN ROLE kanon_owner"
    )
    with role(hospital.dsn, "curator", rights) as login, interface_of(login, hospital) as curator:
        refusals = set()
        for person in ("4", "999", "no number"):
            with pytest.raises(NotPermitted, match="may not read") as refusal:
                curator.erase("patients", person)
            refusals.add(refusal.value.message)
        assert len(refusals) == 1
        hospital.connection.execute(f"delete from patients where id = 4; grant select on patients to {login}")
        curator.erase("patients", "4")
    assert hashes(hospital, "4") == 0


def test_a_version_that_knew_people_by_other_columns_is_forgotten(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=4)
    hospital.declare("patients", sensitive=["secret"], quasi_identifiers=["age"], entity="id")
    publish(hospital, "patients", "age", remember=4)
    hospital.connection.execute("delete from patients where id = 4")
    hospital.erase("patients", "4")
    left = hospital.connection.execute("select version from kanon.remembered order by version").fetchall()
    assert left == [(2,), (3,)]


@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}], ids=["ordinary", "over time"])
def test_erasing_nobody_changes_nothing(hospital: Interface, options: dict[str, Any]) -> None:
    publish(hospital, "patients", "age", remember=4, **options)
    hospital.refresh("patients")
    hospital.connection.execute("update kanon.remembered set key_columns = '{secret}' where version = 1")
    versions = "select version, erased_rows from kanon.remembered order by version"
    with pytest.raises(UnknownName, match="no rows of this person") as refusal:
        hospital.erase("patients", "4711")
    assert refusal.value.detail == "Versions that knew people by other columns: 1."
    assert hospital.connection.execute(versions.encode()).fetchall() == [(1, 0), (2, 0)]
    hospital.connection.execute("delete from patients where id = 4")
    hospital.erase("patients", "4")
    assert [number for number, _ in hospital.connection.execute(versions.encode()).fetchall()] == [2, 3]


def test_publishing_anew_goes_on_counting_versions(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=5)
    publish(hospital, "patients", "sex", remember=5)
    both, *_ = hospital.composition(["patients@1", "patients@2"])
    # Age i % 4 and sex i % 3 = 0: 20 rows of f in each age.
    assert both.smallest == 20
    publish(hospital, "patients", "sex", remember=None)
    assert hospital.connection.execute("select count(*) from kanon.remembered").fetchone() == (0,)
    (forgotten,) = [notice for notice in hospital.notices if "forgotten" in notice]
    assert forgotten.startswith('Of "safe"."patients", versions 1 and 2 are forgotten: only ')
    publish(hospital, "patients", "sex", remember=None)
    assert len([notice for notice in hospital.notices if "forgotten" in notice]) == 1


def test_a_smaller_number_forgets_at_once(hospital: Interface) -> None:
    for most in (3, 3, 1):
        publish(hospital, "patients", "age", remember=most)
    assert hospital.notices[-1].endswith("; versions 1 and 2 are forgotten, as option remember keeps 1.")


def test_a_series_that_begins_says_which_versions_are_forgotten(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=3)
    publish(hospital, "patients", "age", over_time={"waiting": 0}, remember=3)
    assert any('Of "safe"."patients", version 1 is forgotten' in notice for notice in hospital.notices)


def test_a_renamed_column_is_what_keeps_a_version_from_being_remembered(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=3)
    hospital.connection.execute("alter table patients rename age to years")
    with pytest.raises(UnknownName) as raised:
        hospital.refresh("patients")
    assert raised.value.message == (
        'Column "age" of "public"."patients" was renamed. Versions of "safe"."patients" are remembered by '
        "the names of its columns."
    )
    assert (raised.value.hint or "").startswith("Rename it back, or ")
    hospital.connection.execute("alter table patients rename years to age")
    hospital.refresh("patients")


def test_a_key_that_is_gone_makes_what_is_remembered_doubtful(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=3)
    for change, doubts in (
        ("analyze patients", 0),
        ("alter table patients drop constraint patients_pkey", 1),
        ("alter table patients add unique (id)", 0),
    ):
        hospital.connection.execute(change.encode())
        hospital.notices.clear()
        hospital.refresh("patients")
        assert (
            len([text for text in hospital.notices if 'tells rows apart by "id" any more' in text]) == doubts
        )


def test_remembering_is_advised_where_it_can_be_done(hospital: Interface) -> None:
    execute = hospital.connection.execute
    execute("create view seen as select * from patients")
    execute("create table keyless as select * from patients")
    execute("create materialized view kept as select * from patients")
    execute("create unique index on kept (id)")
    advised = {}
    for name in ("patients", "keyless", "seen", "kept"):
        hospital.anonymize(name, 4, quasi_identifiers=["age"], method="greedy")
        hints = set()
        for asked in (f"{name}@1", name):
            with pytest.raises(UnknownName, match="is not remembered") as refusal:
                hospital.composition([asked])
            hints.add(refusal.value.hint)
        (advised[name],) = hints
    call = """kanon_anonymize with options => '{"remember": 5}'."""
    impossible = "No version can be: {} has no primary key, by which rows are known again."
    assert advised == {
        "patients": f"Publish it so that versions are remembered from now on: {call}",
        "keyless": f'Give "public"."keyless" a primary key, then have versions remembered: {call}',
        "seen": impossible.format('"public"."seen"'),
        "kept": impossible.format('"public"."kept"'),
    }
    for name, hint in (
        ("keyless", "Give the table a primary key, or leave out remember in options."),
        ("seen", "Leave out remember in options, or publish a table that has a primary key."),
    ):
        with pytest.raises(UnsuitableRelation) as refused:
            hospital.anonymize(name, 4, quasi_identifiers=["age"], remember=2)
        assert refused.value.hint == hint
    publish(hospital, "series", "age", over_time={"waiting": 0})
    with pytest.raises(UnknownName) as refusal:
        hospital.composition(["series@9"])
    assert (refusal.value.hint or "").startswith("Only a new series remembers versions:")


WARDS = """
create table plain (id integer primary key, zip text, ward text, diag text default 'flu');
insert into plain (id, zip, ward) select i, 'z' || i % 4, 'w' || i % 2 from generate_series(1, 400) as i
"""


def test_rows_that_changed_places_are_alone(interface: Interface) -> None:
    interface.connection.execute(WARDS.encode())
    interface.declare("plain", quasi_identifiers=["zip"], sensitive=["diag"])
    for release in ("old", "new"):
        interface.anonymize("plain", 5, quasi_identifiers=["zip"], release=release, remember=2)
        if release == "old":
            assert not side_by_side(interface)
            interface.connection.execute(
                "update plain set zip = case id when 1 then 'z0' else 'z1' end where id in (1, 4)"
            )
    # Who knows both rows sees each of them alone, although both releases show the same cells.
    both, *each = interface.composition(["old", "new"])
    assert (both.people_below, both.smallest, both.unseen_rows) == (2, 1, 0)
    assert [(one.people_below, one.smallest) for one in each] == [(0, 100), (0, 100)]
    (notice,) = side_by_side(interface)
    assert "leave 2 of 400 people among fewer than 5, somebody among 1." in notice
    interface.refresh("old")
    both, *_ = interface.composition(["old", "new"])
    assert (both.people_below, both.unseen_rows) == (0, 0)


@pytest.mark.parametrize("view", ["select id as number, ward from plain", "select p.* from plain as p"])
def test_what_a_release_discloses_that_is_not_remembered_is_not_known(
    interface: Interface, view: str
) -> None:
    interface.connection.execute(WARDS.encode())
    interface.connection.execute(f"create view other as {view}".encode())
    interface.anonymize("plain", 5, quasi_identifiers=["zip"], release="by_zip", remember=2)
    interface.notices.clear()
    interface.anonymize("other", 5, quasi_identifiers=["ward"], release="by_ward")
    (notice,) = side_by_side(interface)
    assert 'What they disclose together is not known: Release "by_ward" is not remembered' in notice
    assert "No version can be" in notice
    with pytest.raises(UnknownName, match="is not remembered"):
        interface.composition(["by_zip", "by_ward"])


LABELS = """
create type sex as enum ('f', 'm');
create table people (id integer primary key, sex sex, zip text, secret integer);
insert into people select i, (array['f', 'm'])[1 + (i % 3 = 0)::integer]::sex, 'z' || i % 4, i
from generate_series(1, 240) as i
"""

EXCHANGED_LABELS = (
    "alter type sex rename value 'f' to 'other'; alter type sex rename value 'm' to 'f';"
    " alter type sex rename value 'other' to 'm'"
)


def test_labels_that_exchange_their_names_leave_cohorts_whole(interface: Interface) -> None:
    interface.connection.execute(LABELS.encode())
    interface.declare("people", quasi_identifiers=["sex"], sensitive=["secret"])
    interface.anonymize("people", 5, method="greedy", over_time={"waiting": 0}, remember=5)
    versions = [shown_labels(interface)]
    interface.connection.execute(EXCHANGED_LABELS.encode())
    for first in (241, 246):
        interface.connection.execute(
            "insert into people select i, 'f', 'z1', i from generate_series(%s, %s::integer) as i",
            [first, first + 4],
        )
        interface.refresh("people")
        versions.append(shown_labels(interface))
    # A reader of all versions sees one label exchanged for the other in whole cohorts, and nobody apart.
    histories = Counter(tuple(version.get(secret) for version in versions) for secret in versions[-1])
    assert histories == {
        ("f", "m", "m"): 160, ("m", "f", "f"): 80, (None, "f", "f"): 5, (None, None, "f"): 5
    }  # fmt: skip
    assert interface.composition(["people"])[0].smallest == 5


def shown_labels(interface: Interface) -> dict[int, str]:
    """Return the label of each row that is shown, by its secret."""
    return dict(interface.connection.execute("select secret, sex::text from safe.people").fetchall())


def test_a_release_over_time_stands_for_all_its_versions(hospital: Interface) -> None:
    publish(hospital, "patients", "age", k=3, over_time={"waiting": 0}, remember=9)
    hospital.connection.execute(
        "insert into patients select i, 1, 'm', 'Z0', i from generate_series(241, 244) as i"
    )
    hospital.refresh("patients")
    alone, *_ = hospital.composition(["patients@2"])
    assert alone.smallest == 60
    whole, *_ = hospital.composition(["patients"])
    assert (whole.smallest, whole.people_below) == (4, 0)
    both, *_ = hospital.composition(["patients@1", "patients@2"])
    assert (both.smallest, both.people_below) == (4, 0)
    publish(hospital, "by_zip", "zip")
    together, *_ = hospital.composition(["patients", "by_zip"])
    assert (together.releases, together.unseen_rows, together.smallest) == (("patients", "by_zip"), 0, 4)


def test_hierarchies_and_privacy_models(hospital: Interface) -> None:
    hospital.connection.execute("update patients set secret = id % 7")
    tree = {"age": {"builder": "intervals", "cuts": [2]}}
    publish(hospital, "wide", "age", "sex", hierarchies=tree, l=2, sensitive=["secret"])
    publish(hospital, "narrow", "zip", "sex", p=2, sensitive=["secret"])
    both, *_ = hospital.composition(["wide", "narrow"])
    assert (both.people, both.unseen_rows) == (240, 0)
    assert 1 <= (both.smallest or 0) < 16


def test_refusals(hospital: Interface) -> None:
    publish(hospital, "patients", "age")
    hospital.connection.execute("create table others as select * from patients")
    hospital.connection.execute("alter table others add primary key (id)")
    hospital.anonymize("others", 4, quasi_identifiers=["age"], method="greedy", remember=2)
    for releases, refusal, words in (
        ([], InputError, "0 releases"),
        (["patients"] * 13, InputError, "13 releases"),
        (["patients", None], InputError, "plain list"),
        (["patients", "nobody"], UnknownName, 'no release "nobody"'),
        (["patients@2"], UnknownName, "not remembered"),
        (["patients", "others"], InputError, "different tables"),
    ):
        with pytest.raises(refusal, match=words):
            hospital.composition(releases)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 2"):
        hospital.composition(["patients"], 1)
    hospital.declare("patients", identifiers=["id"], quasi_identifiers=["age"], entity="id")
    publish(hospital, "of_people", "age")
    with pytest.raises(InputError, match="counted by the same column"):
        hospital.composition(["patients", "of_people"])
    hospital.connection.execute("alter table patients drop constraint patients_pkey, add unique (secret)")
    hospital.connection.execute("alter table patients alter secret set not null")
    publish(hospital, "by_secret", "age")
    with pytest.raises(InputError, match="Nothing tells which row"):
        hospital.composition(["of_people", "by_secret"])
    hospital.connection.execute("alter table others drop constraint others_pkey")
    with pytest.raises(InputError, match="no version can be remembered"):
        hospital.anonymize("others", 4, quasi_identifiers=["age"], remember=2)
    for wrong in (0, 1.5, "two", True):
        with pytest.raises(InputError, match="Option remember must be"):
            hospital.anonymize("patients", 4, remember=wrong)


def test_it_is_for_those_who_may_read_the_table(hospital: Interface) -> None:
    publish(hospital, "patients", "age")
    with (
        role(hospital.dsn, "curator", "IN ROLE kanon_curator, kanon_owner") as login,
        interface_of(login, hospital) as curator,
    ):
        hospital.connection.execute("revoke all on patients from kanon_owner")
        with pytest.raises(NotPermitted):
            curator.composition(["patients"])


def test_dropping_a_release_forgets_its_versions(hospital: Interface) -> None:
    publish(hospital, "patients", "age", remember=3)
    hospital.refresh("patients")
    hospital.drop("patients")
    left = hospital.connection.execute(
        "select count(*) from pg_class"
        " where relnamespace = 'kanon'::regnamespace and relname like 'patients%'"
    ).fetchone()
    assert left == (0,)
    assert hospital.connection.execute("select count(*) from kanon.remembered").fetchone() == (0,)


def test_the_command(hospital: Interface) -> None:
    publish(hospital, "by_age", "age")
    publish(hospital, "by_sex", "sex")
    arguments = ["composition", "by_age", "by_sex", "--k", "30", "--dsn", hospital.dsn]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "by_age, by_sex" in shown.output
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert [one["people_below"] for one in found] == [80, 0, 0]


def side_by_side(interface: Interface) -> list[str]:
    return [notice for notice in interface.notices if "together" in notice]


def test_a_second_release_for_the_same_readers_is_said(hospital: Interface) -> None:
    publish(hospital, "by_age", "age")
    assert not side_by_side(hospital)
    publish(hospital, 'by "sex"', "sex", k=21)
    (notice,) = side_by_side(hospital)
    assert '"kanon_analyst"' in notice
    assert "leave nobody among fewer than 4." in notice
    statement = notice[notice.index("SELECT") : notice.index(";")]
    hospital.connection.execute(statement.encode())
    hospital.notices.clear()
    publish(hospital, "by_zip", "zip", k=5)
    (notice,) = side_by_side(hospital)
    assert "nobody among fewer than 4." in notice
    hospital.connection.execute("insert into patients values (241, 1, 'f', 'Z1', 241)")
    hospital.notices.clear()
    publish(hospital, "by_zip", "zip", k=5)
    (notice,) = side_by_side(hospital)
    assert "leave 1 of 241 people among fewer than 4, somebody among 1" in notice


def test_releases_for_other_readers_are_not(hospital: Interface) -> None:
    publish(hospital, "by_age", "age")
    hospital.connection.execute("revoke select on safe.by_age from kanon_analyst")
    publish(hospital, "by_sex", "sex")
    assert not side_by_side(hospital)
    with role(hospital.dsn, "reader", "IN ROLE kanon_analyst") as login:
        hospital.connection.execute(f"grant select on safe.by_age to {login}")
        publish(hospital, "by_sex", "sex")
        (notice,) = side_by_side(hospital)
        assert notice.startswith(f'"{login}" may read')


def test_an_audit_shows_what_releases_tell_together(hospital: Interface, tmp_path: Path) -> None:
    publish(hospital, "by_age", "age")
    publish(hospital, "by_sex", "sex")
    hospital.connection.execute("insert into patients values (241, 1, 'f', 'Z1', 241)")
    publish(hospital, "later", "age")
    page = tmp_path / "audit.html"
    arguments = ["audit", "patients", "-k", "4", "--dsn", hospital.dsn, "--time-limit", "5"]
    words = "leave 1 of 241 people (0.4%) among fewer than 4, somebody among 1"
    shown = CliRunner().invoke(app, [*arguments, "--html", str(page), "--no-curve"])
    assert words in shown.output, shown.output
    assert words in page.read_text()
    assert "What the releases disclose together" in page.read_text()
    markdown = CliRunner().invoke(app, [*arguments, "--markdown"]).output
    assert "## What the releases disclose together" in markdown
    assert "| by\\_age and later | 4 | 241 | 1 | 1 |" in markdown
    with role(hospital.dsn, "auditor", "IN ROLE kanon_analyst") as login:
        hospital.connection.execute(f"grant select on patients to {login}")
        hospital.connection.execute(
            f"grant kanon_analyst to {login}; grant select on kanon.releases to {login}"
        )
        dsn = make_conninfo(hospital.dsn, user=login)
        shown = CliRunner().invoke(app, [*arguments[:-3], dsn, "--time-limit", "5"])
        assert shown.exit_code == 1
        assert "Only members of kanon_owner" in shown.output


def test_an_audit_says_which_releases_it_could_not_compare(hospital: Interface, tmp_path: Path) -> None:
    """One release counts people otherwise: the others are compared, and none is called safe."""
    publish(hospital, "by_age", "age")
    publish(hospital, "by_sex", "sex")
    audit = ["audit", "patients", "-k", "4", "--dsn", hospital.dsn, "--time-limit", "5"]

    def pages() -> tuple[str, str, str]:
        page = tmp_path / "audit.html"
        terminal = CliRunner().invoke(app, [*audit, "--html", str(page), "--no-curve"]).stdout
        return page.read_text(), terminal, CliRunner().invoke(app, [*audit, "--markdown"]).output

    for shown in pages():
        assert "Not checked" not in shown
    assert "Let nobody read more than one" not in pages()[0]
    hospital.declare("patients", quasi_identifiers=["age", "sex"], entity="secret")
    publish(hospital, "otherwise", "age")
    for shown in pages():
        assert "Not checked: what otherwise and the other releases disclose together." in " ".join(
            shown.split()
        )
        assert "People are not counted by the same column" in " ".join(shown.split())
        assert "the releases by_age and by_sex leave" in " ".join(shown.replace("\\", "").split())
        assert "kanon_composition" in shown
    html = pages()[0]
    assert "Give analysts the release" not in html
    assert "Let nobody read more than one of the 3 releases before it is known" in html
    hospital.drop("by_sex")
    html = pages()[0]
    assert "What the releases disclose together" in html
    assert "Not checked: what the releases by_age and otherwise disclose together." in html
    assert "Let nobody read more than one of the 2 releases before it is known" in html


def test_a_partition_is_compared(interface: Interface) -> None:
    for text in (
        WARDS,
        "create table whole (id integer primary key, zip text, ward text, diag text) partition by range (id)",
        "create table other partition of whole for values from (0) to (304)",
        "create table rest partition of whole default",
        "insert into whole select * from plain",
    ):
        interface.connection.execute(text.encode())
    interface.anonymize("whole", 5, quasi_identifiers=["zip"], release="by_zip", remember=2)
    interface.anonymize("other", 5, quasi_identifiers=["ward"], release="by_ward", remember=2)
    both, *_ = interface.composition(["by_zip", "by_ward"], 76)
    # Zips of the partition have 76 or 75 rows, of the rest 25 or 24.
    expected = interface.connection.execute(
        "select min(count) from (select count(*) from whole group by zip, ward, id < 304) as c"
    ).fetchone()
    assert (both.people, both.unseen_rows, (both.smallest,)) == (400, 0, expected)


@pytest.mark.only_through("client")  # the bound is a constant of this process
def test_releases_of_many_rows_are_not_compared_unasked(
    hospital: Interface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_pg.release.compare.side_by_side._MOST_ROWS", 719)
    publish(hospital, "by_age", "age")
    publish(hospital, "by_sex", "sex")
    (notice,) = side_by_side(hospital)
    assert "among fewer" in notice
    hospital.notices.clear()
    publish(hospital, "by_zip", "zip")  # 240 rows of each
    (notice,) = side_by_side(hospital)
    assert "among fewer" not in notice
    assert notice.endswith("says what they disclose together.")
