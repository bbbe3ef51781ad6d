-- Removes the record of a release over time.
-- $1 text
DELETE FROM kanon.series WHERE release = $1::text
