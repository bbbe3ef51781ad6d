-- Stores a hierarchy through the server's own function.
-- $1 text
-- $2 text
-- $3 text
SELECT kanon_hierarchy_define($1::text::name, $2::text::jsonb, $3::text::jsonb) AS version
