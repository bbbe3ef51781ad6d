"""Libraries that only an extra of the package brings, and what to do where one is missing."""

from __future__ import annotations

from kanon_pg.errors import InstallError

EXTRAS = {
    "matplotlib": "plots",
    "pyarrow": "files",
    "pandas": "notebook",
    "opendp": "noise",
    "ruamel": "policy",
    "jsonschema": "policy",
    "prometheus_client": "metrics",
    "mcp": "mcp",
}
"""Which extra brings a library, by the name that it is imported by."""


def missing(library: str) -> InstallError:
    """Return the error that says how to install a library of `EXTRAS`."""
    return InstallError(
        f"This needs the library {library}, which is not installed.",
        hint=f"pip install 'kanon_pg[{EXTRAS[library]}]'; of Debian's packages, kanon-pg-extras.",
    )
