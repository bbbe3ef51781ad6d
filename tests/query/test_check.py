"""What the checker alone says about the corpus: no server, no data."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.checker import Options, Verdict, check
from kanon_pg.queries.check.options import Mode
from tests.query.cases import Attack, Outcome, Via, flat
from tests.query.corpus import ATTACKS
from tests.query.honest import Expected, HonestQuery, workload
from tests.query.snapshot import hospital


def verdict(text: str, mode: Mode = "reject", dominance: float | None = None) -> Verdict:
    return check(text, hospital(), Options(mode=mode, dominance=dominance))


def of_attack(attack: Attack, text: str) -> Verdict:
    mode: Mode = "suppress" if attack.policy.mode == "suppress" else "reject"
    return verdict(text, mode, attack.policy.dominance)


ASKED = [attack for attack in ATTACKS if any(step.via is Via.INTERFACE for step in flat(attack.steps))]


def named(attack: Attack) -> str:
    return f"{attack.kind}: {attack.name}"


def needs_no_data(attack: Attack) -> bool:
    """Whether the text and the catalog are enough to refuse the last step."""
    return attack.expect.outcomes == {Outcome.EXPLAINED} and flat(attack.steps)[-1].via is Via.INTERFACE


@pytest.mark.parametrize("attack", ASKED, ids=named)
def test_a_verdict_is_sound_the_same_each_time_and_refuses_what_needs_no_data_for_it(attack: Attack) -> None:
    texts = [step.text for step in flat(attack.steps) if step.via is Via.INTERFACE]
    verdicts = [of_attack(attack, text) for text in texts]
    for text, found in zip(texts, verdicts, strict=True):
        assert found.accepted != bool(found.findings)
        assert found.accepted == (found.canonical_sql is not None)
        for finding in found.findings:
            assert 0 <= finding.start <= finding.end <= len(text)
            assert finding.sentence
        if found.accepted and found.protected:
            assert any(hidden.what == "people" for hidden in found.hidden)
    assert of_attack(attack, texts[-1]) == verdicts[-1]
    assert not (needs_no_data(attack) and verdicts[-1].accepted)


@pytest.mark.parametrize(
    "query",
    [query for query in workload() if query.expected is not Expected.REFUSED],
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_honest_queries_are_accepted(query: HonestQuery) -> None:
    found = verdict(query.text)
    assert found.accepted, [finding.sentence for finding in found.findings]


@pytest.mark.parametrize(
    "query",
    [query for query in workload() if query.expected is Expected.REFUSED],
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_a_refusal_of_an_honest_query_says_what_to_write_instead(query: HonestQuery) -> None:
    found = verdict(query.text)
    assert found.accepted or any(finding.hint for finding in found.findings)


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from patients, json_table('[1]', '$[*]' columns (a int path '$')) as t",
        "select json_value('1', '$'), count(*) from patients",
        "select json_exists('1', '$'), count(*) from patients",
        "select json_query('1', '$'), count(*) from patients",
        "select json_serialize('1'), count(*) from patients",
        "select json_arrayagg(ward) from patients",
        "select any_value(ward) from patients",
        "select max(array[cost]) from patients",
        "select count(*) from patients where random(1, 10) > 5",
        "select count(*) from patients where casefold(ward) = 'oncology'",
        "select count(*) from patients where crc32(ward::bytea) > 5",
        "select array_sort(array_agg(ward)) from patients",
        "select array_shuffle(array_agg(ward)) from patients",
        "select uuidv7(), count(*) from patients",
        "select pg_get_acl(1259, 1259, 0), count(*) from patients",
        "select gamma(cost::float8), count(*) from patients group by 1",
        "select reverse(ward::bytea), count(*) from patients group by 1",
        "select to_bin(1), count(*) from patients",
        "select system_user, count(*) from patients",
        "select now() at local, count(*) from patients",
        "merge into patients using patients as q on false when matched then delete returning merge_action()",
        "delete from patients returning old.ward",
        "update patients set ward = '' returning with (old as o) o.ward",
    ],
)
def test_what_newer_servers_brought_is_not_let_in_unseen(text: str) -> None:
    assert not verdict(text).accepted
