-- The values of a hierarchy through the server's own function.
-- $1 text
SELECT value, nodes FROM kanon_hierarchy_values($1::text)
