-- Stores the values of a hierarchy: the values, and per value its nodes as the text of an array.
-- $1 text
-- $2 integer
-- $3 text[]
-- $4 text[]
INSERT INTO kanon.hierarchy_value (hierarchy, version, value, nodes)
SELECT $1, $2, u.value, u.nodes::text[]
FROM ROWS FROM (pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) AS u (value, nodes)
