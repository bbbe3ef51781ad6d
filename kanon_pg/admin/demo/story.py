"""The steps of ``kanon demo``; every figure in them comes from the database while it runs.

A table turns out to be dangerous; a safe view of it is published, and one role reads and attacks it; another
role asks the table itself, which answers, and does not; the view is kept while its table changes. A scene
checks its own claims: one whose claim does not hold says so, and the demo fails.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import DatabaseError

_OPTIONS = (
    "--no-psqlrc",
    "--set=ON_ERROR_STOP=1",
    "--set=VERBOSITY=terse",
    "--pset=pager=off",
    "--pset=footer=off",
)
_BARE = ("--quiet", "--tuples-only", "--no-align")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A statement and psql's answer."""

    prompt: str
    """psql's prompt: the database, and whether it is a superuser (``#``) who asks or not (``>``)."""
    sql: str
    output: str
    accepted: bool
    """Whether the server carried it out."""


@dataclass(frozen=True, slots=True)
class Psql:
    """psql for one person in one database."""

    program: Path
    environment: Mapping[str, str]
    """PG* variables that name server, database and user."""
    superuser: bool = False
    """Whether the prompt shows one."""

    def run(self, sql: str, *, expanded: bool = False) -> Exchange:
        """Run a statement and return what a person would have seen.

        Parameters
        ----------
        expanded : bool
            One line per column instead of one per row.
        """
        done = self._run([*_OPTIONS, *(["--expanded"] if expanded else []), "--command", sql])
        prompt = f"{self.environment['PGDATABASE']}={'#' if self.superuser else '>'}"
        return Exchange(prompt, sql, (done.stdout + done.stderr).rstrip(), done.returncode == 0)

    def value(self, sql: str) -> str:
        """Run a statement that gives one value and return it as text.

        Raises
        ------
        DatabaseError
            If the server refuses it.
        """
        done = self._run([*_OPTIONS, *_BARE, "--command", sql])
        if done.returncode:
            raise DatabaseError("A step of the demo was refused by the server.", detail=done.stderr.strip())
        return done.stdout.strip()

    def numbers(self, sql: str) -> list[float]:
        """Run a statement that gives one row of numbers and return them."""
        return [float(text) for text in self.value(sql).split("|")]

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
        return subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [self.program, *arguments],
            env={**own, **self.environment, "PGCLIENTENCODING": "UTF8"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )


K = 5
READER = "kanon_demo_reader"
"""A role that may log in and has no right but those that it is granted to the release."""

ANALYST = "kanon_demo_analyst"
"""A role that may log in and has nothing but the analyst role of kanon_pg."""

QUASI_IDENTIFIERS = "born, sex, zip, ethnicity"


@dataclass(frozen=True, slots=True)
class Scene:
    """A step of the demo."""

    title: str
    before: str
    """What the reader should know first."""
    exchanges: tuple[Exchange, ...]
    """What psql was asked and answered."""
    after: str
    """What it means."""
    broken: tuple[str, ...] = ()
    """Claims of this scene that turned out false; empty if all is well."""


@dataclass(frozen=True, slots=True)
class Actors:
    """Who runs SQL in the demo."""

    owner: Psql
    """The owner of the hospital's database."""
    reader: Psql
    """Somebody who logs in as `READER`."""
    analyst: Psql
    """Somebody who logs in as `ANALYST`."""


def claims(*made: tuple[bool, str]) -> tuple[str, ...]:
    """Return the texts of those claims that do not hold."""
    return tuple(text for holds, text in made if not holds)


def accepted(*exchanges: Exchange) -> tuple[bool, str]:
    """Claim that the server carried out every statement."""
    return all(exchange.accepted for exchange in exchanges), "the server carries out every statement"


def storage_of(cast: Actors) -> str:
    """Return the name of the materialized view behind the release."""
    return cast.owner.value("SELECT storage FROM kanon.releases WHERE release = 'patients'")


