-- Erases a person from a version that is remembered; their rows are only counted from now on.
-- $1 bigint
-- $2 text
-- $3 bigint
WITH erased AS (
    DELETE FROM {{ version }} WHERE person = $1::bigint RETURNING row_id
)

UPDATE kanon.remembered SET erased_rows = erased_rows + (SELECT count(*) FROM erased)
WHERE release = $2::text AND version = $3::bigint AND EXISTS (SELECT FROM erased)
