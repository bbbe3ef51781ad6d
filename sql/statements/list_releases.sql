-- All releases with their certificates.
SELECT
    release, base::text AS base, k, rows, people, classes, smallest_class, suppressed_share, lower_bound, gap,
    optimal, method, changes_since, published_by::text AS published_by, published_at::text AS published_at,
    refreshed_at::text AS refreshed_at, termination
FROM kanon.releases
ORDER BY release
