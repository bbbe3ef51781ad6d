-- Drops the view that analysts read.
DROP VIEW {{ view }}
