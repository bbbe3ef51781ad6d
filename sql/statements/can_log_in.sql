-- Whether a role may log in.
-- $1 text
SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = $1::text AND r.rolcanlogin) AS can_log_in
