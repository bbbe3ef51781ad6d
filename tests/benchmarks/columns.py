"""Quasi-identifiers of the shared data files, as the papers and other tools used them."""

QI8 = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
ADULT9 = (*QI8, "salary_class")
ADULT14 = (
    "age", "workclass", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "salary_class",
)  # fmt: skip
NURSERY = ("parents", "has_nurs", "form", "children", "housing", "finance", "social", "health")
CMC = (
    "wife_age", "wife_education", "husband_education", "num_children", "wife_religion", "wife_working",
    "husband_occupation", "standard_of_living", "media_exposure", "contraceptive_method",
)  # fmt: skip
CREDIT11 = (
    "checking_status", "duration", "credit_history", "purpose", "employment", "personal_status",
    "residence_since", "age", "housing", "job", "foreign_worker",
)  # fmt: skip
CENSUS8 = (
    "age", "sex", "race", "marital_stat", "education", "country_of_birth_self", "class_of_worker",
    "major_occupation_code",
)  # fmt: skip
DIABETES = (
    "race", "gender", "age", "admission_type_id", "discharge_disposition_id", "medical_specialty",
    "payer_code",
)  # fmt: skip
