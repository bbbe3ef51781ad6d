-- Drops the function through which the view of a release reads.
DROP FUNCTION IF EXISTS {{ reader }}
