-- Whether a materialized view of this name is in schema kanon.
-- $1 text
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c
    WHERE c.relname = $1::text::name AND c.relnamespace = 'kanon'::regnamespace AND c.relkind = 'm'
) AS exists
