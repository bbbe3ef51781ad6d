-- Names of the relations that queries may be about.
SELECT pg_catalog.array_agg(p.name::text) AS names FROM kanon.protected_names AS p
