"""pg8000, which is written in Python, through the gateway: text forms in the extended protocol."""

import datetime
import io
from typing import Any

import pytest

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway

pg8000 = pytest.importorskip(
    "pg8000.native", reason="PG8000 IS NOT TESTED: install pg8000 (make development does)"
)


def connected(gateway: ClinicGateway) -> Any:
    return pg8000.Connection(
        ANALYST, host="127.0.0.1", port=gateway.port, password=PASSWORD, database=gateway.clinic.database
    )


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("sex = :value", "F", 600),
        ("ward = any(:value)", ["Surgery", "Oncology"], 800),
        ("birth_date > :value", datetime.date(1900, 1, 1), 1200),
        ("cost > :value", 12.5, 1200),
    ],
)
def test_parameters(gateway: ClinicGateway, condition: str, value: Any, expected: int) -> None:
    with connected(gateway) as connection:
        found = connection.run(f"select count(*) from patients where {condition}", value=value)
        assert found == [[expected]]


def test_prepared_statements_copies_and_errors(gateway: ClinicGateway) -> None:
    with connected(gateway) as connection:
        prepared = connection.prepare("select ward, count(*) from patients where sex = :sex group by ward")
        assert sorted(prepared.run(sex="F")) == [["Cardiology", 200], ["Oncology", 200], ["Surgery", 200]]
        assert sorted(prepared.run(sex="M")) == [["Cardiology", 200], ["Oncology", 200], ["Surgery", 200]]
        prepared.close()
        copied = io.BytesIO()
        connection.run("copy (select sex, count(*) from patients group by sex) to stdout", stream=copied)
        assert sorted(copied.getvalue().splitlines()) == [b"F\t600", b"M\t600"]
        for text, code in (("selec 1", "42601"), ("select name from patients", "KA901")):
            with pytest.raises(pg8000.DatabaseError) as caught:
                connection.run(text)
            assert caught.value.args[0]["C"] == code
        assert connection.run("select 1") == [[1]]
