-- Makes members of all objects of kanon that are none yet, of whichever version. What users' calls made (storage of
-- releases, views in schema safe) is none and stays none: pg_dump has to carry it.
DO $adopt$
DECLARE
    one record;
    recorded text;
BEGIN
    -- as rows of the table may be missing, see kanon_pg.admin.install.facts
    SELECT pg_catalog.substring(v.version, E'^\\d+(?:\\.\\d+)+') INTO recorded FROM kanon.version AS v;
    IF pg_catalog.string_to_array(recorded, '.')::integer[] > pg_catalog.string_to_array({{ version }}, '.')::integer[] THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA501',
            MESSAGE = pg_catalog.format('kanon: The database has kanon %s, which is later than this extension (%s).', recorded, {{ version }}),
            HINT = 'Install the files of the later version: kanon extension install.';
    END IF;
    FOR one IN
        SELECT ours.kind, ours.name
        FROM (
            SELECT 'pg_catalog.pg_namespace'::regclass AS classid, n.oid, 'SCHEMA' AS kind,
                pg_catalog.quote_ident(n.nspname) AS name
            FROM pg_catalog.pg_namespace AS n
            WHERE n.nspname IN ('kanon', 'kanon_bases', 'kanon_shown', 'safe')
            UNION ALL
            SELECT 'pg_catalog.pg_type'::regclass, c.reltype, 'TYPE', c.oid::regclass::text
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'kanon' AND c.relkind = 'c'
            UNION ALL
            SELECT 'pg_catalog.pg_class'::regclass, c.oid,
                CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                c.oid::regclass::text
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE (n.nspname = 'kanon' AND c.relname = ANY(ARRAY[{% for name in own %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}]))
            UNION ALL
            SELECT 'pg_catalog.pg_proc'::regclass, p.oid, 'FUNCTION', p.oid::regprocedure::text
            FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
            WHERE n.nspname = 'kanon'
                OR p.oid IN (
{% include "called_functions" %}
)
        ) AS ours
        WHERE NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'kanon_pg'
            WHERE d.deptype = 'e' AND d.refclassid = 'pg_catalog.pg_extension'::regclass
                AND d.classid = ours.classid AND d.objid = ours.oid
        )
    LOOP
        EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg ADD %s %s', one.kind, one.name);
    END LOOP;
END
$adopt$;
