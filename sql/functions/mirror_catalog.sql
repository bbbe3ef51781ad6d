-- Makes a view of a catalog with the columns that this server's version has. A mask stands for a column; that
-- of the name * stands for every column without one, whatever columns the version has.
CREATE OR REPLACE FUNCTION kanon.mirror_catalog(catalog name, shown text, masks jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    columns text;
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format(
            '%s AS %I',
            coalesce(
                mirror_catalog.masks ->> a.attname::text,
                'CAST(' || (mirror_catalog.masks ->> '*') || ' AS '
                || pg_catalog.format_type(a.atttypid, a.atttypmod) || ')', -- NULL without such a mask
                pg_catalog.format('c.%I', a.attname)
            ),
            a.attname
        ),
        ', ' ORDER BY a.attnum
    ) INTO columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = pg_catalog.format('pg_catalog.%I', mirror_catalog.catalog)::regclass
        AND a.attnum > 0 AND NOT a.attisdropped;
    -- another version of the server may have other columns, which OR REPLACE cannot change
    EXECUTE pg_catalog.format('DROP VIEW IF EXISTS kanon_catalog.%I', mirror_catalog.catalog);
    -- The planner knows no statistics of views with a barrier: joins over types and schemas seemed to have one
    -- row, and were nested so that each row computed a view anew.
    EXECUTE pg_catalog.format(
        'CREATE VIEW kanon_catalog.%1$I WITH (security_barrier) AS '
        'WITH shown AS %4$s MATERIALIZED (SELECT %2$s FROM pg_catalog.%1$I AS c %3$s) SELECT * FROM shown',
        mirror_catalog.catalog, columns, mirror_catalog.shown,
        CASE WHEN mirror_catalog.catalog IN ('pg_namespace', 'pg_type') THEN '' ELSE 'NOT' END
    );
    EXECUTE pg_catalog.format('ALTER VIEW kanon_catalog.%I OWNER TO kanon_owner', mirror_catalog.catalog);
    EXECUTE pg_catalog.format('REVOKE ALL ON TABLE kanon_catalog.%I FROM PUBLIC', mirror_catalog.catalog);
    EXECUTE pg_catalog.format('GRANT SELECT ON TABLE kanon_catalog.%I TO kanon_analyst', mirror_catalog.catalog);
    EXECUTE pg_catalog.format(
        'COMMENT ON VIEW kanon_catalog.%1$I IS ''Stands for pg_catalog.%1$s where tools ask through the gateway.''',
        mirror_catalog.catalog
    );
END
$function$;
ALTER FUNCTION kanon.mirror_catalog OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.mirror_catalog FROM PUBLIC;
COMMENT ON FUNCTION kanon.mirror_catalog IS
'Makes a view in kanon_catalog with the columns of a catalog, less what is not shown; called by the installer.';
