-- What entered waits no more.
DELETE FROM {{ pending }} AS p
WHERE EXISTS (SELECT FROM {{ members }} AS m WHERE m.row_id = p.row_id AND m.left_in IS NULL)
