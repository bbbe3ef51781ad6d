-- The functions of an installation that come and go with PL/Python, those that use others first. (The other
-- functions are used by views; they are replaced in place.)
-- $1 text
SELECT p.oid::regprocedure::text AS function, (n.nspname = 'kanon') AS inner
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE (n.nspname = 'kanon' AND l.lanname = 'plpython3u')
    OR (n.nspname = $1 AND pg_catalog.starts_with(p.proname, 'kanon_')
        AND pg_catalog.pg_get_userbyid(p.proowner) = 'kanon_owner')
ORDER BY 2, 1
