"""SQLAlchemy and pandas through the gateway: reflection, queries, savepoints, frames."""

import asyncio
from collections.abc import Iterator

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway


def url(gateway: ClinicGateway, driver: str) -> sa.URL:
    return sa.URL.create(
        f"postgresql+{driver}", ANALYST, PASSWORD, "127.0.0.1", gateway.port, gateway.clinic.database
    )


@pytest.fixture(params=["psycopg", "psycopg2", "pg8000"])
def engine(gateway: ClinicGateway, request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    driver = request.param
    pytest.importorskip(
        driver, reason=f"SQLALCHEMY WITH {driver.upper()} IS NOT TESTED: install it (make development does)"
    )
    engine = sa.create_engine(url(gateway, driver))
    yield engine
    engine.dispose()


def test_reflection(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert {"public", "safe"} <= set(inspector.get_schema_names())
    assert {"patients", "wards"} <= set(inspector.get_table_names())
    assert inspector.get_view_names("safe") == ["numbers"]
    assert inspector.get_view_definition("numbers", "safe")
    for table in ("patients", "wards"):
        assert inspector.get_indexes(table) == []
        assert inspector.get_foreign_keys(table) == []
        assert inspector.get_unique_constraints(table) == []
        assert inspector.get_check_constraints(table) == []
        assert inspector.get_table_comment(table) == {"text": None}
    assert inspector.get_pk_constraint("patients")["constrained_columns"] == ["admission"]
    types = {column["name"]: str(column["type"]) for column in inspector.get_columns("patients")}
    assert types["cost"] == "NUMERIC(10, 2)"
    metadata = sa.MetaData()
    metadata.reflect(engine)
    assert {"patients", "wards"} <= set(metadata.tables)


def test_queries_of_reflected_tables(engine: sa.Engine) -> None:
    patients = sa.Table("patients", sa.MetaData(), autoload_with=engine)
    wards = sa.Table("wards", sa.MetaData(), autoload_with=engine)
    by_floor = (
        sa.select(wards.c.floor, sa.func.count())
        .join_from(patients, wards, patients.c.ward == wards.c.ward)
        .where(patients.c.sex == "F")
        .group_by(wards.c.floor)
        .order_by(wards.c.floor)
    )
    with engine.connect() as connection:
        assert connection.execute(by_floor).all() == [(1, 200), (2, 200), (3, 200)]
        with pytest.raises(sa.exc.DBAPIError, match="single people"), connection.begin_nested():
            connection.execute(sa.select(patients.c.name))
        assert connection.execute(sa.select(sa.func.count()).select_from(patients)).scalar() == 1200


def test_constants_arrive_as_parameters(engine: sa.Engine) -> None:
    patients = sa.Table("patients", sa.MetaData(), autoload_with=engine)
    people = sa.func.count().label("people")
    by_ward = sa.select(patients.c.ward, people).group_by(patients.c.ward).order_by(patients.c.ward)
    wards = sa.literal(["Surgery", "Oncology"], sa.ARRAY(sa.Text))
    with engine.connect() as connection:
        assert connection.execute(by_ward.limit(1).offset(1)).all() == [("Oncology", 400)]
        chosen = by_ward.where(patients.c.ward.startswith("S"))
        assert connection.execute(chosen).all() == [("Surgery", 400)]
        listed = sa.select(people).where(patients.c.ward == sa.any_(wards))
        assert connection.execute(listed).scalar() == 800


def test_frames(engine: sa.Engine) -> None:
    query = "select ward, sex, count(*) as n from patients group by ward, sex order by ward, sex"
    frame = pd.read_sql(query, engine)
    assert frame["n"].tolist() == [200] * 6
    assert pd.read_sql_table("wards", engine)["floor"].tolist() == [1, 2, 3]
    assert len(pd.concat(pd.read_sql("select * from safe.numbers", engine, chunksize=10_000))) == 30_000


def test_the_dialect_of_asyncpg(gateway: ClinicGateway) -> None:
    for name in ("asyncpg", "greenlet"):
        pytest.importorskip(
            name, reason=f"SQLALCHEMY WITH ASYNCPG IS NOT TESTED: install {name} (make development does)"
        )

    def work(connection: sa.Connection) -> list[str]:
        patients = sa.Table("patients", sa.MetaData(), autoload_with=connection)
        men = sa.select(sa.func.count()).where(patients.c.sex == "M", patients.c.cost > -1)
        assert connection.execute(men).scalar() == 600
        return sorted(sa.inspect(connection).get_table_names())

    async def connected() -> list[str]:
        engine = create_async_engine(url(gateway, "asyncpg"))
        async with engine.connect() as connection:
            found = await connection.run_sync(work)
        await engine.dispose()
        return found

    assert {"patients", "wards"} <= set(asyncio.run(connected()))
