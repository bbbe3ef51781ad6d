-- Drops a view that kanon_pg made.
DROP VIEW IF EXISTS {{ view }}
