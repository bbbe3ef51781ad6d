-- Drops the mapping behind a release.
DROP TABLE IF EXISTS {{ mapping }}
