-- Rows of the base relation that wait: since which version, and with whom they may enter. Origin 0 is for those
-- who were never there, NULL for those who must wait until others have left; `returns` says what came back.
CREATE TABLE {{ pending }} (
    row_id bigint PRIMARY KEY,
    person bigint,
    since bigint NOT NULL,
    origin bigint,
    returns text
)
