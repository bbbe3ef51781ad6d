-- The search path with which a role's sessions begin, unless the server's files say otherwise.
-- $1 text
SELECT coalesce(
    (
        SELECT pg_catalog.substr(o.setting, 13)
        FROM pg_catalog.pg_db_role_setting AS s
        CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS o (setting)
        WHERE o.setting LIKE 'search_path=%'
            AND (s.setrole = 0 OR s.setrole = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = $1::text))
            AND (
                s.setdatabase = 0 OR s.setdatabase
                = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
            )
        ORDER BY s.setrole = 0, s.setdatabase = 0 LIMIT 1
    ),
    '"$user", public'
) AS path
