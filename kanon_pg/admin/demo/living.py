"""The scenes in which the safe view is used, attacked, and kept while its table changes."""

from __future__ import annotations

import re

from kanon_pg.admin.demo.scene import ANALYST, Cast, K, Scene, accepted, claims, recount_sql, storage_of

UNKNOWN_ZIP = "00499"
"""A village that the generated table does not have."""


_DENIED = re.compile(r"permission denied|must be owner")
"""How PostgreSQL refuses what a role may not do."""


def analyst(cast: Cast) -> Scene:
    """Show what an analyst can do and can't."""
    storage = storage_of(cast)
    mapping = cast.owner.value("SELECT mapping FROM kanon.release WHERE name = 'patients'")
    allowed = cast.analyst.ask(
        "SELECT ward, count(*) AS admissions, round(avg(cost)) AS average_cost\n"
        "FROM safe.patients WHERE born << int4range(1960, 1961) GROUP BY ward ORDER BY ward"
    )
    denied = tuple(
        cast.analyst.ask(sql)
        for sql in (
            "SELECT * FROM patients",
            f"SELECT * FROM {storage}",
            f"SELECT * FROM {mapping}",
            f"REFRESH MATERIALIZED VIEW {storage}",
            f"SELECT kanon_anonymize('patients', {K})",
        )
    )
    return Scene(
        "The analyst",
        f"{ANALYST} has been granted the role kanon_analyst, and nothing else.",
        (allowed, *denied),
        "The view answers ordinary SQL. The table behind it, what the view is built from, and the power to "
        "change it are out of reach.",
        claims(
            accepted(allowed),
            *(
                (
                    not one.accepted and _DENIED.search(one.output) is not None,
                    "the analyst is denied: " + one.sql,
                )
                for one in denied
            ),
        ),
    )


def guard(cast: Cast) -> Scene:
    """Change the table and refresh."""
    storage = storage_of(cast)
    small_town = cast.owner.value("SELECT zip FROM patients GROUP BY zip ORDER BY count(*) LIMIT 1")
    delete = cast.owner.ask(f"DELETE FROM patients WHERE zip = '{small_town}' AND patient_id % 3 <> 0")
    insert = cast.owner.ask(
        "INSERT INTO patients (patient_id, first_name, last_name, ssn, birth_date, sex, zip, ethnicity,\n"
        "    admission_date, ward, diagnosis, cost)\n"
        "VALUES (1, 'Ada', 'Newcombe', '999-01-0001', '1911-11-11', 'F',\n"
        f"    '{UNKNOWN_ZIP}', 'Other', '2025-01-02', 'Geriatrics', 'Fall', 7100)"
    )
    refresh = cast.owner.ask(f"REFRESH MATERIALIZED VIEW {storage}")
    recount = cast.owner.ask(recount_sql(storage))
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


def anew(cast: Cast) -> Scene:
    """Anonymize the changed table."""
    again = cast.owner.ask(
        "SELECT rows, people, classes, smallest_class, suppressed_cells, elapsed\n"
        f"FROM kanon_anonymize('patients', {K}, time_limit => '3 seconds')"
    )
    rows, base = cast.owner.numbers("SELECT (SELECT count(*) FROM safe.patients), count(*) FROM patients")
    smallest = cast.owner.numbers(recount_sql(storage_of(cast)))[0]
    return Scene(
        "And anew",
        "A refresh keeps the rules of the last call. Another call finds new ones for the table as it is now.",
        (again,),
        f"Every one of the {rows:,.0f} rows is in the release again.",
        claims(
            accepted(again),
            (rows == base, "every row is released"),
            (smallest >= K, f"every class has at least {K} people"),
        ),
    )
