-- The version that a hierarchy of this name has next; the table must be locked, so that no other call takes it.
-- $1 text
SELECT coalesce(max(version), 0) + 1 AS version FROM kanon.hierarchy WHERE name = $1
