"""Reports about releases: figures by plain SQL, and nothing about fewer than k people in any form of them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.before_after.buckets import rounded
from kanon_pg.cli import app
from kanon_pg.errors import InputError, KanonError, NotPermitted, UnknownName
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface, interface_of
from tests.fixtures.linked_tables import declare_clinic, fill_clinic

pytestmark = pytest.mark.slow

K = 4

ROWS = """
create table patients as
select i as id, i % 150 as person, 'age' || 20 + (i % 150 * i % 150) % 13 as age,
    case when i % 150 % 3 = 0 then 'Female' else 'Male' end as sex,
    case when i % 150 % 11 <> 0 then 'Z' || (i % 150 * 7) % 5 end as zip, 'illness' || i % 6 as diagnosis,
    'rare' || (case when i % 150 < 140 then i % 2 else i % 150 end) as town, i % 150 * 10 as income
from generate_series(1, 200) as i
"""
"""200 rows of 150 people; ten towns have one person each."""

NEWCOMER = "insert into patients select 900, 900, 'age21', 'Male', 'Z1', 'illness2', 'rare77777', 30"
THREE = f"{NEWCOMER} from generate_series(1, 3)"
ONE_OF_MANY = NEWCOMER.replace("rare77777", "rare1")


@pytest.fixture
def hospital(interface: Interface) -> Interface:
    interface.connection.execute(ROWS.encode())
    return interface


def declared(hospital: Interface, *, entity: str | None = None, **more: Any) -> None:
    hospital.declare(
        "patients",
        identifiers=["id"],
        quasi_identifiers=["age", "sex", "zip", "town", "income"],
        sensitive=["diagnosis"],
        entity=entity,
        **more,
    )


def column(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (one for one in report["columns"] if one["column"] == name)
    return dict(found)


def counted(interface: Interface, query: str) -> Any:
    return interface.connection.execute(query.encode()).fetchall()


@pytest.mark.parametrize("entity", [None, "person"])
def test_values_are_those_of_plain_sql(hospital: Interface, entity: str | None) -> None:
    declared(hospital, entity=entity)
    hospital.anonymize("patients", K, method="greedy")
    report = hospital.release_report("patients")
    people = "count(*)" if entity is None else "count(distinct person)"
    for name in ("age", "sex", "zip", "diagnosis"):
        found = column(report, name)
        before = {
            value: rows
            for value, rows, few in counted(
                hospital,
                f"select coalesce({name}, '(no value)'), count(*), {people} < {K}"
                f" from patients group by {name}",
            )
            if not few
        }
        after = dict(
            counted(
                hospital,
                f"select coalesce({name}, '(no value)'), count(*) from safe.patients"
                f" where not '{name}' = any (kanon_suppressed) group by {name}",
            )
        )
        hidden = 200 - sum(after.values())
        exactly = name == "diagnosis"
        shown = {one["value"]: (one["before"], one["after"]) for one in found["values"]}
        assert found["is_compared"]
        assert shown.keys() - {"(other values)"} <= before.keys() | after.keys()
        assert sum(rows for _, rows in shown.values()) == 200 - hidden
        for value, (one, other) in shown.items():
            if value != "(other values)":
                assert other == after.get(value, 0)
                assert one == (before[value] if exactly else rounded(before[value], K))
        assert found["suppressed"] == hidden
        assert found["suppressed_share"] == round(hidden / 200, 4)


@pytest.mark.parametrize("entity", [None, "person"])
def test_class_sizes_and_risk_are_those_of_plain_sql(hospital: Interface, entity: str | None) -> None:
    declared(hospital, entity=entity)
    hospital.anonymize("patients", K, method="greedy")
    report = hospital.release_report("patients")
    key = "id" if entity is None else "person"
    query = (
        f"select {key}, min(size) from (select {key}, (select count(distinct o.{key}) from patients as o"
        " where (o.age, o.sex, o.town, o.income) = (p.age, p.sex, p.town, p.income)"
        f" and o.zip is not distinct from p.zip) as size from patients as p) as one group by {key}"
    )
    sizes = [size for _, size in counted(hospital, query)]
    before = report["risk"]["before"]
    assert before["prosecutor"] == {
        "highest": round(1 / min(sizes), 4),
        "average": round(sum(1 / size for size in sizes) / len(sizes), 4),
    }
    (table, *_) = counted(
        hospital,
        "select prosecutor_risk, prosecutor_average, marketer_risk from kanon_risk('patients')"
        " where relation like '%patients%' order by relation limit 1",
    )
    assert (before["prosecutor"]["highest"], before["prosecutor"]["average"], before["marketer"]) == tuple(
        round(one, 4) for one in table
    )
    after = report["risk"]["after"]
    (release,) = counted(
        hospital, "select prosecutor_risk, prosecutor_average, marketer_risk from kanon_risk('safe.patients')"
    )
    assert (after["prosecutor"]["highest"], after["prosecutor"]["average"], after["marketer"]) == tuple(
        round(one, 4) for one in release
    )
    assert sum(one["after"] for one in report["class_sizes"]) == len(sizes)
    assert all(one["from"] >= K for one in report["class_sizes"] if one["after"])
    for one in report["class_sizes"]:
        inside = sum(one["from"] <= size <= one["to"] for size in sizes)
        assert one["before"] == rounded(inside, K)


def cramer(pairs: list[tuple[Any, Any]]) -> float:
    cells, rows, columns = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    chi = sum(
        (cells[a, b] - rows[a] * columns[b] / n) ** 2 / (rows[a] * columns[b] / n)
        for a in rows
        for b in columns
    )
    return math.sqrt(chi / n / (min(len(rows), len(columns)) - 1))


def test_associations_and_errors_are_those_of_their_definitions(interface: Interface) -> None:
    interface.connection.execute(
        b"create table t as select i as id, chr(97 + i % 3) as a, chr(97 + (i + i / 40) % 4) as b,"
        b" chr(97 + i * i % 7) as c, chr(97 + i / 60) as s from generate_series(0, 299) as i"
    )
    interface.declare("t", quasi_identifiers=["a", "b", "c"], sensitive=["s"])
    interface.anonymize("t", 4, method="greedy")
    report = interface.release_report("t")
    names = ["a", "b", "c", "s"]
    table = counted(interface, "select a, b, c, s from t")
    hidden = counted(interface, "select a, b, c, s, kanon_suppressed from safe.t")
    assert any(row[4] for row in hidden)
    errors: dict[int, list[tuple[float, float]]] = {2: [], 3: []}
    found = {tuple(one["columns"]): one for one in report["associations"]["changed_most"]}
    assert len(found) == report["associations"]["pairs"] == 6
    for size in (2, 3):
        for places in combinations(range(4), size):
            before = [tuple(row[place] for place in places) for row in table]
            after = [
                tuple(row[place] for place in places)
                for row in hidden
                if not {names[place] for place in places} & set(row[4])
            ]
            if size == 2:
                pair = found[tuple(names[place] for place in places)]
                assert pair["before"] == pytest.approx(cramer(before), abs=0.00501)  # type: ignore[arg-type]
                assert pair["after"] == pytest.approx(cramer(after), abs=0.00501)  # type: ignore[arg-type]
            true, seen = Counter(before), Counter(after)
            factor = 300 / len(after)
            errors[size].append(
                (
                    sum(abs(seen[cell] - true[cell]) for cell in true | seen) / 300,
                    sum(abs(seen[cell] * factor - true[cell]) for cell in true | seen) / 300,
                )
            )
    for size, name in ((2, "two"), (3, "three")):
        counts = report["counts"][name]
        assert counts["tables"] == len(errors[size])
        assert counts["as_published"] == pytest.approx(
            sum(one for one, _ in errors[size]) / len(errors[size]), abs=0.000501
        )
        assert counts["scaled"] == pytest.approx(
            sum(one for _, one in errors[size]) / len(errors[size]), abs=0.000501
        )


def outputs(dsn: str, release: str, folder: Path) -> Iterator[str]:
    for options in (("--html", str(folder / "page.html")), ("--markdown",), ("--json",), ()):
        answer = CliRunner().invoke(app, ["report", release, "--dsn", dsn, *options])
        assert answer.exit_code == 0, answer.output
        yield answer.stdout
    yield (folder / "page.html").read_text(encoding="utf-8")


def counts_in(report: dict[str, Any]) -> Iterator[int]:
    """Yield all counts of rows or people."""
    yield from (report["rows"], report["people"], report["smallest_class"], report["suppressed_cells"])
    if report["table_rows"] is not None:
        yield report["table_rows"]
    for one in report["columns"]:
        yield one["suppressed"]
        for value in one["values"] + ((one["vanished"] or {}).get("named") or []):
            yield from (value[side] for side in ("before", "after") if value.get(side) is not None)
    for one in report["class_sizes"]:
        yield from (one["before"], one["after"])


@pytest.mark.only_through("server")
@pytest.mark.parametrize("entity", [None, "person"])
@pytest.mark.parametrize("change", ["select 1", NEWCOMER, "delete from patients where person = 7", THREE])
def test_no_value_and_no_count_of_fewer_than_k_people_is_told(
    hospital: Interface, tmp_path: Path, entity: str | None, change: str
) -> None:
    declared(hospital, entity=entity)
    hospital.connection.execute("update patients set diagnosis = 'verysecret' where id in (3, 4)")
    hospital.connection.execute("select pg_stat_force_next_flush()")
    hospital.anonymize("patients", K, method="greedy")
    hospital.connection.execute(change.encode())
    people = "id" if entity is None else "person"
    texts = list(outputs(hospital.dsn, "patients", tmp_path))
    report = json.loads(texts[2])
    assert report["table_has_changed"] == (change != "select 1")
    assert all(number == 0 or number >= K for number in counts_in(report))
    for name in ("age", "sex", "zip", "town", "diagnosis"):
        few = counted(
            hospital,
            f"select {name} from patients where {name} is not null"
            f" group by {name} having count(distinct {people}) < {K}",
        )
        for (value,) in few:
            assert not any(re.search(rf"\b{re.escape(value)}\b", text) for text in texts), value
    assert any("verysecret" in str(row) for row in counted(hospital, "select diagnosis from safe.patients"))


@pytest.mark.parametrize("change", [ONE_OF_MANY, "delete from patients where id = 100"])
def test_who_came_or_went_alone_is_not_told_by_comparing(hospital: Interface, change: str) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy")
    hospital.connection.execute(change.encode())
    report = hospital.release_report("patients")
    assert report["table_has_changed"]
    assert report["table_rows"] is None
    for one in report["columns"]:
        assert not one["is_compared"]
        assert one["vanished"] is None
        assert all(value["before"] is None for value in one["values"])


@pytest.mark.parametrize(
    "options",
    [
        {"method": "greedy"},
        {"method": "exact", "quasi_identifiers": ["age", "sex"], "time_limit": 2},
        {"method": "greedy", "entity": "person"},
        {"method": "greedy", "l": 2},
        {"method": "greedy", "hierarchies": {"income": {"builder": "intervals", "width": 50, "factor": 2}}},
    ],
    ids=str,
)
def test_one_changed_cell_is_a_change_and_a_row_written_again_is_none(
    hospital: Interface, options: dict[str, Any]
) -> None:
    options = dict(options)
    declared(hospital, entity=options.pop("entity", None))
    hospital.anonymize("patients", K, **options)

    def has_changed(statement: str) -> bool:
        hospital.connection.execute(statement.encode())
        hospital.connection.execute(b"select pg_stat_force_next_flush()")
        report = hospital.release_report("patients")
        assert report["table_has_changed"] != all(one["is_compared"] for one in report["columns"])
        return bool(report["table_has_changed"])

    assert not has_changed("update patients set age = age where id < 20")
    assert has_changed("update patients set diagnosis = 'illness0' where id = 1")
    assert not has_changed("update patients set diagnosis = 'illness1' where id = 1")
    assert has_changed(
        "update patients set sex = case sex when 'Male' then 'Female' else 'Male' end where id = 2"
    )


def test_with_k_people_more_buckets_differ_in_nobody_or_k_people(hospital: Interface) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy", quasi_identifiers=["sex"])
    hospital.connection.execute(
        b"insert into patients select 900 + i, 900 + i, 'age21', case i when 1 then 'Female' else 'Male' end,"
        b" 'Z1', 'illness' || i % 3, 'rare1', 30 from generate_series(1, 9) as i"
    )
    report = hospital.release_report("patients")
    assert report["table_has_changed"]
    found = column(report, "sex")
    # one woman more: she is among the others
    assert [one["value"] for one in found["values"]] == ["(other values)"]
    assert found["values"][0]["before"] - found["values"][0]["after"] >= K


def test_published_nodes_are_counted_at_one_level(hospital: Interface) -> None:
    declared(hospital)
    hospital.anonymize(
        "patients", K, quasi_identifiers=["income", "sex"], method="greedy",
        hierarchies={"income": {"builder": "intervals", "width": 50, "factor": 2}},
    )  # fmt: skip
    found = column(hospital.release_report("patients"), "income")
    assert found["shown_level"] >= 1
    assert sum(found["levels"]) == pytest.approx(1, abs=1e-3)
    for one in found["values"]:
        ((before, after),) = counted(
            hospital,
            f"select (select count(*) from patients where income <@ {one['value']!r}::int4range),"
            f" (select count(*) from safe.patients where income <@ {one['value']!r}::int4range)",
        )
        assert (one["before"], one["after"]) == (rounded(before, K), after)


def test_nothing_depends_on_the_settings_of_a_session(hospital: Interface) -> None:
    hospital.connection.execute(
        b"alter table patients add moment timestamptz, add day date, add price float8, add span interval;"
        b"update patients set moment = timestamptz '2020-03-29 00:30+00' + id * interval '17 hours',"
        b" day = date '1990-01-01' + id % 4, price = id % 3 + 0.1, span = id % 3 * interval '90 minutes'"
    )
    hospital.declare("patients", quasi_identifiers=["sex", "day", "span"], sensitive=["moment", "price"])
    hospital.anonymize("patients", K, method="greedy")
    first = hospital.release_report("patients")
    for setting in ("timezone = 'Asia/Tokyo'", "datestyle = 'SQL, DMY'", "intervalstyle = 'iso_8601'"):
        hospital.connection.execute(f"set {setting}".encode())
        assert hospital.release_report("patients") == first


def test_a_release_whose_table_was_dropped_has_what_is_recorded(hospital: Interface, tmp_path: Path) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy")
    whole = hospital.release_report("patients")
    hospital.connection.execute(b"drop table patients cascade")
    report = hospital.release_report("patients")
    assert "columns" not in report
    same = ("guarantee", "not_promised", "proof", "rows", "people", "suppressed_cells")
    assert [report[key] for key in same] == [whole[key] for key in same]
    assert all("was dropped" in text for text in outputs(hospital.dsn, "patients", tmp_path) if text)


def of_linked(interface: Interface) -> Iterator[tuple[dict[str, Any], dict[str, Any], str, str]]:
    """Yield the figures of each column of the further tables, and queries of person and value."""
    queries = {
        "admissions": "select patient, {} from {}admissions",
        "lab_results": "select a.patient, r.{} from {}lab_results r join {}admissions a on admission = a.id",
        "invoices": "select payer, {} from {}invoices",
    }
    for table in interface.release_report("patients")["linked"]:
        query = queries[table["view"].removeprefix("safe.")]
        for found in table["columns"]:
            before, after = (query.format(found["column"], *2 * [schema]) for schema in ("", "safe."))
            yield table, found, before, after


@pytest.mark.parametrize("change", ["select 1", "update admissions set ward = 'rareward' where patient = 7"])
def test_what_is_told_of_linked_tables_is_of_k_people(interface: Interface, change: str) -> None:
    """Not of k rows: one person has many rows with values of their own."""
    connection = interface.connection
    fill_clinic(connection, 2)
    declare_clinic(interface)
    connection.execute(b"update admissions set ward = 'rareward' where patient in (7, 8)")
    connection.execute(
        b"insert into invoices select 9000 + i, 7, 770077, 0 from generate_series(1, 30) as i;"
        b"select pg_stat_force_next_flush()"
    )
    interface.anonymize(
        "patients", K, tables=["lab_results", "admissions", "invoices"], time_limit=1.0, seed=1
    )
    connection.execute(change.encode())
    seen = Counter[str]()
    for table, found, before, after in of_linked(interface):
        assert table["counts"] is None or table["table_rows"] is not None
        if change != "select 1":
            assert table["table_rows"] is None or table["table_rows"] - table["rows"] >= K
        people: dict[str, list[set[Any]]] = {}
        rows: dict[str, list[int]] = {}
        for side, query in enumerate((before, after)):
            for person, value in counted(interface, query):
                people.setdefault(str(value), [set(), set()])[side].add(person)
                rows.setdefault(str(value), [0, 0])[side] += 1
        for one in found["values"] + ((found["vanished"] or {}).get("named") or []):
            seen[table["view"]] += 1
            if one["value"] not in people:  # others together, or a range
                continue
            known, shown = people[one["value"]]
            assert one.get("after", 0) == rows[one["value"]][1]
            assert not shown or len(shown) >= K
            if one["before"] is not None:
                assert len(known) >= K
                assert one["before"] in {rows[one["value"]][0], rounded(rows[one["value"]][0], K)}
    assert len(seen) == 3
    told = json.dumps(interface.release_report("patients"))
    assert "rareward" not in told
    assert "770077" not in told


def test_counts_of_people_by_columns_of_linked_tables_have_their_errors(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", 12, tables=["admissions"], rows={"admissions": "unknown"}, time_limit=1.0)
    (table,) = interface.release_report("patients")["linked"]
    errors = []
    for name in ("sex", "region", "admissions_clinic"):
        before = Counter(
            counted(
                interface,
                f"select {name.removeprefix('admissions_')}, ward"
                " from admissions a join patients p on p.id = a.patient",
            )
        )
        after = Counter(
            counted(
                interface,
                f"select {name}, ward from safe.admissions a join safe.patients p on p.id = a.patient"
                f" where not '{name}' = any (kanon_suppressed)",
            )
        )
        errors.append(sum(abs(after[cell] - before[cell]) for cell in before | after) / before.total())
    assert any(errors)
    assert table["counts"]["tables"] == 3
    assert table["counts"]["as_published"] == pytest.approx(sum(errors) / 3, abs=0.000501)


def test_rows_that_can_be_followed_are_compared_as_linked_ones(hospital: Interface) -> None:
    hospital.connection.execute(b"alter table patients add primary key (id)")
    hospital.declare(
        "patients", identifiers=["id"], quasi_identifiers=["sex"], sensitive=["diagnosis"], entity="person"
    )
    hospital.anonymize("patients", K, pseudonyms=["person"], time_limit=1.0)
    (table,) = hospital.release_report("patients")["linked"]
    assert table["view"] == "safe.patients_rows"
    ((rows,),) = counted(hospital, "select count(*) from safe.patients_rows")
    assert (table["rows"], table["table_rows"]) == (rows, 200)
    assert [one["column"] for one in table["columns"]] == ["diagnosis"]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("refresh materialized view kanon.patients_storage", []),
        ("drop view safe.invoices", ["safe.admissions", "safe.lab_results"]),
        ("drop view safe.admissions", ["safe.invoices"]),
        ("truncate invoices", ["safe.admissions", "safe.lab_results"]),
    ],
)
def test_linked_tables_that_show_nothing_have_no_values(
    interface: Interface, tmp_path: Path, change: str, shown: list[str]
) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize(
        "patients",
        K,
        tables=["admissions", "invoices", "lab_results"],
        rows={"lab_results": "unknown"},
        time_limit=1.0,
    )
    interface.connection.execute(change.encode())
    report = interface.release_report("patients")
    assert sorted(one["view"] for one in report["linked"] if one["columns"]) == shown
    assert all(one["rows"] == 0 for one in report["linked"] if not one["columns"])
    assert all("safe.invoices" in text for text in outputs(interface.dsn, "patients", tmp_path) if text)


@pytest.mark.parametrize("kind", ["over_time", "remember"])
def test_other_releases_are_reported_too(hospital: Interface, kind: str) -> None:
    hospital.connection.execute(b"alter table patients add primary key (id)")
    declared(hospital, entity="person")
    hospital.anonymize("patients", K, method="greedy", **{kind: {} if kind == "over_time" else 2})
    report = hospital.release_report("safe.patients")
    assert report["version"] == 1
    ((rows,),) = counted(hospital, "select count(*) from safe.patients")
    assert report["rows"] == rows
    assert column(report, "sex")["is_compared"]


def test_who_may_not_read_the_table_is_refused(hospital: Interface) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy")
    with role(hospital.dsn, "curator", "IN ROLE kanon_curator, kanon_owner") as curator:
        with interface_of(curator, hospital) as theirs, pytest.raises(NotPermitted):
            theirs.release_report("patients")
        hospital.connection.execute(f"grant select on patients to {curator}".encode())
        with interface_of(curator, hospital) as theirs:
            assert theirs.release_report("patients")["rows"] == 200


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda one: one.release_report("nobody"), UnknownName),
        (lambda one: one.release_report(None), KanonError),
        (lambda one: one.release_report("patients", time_limit=0), InputError),
    ],
)
def test_what_cannot_be_reported_is_refused(
    hospital: Interface, call: Callable[[Interface], Any], kind: type[KanonError]
) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy")
    with pytest.raises(kind):
        call(hospital)


def test_the_curve_marks_no_k_that_nobody_could_have(hospital: Interface) -> None:
    declared(hospital)
    hospital.anonymize("patients", K, method="greedy", quasi_identifiers=["sex", "zip"])
    report = hospital.release_report("patients", curve=True, time_limit=2)
    assert [point["k"] for point in report["curve"]] == [2, 3, 4, 5, 10, 25, 50, 100]
    ((share,),) = counted(
        hospital,
        "select suppressed_share from kanon_curve('patients', '{5}', '{sex,zip}', time_limit => '1 s')",
    )
    assert report["curve"][3]["suppressed_share"] == pytest.approx(share, abs=1e-3)


def test_both_interfaces_say_the_same(both_interfaces: tuple[Interface, Interface]) -> None:
    one, other = both_interfaces
    one.connection.execute(ROWS.encode())
    declared(one, entity="person")
    one.anonymize("patients", K, method="greedy", l=2)
    with psycopg.connect(one.dsn):
        assert one.release_report("patients") == other.release_report("patients")
