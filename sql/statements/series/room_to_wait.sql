-- How many of the people who may enter may wait: the share of everybody without those who must wait, but at most half
-- of them.
SELECT
    floor(
        least(batch.people / 2, {{ share }} * (r.people + batch.people) - batch.others)
    )::bigint AS most
FROM kanon.release AS r
CROSS JOIN (
    SELECT
        count(DISTINCT p.person) FILTER (WHERE p.origin = {{ origin }}) AS people,
        count(DISTINCT p.person) FILTER (WHERE p.origin IS DISTINCT FROM {{ origin }}) AS others
    FROM {{ pending }} AS p
) AS batch
WHERE r.name = {{ release }}
