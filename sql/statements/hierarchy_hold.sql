-- Keeps a hierarchy from being dropped until the transaction ends: a name that is dropped and stored anew would have
-- the same versions with other values.
-- $1 text
SELECT version FROM kanon.hierarchy WHERE name = $1 FOR KEY SHARE
