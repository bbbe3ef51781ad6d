-- Fills the table of a generalized column from its hierarchy. Runs as one block, because PostgreSQL's own messages
-- about texts that are no values of a type quote them.
DO {{ body }}
