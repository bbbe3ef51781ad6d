-- The functions of an installation that come and go with PL/Python, in whichever schema, those that use others
-- first. (The other functions are used by views; they are replaced in place.)
SELECT p.oid::regprocedure::text AS function, (n.nspname = 'kanon') AS inner, (l.lanname = 'plpython3u') AS last
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE p.oid IN (
{% include "called_functions.sql" %}

    )
    OR (n.nspname = 'kanon' AND (
        l.lanname = 'plpython3u'
        -- what PL/pgSQL calls is nowhere recorded
        OR p.proname IN ('query_log', 'restart_record', 'forget_answer', 'answer_blocks')
        OR EXISTS (
            SELECT
            FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_proc AS used ON used.oid = d.refobjid
            JOIN pg_catalog.pg_language AS ul ON ul.oid = used.prolang
            WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid
                AND d.refclassid = 'pg_catalog.pg_proc'::regclass AND ul.lanname = 'plpython3u'
        )
    ))
ORDER BY 2, 3, 1
