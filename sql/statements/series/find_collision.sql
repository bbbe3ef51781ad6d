-- Whether two rows have one identity, told by members that do not have the contents of a row with their identity.
SELECT EXISTS (
    SELECT
    FROM {{ current }}() AS c
    WHERE c.kanon_row IN (SELECT g.kanon_row FROM {{ changes }} AS g WHERE NOT g.kanon_same)
    GROUP BY c.kanon_row
    HAVING count(*) > 1
) AS found
