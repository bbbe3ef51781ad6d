"""Where the programs of an installed PostgreSQL are."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import ClusterError

DEBIAN_SERVERS = Path("/usr/lib/postgresql")
"""Debian and Ubuntu keep each major version in a folder of its own here."""

OLDEST_MAJOR = 14
"""The oldest major version with everything that the SQL objects use."""

SET_UP_HINT = (
    "Run 'make setup' in the checkout, or install the packages postgresql-NN and postgresql-plpython3-NN."
)


@dataclass(frozen=True, slots=True)
class ServerPrograms:
    """One installed PostgreSQL."""

    major: int
    """Major version, such as 15."""
    folder: Path
    """Folder of ``initdb``, ``pg_ctl``, ``postgres`` and ``psql``."""
    libraries: Path
    """Folder of the server's loadable modules."""

    @property
    def has_python(self) -> bool:
        """Whether PL/Python is installed for this server."""
        return (self.libraries / "plpython3.so").exists()

    def program(self, name: str) -> Path:
        """Return the path of a program, for example ``pg_ctl``."""
        return self.folder / name


def installed(debian_servers: Path = DEBIAN_SERVERS) -> list[ServerPrograms]:
    """Return every server found, newest first: Debian's folders and the one ``pg_config`` names.

    Parameters
    ----------
    debian_servers : Path
        The folder with one folder per major version.
    """
    found: dict[Path, ServerPrograms] = {}
    folders = [
        ServerPrograms(int(folder.name), folder / "bin", folder / "lib")
        for folder in debian_servers.glob("*")
        if folder.name.isdecimal()
    ]
    for programs in [*folders, *_from_pg_config()]:
        if programs.program("initdb").exists():
            found.setdefault(programs.folder.resolve(), programs)
    return sorted(found.values(), key=lambda programs: programs.major, reverse=True)


def _from_pg_config() -> list[ServerPrograms]:
    program = shutil.which("pg_config")
    if program is None:
        return []
    try:
        printed = subprocess.run(  # noqa: S603  # the user's own pg_config, without arguments from outside
            [program, "--version", "--bindir", "--pkglibdir"], capture_output=True, text=True, check=True
        ).stdout
        version, folder, libraries = printed.splitlines()
        # "PostgreSQL 15.20 (Debian 15.20-0+deb12u1)", and "PostgreSQL 17beta1" before a release
        digits = version.split()[1].split(".")[0]
        major = int("".join(character for character in digits[:2] if character.isdecimal()))
    except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
        return []
    return [ServerPrograms(major, Path(folder), Path(libraries))]


def newest_with_python(debian_servers: Path = DEBIAN_SERVERS) -> ServerPrograms:
    """Return the newest server that has PL/Python; where there is none, the error says what was found.

    Raises
    ------
    ClusterError
        If there is none; the detail says what was found instead.
    """
    servers = installed(debian_servers)
    for programs in servers:
        if programs.has_python and programs.major >= OLDEST_MAJOR:
            return programs
    if not servers:
        raise ClusterError("PostgreSQL is not installed on this machine.", hint=SET_UP_HINT)
    raise ClusterError(
        f"No PostgreSQL {OLDEST_MAJOR} or newer with PL/Python is installed on this machine.",
        detail="Found: " + ", ".join(_described(programs) for programs in servers) + ".",
        hint=SET_UP_HINT,
    )


def _described(programs: ServerPrograms) -> str:
    python = "with" if programs.has_python else "without"
    return f"version {programs.major} {python} PL/Python in {programs.folder}"


def with_major_version(major: int, debian_servers: Path = DEBIAN_SERVERS) -> ServerPrograms:
    """Return the programs of one major version, which alone can open data of that version.

    Raises
    ------
    ClusterError
        If that version is not installed any more.
    """
    for programs in installed(debian_servers):
        if programs.major == major:
            return programs
    raise ClusterError(
        f"The private server was made by PostgreSQL {major}, which is not installed.",
        hint=f"Install postgresql-{major} and postgresql-plpython3-{major}, "
        "or give up its data with 'kanon down --delete' and start anew with 'kanon up'.",
    )
