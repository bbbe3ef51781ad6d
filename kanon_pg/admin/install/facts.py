"""What the installer finds, and what it misses."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.admin.install.report import Problem
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement

MINIMUM_SERVER = 14
"""Oldest major version of PostgreSQL: the first with SQL function bodies that are parsed once."""

ROLES = ("kanon_owner", "kanon_reader", "kanon_curator", "kanon_analyst")
"""Roles of an installation: owner of everything, reader of what queries are about, groups of those who
publish and of those who read."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The server, the database and the role that installs; see ``sql/queries/install_facts.sql``.

    Parameters
    ----------
    server_version : int
        ``server_version_num``.
    database, role : str
        Names.
    superuser, createrole, create_in_database, owns_database, owner_member : bool
        What the role may do; the last: whether it is a member of ``kanon_owner``.
    plpython_available, plpython_created : bool
        Whether the extension can be, or has been, created.
    kanon_schema_owner, safe_schema_owner : str or None
        Owners of the schemas, None where there is no such schema.
    tables : list of str
        Tables in schema ``kanon``, those of releases included.
    extension : str or None
        Version of the extension ``kanon_pg``; None if `kanon install` made the objects, or there are none.
    functions_schema : str or None
        Where the functions for users are, None if there are none.
    api_schema_exists : bool
        Whether there is the schema for the functions.
    roles, unsafe_roles : list of str
        Which of `ROLES` exist, and which of these have rights they must not have.
    """

    server_version: int
    database: str
    role: str
    superuser: bool
    createrole: bool
    create_in_database: bool
    owns_database: bool
    plpython_available: bool
    plpython_created: bool
    kanon_schema_owner: str | None
    safe_schema_owner: str | None
    tables: list[str]
    extension: str | None
    functions_schema: str | None
    api_schema_exists: bool
    roles: list[str]
    unsafe_roles: list[str]
    owner_member: bool

    @property
    def installed(self) -> bool:
        """Whether there is an installation, in whatever state."""
        return (
            self.kanon_schema_owner == "kanon_owner"
            or "version" in self.tables
            or self.functions_schema is not None
        )

    @property
    def readable(self) -> bool:
        """Whether there is an installation that the role may read and change."""
        return self.installed and (self.superuser or self.owner_member)

    @property
    def major(self) -> int:
        """Major version of the server."""
        return self.server_version // 10000


def read_facts(db: Database, api_schema: str) -> ServerFacts:
    """Look at the server; changes nothing."""
    return ServerFacts(**db.row(statement("install_facts"), api_schema))


def general_problems(facts: ServerFacts) -> list[Problem]:
    """Return what keeps even the client's part from being installed."""
    found = []
    if facts.major < MINIMUM_SERVER:
        found.append(
            Problem(
                f"The server is PostgreSQL {facts.major}; version {MINIMUM_SERVER} or later is needed.",
                f"Upgrade the server to PostgreSQL {MINIMUM_SERVER} or later.",
            )
        )
    if not facts.create_in_database and facts.kanon_schema_owner is None:
        found.append(
            Problem(
                f"Role {facts.role} may not create schemas in database {facts.database}.",
                f'GRANT CREATE ON DATABASE "{facts.database}" TO "{facts.role}";',
            )
        )
    found += _role_problems(facts)
    for name, owner in (("kanon", facts.kanon_schema_owner), ("safe", facts.safe_schema_owner)):
        if owner not in (None, "kanon_owner"):
            found.append(
                Problem(
                    f"Schema {name} exists already and belongs to {owner}.",
                    f"Rename or drop it: ALTER SCHEMA {name} RENAME TO {name}_old;",
                )
            )
    return found


def _role_problems(facts: ServerFacts) -> list[Problem]:
    found = [
        Problem(
            f"Role {role} exists and may log in, create roles or is a superuser.",
            f"ALTER ROLE {role} NOLOGIN NOSUPERUSER NOCREATEROLE;",
        )
        for role in facts.unsafe_roles
    ]
    missing = [role for role in ROLES if role not in facts.roles]
    if missing and not (facts.superuser or facts.createrole):
        found.append(
            Problem(
                f"The roles {', '.join(missing)} do not exist and role {facts.role} may not create roles.",
                f'ALTER ROLE "{facts.role}" CREATEROLE; or, as a superuser: '
                + " ".join(f"CREATE ROLE {role} NOLOGIN;" for role in missing),
            )
        )
    if (
        "kanon_owner" in facts.roles
        and not (facts.superuser or facts.owner_member)
        and (facts.installed or not facts.createrole)
    ):
        found.append(
            Problem(
                f"Role {facts.role} is no member of kanon_owner.",
                f'As a superuser: GRANT kanon_owner, kanon_curator TO "{facts.role}";',
            )
        )
    return found


def plpython_problems(facts: ServerFacts) -> list[Problem]:
    """Return what keeps the functions out of the server, as far as SQL can tell."""
    found = []
    if not facts.superuser:
        found.append(
            Problem(
                f"Role {facts.role} is no superuser, and only superusers create functions in plpython3u.",
                "Install as a superuser, for example: sudo -u postgres kanon install.",
            )
        )
    if not (facts.plpython_available or facts.plpython_created):
        found.append(
            Problem(
                "The server has no extension plpython3u.",
                f"Debian and Ubuntu: apt install postgresql-plpython3-{facts.major}; "
                "managed servers mostly lack it: install for the client only.",
            )
        )
    return found
