"""The configuration follows the machine's size within limits."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.admin.cluster.instance import configuration, memory_of_machine, rendered

GIBIBYTE = 2**30


def settings(memory: int = 8 * GIBIBYTE, processors: int = 2, *, tcp: bool = False) -> dict[str, str]:
    return configuration(
        memory=memory, processors=processors, socket_folder=Path("/run/it's here"), port=5432, tcp=tcp
    )


@given(st.integers(GIBIBYTE, 2**42), st.integers(1, 256))
def test_memory_shares_are_sane_on_any_machine(memory: int, processors: int) -> None:
    found = settings(memory, processors)
    megabytes = {name: int(value.removesuffix("MB")) for name, value in found.items() if value.endswith("MB")}
    assert 128 <= megabytes["shared_buffers"] <= 2048
    assert 32 <= megabytes["work_mem"] <= 256
    assert megabytes["shared_buffers"] * 2**20 <= memory / 8
    assert 1 <= int(found["max_parallel_workers_per_gather"]) <= 4


def test_tcp_only_if_asked() -> None:
    assert settings()["listen_addresses"] == ""
    assert settings(tcp=True)["listen_addresses"] == "127.0.0.1"


def test_quotes_in_values_are_doubled() -> None:
    assert "unix_socket_directories = '\"/run/it''s here\"'\n" in rendered(settings())


@pytest.mark.parametrize("limit", ["max\n", "", "nonsense"])
def test_no_limit_of_a_container_means_the_whole_machine(tmp_path: Path, limit: str) -> None:
    (tmp_path / "limit").write_text(limit)
    assert memory_of_machine(tmp_path / "limit") == memory_of_machine(tmp_path / "absent")


def test_limit_of_a_container_counts(tmp_path: Path) -> None:
    (tmp_path / "limit").write_text("1000000\n")
    assert memory_of_machine(tmp_path / "limit") == 1_000_000
