-- The schema of the functions for users.
CREATE SCHEMA {{ api }} AUTHORIZATION kanon_owner
