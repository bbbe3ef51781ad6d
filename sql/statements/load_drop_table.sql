-- Drops a table nothing depends on.
DROP TABLE {{ table }}
