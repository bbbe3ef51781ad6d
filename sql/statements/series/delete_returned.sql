-- What came back is a member again.
DELETE FROM {{ departed }} AS d
WHERE EXISTS (SELECT FROM {{ members }} AS m WHERE m.row_id = d.row_id)
