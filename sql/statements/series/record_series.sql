-- Records the version of a release over time that is published, and its figures.
-- $1 text
-- $2 bigint
-- $3 bigint
UPDATE kanon.series AS s
SET
    version = $2::bigint,
    cohorts_ever = $3::bigint,
    pending_people = w.people,
    longest_wait = w.longest,
    withheld_rows = m.withheld,
    retained_rows = m.retained
FROM (
    SELECT
        count(DISTINCT person) AS people,
        coalesce($2::bigint - min(since) + 1, 0) AS longest
    FROM {{ pending }}
) AS w
CROSS JOIN (
    -- apart: each reads members only if there are such cohorts, or those who left
    SELECT
        (
            SELECT count(*)
            FROM {{ members }} AS h
            INNER JOIN {{ cohorts }} AS c ON c.cohort = h.cohort
            WHERE h.left_in IS NULL AND NOT c.is_shown
        ) AS withheld,
        (
            SELECT count(*)
            FROM {{ members }} AS h
            INNER JOIN {{ cohorts }} AS c ON c.cohort = h.cohort
            WHERE h.left_in IS NOT NULL AND c.is_shown
        ) AS retained
) AS m
WHERE s.release = $1::text
