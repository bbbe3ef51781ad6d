"""What ``import kanon_pg`` offers, and what it costs a PostgreSQL backend."""

import subprocess
import sys

import pytest

import kanon_pg
from kanon_pg import client


@pytest.mark.parametrize("name", kanon_pg.__all__)
def test_the_package_offers_the_client_s_operations(name):
    assert getattr(kanon_pg, name) is getattr(client, name)


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kanon_pg.nonsense


def test_importing_the_package_loads_no_driver():
    code = "import sys, kanon_pg; sys.exit('psycopg' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
