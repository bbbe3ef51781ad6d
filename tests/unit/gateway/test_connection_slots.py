"""Who may come in, and whose connection is closed: nobody who has not logged in takes a session's slot."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.connection_slots import ConnectionSlot, ConnectionSlots, TooManyClients, client_address


def test_the_longest_waiting_of_the_fullest_address_gives_way() -> None:
    slots = ConnectionSlots(connections=10, per_address=10, unauthenticated=3)
    old, _ = slots.enter("a")
    first, _ = slots.enter("b")
    second, nobody = slots.enter("b")
    assert nobody is None
    assert slots.enter("b")[1] is first
    assert slots.enter("c")[1] is second
    # all have as many: the newcomer makes its own address the fullest
    assert slots.enter("a")[1] is old


def test_who_does_not_log_in_keeps_nobody_out() -> None:
    slots = ConnectionSlots(connections=2, per_address=2, unauthenticated=5)
    for address in ("a", "b"):
        for _ in range(150):
            slots.enter("a")
        newcomer, leaving = slots.enter(address)
        assert leaving is not None
        assert leaving.address == "a"
        slots.log_in(newcomer)


def test_sessions_have_a_bound_for_all_and_for_each_address() -> None:
    slots = ConnectionSlots(connections=3, per_address=2, unauthenticated=5)
    guests = [slots.enter(address)[0] for address in ("a", "a", "a", "b", "c")]
    for guest in guests[:2]:
        slots.log_in(guest)
    with pytest.raises(TooManyClients) as crowded:
        slots.log_in(guests[2])  # it may have passed `require_free` before the others were in
    assert crowded.value.hint is not None
    slots.log_in(guests[3])
    with pytest.raises(TooManyClients) as full:
        slots.require_free("c")
    assert (full.value.message, full.value.hint) == ("sorry, too many clients already", None)
    for guest in guests[:3]:
        slots.leave(guest)
        slots.leave(guest)
    slots.require_free("a")
    slots.log_in(guests[4])


def test_who_gave_way_does_not_log_in() -> None:
    slots = ConnectionSlots(connections=2, per_address=2, unauthenticated=1)
    first, _ = slots.enter("a")
    _, leaving = slots.enter("a")
    assert leaving is first
    with pytest.raises(TooManyClients):
        slots.log_in(first)
    slots.leave(first)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["enter", "log in", "leave"])), max_size=60)
)
def test_bounds_hold_whatever_happens(steps: list[tuple[str, str]]) -> None:
    slots = ConnectionSlots(connections=4, per_address=2, unauthenticated=3)
    unauthenticated: list[ConnectionSlot] = []
    sessions: list[ConnectionSlot] = []
    for address, step in steps:
        of_address = [slot for slot in unauthenticated if slot.address == address]
        if step == "enter":
            entered, leaving = slots.enter(address)
            unauthenticated.append(entered)
            assert (leaving is not None) == (len(unauthenticated) > 3)
            if leaving is not None:
                unauthenticated.remove(leaving)
        elif step == "log in" and of_address:
            in_use = Counter(slot.address for slot in sessions)
            if len(sessions) < 4 and in_use[address] < 2:
                slots.log_in(of_address[0])
                unauthenticated.remove(of_address[0])
                sessions.append(of_address[0])
            else:
                with pytest.raises(TooManyClients):
                    slots.log_in(of_address[0])
        elif step == "leave" and sessions:
            slots.leave(sessions.pop())


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
