"""The invented region of the demo, read from `region.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Ward:
    """A ward and whom it treats.

    Parameters
    ----------
    name : str
        Name of the ward.
    age, spread : float
        Age at which it treats most, and the standard deviation around it, in years.
    weight : float
        Relative number of admissions at that age.
    cost : float
        Median cost of an admission.
    diagnoses : list of str
        From the most frequent to the rarest.
    only : str, optional
        The one sex it treats.
    """

    name: str
    age: float
    spread: float
    weight: float
    cost: float
    diagnoses: list[str]
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """Invented names: every start with every end."""

    starts: list[str]
    ends: list[str]

    def all(self) -> list[str]:
        """Return every name once."""
        return [start + end for start in self.starts for end in self.ends]


@dataclass(frozen=True, slots=True)
class Region:
    """Everything the generator draws from.

    Parameters
    ----------
    first_names : dict
        By sex, 'F' and 'M'.
    last_names : Names
        Family names.
    zip_codes : list of str
        From the largest town to the smallest village.
    sexes, ethnicities : dict
        Shares in the whole region; they sum to 1.
    ages : list of [from, to, weight]
        Bands of age in years, with a weight per year of age.
    wards : tuple of Ward
        All wards.
    diagnosis_sex : dict
        The one sex of a diagnosis that only one has.
    """

    first_names: dict[str, Names]
    last_names: Names
    zip_codes: list[str]
    sexes: dict[str, float]
    ethnicities: dict[str, float]
    ages: list[list[float]]
    wards: tuple[Ward, ...]
    diagnosis_sex: dict[str, str]


@cache
def region() -> Region:
    """Return the region."""
    text = resources.files("kanon_pg.admin.demo").joinpath("region.toml").read_text(encoding="utf-8")
    data: dict[str, Any] = tomllib.loads(text)
    return Region(
        first_names={sex: Names(**names) for sex, names in data["first_names"].items()},
        last_names=Names(**data["last_names"]),
        **data["people"],
        wards=tuple(Ward(**ward) for ward in data["wards"]),
        diagnosis_sex=data["only"],
    )
