-- Drops an earlier version's functions, so that none with another signature stays behind. A function that objects
-- of users depend on stays, to be replaced in place; sql/outdated.sql looks at those. The views of functions that
-- come and go with PL/Python go first.
DO $earlier$
DECLARE
    one text;
    kept text[] := '{}';
    own CONSTANT text[] := ARRAY(
        SELECT earlier.function
        FROM (
{% include "own_functions" %}
        ) AS earlier
    );
BEGIN
    FOREACH one IN ARRAY ARRAY['kanon.query_log', 'kanon.record_states', 'kanon.accounts'] LOOP
        BEGIN
            EXECUTE pg_catalog.format('DROP VIEW IF EXISTS %s', one);
        EXCEPTION
            WHEN invalid_schema_name THEN NULL;
            WHEN dependent_objects_still_exist THEN NULL;
        END;
    END LOOP;
    FOREACH one IN ARRAY own LOOP
        BEGIN
            EXECUTE pg_catalog.format('DROP FUNCTION %s', one);
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                kept := kept || one;
        END;
    END LOOP;
    PERFORM pg_catalog.set_config('kanon.kept_functions', pg_catalog.array_to_json(kept)::text, true);
END
$earlier$;
