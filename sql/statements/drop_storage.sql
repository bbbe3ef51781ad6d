-- Drops the materialized view behind a release.
DROP MATERIALIZED VIEW IF EXISTS {{ storage }}
