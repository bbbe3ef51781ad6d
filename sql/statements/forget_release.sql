-- Removes the record of a release.
-- $1 text
DELETE FROM kanon.release WHERE name = $1::text
