-- What the installation in this database recorded of itself: at most one row, with the columns that its version had.
SELECT pg_catalog.to_jsonb(v)::text AS recorded FROM kanon.version AS v
