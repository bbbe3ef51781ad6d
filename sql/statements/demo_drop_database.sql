-- Drops the database of an earlier demo, with whoever still looks at it.
DROP DATABASE IF EXISTS {{ database }} WITH (FORCE)
