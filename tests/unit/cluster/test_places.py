"""Folders of private servers."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.admin.cluster.account import checked_name, clusters_home, socket_folder
from kanon_pg.errors import InputError


@pytest.mark.parametrize("name", ["main", "a", "7", "two-words_3", "x" * 40])
def test_names(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * 41, "Main", "..", "a/b", "-rf", "_x", "a b", "a\n", "é", "a.b"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="not a name"):
        checked_name(name)


def test_home_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_CLUSTER_HOME", "/somewhere/else")
    assert clusters_home() == Path("/somewhere/else")


def test_home_of_a_user_is_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KANON_CLUSTER_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/somebody/.cache")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert clusters_home() == Path("/home/somebody/.cache/kanon_pg")


def test_home_of_root_is_outside_its_closed_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KANON_CLUSTER_HOME", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert clusters_home() == Path("/var/cache/kanon_pg")


def test_socket_is_with_the_cluster_if_it_fits() -> None:
    assert socket_folder(Path("/var/cache/kanon_pg/main"), 7) == Path("/var/cache/kanon_pg/main/socket")


segments = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=80
)


@given(st.lists(segments, min_size=1, max_size=6), st.integers(0, 2**32 - 2))
def test_socket_path_always_fits(parts: list[str], uid: int) -> None:
    folder = socket_folder(Path("/", *parts), uid)
    path = os.fsencode(folder / ".s.PGSQL.65535")
    assert len(path) <= 107
    assert b"," not in path


def test_clusters_with_long_paths_have_different_sockets() -> None:
    long = Path("/" + "x" * 120)
    assert socket_folder(long / "one", 7) != socket_folder(long / "two", 7)
    assert socket_folder(long / "one", 7) != socket_folder(long / "one", 8)
