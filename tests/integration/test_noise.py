"""Noise for strangers, on a real server: who gets it, and what it costs."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.fixtures.databases import Server, role

PEOPLE = 4000
NOISE: dict[str, Any] = {
    "epsilon": 8,
    "delta": 1e-6,
    "rows_per_person": 4,
    "groups_per_person": 2,
    "bounds": {"cost": [0, 1000]},
}
USED_UP = "KA902: The account of these people is used up."


@dataclass
class World:
    admin: psycopg.Connection[Any]
    dsn: str
    stranger: str
    colleague: str

    def protect(self, **more: Any) -> None:
        for table, bounds in (("patients", NOISE["bounds"]), ("visits", {})):
            noise = NOISE | {"bounds": bounds} | more
            options = {"noise": noise, "exact_for": [self.colleague], "refusals": None}
            self.admin.execute(
                "select kanon_protect(%s::regclass, 5, %s::jsonb)", [table, json.dumps(options)]
            )

    def begin(self, **more: Any) -> None:
        """Begin an account."""
        self.protect(**more)
        self.admin.execute("select kanon.restart_record('patients')")

    def ask(self, text: str, login: str | None = None) -> list[dict[str, Any]]:
        rows, _ = self.told(text, login)
        return rows

    def told(self, text: str, login: str | None = None) -> tuple[list[dict[str, Any]], list[str]]:
        notices: list[str] = []
        with psycopg.connect(self.dsn, user=login or self.stranger, autocommit=True) as session:
            session.add_notice_handler(lambda one: notices.append(one.message_primary or ""))
            return [row for (row,) in session.execute("select * from kanon_query(%s)", [text])], notices

    def refused(self, text: str, login: str | None = None) -> str:
        with pytest.raises(psycopg.Error) as caught:
            self.ask(text, login)
        return f"{caught.value.sqlstate}: {caught.value.diag.message_primary}"


@pytest.fixture(scope="module")
def world(server: Server, kanon_template: str) -> Iterator[World]:
    with server.database("noise", kanon_template) as name:
        dsn = server.dsn(name)
        with (
            role(dsn, "stranger", "IN ROLE kanon_analyst") as stranger,
            role(dsn, "colleague", "IN ROLE kanon_analyst") as colleague,
            psycopg.connect(dsn, autocommit=True) as admin,
        ):
            admin.execute(
                f"""create table patients (id integer primary key, ward text, cost numeric);
                insert into patients select i, 'w' || i % 4, i % 500 from generate_series(1, {PEOPLE}) as i;
                insert into patients values (-1, 'rare', 10), (-2, 'rare', 20), (-3, 'rare', 1e9);
                create table visits (id serial primary key, patient integer not null references patients,
                    days integer not null, kind text not null);
                insert into visits (patient, days, kind) select p.id, n, 'v' || n % 3 from patients as p,
                    generate_series(1, 3) as n where p.id > 0;
                insert into visits (patient, days, kind) select 1, 1, 'v0' from generate_series(1, 5000);
                analyze;
                select kanon_declare('patients', identifiers => '{{id}}', quasi_identifiers => '{{ward}}',
                    sensitive => '{{cost}}', entity => 'id');
                select kanon_declare('visits', identifiers => '{{id,patient}}',
                    quasi_identifiers => '{{kind,days}}');
                select kanon_link('visits', 'patients');
                grant select on patients, visits to {stranger}, {colleague};"""
            )
            world = World(admin, dsn, stranger, colleague)
            world.protect()
            yield world


def test_strangers_get_noise_and_colleagues_do_not(world: World) -> None:
    world.begin(per_query=0.2)
    query = "select count(*) as n, avg(cost) as mean, sum(cost) as whole from patients where cost < 500"
    (exact,), notices = world.told(query, world.colleague)
    assert exact["n"] == PEOPLE + 2
    assert not any("noise" in one for one in notices)
    (noisy,), notices = world.told(query)
    assert noisy != exact
    assert noisy["n"] == pytest.approx(exact["n"], abs=60)
    assert noisy["mean"] == pytest.approx(exact["mean"], abs=30)
    assert noisy["whole"] == pytest.approx(exact["whole"], abs=40_000)
    assert any("standard error" in one for one in notices), notices
    assert any("from 0 to 1000" in one for one in notices), notices


def test_every_figure_has_a_noisy_form(world: World) -> None:
    world.begin(per_query=0.9)
    query = """select ward, count(*) as n, count(distinct id) as people, stddev(cost) as spread,
        percentile_cont(0.5) within group (order by cost) as median, count(*) filter (where cost < 100) as few
        from patients group by ward order by ward"""
    rows = world.ask(query)
    assert [row["ward"] for row in rows] == ["w0", "w1", "w2", "w3"]
    for row in rows:
        assert row["n"] == pytest.approx(1000, abs=40)
        assert row["people"] == pytest.approx(1000, abs=40)
        assert row["spread"] == pytest.approx(144, abs=40)
        assert row["median"] == pytest.approx(250, abs=60)
        assert row["few"] == pytest.approx(200, abs=40)


def test_a_person_with_many_rows_weighs_no_more_than_allowed(world: World) -> None:
    world.begin(per_query=0.9)
    (row,) = world.ask("select count(*) as n from visits")
    assert row["n"] == pytest.approx(3 * (PEOPLE - 1) + 4, abs=60)


def test_the_same_query_is_answered_again_at_no_cost_to_anybody(world: World) -> None:
    world.begin(per_query=0.6)
    query = "select count(*) as n from patients"
    with psycopg.connect(world.dsn, user=world.stranger) as session:
        first = session.execute("select * from kanon_query(%s)", [query]).fetchall()
        session.rollback()
    # the account holds no second answer: what was rolled back is spent, and this is another session
    again, notices = world.told(query)
    assert [(row,) for row in again] == first
    assert any("costs nothing again" in one for one in notices)
    assert world.refused("select count(*) as n from visits") == USED_UP
    assert world.ask("select n + 1 as more from (select count(*) as n from patients) as t")


def test_failed_answers_cost_as_much(world: World) -> None:
    world.begin(per_query=0.6)
    options = {"noise": NOISE | {"per_query": 0.6}, "exact_for": [world.colleague], "seconds": 1e-6}
    world.admin.execute("select kanon_protect('patients', 5, %s::jsonb)", [json.dumps(options)])
    assert world.refused("select count(*) from patients") == "KA902: The answer is withheld."
    world.protect(per_query=0.6)
    assert world.refused("select count(*) from patients") == USED_UP


def test_a_login_has_its_share(world: World) -> None:
    world.begin(per_query=0.2, per_login=0.3)
    with role(world.dsn, "other", "IN ROLE kanon_analyst") as other:
        world.admin.execute(f"grant select on patients, visits to {other}")
        assert world.ask("select count(*) from patients")
        assert world.refused("select sum(cost) from patients") == USED_UP
        assert world.ask("select sum(cost) from patients", other)
        world.admin.execute(f"revoke all on patients, visits from {other}")


def test_small_groups_are_never_shown(world: World) -> None:
    for _ in range(5):
        world.begin(per_query=0.9)
        shown = world.ask("select ward, count(*) from patients group by 1")
        assert "rare" not in {row["ward"] for row in shown}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("select sum(days) from visits", "bounds"),
        ("select avg(cost * cost * cost * cost * cost * cost) from patients", "bounds"),
        ("select count(*) from visits where 1 / days > 0", "fail"),
        ("select count(distinct ward) from patients", "noisy form"),
    ],
)
def test_what_has_no_noisy_form_is_refused_with_a_hint(world: World, query: str, sentence: str) -> None:
    world.begin()
    refusal = world.refused(query)
    assert refusal.startswith("KA901")
    assert sentence in refusal


def test_roles_that_are_no_more_make_nobody_exact(world: World) -> None:
    world.begin(per_query=0.2)
    with role(world.dsn, "guest", "IN ROLE kanon_analyst") as guest, role(world.dsn, "gone") as gone:
        world.admin.execute(f"grant {gone} to {guest}")
        world.admin.execute(f"grant select on patients to {guest}")
        for table in ("patients", "visits"):
            options = json.dumps({"noise": NOISE | {"bounds": {}}, "exact_for": [gone]})
            world.admin.execute("select kanon_protect(%s::regclass, 5, %s::jsonb)", [table, options])
        query = "select count(*) as n from patients where cost < 500"
        assert world.told(query, guest)[1] == []
        world.admin.execute(f"revoke {gone} from {guest}")
        assert any("noise" in one for one in world.told(query, guest)[1])
        world.admin.execute(f"revoke all on patients from {guest}")


def test_means_of_many_answers_have_the_error_that_was_said(world: World) -> None:
    """Answers to different texts have independent noise; it is as large as the notice says."""
    world.begin(per_query=0.01)
    errors = []
    for place in range(40):
        query = f"select count(*) as n from patients where cost < {500 + place} and cost > -1"
        (row,), notices = world.told(query)
        errors.append(row["n"] - PEOPLE - 2)
    said = float(next(one for one in notices if "standard error" in one).split("error ")[1].rstrip("."))
    assert 0.65 < statistics.pstdev(errors) / said < 1.4


def test_accounts_say_what_was_spent_by_whom_and_in_total(world: World) -> None:
    world.begin(per_query=0.2)
    assert accounts(world) == {None: (0, pytest.approx(1.0))}
    world.ask("select count(*) from patients")
    world.ask("select count(*) from patients")
    world.ask("select kind, count(*) from visits group by kind")
    found = accounts(world)
    assert found == {
        None: (2, pytest.approx(0.6, rel=1e-2)),
        world.stranger: (2, pytest.approx(0.6, rel=1e-2)),
    }
    (epsilon,) = world.admin.execute("select max(epsilon_spent) from kanon.accounts").fetchone() or (0,)
    assert 0 < epsilon < NOISE["epsilon"]


def accounts(world: World) -> dict[str | None, tuple[int, Any]]:
    rows = world.admin.execute("select login, answers, share_left from kanon.accounts").fetchall()
    return {login: (answers, left) for login, answers, left in rows}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"noise": {"epsilon": 1}}, "noise lacks delta"),
        ({"noise": NOISE | {"epsilon": 0}}, "epsilon of noise must be"),
        ({"noise": NOISE | {"bounds": {"cost": [5, 1]}}}, "bounds of noise must be"),
        ({"noise": NOISE | {"bounds": {"nothing": [0, 1]}}}, "no column"),
        ({"noise": NOISE | {"sigma": 1}}, "noise has no part"),
        ({"noise": NOISE, "exact_for": ["nobody at all"]}, "no role"),
        ({"exact_for": ["kanon_curator"]}, "there is no option noise"),
    ],
)
def test_options_that_mean_nothing_are_refused(world: World, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(psycopg.Error, match=sentence):
        world.admin.execute("select kanon_protect('patients', 5, %s::jsonb)", [json.dumps(options)])


def test_tables_of_the_same_people_agree_in_their_account(world: World) -> None:
    world.begin()
    noise = json.dumps({"noise": NOISE | {"epsilon": 2, "bounds": {}}})
    world.admin.execute("select kanon_protect('visits', 5, %s::jsonb)", [noise])
    joined = "select count(*) from visits as v join patients as p on p.id = v.patient where p.ward = 'w1'"
    assert "do not agree" in world.refused(joined)


def test_a_table_without_noise_does_not_answer_strangers_exactly(world: World) -> None:
    """Whoever gets noise gets it from all tables of the same people, or nothing."""
    world.begin()
    world.admin.execute("select kanon_protect('visits', 5)")
    assert "do not agree" in world.refused("select count(*) from visits")
    assert world.told("select count(*) as n from visits", world.colleague)[1] == []
