-- The schemas that the session tries for names without one.
SELECT pg_catalog.current_schemas(false)::text[] AS path, SESSION_USER::text AS login
