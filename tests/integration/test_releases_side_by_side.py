"""Releases of one table that other sessions publish, refresh and drop at any moment, and many at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import KanonError, ReleaseBusy, UnknownName
from kanon_pg.release import releasing
from kanon_pg.release.compare import composition as compositions
from kanon_pg.release.compare import side_by_side
from tests.fixtures.interfaces import ClientInterface, Interface, SqlInterface

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PATIENTS = """
create table patients (id integer primary key, age integer, sex integer);
insert into patients select i, i % 4, i % 3 from generate_series(1, 36) as i
"""

OTHERS: dict[str, dict[str, Any]] = {
    "ordinary": {"remember": 2},
    "over time": {"over_time": {}},
    "by a hierarchy": {"hierarchies": {"age": {"builder": "intervals", "width": 2}}, "remember": 2},
}


def publish(connection: psycopg.Connection[Any], release: str, **options: Any) -> None:
    client.anonymize(connection, "patients", 3, release=release, **options)


class Moments:
    """Numbers the statements of one connection, and lets somebody act before one of them."""

    def __init__(self, connection: psycopg.Connection[Any], patch: pytest.MonkeyPatch) -> None:
        self.connection = connection
        self.act: Callable[[], None] = lambda: None
        self.moment = self.count = 0
        self.counts = False
        for name in ("rows", "row", "read", "execute"):
            patch.setattr(PsycopgDatabase, name, self._counting(getattr(PsycopgDatabase, name)))
        patch.setattr(releasing, "notice_side_by_side", self._counted(releasing.notice_side_by_side))
        for module in (compositions, side_by_side):
            patch.setattr(module, "composition", self._counted(compositions.composition))

    def _counting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(db: PsycopgDatabase, *arguments: Any) -> Any:
            if self.counts and db.connection is self.connection:
                self.count += 1
                if self.count == self.moment:
                    self.act()
            return original(db, *arguments)

        return run

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(db: PsycopgDatabase, *arguments: Any, **options: Any) -> Any:
            if self.counts:  # inside another
                return original(db, *arguments, **options)
            self.count, self.counts = 0, db.connection is self.connection
            try:
                return original(db, *arguments, **options)
            finally:
                self.counts = False

        return run

    def each(self, act: Callable[[], None]) -> Iterator[None]:
        """Yield once to count the statements of the comparison that follows, then for each of them."""
        self.act, self.moment, most = act, 0, 0
        while self.moment <= most:
            yield
            most = max(most, self.count)
            self.moment += 1
        assert most > 5


@pytest.fixture
def moments(connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> Moments:
    connection.execute(PATIENTS.encode())
    publish(connection, "mine", remember=2)
    return Moments(connection, monkeypatch)


def changing(dsn: str, other: str, change: str) -> None:
    """Change a release from a session of its own, unless the one that is watched keeps it from that."""
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("set lock_timeout = '100ms'")
        with suppress(KanonError, psycopg.Error):
            if change == "drop":
                client.drop(session, "other")
            elif change == "refresh":
                client.refresh(session, "other")
            else:
                publish(session, "other", **OTHERS[other])


@pytest.mark.parametrize(
    ("other", "change"),
    [
        ("ordinary", "publish"),
        ("over time", "refresh"),
        ("by a hierarchy", "drop"),
    ],
)
def test_a_release_may_change_at_any_moment_while_it_is_compared(
    moments: Moments, dsn: str, other: str, change: str
) -> None:
    for _ in moments.each(lambda: changing(dsn, other, change)):
        with suppress(UnknownName):
            client.drop(moments.connection, "other")
        publish(moments.connection, "other", **OTHERS[other])
        with suppress(ReleaseBusy, UnknownName):
            client.composition(moments.connection, ["mine", "other"])


@pytest.mark.parametrize("change", ["drop", "publish"])
def test_a_release_may_change_at_any_moment_while_another_is_published(
    moments: Moments, dsn: str, change: str
) -> None:
    for _ in moments.each(lambda: changing(dsn, "ordinary", change)):
        publish(moments.connection, "other", remember=2)
        publish(moments.connection, "mine", remember=2)


@pytest.mark.parametrize("kind", [SqlInterface, ClientInterface])
def test_four_sessions_publish_and_drop_releases_of_one_table(
    connection: psycopg.Connection[Any], dsn: str, kind: type[Interface]
) -> None:
    connection.execute(PATIENTS.encode())

    def session(number: int) -> list[KanonError]:
        errors = []
        with psycopg.connect(dsn, autocommit=True) as own:
            mine = kind(dsn, own)  # type: ignore[call-arg]
            for turn in range(12):
                release = f"release_{(number + turn) % 5}"
                try:
                    mine.anonymize("patients", 3, release=release, remember=2)
                    if turn % 2:
                        mine.drop(release)
                except KanonError as error:
                    errors.append(error)
        return errors

    with ThreadPoolExecutor(4) as pool:
        errors = [error for found in pool.map(session, range(4)) for error in found]
    # who drops may find that another session did; transactions of the client see the state of their beginning
    assert {type(error) for error in errors} <= {UnknownName, ReleaseBusy}, errors
