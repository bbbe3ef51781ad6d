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
    SELECT
        count(*) FILTER (WHERE m.left_in IS NULL AND NOT c.is_shown) AS withheld,
        count(*) FILTER (WHERE m.left_in IS NOT NULL AND c.is_shown) AS retained
    FROM {{ members }} AS m
    INNER JOIN {{ cohorts }} AS c ON c.cohort = m.cohort
) AS m
WHERE s.release = $1::text
