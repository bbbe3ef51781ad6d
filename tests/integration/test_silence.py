"""What a release publishes unchanged beside suppressed cells is refused, said, or found by audits."""

from typing import Any

import pytest

from kanon_pg.errors import UnsuitableColumn
from tests.fixtures.interfaces import Interface

pytestmark = pytest.mark.slow

PEOPLE = """
create table people (
    id integer primary key, zip text, sex text, zip_copy text, region text, ward text, word text,
    drawn text generated always as (left(zip, 3)) stored
);
insert into people
select i, 'z' || lpad((i % 60)::text, 3, '0'), case when hashint4(i) % 2 = 0 then 'f' else 'm' end,
    'z' || lpad((i % 60)::text, 3, '0'), 'r' || (i % 60) / 10, 'w' || hashint4(i) % 3, 'word ' || i
from generate_series(1, 180) as i
"""


@pytest.fixture
def people(interface: Interface) -> Interface:
    interface.connection.execute(PEOPLE.encode())
    return interface


def publish(
    interface: Interface, *insensitive: str, sensitive: tuple[str, ...] = (), **options: Any
) -> list[str]:
    """Publish with every zip suppressed; returns the notices."""
    interface.declare(
        "people",
        identifiers=["id"],
        quasi_identifiers=["zip", "sex"],
        sensitive=list(sensitive),
        insensitive=list(insensitive),
    )
    interface.notices.clear()
    interface.anonymize("people", 5, method="greedy", **options)
    return list(interface.notices)


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_generated_column_of_a_quasi_identifier_is_refused(people: Interface, role: str) -> None:
    with pytest.raises(UnsuitableColumn, match='Column "drawn" is computed from "zip"') as refusal:
        publish(
            people,
            *(["drawn"] if role == "insensitive" else []),
            sensitive=("drawn",) * (role == "sensitive"),
        )
    assert 'Declare "drawn" as a quasi-identifier' in (refusal.value.hint or "")


def test_the_source_of_a_generated_quasi_identifier_is_refused(people: Interface) -> None:
    people.declare("people", identifiers=["id"], quasi_identifiers=["drawn"], insensitive=["zip"])
    with pytest.raises(UnsuitableColumn, match='"zip" is what "drawn" is computed from'):
        people.anonymize("people", 5, method="greedy")


def test_a_generated_column_is_published_where_it_hides_or_nothing_is_hidden(people: Interface) -> None:
    people.declare("people", identifiers=["id"], quasi_identifiers=["zip", "drawn"], insensitive=["ward"])
    people.anonymize("people", 5, method="greedy")
    people.declare("people", identifiers=["id"], quasi_identifiers=["sex"], insensitive=["zip", "drawn"])
    people.anonymize("people", 5, method="greedy")


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ("zip_copy", 'column "zip_copy" tells "zip"'),
        ("region", 'column "region" is told by, and so tells a part of, "zip"'),
    ],
)
@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}], ids=["ordinary", "over time"])
def test_a_column_that_tells_suppressed_cells_is_said(
    people: Interface, column: str, what: str, options: dict[str, Any]
) -> None:
    notices = publish(people, column, **options)
    (told,) = [notice for notice in notices if what in notice]
    assert told.startswith("Insensitive")
    assert "in all 180 rows" in told


def test_columns_that_tell_nothing_are_not(people: Interface) -> None:
    assert not [notice for notice in publish(people, "ward") if "published as it is" in notice]


def test_a_copy_of_a_column_without_suppressed_cells_is_not(people: Interface) -> None:
    people.connection.execute("alter table people add gender text; update people set gender = sex")
    assert not [notice for notice in publish(people, "gender") if "published as it is" in notice]


def test_rows_of_one_person_do_not_make_a_column_tell_another(people: Interface) -> None:
    people.connection.execute(
        "create table stays as select i / 3 as person, 'z' || hashint4(i / 3) % 30 as zip,"
        " 'w' || hashint4(i / 3 + 1) % 3 as ward from generate_series(0, 539) as i"
    )
    people.declare("stays", quasi_identifiers=["zip"], insensitive=["ward"], entity="person")
    people.notices.clear()
    people.anonymize("stays", 5, method="greedy")
    assert not [notice for notice in people.notices if "published as it is" in notice]


def test_a_nearly_unique_insensitive_column_is_said(people: Interface) -> None:
    (told,) = [notice for notice in publish(people, "word") if "nearly every row" in notice]
    assert told.startswith('Insensitive column "word"')


def sets(people: Interface) -> list[tuple[Any, ...]]:
    return people.connection.execute("select columns from kanon_audit('safe.people', 3 + 1)").fetchall()


def risk_and_anonymity(people: Interface) -> tuple[Any, ...]:
    found = people.connection.execute(
        "select prosecutor_risk, kanon_is_anonymous('safe.people', 4) from kanon_risk('safe.people')"
    ).fetchone()
    assert found is not None
    return found


def test_an_audit_looks_at_all_that_is_published(people: Interface) -> None:
    publish(people, "zip_copy", sensitive=("ward",))
    assert sets(people) == [(["zip_copy"],)]
    # Of three people with a zip one may be the only one of a sex, which is shown.
    assert risk_and_anonymity(people) == (1.0, False)


def test_an_audit_in_people_looks_at_all_that_is_published(people: Interface) -> None:
    people.declare(
        "people", quasi_identifiers=["zip", "sex"], insensitive=["zip_copy"], sensitive=["ward"], entity="id"
    )
    people.anonymize("people", 5, method="greedy")
    # Of three people with a zip one may be the only one of a sex, which is shown.
    assert risk_and_anonymity(people) == (1.0, False)
    assert sets(people) == [(["zip_copy"],)]


@pytest.mark.parametrize("kind", ["json", "point", "xml"])
def test_a_copy_in_a_type_without_equality_is_said_and_found(people: Interface, kind: str) -> None:
    copy = {
        "json": "json_build_object('zip', zip)",
        "point": "point(substring(zip, 2)::integer, 0)",
        "xml": "xmlelement(name zip, zip)",
    }
    people.connection.execute(f"alter table people add copy {kind}".encode())
    people.connection.execute(f"update people set copy = {copy[kind]}".encode())
    assert any('Insensitive column "copy" tells "zip"' in notice for notice in publish(people, "copy"))
    run = people.connection.execute
    assert run("select kanon_is_anonymous('safe.people', 5)").fetchone() == (False,)
    assert run("select smallest_class from kanon_risk('safe.people')").fetchone() == (1,)
    assert run("select columns from kanon_audit('safe.people', 5)").fetchall()[0] == (["copy"],)
