-- Drops a view of this package; nothing if there is none.
DROP VIEW IF EXISTS {{ view }}
