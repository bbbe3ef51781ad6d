-- Gives the materialized view behind a release the name that every publication's has.
ALTER MATERIALIZED VIEW {{ storage }} RENAME TO {{ name }}
