-- The parts of a name as SQL writes it: unquoted parts in lower case, quoted parts as they are.
-- $1 text
SELECT pg_catalog.parse_ident($1::text) AS parts
