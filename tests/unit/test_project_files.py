"""What hosting sites read of the project is what they take, and what the package says of itself."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from kanon_pg import __version__

CHECKOUT = Path(__file__).parents[2]
FORMS = sorted((CHECKOUT / ".github/ISSUE_TEMPLATE").glob("[0-9]*.yml"))
KINDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def read(path: Path) -> dict:
    return YAML(typ="safe").load(path)


def test_the_citation_is_of_this_version_and_names_five_papers() -> None:
    citation = read(CHECKOUT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert str(citation["version"]) == __version__
    assert len(citation["references"]) == 5
    assert all({"type", "title", "authors"} <= set(paper) for paper in citation["references"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_one_that_can_be_filled_in(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    assert {part["type"] for part in form["body"]} <= KINDS
    assert any(part["type"] != "markdown" for part in form["body"])
    identifiers = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(identifiers) == len(set(identifiers))
    for part in form["body"]:
        assert part["attributes"]["value" if part["type"] == "markdown" else "label"]


def test_hooks_are_of_the_projects_own_versions() -> None:
    (repository,) = read(CHECKOUT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    assert all(hook["entry"].startswith(".venv/bin/") for hook in repository["hooks"])
