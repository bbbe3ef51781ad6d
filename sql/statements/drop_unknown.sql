-- Drops the view that counts unknown values of a release.
DROP VIEW IF EXISTS {{ view }}
