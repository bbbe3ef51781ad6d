-- Records who leaves together.
-- $1 bigint
INSERT INTO {{ departed }} (row_id, person, cohort, version)
SELECT m.row_id, m.person, m.cohort, $1::bigint
FROM {{ members }} AS m
INNER JOIN {{ fates }} AS f ON f.cohort = m.cohort
WHERE f.fate = 'leaving' AND m.left_in IS NOT NULL
