-- Forgets that rows of a person wait.
-- $1 bigint
DELETE FROM {{ pending }} WHERE person = $1::bigint
