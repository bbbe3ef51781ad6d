-- The values of a version of a hierarchy with their nodes from level 1.
-- $1 text
-- $2 integer
SELECT value, nodes FROM kanon.hierarchy_value WHERE hierarchy = $1 AND version = $2 ORDER BY value
