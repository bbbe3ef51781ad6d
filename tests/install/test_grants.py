"""Who may do what: one table of roles and objects, checked by trying."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import role
from tests.install.conftest import as_role

_ALLOWED = {
    "SELECT count(*) FROM safe.patients": "analyst curator owner",
    "SELECT kanon_help()": "analyst curator owner",
    "SELECT kanon_version()": "analyst curator owner",
    "SELECT k FROM kanon_measure('safe.patients', '{age,sex}')": "analyst curator owner",
    "SELECT k FROM kanon_measure('public.patients', '{age,sex}')": "reader owner",
    "SELECT kanon_curve('public.patients', '{5}', '{age,sex}')": "reader owner",
    "SELECT kanon_curve('safe.patients', '{5}', '{age,sex}')": "curator owner",
    "SELECT kanon.curve('public.patients', '{5}', '{age,sex}', NULL, 'auto', 30, NULL)": "reader owner",
    "SELECT kanon_audit('public.patients', 5, '{age,sex}')": "reader owner",
    "SELECT kanon_intervals('public.patients', 'age', 5)": "reader owner",
    "SELECT kanon_groups('public.patients', 'sex', 5)": "reader owner",
    "SELECT kanon_groups('safe.patients', 'sex', 5)": "analyst curator owner",
    "SELECT kanon_rectangles('public.patients', 'age', 'id', 5)": "reader owner",
    "SELECT kanon_is_anonymous('public.patients', 5, '{age,sex}')": "reader owner",
    "SELECT kanon_is_anonymous('safe.patients', 5, '{age,sex}')": "analyst curator owner",
    "SELECT * FROM kanon.violations": "curator owner",
    "SELECT * FROM kanon.health": "curator owner",
    "SELECT * FROM kanon.history": "curator owner",
    "SELECT * FROM kanon.event": "",
    "SELECT kanon.small_release_classes('patients')": "curator owner",
    "SELECT kanon.release_class_sizes('patients')": "curator owner",
    "SELECT kanon_anonymize('patients', 5, '{age,sex}', options => '{\"remember\": 5}')": "reader owner",
    "SELECT kanon_declare('patients', quasi_identifiers => '{age}')": "reader owner",
    "SELECT kanon_hierarchy_define('mine', '[[\"1\"]]')": "curator owner",
    "SELECT kanon_hierarchy_build('mine', 'patients', 'age', '{\"builder\":\"prefix\"}')": "reader owner",
    "SELECT kanon_hierarchy_load('mine', 'public.patients', '{\"columns\": [\"id\"]}')": "reader owner",
    "SELECT kanon_hierarchy_show('ages')": "owner",
    "SELECT kanon_hierarchy_values('ages')": "owner",
    "SELECT kanon_hierarchy_missing('ages', 'public.patients', 'age')": "owner",
    "SELECT kanon_hierarchy_missing('codes', 'public.patients', 'age')": "reader owner",
    "SELECT kanon.missing_values('public.patients', 'age', '{1}')": "reader owner",
    "SELECT kanon_hierarchy_drop('ages')": "owner",
    "SELECT kanon_hierarchy_show('codes')": "curator owner",
    "SELECT kanon_hierarchy_drop('codes')": "owner",
    "SELECT * FROM kanon.hierarchies": "curator owner",
    "SELECT * FROM kanon.hierarchy": "",
    "SELECT * FROM kanon.hierarchy_value": "",
    "SELECT kanon_certificate('patients')": "reader owner",
    "SELECT kanon_composition('{patients}')": "reader owner",
    "SELECT kanon_release_report('patients')": "reader owner",
    "SELECT kanon_refresh('patients')": "curator owner",
    "SELECT kanon_drop('patients')": "curator owner",
    "SELECT * FROM kanon.series": "",
    "SELECT * FROM kanon.remembered": "",
    "SELECT * FROM kanon.releases": "curator owner",
    "SELECT * FROM kanon.published_roles": "analyst curator owner",
    "SELECT * FROM kanon.query_log": "curator owner",
    "SELECT * FROM kanon.record_states": "curator owner",
    "SELECT * FROM kanon.accounts": "curator owner",
    "SELECT * FROM kanon.record": "",
    "SELECT * FROM kanon.record_mark": "",
    "SELECT * FROM kanon.declarations": "curator owner",
    "SELECT * FROM kanon.links": "curator owner",
    "SELECT * FROM kanon.protections": "curator owner",
    "SELECT * FROM kanon.queryable": "analyst curator owner",
    "SELECT * FROM kanon.protection": "",
    "SELECT * FROM kanon.release": "",
    "SELECT * FROM kanon.declaration": "",
    "SELECT * FROM kanon.link": "",
    "SELECT * FROM kanon.version": "",
    "SELECT * FROM kanon.release_lock": "",
    "SELECT * FROM {storage}": "",
    "SELECT * FROM {mapping}": "",
    "REFRESH MATERIALIZED VIEW {storage}": "",
    "DROP VIEW safe.patients": "",
    "CREATE VIEW safe.mine AS SELECT 1 AS one": "",
    "CREATE TABLE kanon.mine (one integer)": "",
    "CREATE FUNCTION public.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'": "",
    "CREATE TEMPORARY TABLE mine (one integer)": "",
    "CREATE SCHEMA mine": "",
    "ALTER FUNCTION kanon.boot() SET kanon.python_path = '[]'": "",
    "DROP FUNCTION kanon.boot()": "",
    "SET ROLE kanon_owner": "",
    "SELECT count(*) FROM public.patients": "reader owner",
}
"""Statement to the roles that may run it: an analyst, a curator without and one with the right to read the
base table (reader), a curator who owns it (owner), and somebody with no role at all (stranger)."""

_ROLES = ("analyst", "curator", "reader", "owner", "stranger")


@pytest.fixture
def logins(installed_dsn: str, db: psycopg.Connection) -> Iterator[dict[str, str]]:
    with (
        role(installed_dsn, "analyst", "IN ROLE kanon_analyst") as analyst,
        role(installed_dsn, "curator", "IN ROLE kanon_curator") as curator,
        role(installed_dsn, "reader", "IN ROLE kanon_curator") as reader,
        role(installed_dsn, "owner", "IN ROLE kanon_curator") as owner,
        role(installed_dsn, "stranger") as stranger,
    ):
        db.execute(f"ALTER TABLE public.patients OWNER TO {owner}")
        db.execute(f"GRANT SELECT ON public.patients TO {reader}")
        yield dict(zip(_ROLES, (analyst, curator, reader, owner, stranger), strict=True))


def test_roles_can_do_exactly_what_the_table_says(
    installed_dsn: str, db: psycopg.Connection, logins: dict[str, str]
) -> None:
    with psycopg.connect(as_role(installed_dsn, logins["owner"]), autocommit=True) as owner:
        owner.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', options => '{\"remember\": 5}')")
        owner.execute("SELECT kanon_hierarchy_build('ages', 'patients', 'age', '{\"builder\": \"prefix\"}')")
        owner.execute("SELECT kanon_hierarchy_define('codes', '[[\"1\"]]', '{\"shared\": true}')")
    storage, mapping = db.execute("SELECT storage::text, mapping::text FROM kanon.release").fetchone()
    allowed = {
        text.format(storage=storage, mapping=mapping)
        if "{storage}" in text or "{mapping}" in text
        else text: who
        for text, who in _ALLOWED.items()
    }
    with ExitStack() as open_sessions:
        sessions = {
            name: open_sessions.enter_context(psycopg.connect(as_role(installed_dsn, login)))
            for name, login in logins.items()
        }
        found = {
            text: {name for name, session in sessions.items() if _may(session, text)} for text in allowed
        }
    expected = {
        text: set(who.split()) | ({"reader"} if "curator" in who else set()) for text, who in allowed.items()
    }
    assert found == expected


def _may(session: psycopg.Connection, text: str) -> bool:
    """Try a statement and undo it; any other failure than a missing right is an error of the test."""
    try:
        session.execute(text)
    except psycopg.errors.InsufficientPrivilege:
        return False
    except psycopg.Error as error:
        if error.sqlstate == "KA102":
            return False
        raise
    finally:
        session.rollback()
    return True


def test_a_view_that_the_owner_publishes_later_is_readable_for_analysts(
    installed_dsn: str, db: psycopg.Connection, logins: dict[str, str]
) -> None:
    db.execute("SET ROLE kanon_owner")
    db.execute("CREATE VIEW safe.later AS SELECT 1 AS one")
    db.execute("RESET ROLE")
    for name, expected in (("analyst", True), ("stranger", False)):
        with psycopg.connect(as_role(installed_dsn, logins[name])) as session:
            assert _may(session, "SELECT * FROM safe.later") == expected


def test_what_was_revoked_from_analysts_stays_revoked_when_kanon_is_installed_again(
    installed_dsn: str, db: psycopg.Connection
) -> None:
    """Else whoever may query a table could read its release after the next upgrade."""
    may = "SELECT has_table_privilege('kanon_analyst', 'safe.patients', 'SELECT')"
    db.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', options => '{\"remember\": 5}')")
    assert db.execute(may).fetchone() == (True,)
    db.execute("REVOKE SELECT ON safe.patients FROM kanon_analyst")
    db.execute(
        "ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe"
        " REVOKE SELECT ON TABLES FROM kanon_analyst"
    )
    install(installed_dsn)
    assert db.execute(may).fetchone() == (False,)
    db.execute("SELECT kanon_drop('patients')")
    db.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', options => '{\"remember\": 5}')")
    assert db.execute(may).fetchone() == (False,)


def test_a_curator_who_owns_a_table_grants_it_and_one_who_does_not_cannot(
    installed_dsn: str, db: psycopg.Connection, logins: dict[str, str]
) -> None:
    query = "SELECT kanon.reader_of('public.patients', false) IS NOT NULL"
    with psycopg.connect(as_role(installed_dsn, logins["reader"]), autocommit=True) as reader:
        reader.execute("SELECT kanon.grant_read('public.patients')")
    assert db.execute(query).fetchone() == (False,)
    with psycopg.connect(as_role(installed_dsn, logins["owner"]), autocommit=True) as owner:
        owner.execute("SELECT kanon.grant_read('public.patients')")
    assert db.execute(query).fetchone() == (True,)


def test_a_failed_call_lends_nothing(
    installed_dsn: str, db: psycopg.Connection, logins: dict[str, str]
) -> None:
    with psycopg.connect(as_role(installed_dsn, logins["owner"]), autocommit=True) as owner:
        with pytest.raises(psycopg.Error) as failed:
            owner.execute("SELECT kanon_anonymize('patients', 1000)")
        assert failed.value.sqlstate == "KA200"
    query = "SELECT kanon.reader_of('public.patients', false) IS NOT NULL"
    assert db.execute(query).fetchone() == (False,)
