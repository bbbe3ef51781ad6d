"""What packagers and registries read about this project is valid, and says what the package says."""

import json
import re
import tomllib
from typing import Any

import jsonschema
import pytest

import kanon_pg
from kanon_pg.admin.install.extension import EARLIER, NAME, UNPACKAGED, scripts
from tests.unit.test_claimed_versions import CHECKOUT, read, tried

FIRST = (0, 2, 0)
"""First version that can be upgraded from."""

_VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
_NUMBER = {"anyOf": [_VERSION, {"const": 0}]}
_TEXT = {"type": "string", "minLength": 1}
_PHASE = {
    "type": "object",
    "propertyNames": {"enum": ["requires", "recommends", "suggests", "conflicts"]},
    "additionalProperties": {"type": "object", "additionalProperties": _NUMBER},
}
META = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["name", "abstract", "version", "maintainer", "license", "provides", "meta-spec"],
    "properties": {
        "name": {"type": "string", "pattern": r"^[^\s/\\\x00-\x1f\x7f]{2,}$"},
        "abstract": _TEXT,
        "version": _VERSION,
        "maintainer": _TEXT,
        "license": {"const": "postgresql"},
        "provides": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "object",
                "required": ["file", "version"],
                "properties": {"file": _TEXT, "docfile": _TEXT, "abstract": _TEXT, "version": _VERSION},
                "additionalProperties": False,
            },
        },
        "prereqs": {
            "type": "object",
            "propertyNames": {"enum": ["configure", "build", "test", "runtime", "develop"]},
            "additionalProperties": _PHASE,
        },
        "release_status": {"enum": ["stable", "testing", "unstable"]},
        "tags": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": r"^[^/\\]{1,255}$"}},
        "generated_by": _TEXT,
        "meta-spec": {
            "type": "object",
            "required": ["version"],
            "properties": {"version": {"const": "1.0.0"}, "url": _TEXT},
        },
    },
    "additionalProperties": False,
}
"""Rules of version 1.0.0 of the PostgreSQL Extension Network's specification, for the fields in use."""


@pytest.fixture(scope="module")
def meta() -> dict[str, Any]:
    read_meta: dict[str, Any] = json.loads(read("META.json"))
    return read_meta


def test_the_extension_network_accepts_the_description(meta: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(META).validate(meta)


def test_the_description_says_what_the_package_says(meta: dict[str, Any]) -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    (provided,) = meta["provides"].items()
    assert provided[0] == meta["name"] == NAME
    assert provided[1]["version"] == meta["version"] == kanon_pg.__version__
    assert meta["abstract"] == project["description"]
    for file in ("file", "docfile"):
        assert (CHECKOUT / provided[1][file]).is_file()
    oldest = min(map(int, tried()))
    assert meta["prereqs"]["runtime"]["requires"]["PostgreSQL"] == f"{oldest}.0.0"


def test_every_version_that_users_may_have_can_be_updated_to_this_one() -> None:
    headings = re.findall(r"^## \[(\d+)\.(\d+)\.(\d+)\]", read("CHANGELOG.md"), re.MULTILINE)
    versions = {".".join(one) for one in headings if tuple(map(int, one)) >= FIRST}
    assert kanon_pg.__version__ in versions
    files = scripts(["/folder"])
    for version in {UNPACKAGED, *EARLIER, *versions} - {kanon_pg.__version__}:
        assert f"{NAME}--{version}--{kanon_pg.__version__}.sql" in files
