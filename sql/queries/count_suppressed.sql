-- Suppressed cells of a release, as its readers see them.
SELECT coalesce(sum(pg_catalog.cardinality(kanon_suppressed)), 0)::bigint AS cells FROM {{ view }}
