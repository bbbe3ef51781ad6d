-- Drops a role that no database uses.
DROP ROLE IF EXISTS {{ role }}
