"""The invented region of the demo: its names, zip codes, wards and diagnoses.

Nothing here is taken from a list of real people or places. Zip codes start with 001 to 004, which no
post office uses; numbers that look like social security numbers start with 9, which none ever did.
"""

from __future__ import annotations

from dataclasses import dataclass

FEMALE_STARTS = ("Al", "Bre", "Ca", "Da", "El", "Fi", "Gre", "Ha", "Il", "Jo", "Ka", "Li", "Mo", "Na", "Ro", "Su", "Te", "Va")
FEMALE_ENDS = ("da", "lia", "lira", "mara", "na", "nessa", "nia", "riel", "sa", "selle", "thea", "vina", "ya", "ynne")
MALE_STARTS = ("Ar", "Ber", "Cor", "Dar", "Ed", "Fen", "Gar", "Hal", "Ir", "Jor", "Kel", "Lor", "Mar", "Ned", "Os", "Per", "Ro", "Tor")
MALE_ENDS = ("an", "ard", "bert", "den", "ek", "ick", "in", "lan", "mon", "ner", "ric", "son", "ton", "vin")
LAST_STARTS = (
    "Ash", "Bram", "Cald", "Dun", "Elder", "Fal", "Grim", "Hather", "Iver", "Kest", "Lang", "Mar", "Nor", "Ober",
    "Pem", "Quil", "Raven", "Stan", "Thorn", "Under", "Vance", "Wester", "Yar", "Zell",
)  # fmt: skip
LAST_ENDS = (
    "bank", "bridge", "by", "combe", "croft", "dale", "den", "field", "ford", "gate", "ham", "hurst", "ley", "low",
    "mere", "more", "ridge", "sen", "shaw", "stone", "wald", "wick", "wood", "worth",
)  # fmt: skip

ZIP_CODES = (
    "00117", "00142", "00160", "00186", "00203", "00211", "00228", "00234", "00255", "00271", "00290", "00305",
    "00318", "00322", "00347", "00369", "00381", "00396", "00408", "00415", "00433", "00452", "00464", "00488",
)  # fmt: skip
"""From the largest town to the smallest village."""

ETHNICITIES = ("White", "Hispanic", "Black", "Asian", "Native", "Other")
ETHNICITY_SHARES = (0.62, 0.16, 0.12, 0.06, 0.02, 0.02)
"""Shares in the whole region; every zip code has its own mixture around them."""

SEXES = ("F", "M", "X")
SEX_SHARES = (0.515, 0.482, 0.003)

AGE_BANDS = ((0, 1, 4.0), (1, 5, 1.5), (5, 18, 0.6), (18, 40, 0.9), (40, 60, 1.1), (60, 75, 1.8), (75, 85, 2.3), (85, 101, 0.7))
"""(first age, first age beyond, weight per year of age) of the people who need a hospital."""

LOG_COST_SPREAD = 0.7
"""Standard deviation of the logarithm of the cost of one admission within a ward."""


@dataclass(frozen=True, slots=True)
class Ward:
    """A ward and whom it treats.

    Parameters
    ----------
    name : str
        Name of the ward.
    ages : tuple of (float, float)
        Age at which it treats most, and how far around that age (years, standard deviation).
    weight : float
        Relative number of admissions at that age.
    median_cost : float
        Median cost of an admission.
    diagnoses : tuple of str
        From the most frequent to the rarest.
    only : str, optional
        The one sex it treats.
    """

    name: str
    ages: tuple[float, float]
    weight: float
    median_cost: float
    diagnoses: tuple[str, ...]
    only: str | None = None


WARDS = (
    Ward("Neonatal", (0, 0.35), 60.0, 9_400, ("Newborn", "Jaundice", "Low birth weight", "Neonatal sepsis")),
    Ward("Pediatrics", (4, 6.0), 6.0, 3_100, ("Bronchiolitis", "Gastroenteritis", "Asthma", "Appendicitis", "Febrile seizure", "Leukemia")),
    Ward("Obstetrics", (29, 5.5), 7.5, 6_800, ("Delivery", "Cesarean section", "Preeclampsia", "Miscarriage"), only="F"),
    Ward("Psychiatry", (36, 15.0), 1.0, 7_900, ("Depression", "Alcohol dependence", "Schizophrenia", "Bipolar disorder", "Eating disorder")),
    Ward("Surgery", (48, 22.0), 1.9, 8_700, ("Gallstones", "Hernia", "Appendicitis", "Bowel obstruction", "Thyroid nodule")),
    Ward("Orthopedics", (62, 22.0), 1.7, 12_500, ("Hip arthrosis", "Knee arthrosis", "Hip fracture", "Wrist fracture", "Disc prolapse")),
    Ward("Internal medicine", (60, 24.0), 2.2, 5_600, ("Pneumonia", "Type 2 diabetes", "Kidney infection", "Anemia", "Hepatitis C", "HIV infection")),
    Ward("Cardiology", (72, 12.0), 2.6, 11_300, ("Heart failure", "Atrial fibrillation", "Heart attack", "Angina", "Endocarditis")),
    Ward("Oncology", (66, 13.0), 1.5, 14_800, ("Breast cancer", "Colon cancer", "Lung cancer", "Prostate cancer", "Lymphoma", "Melanoma")),
    Ward("Neurology", (69, 16.0), 1.2, 9_900, ("Stroke", "Epilepsy", "Parkinson disease", "Multiple sclerosis", "Brain tumor")),
    Ward("Geriatrics", (87, 6.0), 3.4, 7_200, ("Fall", "Dehydration", "Dementia", "Pneumonia", "Heart failure")),
)  # fmt: skip

WOMEN_ONLY = frozenset({"Breast cancer"})
MEN_ONLY = frozenset({"Prostate cancer"})
