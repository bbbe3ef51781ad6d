-- Intervals as text, in the order in which their ends are given.
-- $1 text[]
-- $2 text[]
-- $3 text[]
SELECT pg_catalog.{{ range }}(one.low::{{ type }}, one.high::{{ type }}, one.bounds)::text AS label
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]))
    WITH ORDINALITY AS one (low, high, bounds, place)
ORDER BY one.place