def recount_sql(storage: str) -> str:
    """Return plain SQL that counts the people of every published class."""
    return (
        "SELECT min(people) AS smallest_class, count(*) AS classes\n"
        "FROM (SELECT count(DISTINCT kanon_person) AS people\n"
        f"      FROM {storage} GROUP BY {QUASI_IDENTIFIERS}, kanon_pattern) AS class"
    )


def the_table(cast: Actors) -> Scene:
    """Show the table and how large it is."""
    rows, people = cast.owner.numbers("SELECT count(*), count(DISTINCT patient_id) FROM patients")
    look = cast.owner.run(
        "SELECT first_name, last_name, ssn, birth_date, sex, zip, ward, diagnosis FROM patients LIMIT 4"
    )
    return Scene(
        "A hospital's table",
        f"The table patients has {rows:,.0f} admissions of {people:,.0f} people. All of them are invented.",
        (look,),
        "Research needs such a table. The names and numbers must go, of course. Is that enough?",
        claims(accepted(look), (people >= 20_000, "there are at least 20,000 people")),
    )


def the_risk(cast: Actors) -> Scene:
    """Count who is unique, and find a neighbor."""
    count = cast.owner.run(
        "SELECT sum(people) AS people, sum(people) FILTER (WHERE people = 1) AS unique\n"
        "FROM (SELECT count(DISTINCT patient_id) AS people FROM patients GROUP BY birth_date, sex, zip) AS g"
    )
    people, unique = cast.owner.numbers(count.sql)
    born, sex, zip_code = cast.owner.value(
        "SELECT birth_date, sex, zip FROM patients GROUP BY 1, 2, 3\n"
        "HAVING count(*) = 1 AND bool_or(diagnosis = 'HIV infection') ORDER BY 1 LIMIT 1"
    ).split("|")
    neighbor = cast.owner.run(
        "SELECT admission_date, ward, diagnosis FROM patients\n"
        f"WHERE birth_date = '{born}' AND sex = '{sex}' AND zip = '{zip_code}'"
    )
    return Scene(
        "The risk",
        "Birth date, sex and zip code are no secrets: neighbors and voter rolls have them. How many patients "
        "are the only ones with theirs?",
        (count, neighbor),
        f"{unique / people:.0%} of the patients are alone with these three values. Whoever knows them about "
        "a neighbor finds the one row and reads the diagnosis, without any name in the table.",
        claims(
            accepted(count, neighbor),
            (unique > 0.5 * people, "most patients are unique"),
            ("HIV infection" in neighbor.output, "the neighbor's diagnosis is found"),
        ),
    )


def first_try(cast: Actors) -> Scene:
    """Declare roles and publish with full birth dates."""
    declare = cast.owner.run(
        "SELECT kanon_declare('patients',\n"
        "    identifiers => '{first_name,last_name,ssn}',\n"
        "    quasi_identifiers => '{birth_date,sex,zip,ethnicity}',\n"
        "    sensitive => '{ward,diagnosis,cost}',\n"
        "    entity => 'patient_id')"
    )
    publish = cast.owner.run(
        f"SELECT people, classes, smallest_class, suppressed_cells FROM kanon_anonymize('patients', {K})"
    )
    lost, rows = cast.owner.numbers(
        "SELECT count(*) FILTER (WHERE birth_date IS NULL), count(*) FROM safe.patients"
    )
    return Scene(
        "A first try",
        "The owner says which column plays which role. Identifiers are never published. Quasi-identifiers "
        "can be linked with other sources. Sensitive columns are what research is about. The entity is the "
        "person: somebody with three admissions counts once. Columns that are not mentioned are withheld.",
        (declare, publish),
        f"Now every published combination of the quasi-identifiers is shared by at least {K} people. But a "
        f"full birth date is too exact to be shared: it was suppressed in {lost:,.0f} of {rows:,.0f} rows. "
        "The notice warns of another way in: who knows what somebody's stay cost finds the row by it. Here "
        "nobody outside the hospital is taken to know costs; where they do, publish them rounded.",
        claims(
            accepted(declare, publish),
            (lost > 0.9 * rows, "birth dates are mostly suppressed"),
            ('Sensitive column "cost"' in publish.output, "the notice names the cost"),
        ),
    )


