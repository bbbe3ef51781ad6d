-- Origins of which enough people wait. Of those who return, the ones that stay away must be nobody or k people too, in
-- each departure by itself. A departure that another origin has just divided is looked at with the next version.
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
        ) AND NOT EXISTS (
            SELECT
            FROM {{ pending }} AS p
            INNER JOIN {{ departed }} AS d ON d.row_id = p.row_id
            WHERE p.origin = waits.origin
                AND pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1) <> waits.origin
        )
        WHEN 'person' THEN NOT EXISTS (
            SELECT
            FROM {{ departed }} AS d
            LEFT JOIN (SELECT DISTINCT person FROM {{ pending }} AS w WHERE w.origin = waits.origin) AS p
                ON p.person = d.person
            GROUP BY d.cohort, d.version, d.since
            HAVING count(DISTINCT p.person) BETWEEN 1 AND {{ k }} - 1
                OR (
                    count(p.person) > 0
                    AND count(DISTINCT d.person) FILTER (WHERE p.person IS NULL) BETWEEN 1 AND {{ k }} - 1
                )
        )
        ELSE true
    END
ORDER BY waits.origin = 0 DESC, waits.origin
