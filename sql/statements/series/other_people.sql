-- Members whose row is another person's than when they entered: how many, said once.
SELECT count(*) AS rows
FROM {{ changes }} AS g
INNER JOIN {{ members }} AS m ON m.row_id = g.kanon_member
WHERE g.kanon_row IS NOT NULL AND g.kanon_who IS DISTINCT FROM m.person AND m.left_in IS NULL
