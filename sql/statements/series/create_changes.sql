-- Rows of the base relation that are no members, and members whose row is gone, was changed, or is back.
CREATE TABLE {{ changes }} AS
SELECT
    c.*,
    m.row_id AS kanon_member,
    (c.kanon_fingerprint = m.fingerprint AND NOT m.erased) AS kanon_same
FROM {{ current }}() AS c
FULL JOIN {{ members }} AS m ON m.row_id = c.kanon_row
WHERE m.row_id IS NULL
    OR c.kanon_row IS NULL
    OR c.kanon_fingerprint <> m.fingerprint
    OR m.left_in IS NOT NULL