def publish(cast: Actors) -> Scene:
    """Declare a coarser column instead, and publish anew."""
    coarsen = cast.owner.run(
        "ALTER TABLE patients ADD COLUMN born int4range GENERATED ALWAYS AS (int4range(\n"
        "    extract(year FROM birth_date)::integer / 5 * 5,\n"
        "    extract(year FROM birth_date)::integer / 5 * 5 + 5)) STORED"
    )
    declare = cast.owner.run(
        "SELECT kanon_declare('patients',\n"
        "    identifiers => '{first_name,last_name,ssn,birth_date}',\n"
        f"    quasi_identifiers => '{{{QUASI_IDENTIFIERS.replace(' ', '')}}}',\n"
        "    sensitive => '{ward,diagnosis,cost}',\n"
        "    entity => 'patient_id')"
    )
    publish = cast.owner.run(f"SELECT * FROM kanon_anonymize('patients', {K})", expanded=True)
    return Scene(
        "Five years are enough",
        "Research needs the age, not the birthday. The owner adds a column with the five years in which a "
        "patient was born, keeps the birth date back, and publishes anew.",
        (coarsen, declare, publish),
        "One call replaced the first release. Whoever was reading it saw it whole until the last moment.",
        claims(accepted(coarsen, declare, publish)),
    )


def safe_view(cast: Actors) -> Scene:
    """Show what may be handed out."""
    look = cast.owner.run("SELECT * FROM safe.patients LIMIT 8")
    whole, rows = cast.owner.numbers(
        "SELECT count(*) FILTER (WHERE kanon_suppressed = '{}'), count(*) FROM safe.patients"
    )
    return Scene(
        "The safe view",
        "This is what may be handed out. A suppressed cell is NULL, and kanon_suppressed says so.",
        (look,),
        f"All {rows:,.0f} admissions are there; in {whole / rows:.0%} of them no cell is suppressed.",
        claims(accepted(look), (whole > 0.5 * rows, "most rows are complete")),
    )


def report(cast: Actors) -> Scene:
    """Recount the release and explain its certificate."""
    storage = storage_of(cast)
    recount = cast.owner.run(recount_sql(storage))
    smallest = cast.owner.numbers(recount.sql)[0]
    certificate = "SELECT {} FROM kanon.releases WHERE release = 'patients'"
    share, cost, optimal = cast.owner.numbers(
        certificate.format("suppressed_share, weighted_cost, optimal::integer")
    )
    bound = cast.owner.value(certificate.format("lower_bound"))
    averages = cast.owner.numbers(
        "SELECT (SELECT avg(cost) FROM patients), (SELECT avg(cost) FROM safe.patients)"
    )
    return Scene(
        "What is proven",
        "Nobody needs to take the report on trust. Plain SQL recounts the people of every class:",
        (recount,),
        f"The smallest class has {smallest:.0f} people, so k = {K} holds. Only {share:.1%} of the cells of "
        f"the quasi-identifiers are suppressed. {_proof(cost, bound, bool(optimal))} Wards, diagnoses and "
        "costs are untouched: the average cost is the same to the cent.",
        claims(
            accepted(recount),
            (smallest >= K, f"every class has at least {K} people"),
            (averages[0] == averages[1], "the average cost is unchanged"),
            (not bound or float(bound) <= cost, "the lower bound is not above the cost"),
        ),
    )


def _proof(cost: float, bound: str, optimal: bool) -> str:
    if optimal:
        return f"It is proven that no release needs fewer than these {cost:,.0f} cells."
    if not bound:
        return "How far that is from the least possible was not proven this time."
    return (
        f"It is proven that every release must suppress at least {float(bound):,.0f} cells; this one "
        f"suppresses {cost:,.0f}, so at most {(cost - float(bound)) / cost:.0%} of them could be saved."
    )


UNKNOWN_ZIP = "00499"
"""A village that the generated table does not have."""


_DENIED = re.compile(r"permission denied|must be owner")
"""How PostgreSQL refuses what a role may not do."""


def denied(exchange: Exchange) -> bool:
    """Whether PostgreSQL refused a statement for want of a right."""
    return not exchange.accepted and _DENIED.search(exchange.output) is not None


