"""Every place that names the versions that were tried names the same."""

import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def read(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def tried() -> dict[str, str]:
    """Return the PostgreSQL versions of the page about installing, with their Pythons."""
    rows = re.findall(r"^\| Debian .*\| (\d+) \| (3\.\d+) \|$", read("docs/how-to/install.md"), re.MULTILINE)
    assert rows
    return dict(rows)


def test_classifiers_name_the_pythons_that_were_tried() -> None:
    classifiers = tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]
    pythons = {line.rpartition(" ")[2] for line in classifiers if ":: Python :: 3." in line}
    assert pythons == set(tried().values())


def test_the_set_up_is_silent_about_the_pythons_that_were_tried_and_no_others() -> None:
    (silent,) = re.findall(r"^ +(3\.\d+(?: \| 3\.\d+)*)\) ;;$", read(".ci/setup"), re.MULTILINE)
    assert set(silent.split(" | ")) == set(tried().values())


def test_the_image_is_built_for_a_version_that_was_tried() -> None:
    (image,) = re.findall(r"^ARG POSTGRES=(\d+)-\w+$", read("docker/Dockerfile"), re.MULTILINE)
    assert image in tried()
    assert f":-{image}-" in read("docker/compose.yaml")
