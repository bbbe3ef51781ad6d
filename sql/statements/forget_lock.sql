-- Forgets the name of a release that is dropped; who waits for the name begins anew.
-- $1 text
DELETE FROM kanon.release_lock WHERE name = $1::text
