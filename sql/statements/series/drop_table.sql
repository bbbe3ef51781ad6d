-- Drops a table behind a release over time.
DROP TABLE IF EXISTS {{ table }}
