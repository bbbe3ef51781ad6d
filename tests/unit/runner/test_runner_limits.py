"""Sizes of memory as PostgreSQL writes them, and what a machine or control group has left."""

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.errors import InputError
from kanon_pg.runner.limits import (
    default_memory_budget,
    format_memory_size,
    limited_memory,
    parse_memory_size,
)

MB = 2**20


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 2**30),
        (" 512 MB ", 512 * MB),
        ("1.5GB", 3 * 2**29),
        ("8kB", 8192),
        ("1B", 1),
        ("2TB", 2**41),
        ("0.5kB", 512),
    ],
)
def test_sizes(text, size):
    assert parse_memory_size(text) == size


NO_SIZES = ["", "4", "GB", "4gb", "4KB", "-1GB", "4 G B", "1e3MB", "٤GB", "4GB;", "4PB", "NaN MB", "4GB\0"]
LESS_THAN_A_BYTE = ["0MB", "0.5B"]


@pytest.mark.parametrize("text", NO_SIZES + LESS_THAN_A_BYTE)
def test_what_is_no_size(text):
    with pytest.raises(InputError, match=r"kanon\.memory_budget") as caught:
        parse_memory_size(text)
    assert "4GB" in caught.value.hint


def test_the_message_names_the_setting():
    with pytest.raises(InputError, match='"other"'):
        parse_memory_size("x", setting="other")


@given(st.integers(1, 2**50))
def test_a_formatted_size_is_the_size_rounded_down(size):
    again = parse_memory_size(format_memory_size(size))
    assert again <= size < again * 1.1 + 1


def test_nothing_is_formatted_too():
    assert format_memory_size(0) == "0 B"


def machine(folder, available_kb, groups="", files=()):
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:   {available_kb} kB\n")
    (folder / "proc/self/cgroup").write_text(groups)
    for name, text in files:
        file = folder / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_half_of_what_the_machine_has_left(tmp_path):
    assert default_memory_budget(machine(tmp_path, 2048)) == MB


def test_a_control_group_of_the_unified_hierarchy(tmp_path):
    files = [
        ("a/b/memory.max", "max\n"),
        ("a/b/memory.current", "5\n"),
        ("a/memory.max", "1000\n"),
        ("a/memory.current", "900\n"),
        ("a/memory.stat", "anon 700\nactive_file 50\ninactive_file 100\n"),
    ]
    assert default_memory_budget(machine(tmp_path, 2048, "0::/a/b\n", files)) == (1000 - 900 + 150) // 2


def test_a_control_group_of_the_older_kind(tmp_path):
    files = [
        ("memory/x/memory.limit_in_bytes", "1000\n"),
        ("memory/x/memory.usage_in_bytes", "900\n"),
        ("memory/x/memory.stat", "active_file 1\ntotal_active_file 50\ntotal_inactive_file 100\n"),
    ]
    groups = "5:cpu:/y\n4:memory:/x\n0::/\n"
    assert default_memory_budget(machine(tmp_path, 2048, groups, files)) == (1000 - 900 + 150) // 2


def test_in_a_container_the_path_of_the_host_does_not_exist(tmp_path):
    files = [("memory.max", "1000\n"), ("memory.current", "1200\n")]
    assert default_memory_budget(machine(tmp_path, 2048, "0::/host/path\n", files)) == 0


def test_this_machine_has_memory():
    assert default_memory_budget() > MB


def test_the_limit_holds_within_the_block_only():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limited_memory(64 * MB), pytest.raises(MemoryError):
        bytearray(128 * MB)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytearray(128 * MB)) == 128 * MB
