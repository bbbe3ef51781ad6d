"""What a scene of the demo's story is made of, and who acts in it."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.admin.demo.psql import Exchange, Psql

K = 5
ANALYST = "kanon_demo_analyst"
"""A role that may log in and has nothing but the analyst role of kanon_pg."""

QUASI_IDENTIFIERS = "born, sex, zip, ethnicity"


@dataclass(frozen=True, slots=True)
class Scene:
    """A step of the story.

    Parameters
    ----------
    title : str
        What it is about.
    before : str
        What the reader should know first.
    exchanges : tuple of Exchange
        What psql was asked and answered.
    after : str
        What it means.
    broken : tuple of str
        Claims of this scene that turned out false; empty if all is well.
    """

    title: str
    before: str
    exchanges: tuple[Exchange, ...]
    after: str
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """Who acts in the story.

    Parameters
    ----------
    owner : Psql
        The owner of the hospital's database.
    analyst : Psql
        Somebody who logs in as `ANALYST`.
    """

    owner: Psql
    analyst: Psql


def claims(*made: tuple[bool, str]) -> tuple[str, ...]:
    """Return the texts of those claims that do not hold."""
    return tuple(text for holds, text in made if not holds)


def accepted(*exchanges: Exchange) -> tuple[bool, str]:
    """Claim that the server carried out every statement."""
    return all(exchange.accepted for exchange in exchanges), "the server carries out every statement"


def storage_of(cast: Cast) -> str:
    """Return the name of the materialized view behind the release."""
    return cast.owner.value("SELECT storage FROM kanon.releases WHERE release = 'patients'")


def recount_sql(storage: str) -> str:
    """Return plain SQL that counts the people of every published class."""
    return (
        "SELECT min(people) AS smallest_class, count(*) AS classes\n"
        "FROM (SELECT count(DISTINCT kanon_person) AS people\n"
        f"      FROM {storage} GROUP BY {QUASI_IDENTIFIERS}, kanon_pattern) AS class"
    )
