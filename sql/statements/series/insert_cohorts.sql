-- Records the cohorts that entered with a version.
-- $1 bigint
-- $2 bigint
INSERT INTO {{ cohorts }} (cohort, entered, rows, people)
SELECT m.cohort, $1::bigint, count(*), count(DISTINCT m.person)
FROM {{ members }} AS m
WHERE m.cohort > $2::bigint
GROUP BY m.cohort
