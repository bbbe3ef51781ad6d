"""The one connection that reads the catalog is used by one reader at a time."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from kanon_pg.gateway.source import DatabaseSource

_SECONDS = 10.0


def test_a_session_that_leaves_keeps_the_connection_until_its_thread_has_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = DatabaseSource("nowhere")
    began, may_end = threading.Event(), threading.Event()
    running: list[str] = []
    collided = []

    def read_once(read: object) -> object:
        collided.append(bool(running))
        running.append("a reader")
        began.set()
        may_end.wait(_SECONDS)
        running.pop()
        return "path"

    monkeypatch.setattr(source, "_read_once", read_once)

    async def two_sessions() -> object:
        leaving = asyncio.create_task(source.start_path("ada"))
        await asyncio.to_thread(began.wait, _SECONDS)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        began.clear()
        staying = asyncio.create_task(source.start_path("bob"))
        assert not await asyncio.to_thread(began.wait, 0.2)
        may_end.set()
        return await asyncio.wait_for(staying, _SECONDS)

    assert asyncio.run(two_sessions()) == "path"
    assert collided == [False, False]


def test_a_session_that_leaves_while_it_waits_does_not_keep_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = DatabaseSource("nowhere")
    monkeypatch.setattr(source, "_read_once", lambda _read: time.sleep(0.1) or "path")

    async def three_sessions() -> object:
        first = asyncio.create_task(source.start_path("ada"))
        waiting = asyncio.create_task(source.start_path("bob"))
        await asyncio.sleep(0.02)
        waiting.cancel()
        third = asyncio.create_task(source.start_path("eve"))
        return await asyncio.wait_for(asyncio.gather(first, third), _SECONDS)

    assert asyncio.run(three_sessions()) == ["path", "path"]


def test_a_reading_that_fails_gives_the_connection_back(monkeypatch: pytest.MonkeyPatch) -> None:
    source = DatabaseSource("nowhere")

    def fails(_read: object) -> object:
        raise RuntimeError("the reading fails")

    async def two_sessions() -> object:
        monkeypatch.setattr(source, "_read_once", fails)
        with pytest.raises(RuntimeError):
            await source.start_path("ada")
        monkeypatch.setattr(source, "_read_once", lambda _read: "path")
        return await asyncio.wait_for(source.start_path("ada"), _SECONDS)

    assert asyncio.run(two_sessions()) == "path"
