"""Nothing that is said of secrets can fail for some values and not for others."""

import pytest

from kanon_pg.queries.counting.guarded import Guarded, guarded
from kanon_pg.queries.people.forms import check_forms
from kanon_pg.queries.people.people import people_of
from kanon_pg.queries.reading.cutting import cut
from kanon_pg.queries.reading.facts import Column, Facts, Protection, Relation, Role, Volatility
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import scan, take_out_constants
from kanon_pg.queries.reading.trees import parse

PATIENTS = Relation(
    1,
    "public",
    "patients",
    (
        Column("id", 1, "pg_catalog.int4", Role.KNOWN, is_number=True),
        Column("ward", 2, "pg_catalog.text", Role.KNOWN),
        Column("diagnosis", 3, "pg_catalog.text", Role.SECRET),
        Column("note", 4, "pg_catalog.text", Role.SECRET),
        Column("cost", 5, "numeric", Role.SECRET, is_number=True),
        Column("days", 7, "integer", Role.SECRET, is_number=True),
        Column("died", 6, "timestamp with time zone", Role.SECRET),
    ),
    ("id",),
    (frozenset({"id"}),),
    protection=Protection(5, 1, ("id",), 1),
)
FACTS = Facts(
    (PATIENTS,),
    functions=dict.fromkeys(
        ["date_trunc", "width_bucket", "floor", "left", "coalesce", "nullif", "greatest"],
        Volatility.IMMUTABLE,
    ),
)


def forms_of(text: str) -> list[Guarded]:
    scanned = take_out_constants(scan(text))
    found = cut(parse(scanned), FACTS, scanned.constants)
    forms = []
    for block in found.blocks:
        people = people_of(block, FACTS)
        check_forms(block, people, FACTS)
        forms.append(guarded(block, people, found.constants, k=5, buckets=128))
    return forms


def test_a_mean_of_known_rows_among_those_that_a_secret_chooses_is_answered() -> None:
    (form,) = forms_of("SELECT avg(id) FILTER (WHERE ward = 'a') FROM patients WHERE diagnosis = 'Flu'")
    assert form.rounded == (None, '"s1"."id"')


def tried(form: Guarded) -> str:
    return form.types.partition(" ON true WHERE ")[2]


@pytest.mark.parametrize(
    "key",
    [
        "diagnosis",
        "floor(cost / 1000)",
        "left(diagnosis, 3)",
        "date_trunc('year', died)",
        "width_bucket(cost, 0, 100, 5)",
        "greatest(cost, nullif(cost, 0))",
        "floor(cost / 2.5) * 2.5",
        "(diagnosis = 'Flu')::int",
        "(CASE WHEN cost > 1 THEN 1.5 ELSE 2 END)::numeric",
        "died::date",
        "CASE WHEN diagnosis LIKE 'F%' THEN 'f' ELSE note END",
    ],
)
def test_classes_of_secrets_are_keys(key: str) -> None:
    assert forms_of(f"SELECT {key}, count(*) FROM patients GROUP BY 1")


@pytest.mark.parametrize(
    "key",
    [
        "date_trunc(diagnosis, died)",
        "date_trunc(CASE WHEN diagnosis = 'Flu' THEN 'year' ELSE 'none' END, timestamp '2020-01-01')",
        "width_bucket(cost, 0, cost, 5)",
        "width_bucket(5, cost, 7, 5)",
        "CASE WHEN 'Fall' LIKE diagnosis THEN 1 END",
        "CASE WHEN note ~ diagnosis THEN 1 END",
        "1 / cost",
        "cost / 0.0",
        "cost * 1e131000",
        "cost * 1000000000000000000000",
        " * ".join(["cost"] * 30),
        "CASE WHEN cost > 1 THEN diagnosis::date END",
        "(CASE WHEN cost > 1 THEN 'x' ELSE '1' END)::numeric",
        "(CASE WHEN cost > 1 THEN 'x' END)::int",
        "(cost)::int",
        "cost::numeric(3, 0)",
        "(cost * cost)::double precision",
        "days / 2 * 9000000000000000000",
        "days * 2",
        "greatest(cost, '1e131060'::numeric) * cost",
        "coalesce(nullif(cost, 5), '1e131068') * cost",
        "width_bucket(cost, 0, 10, 2147483647)",
    ],
)
def test_what_fails_for_some_secrets_is_no_key(key: str) -> None:
    with pytest.raises(Refusal) as refusal:
        forms_of(f"SELECT {key}, count(*) FROM patients GROUP BY 1")
    assert refusal.value.finding.code == "Q303"


@pytest.mark.parametrize(
    "number", ["days * days", "days * 52 + 1", "cost / days", "cost * days", "cost / nullif(days * 52, 0)"]
)
def test_numbers_of_secrets_are_calculated_so_that_none_fails(number: str) -> None:
    (form,) = forms_of(f"SELECT avg({number}) FROM patients")
    assert ("*" in number.partition("/")[2] or "days *" in number) <= ("AS BIGINT)" in form.text)
    assert ("/" in number) <= ("nullif(" in form.text)


