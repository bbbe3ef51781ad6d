-- How many of the people who may enter may wait: the share of everybody without those who must wait, but at most half
-- of them. And how many rows may enter, and how many of them came just now.
SELECT
    floor(
        least(batch.people / 2, {{ share }} * (r.people + batch.people) - batch.others)
    )::bigint AS most,
    batch.entering,
    batch.coming
FROM kanon.release AS r
CROSS JOIN (
    SELECT
        count(DISTINCT p.person) FILTER (WHERE p.origin = {{ origin }}) AS people,
        count(DISTINCT p.person) FILTER (WHERE p.origin IS DISTINCT FROM {{ origin }}) AS others,
        count(*) FILTER (WHERE p.origin = {{ origin }}) AS entering,
        count(*) FILTER (WHERE p.origin = {{ origin }} AND p.since = {{ version }}) AS coming
    FROM {{ pending }} AS p
) AS batch
WHERE r.name = {{ release }}