def reader(cast: Actors) -> Scene:
    """Let a role read the release, and show what it can't."""
    storage = storage_of(cast)
    mapping = cast.owner.value("SELECT mapping FROM kanon.release WHERE name = 'patients'")
    grants = tuple(
        cast.owner.run(f"GRANT {what} TO {READER}")
        for what in ("USAGE ON SCHEMA safe", "SELECT ON safe.patients")
    )
    allowed = cast.reader.run(
        "SELECT ward, count(*) AS admissions, round(avg(cost)) AS average_cost\n"
        "FROM safe.patients WHERE born << int4range(1960, 1961) GROUP BY ward ORDER BY ward"
    )
    refused = tuple(
        cast.reader.run(sql)
        for sql in (
            "SELECT * FROM patients",
            f"SELECT * FROM {storage}",
            f"SELECT * FROM {mapping}",
            f"REFRESH MATERIALIZED VIEW {storage}",
            f"SELECT kanon_anonymize('patients', {K})",
        )
    )
    return Scene(
        "Who reads the release",
        f"{READER} may read the release, and nothing else.",
        (*grants, allowed, *refused),
        "The view answers ordinary SQL. The table behind it, what the view is built from, and the power to "
        "change it are out of reach.",
        claims(
            accepted(*grants, allowed),
            *((denied(one), "the reader is denied: " + one.sql) for one in refused),
        ),
    )


def two_readers(cast: Actors) -> Scene:
    """Try to let those who read the release query the table, too; then part the two."""
    refused = cast.owner.run(f"SELECT kanon_protect('patients', {K})")
    part = cast.owner.run("REVOKE SELECT ON safe.patients FROM kanon_analyst")
    protect = cast.owner.run(refused.sql)
    return Scene(
        "Two readers are two roles",
        "Some work needs every cell. The owner may let the table itself answer queries, for people who "
        "cannot read it: the members of kanon_analyst. But a release and exact figures of one table tell "
        "more together than either, and members of kanon_analyst read releases, too, until that is revoked.",
        (refused, part, protect),
        "Now nobody has both: one role reads the release, another one asks the table.",
        claims(
            (not refused.accepted, "nobody may query the table and read its release"),
            ("beside_releases" in refused.output, "the refusal names the rule"),
            accepted(part, protect),
        ),
    )


def queries(cast: Actors) -> Scene:
    """Have the analyst ask about many people, about few and about one."""
    village = cast.owner.value(
        "SELECT zip FROM patients WHERE sex = 'F' AND ethnicity = 'Asian' GROUP BY zip\n"
        f"HAVING count(DISTINCT patient_id) BETWEEN 1 AND {K - 1} ORDER BY zip LIMIT 1"
    )
    answered = cast.analyst.run(
        "SELECT * FROM kanon_query('SELECT ward, count(*), round(avg(cost)) AS cost,\n"
        "    rank() OVER (ORDER BY avg(cost) DESC) FROM patients GROUP BY ward ORDER BY ward')"
    )
    left_out = cast.analyst.run(
        "SELECT * FROM kanon_query('SELECT count(*), avg(cost) FROM patients\n"
        f"    WHERE zip = ''{village}'' AND sex = ''F'' AND ethnicity = ''Asian''')"
    )
    greatest = cast.analyst.run("SELECT * FROM kanon_query('SELECT max(cost) FROM patients')")
    refused = tuple(
        cast.analyst.run(sql)
        for sql in (
            "SELECT * FROM safe.patients",
            "SELECT * FROM patients",
            f"SELECT kanon_anonymize('patients', {K})",
        )
    )
    return Scene(
        "Queries to the table itself",
        f"{ANALYST} has been granted the role kanon_analyst, and nothing else.",
        (answered, left_out, greatest, *refused),
        "Figures about many people are exact, and above them the query is ordinary SQL. A row with fewer "
        f"than {K} people behind it, alone or compared with earlier answers, is left out. That is for "
        "colleagues, not against somebody who solves equations over many answers.",
        claims(
            accepted(answered, left_out),
            ("cost" in answered.output, "the query about many people has an answer"),
            ("Rows are left out" in left_out.output, "a row about few people is left out"),
            ('"count"' not in left_out.output, "nothing is told about few people"),
            (not greatest.accepted, "one person's cost is not told"),
            *((denied(one), "the analyst is denied: " + one.sql) for one in refused),
        ),
    )


