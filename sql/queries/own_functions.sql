-- The functions of an installation, those that use others first.
-- $1 text
SELECT p.oid::regprocedure::text AS function, (n.nspname = 'kanon') AS inner
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
-- Those in other languages are used by views and keep their signature.
WHERE (n.nspname = 'kanon' AND p.proname <> 'boot' AND p.prolang = (
        SELECT l.oid FROM pg_catalog.pg_language AS l WHERE l.lanname = 'plpython3u'
    ))
    OR (n.nspname = $1 AND pg_catalog.starts_with(p.proname, 'kanon_')
        AND pg_catalog.pg_get_userbyid(p.proowner) = 'kanon_owner')
ORDER BY 2, 1
