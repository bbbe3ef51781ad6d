-- Drops the table of a generalized column behind a release.
DROP TABLE IF EXISTS {{ table }}
