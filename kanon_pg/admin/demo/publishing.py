"""The scenes in which a table turns out to be dangerous and a safe view of it is published."""

from __future__ import annotations

from kanon_pg.admin.demo.scene import (
    QUASI_IDENTIFIERS,
    Cast,
    K,
    Scene,
    accepted,
    claims,
    recount_sql,
    storage_of,
)


def the_table(cast: Cast) -> Scene:
    """Show the table and how large it is."""
    rows, people = cast.owner.numbers("SELECT count(*), count(DISTINCT patient_id) FROM patients")
    look = cast.owner.ask(
        "SELECT first_name, last_name, ssn, birth_date, sex, zip, ward, diagnosis FROM patients LIMIT 4"
    )
    return Scene(
        "A hospital's table",
        f"The table patients has {rows:,.0f} admissions of {people:,.0f} people. All of them are invented.",
        (look,),
        "Research needs such a table. The names and numbers must go, of course. Is that enough?",
        claims(accepted(look), (people >= 20_000, "there are at least 20,000 people")),
    )


def the_risk(cast: Cast) -> Scene:
    """Count who is unique, and find a neighbor."""
    count = cast.owner.ask(
        "SELECT sum(people) AS people, sum(people) FILTER (WHERE people = 1) AS unique\n"
        "FROM (SELECT count(DISTINCT patient_id) AS people FROM patients GROUP BY birth_date, sex, zip) AS g"
    )
    people, unique = cast.owner.numbers(count.sql)
    born, sex, zip_code = cast.owner.value(
        "SELECT birth_date, sex, zip FROM patients GROUP BY 1, 2, 3\n"
        "HAVING count(*) = 1 AND bool_or(diagnosis = 'HIV infection') ORDER BY 1 LIMIT 1"
    ).split("|")
    neighbor = cast.owner.ask(
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


def first_try(cast: Cast) -> Scene:
    """Declare roles and publish with full birth dates."""
    declare = cast.owner.ask(
        "SELECT kanon_declare('patients',\n"
        "    identifiers => '{first_name,last_name,ssn}',\n"
        "    quasi_identifiers => '{birth_date,sex,zip,ethnicity}',\n"
        "    sensitive => '{ward,diagnosis,cost}',\n"
        "    entity => 'patient_id')"
    )
    publish = cast.owner.ask(
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
            ('Sensitive column "cost"' in publish.output, "the notice speaks of the cost"),
        ),
    )


def publish(cast: Cast) -> Scene:
    """Declare a coarser column instead, and publish anew."""
    coarsen = cast.owner.ask(
        "ALTER TABLE patients ADD COLUMN born int4range GENERATED ALWAYS AS (int4range(\n"
        "    extract(year FROM birth_date)::integer / 5 * 5,\n"
        "    extract(year FROM birth_date)::integer / 5 * 5 + 5)) STORED"
    )
    declare = cast.owner.ask(
        "SELECT kanon_declare('patients',\n"
        "    identifiers => '{first_name,last_name,ssn,birth_date}',\n"
        f"    quasi_identifiers => '{{{QUASI_IDENTIFIERS.replace(' ', '')}}}',\n"
        "    sensitive => '{ward,diagnosis,cost}',\n"
        "    entity => 'patient_id')"
    )
    publish = cast.owner.ask(f"SELECT * FROM kanon_anonymize('patients', {K})", expanded=True)
    return Scene(
        "Five years are enough",
        "Research needs the age, not the birthday. The owner adds a column with the five years in which a "
        "patient was born, keeps the birth date back, and publishes anew.",
        (coarsen, declare, publish),
        "One call replaced the first release. Whoever was reading it saw it whole until the last moment.",
        claims(accepted(coarsen, declare, publish)),
    )


def safe_view(cast: Cast) -> Scene:
    """Show what may be handed out."""
    look = cast.owner.ask("SELECT * FROM safe.patients LIMIT 8")
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


def report(cast: Cast) -> Scene:
    """Recount the release and explain its certificate."""
    storage = storage_of(cast)
    recount = cast.owner.ask(recount_sql(storage))
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
