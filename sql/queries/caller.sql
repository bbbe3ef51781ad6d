-- Who asks: the role of SET ROLE if any, else the login; the same inside a definer function.
SELECT coalesce(
    nullif(pg_catalog.current_setting('role', true), 'none'),
    SESSION_USER::text
) AS role
