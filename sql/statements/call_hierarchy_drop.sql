-- Forgets a hierarchy through the server's own function.
-- $1 text
SELECT kanon_hierarchy_drop($1::text)::text AS done
