"""Metrics are read by the library's own parser, whatever names are; what is unknown has no sample."""

from dataclasses import replace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from kanon_pg.monitoring.open_metrics import GAUGES, open_metrics
from kanon_pg.monitoring.states import HealthState

RELEASE = HealthState(
    "release", "safe.people", 5, 3600.5, 7, 100, 2, "holds", None, None, None, None, None, None, None, None
)
QUERIES = replace(
    RELEASE,
    kind="queries",
    object="public.people",
    guard=None,
    ledger="usable",
    epsilon_left=0.5,
    share_left=0.25,
)


def samples(*states: HealthState) -> dict[tuple[str, str], float]:
    text = open_metrics(states)
    assert text.endswith("# EOF\n")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_is_known_has_a_sample() -> None:
    assert samples(RELEASE, QUERIES) == {
        ("kanon_release_age_seconds", "safe.people"): 3600.5,
        ("kanon_release_changed_rows", "safe.people"): 7,
        ("kanon_release_rows", "safe.people"): 100,
        ("kanon_release_missing_rows", "safe.people"): 2,
        ("kanon_release_guard_holds", "safe.people"): 1,
        ("kanon_release_needs_attention", "safe.people"): 0,
        ("kanon_queries_ledger_usable", "public.people"): 1,
        ("kanon_queries_epsilon_left", "public.people"): 0.5,
        ("kanon_queries_account_left_ratio", "public.people"): 0.25,
        ("kanon_queries_needs_attention", "public.people"): 0,
    }


def test_what_is_wrong_is_one_figure() -> None:
    found = samples(
        replace(RELEASE, guard="violated", advice="Take it back."), replace(QUERIES, ledger="lost")
    )
    assert found["kanon_release_guard_holds", "safe.people"] == 0
    assert found["kanon_release_needs_attention", "safe.people"] == 1
    assert found["kanon_queries_ledger_usable", "public.people"] == 0


@pytest.mark.parametrize("name", ['safe."a ""b"""', "safe.\n# EOF\n", "safe.\\n", 'x"} 1\nforged{a="', "ü€"])
def test_names_are_quoted(name: str) -> None:
    found = samples(replace(RELEASE, object=name))
    assert {key[1] for key in found} == {name}
    assert len(found) == len(samples(RELEASE))


def test_every_metric_is_named_where_there_is_nothing() -> None:
    text = open_metrics(())
    assert all(f"# TYPE {gauge.name} gauge\n" in text for gauge in GAUGES)
