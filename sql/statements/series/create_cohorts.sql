-- The cohorts of a release over time: rows that entered together in one class, and stay as they are.
CREATE TABLE {{ cohorts }} (
    cohort bigint PRIMARY KEY,
    entered bigint NOT NULL,
    rows bigint NOT NULL,
    people bigint NOT NULL,
    is_shown boolean NOT NULL DEFAULT true
)
