-- Rows that left a release over time. Those of one cohort, version and history since then left together.
CREATE TABLE {{ departed }} (
    row_id bigint PRIMARY KEY,
    person bigint,
    cohort bigint NOT NULL,
    version bigint NOT NULL,
    since bigint[] NOT NULL DEFAULT '{}'
)
