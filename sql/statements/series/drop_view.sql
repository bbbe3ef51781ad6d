-- Drops the view of identities behind a release over time.
DROP VIEW IF EXISTS {{ view }}
