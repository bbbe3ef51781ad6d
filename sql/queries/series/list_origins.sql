-- Origins of which enough people wait. Of each departure that some return from, those who stay away
-- must be nobody or k people, too.
SELECT waits.origin, waits.returns
FROM (
    SELECT origin, returns, count(DISTINCT person) AS people
    FROM {{ pending }}
    WHERE origin IS NOT NULL
    GROUP BY origin, returns
) AS waits
WHERE waits.people >= {{ k }}
    AND CASE waits.returns
        WHEN 'row' THEN (
            SELECT count(*) = 0 OR count(DISTINCT d.person) >= {{ k }}
            FROM {{ departed }} AS d
            WHERE pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1) = waits.origin
                AND NOT EXISTS (SELECT FROM {{ pending }} AS p WHERE p.row_id = d.row_id AND p.origin = waits.origin)
        )
        WHEN 'person' THEN NOT EXISTS (
            SELECT
            FROM {{ departed }} AS d
            WHERE (d.cohort, d.version, d.since) IN (
                    SELECT e.cohort, e.version, e.since
                    FROM {{ departed }} AS e
                    INNER JOIN {{ pending }} AS p ON p.person = e.person AND p.origin = waits.origin
                )
                AND NOT EXISTS (SELECT FROM {{ pending }} AS p WHERE p.person = d.person AND p.origin = waits.origin)
            GROUP BY d.cohort, d.version, d.since
            HAVING count(DISTINCT d.person) BETWEEN 1 AND {{ k }} - 1
        )
        ELSE true
    END
ORDER BY waits.origin = 0 DESC, waits.origin
