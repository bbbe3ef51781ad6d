-- Drops a table that kanon_pg made.
DROP TABLE IF EXISTS {{ table }}
