-- Gives the table of a generalized column that an earlier version made what says which values rows had: all, for all
-- it knows.
ALTER TABLE {{ table }} ADD COLUMN kanon_seen boolean NOT NULL DEFAULT true
