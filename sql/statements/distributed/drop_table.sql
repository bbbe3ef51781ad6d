-- Drops a table on all nodes that have it.
DROP TABLE IF EXISTS {{ table }}
