-- How many people an earlier series and a new one tell apart together: those who share their class in both with
-- fewer than k people.
SELECT coalesce(sum(people) FILTER (WHERE people < {{ k }}), 0)::bigint AS exposed, coalesce(min(people), 0) AS smallest
FROM (
    SELECT count(DISTINCT m.person) AS people
    FROM {{ members }} AS m
    INNER JOIN {{ earlier }} AS e ON e.person = m.person
    GROUP BY m.cohort, e.cohort
) AS both_classes
