"""Fixtures of all tests, by topic in `tests/fixtures`."""

pytest_plugins = [
    "tests.fixtures.databases",
    "tests.fixtures.doors",
    "tests.fixtures.curves",
    "tests.fixtures.audits",
    "tests.fixtures.questions",
    "tests.fixtures.gateways",
]
