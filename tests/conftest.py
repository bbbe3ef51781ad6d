"""Fixtures of all tests, by topic in `tests/fixtures`, and which tests a run takes."""

import signal
from collections import defaultdict
from zlib import crc32

import pytest

from tests.fixtures.examples import register_profiles

pytest_plugins = [
    "tests.fixtures.databases",
    "tests.fixtures.interfaces",
    "tests.fixtures.audits",
    "tests.fixtures.queries",
    "tests.fixtures.gateways",
    "tests.fixtures.citus",
]

_INTERFACES = ("server", "client")

_WITH_SERVER = ("tests/integration/", "tests/security/", "tests/install/")

MOST_CASES = 3
"""How many cases of a test with a server `make test` takes: what needs a server takes longest."""

register_profiles()


def pytest_configure() -> None:
    # what a shell starts in the background ignores Ctrl-C, and every process of a test would inherit that
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--smoke", action="store_true", help="one case of most tests")


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # left out rather than skipped: a skipped test says that something is missing here
    items[:] = [item for item in items if _is_about_its_interface(item)]
    by_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if "/citus" in item.nodeid:
            item.add_marker("citus")
        if _is_said_by_its_twin(item):
            item.add_marker("thorough")
        elif item.nodeid.startswith(_WITH_SERVER) and not item.get_closest_marker("thorough"):
            by_test[item.nodeid.partition("[")[0]].append(item)
    for alike in by_test.values():
        step = len(alike) / MOST_CASES
        every_day = {alike[int(number * step)] for number in range(MOST_CASES)} if step > 1 else alike
        for item in alike:
            if item not in every_day and not item.get_closest_marker("all_cases"):
                item.add_marker("thorough")
    if not config.getoption("--smoke"):
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("thorough"):
            cases[item.nodeid.partition("[")[0]].append(item)
    taken = set[pytest.Item]()
    for number, (name, alike) in enumerate(cases.items()):
        # what needs a server takes longest: every second test; in turn the first case and the last
        if not name.startswith(_WITH_SERVER) or number % 2 == 0:
            taken.add(alike[-(number // 2 % 2)])
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]


def _interface_of(item: pytest.Item) -> str | None:
    """Return through which interface a test goes, if there are others."""
    case = item.callspec.id.split("-") if hasattr(item, "callspec") else ()
    return next((part for part in case if part in _INTERFACES), None)


def _is_about_its_interface(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("only_through")
    return mark is None or _interface_of(item) in (None, *mark.args)


def _is_said_by_its_twin(item: pytest.Item) -> bool:
    """Tell whether the test through the other interface suffices for every day; its name decides which."""
    interface = _interface_of(item)
    if interface is None or item.get_closest_marker("only_through") or item.get_closest_marker("conformance"):
        return False
    name = item.nodeid.replace(interface, "", 1)
    return interface != _INTERFACES[crc32(name.encode()) % 2]
