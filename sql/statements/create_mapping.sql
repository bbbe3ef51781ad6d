-- The table that says which columns to suppress for which row type, and what proves the lower bound: the price
-- of each of its rows in millionths of a cost unit, NULL if the bound has another proof.
CREATE TABLE {{ mapping }} (row_type bigint NOT NULL, pattern bigint NOT NULL, price bigint)
