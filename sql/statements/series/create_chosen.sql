-- How many rows of which row types were chosen to wait.
CREATE TABLE {{ chosen }} (row_type bigint NOT NULL, n bigint NOT NULL)
