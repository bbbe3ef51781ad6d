-- Forgets all versions of a hierarchy; their values go with them.
-- $1 text
DELETE FROM kanon.hierarchy WHERE name = $1
