"""The scene in which the table itself answers, and does not."""

from __future__ import annotations

from kanon_pg.admin.demo.scene import Cast, K, Scene, accepted, claims


def queries(cast: Cast) -> Scene:
    """Protect the table, and have the analyst ask about many people and about few."""
    protect = cast.owner.ask(f"SELECT kanon_protect('patients', {K})")
    village = cast.owner.value(
        "SELECT zip FROM patients WHERE sex = 'F' AND ethnicity = 'Asian' GROUP BY zip\n"
        f"HAVING count(DISTINCT patient_id) BETWEEN 1 AND {K - 1} ORDER BY zip LIMIT 1"
    )
    answered = cast.analyst.ask(
        "SELECT * FROM kanon_query('SELECT ward, count(*), round(avg(cost)) AS cost\n"
        "    FROM patients GROUP BY ward ORDER BY ward')"
    )
    withheld = cast.analyst.ask(
        "SELECT * FROM kanon_query('SELECT count(*), avg(cost) FROM patients\n"
        f"    WHERE zip = ''{village}'' AND sex = ''F'' AND ethnicity = ''Asian''')"
    )
    return Scene(
        "Queries to the table itself",
        "Some queries need every cell. The owner may let the table itself answer them, for people who "
        "cannot read it.",
        (protect, answered, withheld),
        f"Figures about many people are exact. Where fewer than {K} people stand behind an answer, alone or "
        "compared with earlier ones, there is one refusal, and it is always the same.",
        claims(
            accepted(protect, answered),
            (not withheld.accepted, "a query about few people is not answered"),
            ("The answer is withheld." in withheld.output, "the refusal tells no reason"),
        ),
    )
