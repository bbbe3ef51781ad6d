-- The table that says which pattern the rows of divided row types have: those numbered first_row and above,
-- up to the next part of the row type. The secret seed settles the numbers, so that a refresh does not draw anew.
CREATE TABLE {{ parts }} (
    row_type bigint NOT NULL,
    first_row bigint NOT NULL CHECK (first_row >= 1),
    pattern bigint NOT NULL,
    seed bigint NOT NULL,
    PRIMARY KEY (row_type, first_row)
)
