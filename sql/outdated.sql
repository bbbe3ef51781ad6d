-- Refuses if something uses one of the functions that sql/schema/earlier.sql had to keep, and the scripts made one
-- with another signature beside it: a call that leaves out arguments would be ambiguous.
DO $outdated$
DECLARE
    one text;
    found text;
    users text[] := '{}';
    own CONSTANT text[] := ARRAY(
        SELECT present.function
        FROM (
{% include "own_functions" %}
        ) AS present
    );
BEGIN
    FOR one IN
        SELECT kept.function
        FROM pg_catalog.json_array_elements_text(pg_catalog.current_setting('kanon.kept_functions')::json) AS kept (function)
        WHERE (
            SELECT count(*)
            FROM pg_catalog.unnest(own) AS present (function)
            WHERE pg_catalog.regexp_replace(present.function, E'\\([^(]*$', '')
                = pg_catalog.regexp_replace(kept.function, E'\\([^(]*$', '')
        ) > 1
    LOOP
        FOR found IN EXECUTE $users$
{% include "function_users" %}
        $users$ USING one LOOP
            users := users || found;
        END LOOP;
    END LOOP;
    IF users <> '{}' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = pg_catalog.format('kanon: Objects in database %s use functions of kanon whose arguments have changed; nothing was changed.', pg_catalog.current_database()),
            DETAIL = 'They are: ' || pg_catalog.array_to_string(users, ', ') || '.',
            HINT = 'Drop these objects, install again, then create them anew.';
    END IF;
END
$outdated$;
