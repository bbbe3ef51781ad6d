"""Writers that are killed, and writers that race each other."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kanon_pg.queries.record.log import Mark
from kanon_pg.queries.record.record import Record
from kanon_pg.queries.record.sketches import conflict
from tests.fixtures.records import K, conflicts, figure

_WRITER = """
import sys
from pathlib import Path
from kanon_pg.queries.record import sets as recorded_sets
from kanon_pg.queries.record.record import Record
from tests.fixtures.records import answer, figure
recorded_sets._FRESH_KEYS = 50
record = Record.open(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 10_000):
    answer(record, *(figure(range(number * 100, number * 100 + size)) for size in (10, 20, 40)))
    mark = record.mark()
    print(number, mark.events, mark.digest.hex(), flush=True)
"""

_RACER = """
import sys
from pathlib import Path
from kanon_pg.queries.record.record import Record
from tests.fixtures.records import K, figure
record = Record.open(Path(sys.argv[1]))
for number in range(20):
    new = figure(range(number * 100, number * 100 + 20 + int(sys.argv[2])))
    entry = record.ask(sys.argv[2], "q", 0.0).entry
    with record.begin(entry, 0.0) as recording:
        if recording.conflicting([new], K):
            recording.withheld("people")
        else:
            recording.record([new], K)
            recording.answered()
            print(number, flush=True)
"""


def _started(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.slow
def test_nothing_answered_is_missing_after_writers_were_killed(path: Path) -> None:
    chosen, marks, answered = random.Random(1), [Mark(0, b"")], set[int]()
    for turn in range(8):
        writer = _started(_WRITER, path, turn * 1000)
        assert writer.stdout is not None
        lines = [writer.stdout.readline()]
        time.sleep(chosen.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
        writer.wait()
        writer.stdout.close()
        # a line may be cut off
        for number, events, digest in (line.split() for line in lines if len(line.strip().split()) == 3):
            if len(digest) == 64:
                answered.add(int(number))
                marks.append(Mark(int(events), bytes.fromhex(digest)))
        record = Record.open(path, marks)
        record.verify(marks)
        for number in answered:
            assert conflicts(record, figure(range(number * 100, number * 100 + 19))) == {0}
        record.close()
    assert len(answered) >= 8


def test_of_answers_that_race_each_other_only_one_is_given(path: Path) -> None:
    racers = [_started(_RACER, path, number) for number in range(4)]
    given = [racer.communicate()[0].split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    assert sorted(int(number) for numbers in given for number in numbers) == list(range(20))
    assert conflict(figure(range(20)), figure(range(23)), K)
    record = Record.open(path)
    assert len(record.log()) == 80
    record.verify()
    record.close()


def test_a_record_can_be_opened_while_others_write(path: Path) -> None:
    writer = _started(_WRITER, path, 0)
    assert writer.stdout is not None
    for _ in range(40):
        _, events, digest = writer.stdout.readline().split()
        record = Record.open(path, [Mark(int(events), bytes.fromhex(digest))])
        assert record.mark().events >= int(events)
        record.close()
    writer.kill()
    writer.communicate()
