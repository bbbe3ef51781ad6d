"""Limits that users do not choose: the command and its page say those of `ClientLimits`."""

import inspect
import re

from kanon_pg.cli.serving import gateway
from kanon_pg.gateway.state import ClientLimits
from tests.docs.pages import ROOT

_MEBIBYTE = 1024 * 1024
_WORDS = {"an hour": 3600.0}


def expected() -> dict[str, float]:
    limits = ClientLimits()
    return {
        "connections": limits.connections,
        "per_address": limits.per_address,
        "unauthenticated": limits.unauthenticated,
        "login": limits.login_seconds,
        "message": limits.message_bytes / _MEBIBYTE,
        "idle": limits.idle_seconds,
    }


def test_the_command_has_the_limits_of_the_gateway() -> None:
    parameters = inspect.signature(gateway).parameters
    assert {name: parameters[name].default for name in expected()} == expected()


def test_the_page_says_the_limits_of_the_gateway() -> None:
    page = (ROOT / "docs/how-to/gateway.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `--([a-z-]+)` \| .*, ([^,|]+) \|$", page, re.MULTILINE)
    said = {
        name.replace("-", "_"): _WORDS.get(value) or float(value.removesuffix(" MiB")) for name, value in rows
    }
    assert said == expected()