def guard(cast: Actors) -> Scene:
    """Change the table and refresh."""
    storage = storage_of(cast)
    small_town = cast.owner.value("SELECT zip FROM patients GROUP BY zip ORDER BY count(*) LIMIT 1")
    delete = cast.owner.run(f"DELETE FROM patients WHERE zip = '{small_town}' AND patient_id % 3 <> 0")
    insert = cast.owner.run(
        "INSERT INTO patients (patient_id, first_name, last_name, ssn, birth_date, sex, zip, ethnicity,\n"
        "    admission_date, ward, diagnosis, cost)\n"
        "VALUES (1, 'Ada', 'Newcombe', '999-01-0001', '1911-11-11', 'F',\n"
        f"    '{UNKNOWN_ZIP}', 'Other', '2025-01-02', 'Geriatrics', 'Fall', 7100)"
    )
    refresh = cast.owner.run(f"REFRESH MATERIALIZED VIEW {storage}")
    recount = cast.owner.run(recount_sql(storage))
    smallest = cast.owner.numbers(recount.sql)[0]
    seen, rows = cast.owner.numbers(
        f"SELECT count(*) FILTER (WHERE zip = '{UNKNOWN_ZIP}'), count(*) FROM safe.patients"
    )
    base = cast.owner.numbers("SELECT count(*) FROM patients")[0]
    return Scene(
        "The table changes",
        f"Two thirds of the patients of village {small_town} are deleted, and one is admitted from a place "
        "nobody else lives in. Then the owner just refreshes.",
        (delete, insert, refresh, recount),
        f"Still no class below {K}, because the guard is in the view's own definition. {base - rows:,.0f} of "
        f"{base:,.0f} rows are withheld, as too few people are left to hide them among, and the new zip code "
        "is not shown.",
        claims(
            accepted(delete, insert, refresh, recount),
            (smallest >= K, f"every class still has at least {K} people"),
            (seen == 0, "the new zip code is not shown"),
        ),
    )


def anew(cast: Actors) -> Scene:
    """Anonymize the changed table."""
    again = cast.owner.run(
        "SELECT rows, people, classes, smallest_class, suppressed_cells, elapsed\n"
        f"FROM kanon_anonymize('patients', {K}, time_limit => '3 seconds')"
    )
    rows, base = cast.owner.numbers("SELECT (SELECT count(*) FROM safe.patients), count(*) FROM patients")
    smallest = cast.owner.numbers(recount_sql(storage_of(cast)))[0]
    return Scene(
        "And anew",
        "A refresh keeps the rules of the last call. Another call finds new ones for the table as it is now.",
        (again,),
        f"Every one of the {rows:,.0f} rows is in the release again, and its readers have stayed the same.",
        claims(
            accepted(again),
            (rows == base, "every row is released"),
            (cast.reader.run("TABLE safe.patients").accepted, "the reader still reads the release"),
            (denied(cast.analyst.run("TABLE safe.patients")), "the analyst still does not"),
            (smallest >= K, f"every class has at least {K} people"),
        ),
    )


SCENES: tuple[Callable[[Actors], Scene], ...] = (
    the_table,
    the_risk,
    first_try,
    publish,
    safe_view,
    report,
    reader,
    two_readers,
    queries,
    guard,
    anew,
)
"""In the order in which they are shown; each builds on those before it."""


def scenes(cast: Actors) -> Iterator[Scene]:
    """Run the steps, one after the other.

    Parameters
    ----------
    cast : Actors
        Connected to a database with kanon installed and the table of `kanon_pg.admin.demo.patients`.

    Yields
    ------
    Scene
        As soon as it has happened.

    Raises
    ------
    DatabaseError
        If the server refuses something that no scene expects to be refused.
    """
    for scene in SCENES:
        yield scene(cast)
