"""Who may come in, and who gives way: strangers never take a session's place, crowds drive out their own."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.places import Place, Places, TooManyClients, client_address


def test_the_longest_waiting_of_the_fullest_address_gives_way() -> None:
    places = Places(connections=10, per_address=10, strangers=3)
    old, _ = places.enter("a")
    first, _ = places.enter("b")
    second, nobody = places.enter("b")
    assert nobody is None
    assert places.enter("b")[1] is first
    assert places.enter("c")[1] is second
    # all have as many: the newcomer makes its own address the fullest
    assert places.enter("a")[1] is old


def test_strangers_keep_nobody_out() -> None:
    places = Places(connections=2, per_address=2, strangers=5)
    for address in ("a", "b"):
        for _ in range(150):
            places.enter("a")
        newcomer, leaving = places.enter(address)
        assert leaving is not None
        assert leaving.address == "a"
        places.log_in(newcomer)


def test_sessions_have_a_bound_for_all_and_for_each_address() -> None:
    places = Places(connections=3, per_address=2, strangers=5)
    guests = [places.enter(address)[0] for address in ("a", "a", "a", "b", "c")]
    for guest in guests[:2]:
        places.log_in(guest)
    with pytest.raises(TooManyClients) as crowded:
        places.log_in(guests[2])  # it may have passed `require_free` before the others were in
    assert crowded.value.hint is not None
    places.log_in(guests[3])
    with pytest.raises(TooManyClients) as full:
        places.require_free("c")
    assert (full.value.message, full.value.hint) == ("sorry, too many clients already", None)
    for guest in guests[:3]:
        places.leave(guest)
        places.leave(guest)
    places.require_free("a")
    places.log_in(guests[4])


def test_who_gave_way_does_not_log_in() -> None:
    places = Places(connections=2, per_address=2, strangers=1)
    first, _ = places.enter("a")
    _, leaving = places.enter("a")
    assert leaving is first
    with pytest.raises(TooManyClients):
        places.log_in(first)
    places.leave(first)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["enter", "log in", "leave"])), max_size=60)
)
def test_bounds_hold_whatever_happens(steps: list[tuple[str, str]]) -> None:
    places = Places(connections=4, per_address=2, strangers=3)
    strangers: list[Place] = []
    sessions: list[Place] = []
    for address, step in steps:
        of_address = [place for place in strangers if place.address == address]
        if step == "enter":
            entered, leaving = places.enter(address)
            strangers.append(entered)
            assert (leaving is not None) == (len(strangers) > 3)
            if leaving is not None:
                strangers.remove(leaving)
        elif step == "log in" and of_address:
            in_use = Counter(place.address for place in sessions)
            if len(sessions) < 4 and in_use[address] < 2:
                places.log_in(of_address[0])
                strangers.remove(of_address[0])
                sessions.append(of_address[0])
            else:
                with pytest.raises(TooManyClients):
                    places.log_in(of_address[0])
        elif step == "leave" and sessions:
            places.leave(sessions.pop())


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%lo", "fe80::/64"),
    ],
)
def test_addresses(host: str, address: str) -> None:
    assert client_address(host) == address
