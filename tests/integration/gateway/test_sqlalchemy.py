"""SQLAlchemy and pandas through the gateway: reflection, queries, savepoints, frames."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
import sqlalchemy as sa

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway


@pytest.fixture
def engine(gateway: ClinicGateway) -> Iterator[sa.Engine]:
    url = sa.URL.create(
        "postgresql+psycopg",
        ANALYST,
        PASSWORD,
        "127.0.0.1",
        gateway.port,
        gateway.clinic.database,
    )
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def test_reflection(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_schema_names()) == ["information_schema", "public", "safe"]
    assert sorted(inspector.get_table_names()) == ["patients", "wards"]
    assert inspector.get_view_names("safe") == ["numbers"]
    assert inspector.get_view_definition("numbers", "safe")
    for table in inspector.get_table_names():
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
    assert sorted(metadata.tables) == ["patients", "wards"]


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
        with pytest.raises(sa.exc.DBAPIError, match="names people"), connection.begin_nested():
            connection.execute(sa.select(patients.c.name))
        assert connection.execute(sa.select(sa.func.count()).select_from(patients)).scalar() == 1200


def test_frames(engine: sa.Engine) -> None:
    query = "select ward, sex, count(*) as n from patients group by ward, sex order by ward, sex"
    frame = pd.read_sql(query, engine)
    assert frame["n"].tolist() == [200] * 6
    assert pd.read_sql_table("wards", engine)["floor"].tolist() == [1, 2, 3]
    assert len(pd.concat(pd.read_sql("select * from safe.numbers", engine, chunksize=10_000))) == 30_000
