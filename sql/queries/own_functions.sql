-- The functions of an installation, those that use others first.
-- $1 text
SELECT p.oid::regprocedure::text AS function, (n.nspname = 'kanon') AS inner
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE (n.nspname = 'kanon' AND p.proname <> 'boot')
    OR (n.nspname = $1 AND pg_catalog.starts_with(p.proname, 'kanon_')
        AND pg_catalog.pg_get_userbyid(p.proowner) = 'kanon_owner')
ORDER BY 2, 1
