"""All examples in docstrings work; a module that cannot be imported fails."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import kanon_pg

IN_THE_SERVER_ONLY = ("kanon_pg.db.spi_adapter", "kanon_pg.plpython")
"""Import plpy, which exists inside PostgreSQL alone."""

MODULES = [
    module.name
    for module in pkgutil.walk_packages(kanon_pg.__path__, "kanon_pg.")
    if not module.name.startswith(IN_THE_SERVER_ONLY)
]


def test_examples_of_a_module() -> None:
    for name in MODULES:
        assert doctest.testmod(import_module(name)).failed == 0, name


@pytest.mark.parametrize("name", ["kanon_pg.db.spi_adapter", "kanon_pg.plpython.releases"])
def test_modules_of_the_server_need_plpy(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="plpy"):
        import_module(name)
