-- Drops an earlier version's functions, so that none with another signature stays behind. A function that objects
-- of users depend on stays, to be replaced in place; sql/outdated.sql looks at those. The views of functions that
-- come and go with PL/Python go first.
DO $earlier$
DECLARE
    one text;
    kept text[] := '{}';
    renamed text[] := '{}';
    own CONSTANT text[] := ARRAY(
        SELECT earlier.function
        FROM (
{% include "own_functions.sql" %}

        ) AS earlier
    );
BEGIN
    -- the catalogs that the gateway once showed
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname = 'kanon_catalog' AND pg_catalog.pg_get_userbyid(n.nspowner) = 'kanon_owner'
    ) THEN
        DROP SCHEMA kanon_catalog CASCADE;
        DROP VIEW IF EXISTS kanon.visible_relations;
    END IF;
    FOREACH one IN ARRAY ARRAY['kanon.query_log', 'kanon.ledger_states', 'kanon.record_states', 'kanon.accounts'] LOOP
        BEGIN
            EXECUTE pg_catalog.format('DROP VIEW IF EXISTS %s', one);
        EXCEPTION
            WHEN invalid_schema_name THEN NULL;
            WHEN dependent_objects_still_exist THEN
                renamed := renamed || ARRAY(
                    SELECT 'kanon.query_log, whose column question is called query now'
                    FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid = one::regclass AND a.attname = 'question'
                    UNION ALL
                    SELECT 'kanon.ledger_states, which is called kanon.record_states now'
                    WHERE one = 'kanon.ledger_states'
                );
        END;
    END LOOP;
    FOREACH one IN ARRAY own LOOP
        BEGIN
            EXECUTE pg_catalog.format('DROP FUNCTION %s', one);
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                kept := kept || one;
                renamed := renamed || ARRAY(
                    SELECT 'kanon.query_log, whose column question is called query now'
                    FROM pg_catalog.pg_proc AS p
                    WHERE p.oid = one::regprocedure AND p.proname = 'query_log' AND 'question' = ANY(p.proargnames)
                    UNION ALL
                    SELECT pg_catalog.format('kanon.%s, %s', earlier.name, earlier.present)
                    FROM pg_catalog.pg_proc AS p
                    INNER JOIN (
                        VALUES
                            ('ask', 'which is gone: kanon_query answers'),
                            ('query_lines', 'which is gone: kanon_query answers'),
                            ('record_query', 'which is gone: kanon_query_record answers'),
                            ('typed_statement', 'which is gone: kanon_query_record answers'),
                            ('ledger_states', 'which is called kanon.record_states now'),
                            ('restart_ledger', 'which is called kanon.restart_record now')
                    ) AS earlier (name, present) ON earlier.name = p.proname
                    WHERE p.oid = one::regprocedure
                );
        END;
    END LOOP;
    IF renamed <> '{}' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = pg_catalog.format('kanon: Objects in database %s use %s; nothing was changed.', pg_catalog.current_database(), renamed[1]),
            HINT = 'Drop these objects, install again, then create them anew.';
    END IF;
    PERFORM pg_catalog.set_config('kanon.kept_functions', pg_catalog.array_to_json(kept)::text, true);
END
$earlier$;
