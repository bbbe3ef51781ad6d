-- Lists the functions for users, or explains one, from their comments: a sentence and more, a line for each argument
-- after "Arguments:", and the example. Lines are short enough for a window of 100 columns.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_help(function text DEFAULT NULL) RETURNS TABLE (name text, meaning text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    wanted CONSTANT text := 'kanon_' || pg_catalog.regexp_replace(kanon_help.function, E'^\\s*kanon_|\\(.*$|\\s', '', 'g');
    own record;
BEGIN
    IF wanted IS NULL THEN
        RETURN QUERY
        SELECT p.proname::text, pg_catalog.substring(pg_catalog.obj_description(p.oid, 'pg_proc'), E'^.*?[.](?=\\s|$)')
        FROM pg_catalog.pg_proc AS p
        WHERE pg_catalog.starts_with(p.proname, 'kanon_')
            AND p.proowner = (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
            AND pg_catalog.obj_description(p.oid, 'pg_proc') LIKE E'%\nExample: %'
        ORDER BY p.proname;
        RETURN;
    END IF;
    SELECT pg_catalog.pg_get_function_arguments(p.oid) AS arguments,
        pg_catalog.regexp_match(
            pg_catalog.obj_description(p.oid, 'pg_proc'), E'^(.*?)(?:\\nArguments:\\n(.*?))?\\nExample: (.*)$'
        ) AS parts
    INTO own
    FROM pg_catalog.pg_proc AS p
    WHERE p.proname = wanted
        AND p.proowner = (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
        AND pg_catalog.obj_description(p.oid, 'pg_proc') LIKE E'%\nExample: %';
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA101', MESSAGE = pg_catalog.format('There is no function "%s".', wanted),
            HINT = 'SELECT * FROM kanon_help(); lists all.';
    END IF;
    RETURN QUERY
    WITH argument AS (
        SELECT a.number, pg_catalog.split_part(a.text, ' DEFAULT ', 1) AS declared,
            pg_catalog.regexp_replace(pg_catalog.split_part(a.text, ' DEFAULT ', 2), E'::[a-z ]+(\\[\\])?', '') AS preset
        FROM pg_catalog.regexp_split_to_table(own.arguments, ', ') WITH ORDINALITY AS a (text, number)
        WHERE NOT pg_catalog.starts_with(a.text, 'OUT ')
    ),
    entry AS (
        SELECT 0::bigint AS number, wanted AS name, own.parts[1] AS meaning
        UNION ALL
        SELECT argument.number, argument.declared,
            described.line[2] || CASE WHEN argument.preset IN ('', 'NULL') THEN '' ELSE ' Default: ' || argument.preset END
        FROM argument
        JOIN (
            SELECT pg_catalog.regexp_match(text, E'^(\\w+): (.*)$') AS line
            FROM pg_catalog.regexp_split_to_table(own.parts[2], E'\\n') AS text
        ) AS described ON described.line[1] = pg_catalog.regexp_replace(argument.declared, E'^"?(\\w+)"? .*$', E'\\1')
        UNION ALL
        SELECT 1000, 'Example', own.parts[3]
    )
    SELECT CASE WHEN piece.number = 1 THEN entry.name ELSE '' END, piece.words[1]
    FROM entry,
        pg_catalog.regexp_matches(entry.meaning, E'(\\S.{0,60})(?:\\s+|$)', 'g') WITH ORDINALITY AS piece (words, number)
    ORDER BY entry.number, piece.number;
END
$function$;
COMMENT ON FUNCTION {{ api }}.kanon_help IS 'Lists the functions of kanon, or explains one of them.
Arguments:
function: Which one to explain; kanon_ may be left out.
Example: SELECT * FROM kanon_help(''anonymize'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_help TO kanon_analyst;
