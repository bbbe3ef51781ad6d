-- The table that says which columns to suppress for which row type.
CREATE TABLE {{ mapping }} (row_type bigint NOT NULL, pattern bigint NOT NULL)
