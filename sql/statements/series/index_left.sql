-- Those who left, who are few: found without reading all members.
CREATE INDEX ON {{ members }} (cohort) WHERE left_in IS NOT NULL
