"""Whose answer a message of the server is, through errors, Sync and copies."""

import asyncio
from collections.abc import Callable

import pytest

from kanon_pg.gateway.awaited import AwaitedAnswers, OwnRequest
from kanon_pg.gateway.protocol import WireMessage


def in_a_loop(test: Callable[[], None]) -> None:
    async def run() -> None:
        test()

    asyncio.run(run())


def own_request() -> OwnRequest:
    return OwnRequest([WireMessage(b"P"), WireMessage(b"E")], dict)


def received(awaited: AwaitedAnswers, kinds: bytes) -> list[OwnRequest | None]:
    return [awaited.received(WireMessage(bytes([kind]))) for kind in kinds]


def test_an_own_answer_lies_between_the_clients() -> None:
    def test() -> None:
        awaited, own = AwaitedAnswers(), own_request()
        for kind in (b"P", b"B", b"E"):
            awaited.sent(kind)
        awaited.asked(own)
        awaited.sent(b"S")
        assert received(awaited, b"12DDC") == [None] * 5
        assert received(awaited, b"1DC") == [own] * 3
        assert own.done.result() is True
        assert [one.kind for one in own.answer] == [b"1", b"D", b"C"]
        assert received(awaited, b"Z") == [None]
        assert not awaited.is_busy

    in_a_loop(test)


@pytest.mark.parametrize("synced", [False, True])
def test_after_an_error_the_server_skips_up_to_sync(synced: bool) -> None:
    def test() -> None:
        awaited, own = AwaitedAnswers(), own_request()
        awaited.sent(b"P")
        awaited.asked(own)
        if synced:
            awaited.sent(b"S")
        assert received(awaited, b"E") == [None]
        assert own.done.result() is False
        assert awaited.skipping is not synced
        if not synced:
            awaited.sent(b"B")
            assert not awaited.is_busy
            awaited.sent(b"S")
        assert received(awaited, b"Z") == [None]
        assert not awaited.is_busy

    in_a_loop(test)


def test_sync_within_a_copy_from_the_client_is_not_answered() -> None:
    awaited = AwaitedAnswers()
    for kind in (b"P", b"B", b"E", b"S"):
        awaited.sent(kind)
    received(awaited, b"12G")
    for kind in (b"S", b"d", b"c", b"S"):
        awaited.sent(kind)
    received(awaited, b"CZ")
    assert not awaited.is_busy
