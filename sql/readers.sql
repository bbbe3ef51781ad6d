-- The readers that an installation makes; and nothing of earlier versions goes on reading base relations with other rights. What
-- their releases show stays as it is, in a table, until it is published anew; their views over base relations are empty
-- until the relation is declared anew.
SELECT kanon.add_readers({{ readers }});

DROP FUNCTION IF EXISTS kanon.small_classes(regclass, name[], name, integer);

DO $tighten$
DECLARE
    one record;
    kept text;
    shown regclass;
    -- a script of an extension replaces nothing but what belongs to it, and everything that it makes does
    in_script CONSTANT boolean := EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'kanon_pg');
    on_citus CONSTANT boolean := EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus');
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) THEN
        RETURN;
    END IF;
    -- views and stored rows of earlier versions, which read what is not kanon's
    FOR one IN
        SELECT DISTINCT c.oid, c.relkind, c.relname
        FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = c.oid
        INNER JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass
        INNER JOIN pg_catalog.pg_class AS b ON b.oid = d.refobjid
        INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = b.relnamespace
        WHERE c.relnamespace = 'kanon'::regnamespace AND c.relkind IN ('v', 'm')
            AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
            AND n.nspname NOT IN ('kanon', 'kanon_bases', 'kanon_shards', 'safe', 'pg_catalog')
            -- the columns of a key are asked of the catalog, and never read
            AND NOT EXISTS (SELECT FROM kanon.series AS s WHERE s.key_view = c.oid)
        ORDER BY c.relkind
    LOOP
        IF one.relkind = 'v' THEN
            IF in_script THEN
                EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg ADD VIEW kanon.%I', one.relname);
            END IF;
            EXECUTE (
                SELECT pg_catalog.format(
                    'CREATE OR REPLACE VIEW kanon.%I AS SELECT %s WHERE false', one.relname,
                    pg_catalog.string_agg(
                        pg_catalog.format('NULL::%s AS %I', pg_catalog.format_type(a.atttypid, a.atttypmod), a.attname),
                        ', ' ORDER BY a.attnum
                    )
                )
                FROM pg_catalog.pg_attribute AS a
                WHERE a.attrelid = one.oid AND a.attnum > 0 AND NOT a.attisdropped
            );
            IF in_script THEN
                EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg DROP VIEW kanon.%I', one.relname);
            END IF;
            UPDATE kanon.declaration AS d SET row_types_view = NULL WHERE d.row_types_view = one.relname;
        ELSE
            kept := pg_catalog.left(one.relname, 55) || '_kept';
            EXECUTE pg_catalog.format('CREATE TABLE kanon.%I AS TABLE kanon.%I', kept, one.relname);
            EXECUTE pg_catalog.format('ALTER TABLE kanon.%I OWNER TO kanon_owner', kept);
            IF in_script THEN
                EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg DROP TABLE kanon.%I', kept);
            END IF;
            FOR shown IN
                SELECT w.ev_class::regclass
                FROM pg_catalog.pg_rewrite AS w
                INNER JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = one.oid
                WHERE w.ev_class <> one.oid
                GROUP BY w.ev_class
            LOOP
                -- Reading a text anew makes values of the constants in it, which runs code of whoever made their types.
                IF EXISTS (
                    SELECT
                    FROM pg_catalog.pg_rewrite AS w
                    INNER JOIN pg_catalog.pg_depend AS d
                        ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                    WHERE w.ev_class = shown
                        AND NOT (d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid IN (one.oid, shown))
                ) THEN
                    RAISE EXCEPTION USING
                        ERRCODE = 'KA500',
                        MESSAGE = pg_catalog.format('kanon: View %s reads what is stored of a release, and more than that.', shown),
                        HINT = 'Drop it, install again, then create it anew over the view in schema safe.';
                END IF;
                IF in_script THEN
                    EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg ADD VIEW %s', shown);
                END IF;
                EXECUTE pg_catalog.format('CREATE OR REPLACE VIEW %s AS %s', shown, pg_catalog.replace(
                    pg_catalog.pg_get_viewdef(shown),
                    pg_catalog.format('FROM kanon.%I', one.relname),
                    pg_catalog.format('FROM kanon.%I %I', kept, one.relname)
                ));
                IF in_script THEN
                    EXECUTE pg_catalog.format('ALTER EXTENSION kanon_pg DROP VIEW %s', shown);
                END IF;
            END LOOP;
            UPDATE kanon.release AS r SET storage = pg_catalog.format('kanon.%I', kept)::regclass
            WHERE r.storage = pg_catalog.format('kanon.%I', one.relname)::regclass;
            EXECUTE pg_catalog.format('DROP MATERIALIZED VIEW kanon.%I', one.relname);
        END IF;
    END LOOP;
    -- Citus, where it is, keeps the rights of the nodes the same
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true) WHERE on_citus;
    FOR one IN
        SELECT c.oid::regclass AS relation, a.grantee::regrole AS holder, a.grantor::regrole AS giver
        FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
        WHERE n.nspname NOT IN ('kanon', 'kanon_bases', 'kanon_shards', 'safe')
            AND a.privilege_type = 'SELECT'
            AND ((a.grantee = 'kanon_owner'::regrole AND NOT kanon.nodes_store(c.oid)) OR (a.grantee = 'kanon_reader'::regrole AND NOT o.rolsuper))
    LOOP
        EXECUTE pg_catalog.format('SET LOCAL ROLE %s', one.giver);
        EXECUTE pg_catalog.format('REVOKE SELECT ON %s FROM %s', one.relation, one.holder);
        RESET ROLE;
    END LOOP;
    PERFORM kanon.grant_read(known.relation)
    FROM (
        SELECT d.relation FROM kanon.declaration AS d UNION SELECT r.relation FROM kanon.release AS r
        UNION SELECT l.child FROM kanon.link AS l
    ) AS known
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = known.relation;
    PERFORM kanon.grant_read(p.relation, true)
    FROM kanon.protection AS p INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.relation;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true) WHERE on_citus;
END
$tighten$