@pytest.mark.parametrize(
    "number", ["days * days * days", "days * 9000000000 + 1", "days / days * 9000000000"]
)
def test_numbers_of_secrets_that_may_be_too_long_are_refused(number: str) -> None:
    with pytest.raises(Refusal) as refusal:
        forms_of(f"SELECT avg({number}) FROM patients")
    assert refusal.value.finding.code in {"Q303", "Q306"}


def test_a_figure_of_people_is_a_constant_of_a_block_that_comes_later() -> None:
    scanned = take_out_constants(
        scan("SELECT count(*) FROM patients WHERE cost > (SELECT 2 * avg(cost) FROM patients)")
    )
    found = cut(parse(scanned), FACTS, scanned.constants)
    first, second = found.blocks
    (computed,) = found.computed
    assert (computed.block, computed.is_in(first), computed.is_in(second)) == (first.name, False, True)


@pytest.mark.parametrize(
    "subquery",
    [
        "SELECT cost FROM patients",
        "SELECT avg(cost) FROM patients GROUP BY ward",
        "SELECT avg(cost) FROM patients LIMIT 0",
        "SELECT avg(cost), count(*) FROM patients",
        "SELECT coalesce(avg(cost), 0) FROM patients",
        "SELECT avg(q.cost) FROM patients AS q WHERE q.ward = p.ward",
    ],
)
def test_no_other_subquery_is_a_constant(subquery: str) -> None:
    with pytest.raises(Refusal):
        forms_of(f"SELECT count(*) FROM patients AS p WHERE p.cost > ({subquery})")


@pytest.mark.parametrize(
    "condition", ["'Fall' LIKE diagnosis", "note ~ diagnosis", "note NOT ILIKE diagnosis"]
)
def test_secrets_are_no_patterns(condition: str) -> None:
    with pytest.raises(Refusal) as refusal:
        forms_of(f"SELECT count(*) FROM patients WHERE id = 7 AND {condition}")
    assert refusal.value.finding.code == "Q303"


@pytest.mark.parametrize(
    ("said", "constant"),
    [
        (
            "died > timestamptz '294276-01-01' + interval '1 year'",
            "(timestamptz '294276-01-01') + (interval '1 year')",
        ),
        ("diagnosis ~ '('", "'' ~ '('"),
        ("CASE WHEN cost > 9 THEN width_bucket(cost, 0, 0, 5) END = 1", "width_bucket(1, 0, 0, 5)"),
        ("CASE WHEN cost > 9 THEN date_trunc('y', died) END IS NULL", "date_trunc('y', timestamptz "),
    ],
)
def test_constants_fail_before_they_meet_secrets(said: str, constant: str) -> None:
    (form,) = (
        forms_of(f"SELECT {said}, count(*) FROM patients GROUP BY 1")
        if "CASE" not in said
        else forms_of(f"SELECT {said.rpartition(' END')[0]} END, count(*) FROM patients GROUP BY 1")
    )
    assert constant in tried(form)


def test_constants_beside_known_columns_are_not_tried() -> None:
    (form,) = forms_of("SELECT count(*) FROM patients WHERE id < 5 + 2")
    assert tried(form) == "true"


def doubled(first: str) -> str:
    """Return a query whose common table expressions are each named twice by the next."""
    others = ", ".join(f"c{n} AS (SELECT a.ward FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 30))
    return f"WITH c0 AS ({first}), {others} SELECT count(*) FROM c29"


def test_a_text_does_not_grow_without_an_end() -> None:
    scanned = take_out_constants(scan(doubled("SELECT 1 AS ward")))
    assert cut(parse(scanned), FACTS, scanned.constants).blocks == ()
    with pytest.raises(Refusal, match="too many tables"):
        forms_of(doubled("SELECT ward FROM patients"))


def test_an_output_does_not_grow_without_an_end() -> None:
    doubled = ", ".join(f"c{n} AS (SELECT days + days AS days FROM c{n - 1})" for n in range(1, 40))
    with pytest.raises(Refusal, match="too many parts"):
        forms_of(f"WITH c0 AS (SELECT days FROM patients), {doubled} SELECT sum(days) FROM c39")


def test_a_clause_is_read_once() -> None:
    nested = "SELECT ward FROM patients"
    for number in range(30):
        nested = f"WITH t{number} AS (SELECT count(*) AS n FROM patients) SELECT ward FROM ({nested}) AS q"
    scanned = take_out_constants(scan(f"SELECT ward, count(*) FROM ({nested}) AS q GROUP BY ward"))
    assert len(cut(parse(scanned), FACTS, scanned.constants).blocks) == 31
