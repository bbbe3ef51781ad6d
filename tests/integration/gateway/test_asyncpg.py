"""asyncpg through the gateway: everything in binary form, types looked up in the catalogs, cursors, pools."""

import asyncio
import datetime
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.fixtures.gateways import ANALYST, ENDLESS, PASSWORD, ClinicGateway

asyncpg = pytest.importorskip(
    "asyncpg", reason="ASYNCPG IS NOT TESTED: install asyncpg (make development does)"
)

Ask = Callable[[Callable[[Any], Awaitable[Any]]], Any]


@pytest.fixture
def ask(gateway: ClinicGateway) -> Ask:
    """Return what runs a coroutine with a connection."""

    async def connected(work: Callable[[Any], Awaitable[Any]]) -> Any:
        connection = await asyncpg.connect(**address(gateway))
        try:
            return await work(connection)
        finally:
            await connection.close()

    return lambda work: asyncio.run(connected(work))


def address(gateway: ClinicGateway) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": gateway.port,
        "user": ANALYST,
        "password": PASSWORD,
        "database": gateway.clinic.database,
    }


def test_values_and_parameters(ask: Ask) -> None:
    async def work(connection: Any) -> None:
        by_ward = await connection.fetch(
            "select ward, count(*), avg(cost) from patients where sex = $1 group by ward order by ward", "F"
        )
        assert [tuple(row.values())[:2] for row in by_ward] == [
            ("Cardiology", 200),
            ("Oncology", 200),
            ("Surgery", 200),
        ]
        count = "select count(*) from patients where "
        assert await connection.fetchval(count + "birth_date > $1", datetime.date(1900, 1, 1)) == 1200
        assert await connection.fetchval(count + "ward = any($1)", ["Surgery", "Oncology"]) == 800
        assert await connection.fetchval("select ward from wards where floor = $1", 2) == "Oncology"
        prepared = await connection.prepare(count + "sex = $1")
        assert [one.name for one in prepared.get_parameters()] == ["text"]
        assert await prepared.fetchval("M") == 600

    ask(work)


def test_composite_types_are_looked_up(ask: Ask) -> None:
    async def work(connection: Any) -> None:
        rows = await connection.fetch("select wards from wards order by floor")
        assert [row["wards"]["ward"] for row in rows] == ["Cardiology", "Oncology", "Surgery"]
        assert await connection.fetchval("select array[int4range(1, 2)]")
        await connection.set_type_codec("json", encoder=str, decoder=str, schema="pg_catalog")
        await connection.reload_schema_state()

    ask(work)


def test_transactions_cursors_and_copies(ask: Ask) -> None:
    async def work(connection: Any) -> None:
        async with connection.transaction():
            numbers = [
                row[0] async for row in connection.cursor("select number from safe.numbers", prefetch=99)
            ]
            with pytest.raises(asyncpg.PostgresError, match="single people"):
                async with connection.transaction():
                    await connection.fetch("select name from patients")
            assert await connection.fetchval("select count(*) from patients") == 1200
        assert len(numbers) == 30_000
        copied = io.BytesIO()
        await connection.copy_from_query(
            "select ward, count(*) from patients group by ward order by ward", output=copied
        )
        assert copied.getvalue().splitlines()[0] == b"Cardiology\t400"

    ask(work)


def test_errors_are_of_their_kind(ask: Ask) -> None:
    async def work(connection: Any) -> None:
        with pytest.raises(asyncpg.PostgresSyntaxError) as caught:
            await connection.fetch("selec 1")
        assert caught.value.position == "1"
        with pytest.raises(asyncpg.PostgresError) as refused:
            await connection.fetch("select name from patients")
        assert refused.value.sqlstate == "KA901"
        with pytest.raises(asyncio.TimeoutError):  # asyncpg cancels the statement then
            await connection.fetch(ENDLESS, timeout=1)
        assert await connection.fetchval("select 1") == 1
        with pytest.raises(asyncpg.PostgresError, match="READ COMMITTED"):
            async with connection.transaction(isolation="repeatable_read"):
                await connection.fetch("select count(*) from patients")

    ask(work)


def test_a_pool_resets_its_connections(gateway: ClinicGateway) -> None:
    async def work() -> list[int]:
        async with asyncpg.create_pool(**address(gateway), min_size=2, max_size=4) as pool:
            query = "select count(*) from patients"
            return list(await asyncio.gather(*(pool.fetchval(query) for _ in range(8))))

    assert asyncio.run(work()) == [1200] * 8
