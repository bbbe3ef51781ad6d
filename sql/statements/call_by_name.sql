-- Calls a function in the server that takes the name of a release, hierarchy or table and returns nothing.
-- $1 text
SELECT {{ function }}($1::text)::text AS done
