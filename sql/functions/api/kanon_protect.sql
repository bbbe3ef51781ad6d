-- Enables queries on a table.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_protect(relation regclass, k integer DEFAULT 5, options jsonb DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('protect');
    PERFORM kanon.lend(relation);
    PERFORM kanon.lend_to(relation, 'kanon_reader');
    PERFORM kanon.protect(relation, k, options);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_protect OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_protect FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_protect IS
'Lets analysts run queries on a table with kanon_query. At least k people stand behind every part of an answer.
Arguments:
relation: Table or view, as SQL writes it.
k: Fewest people behind every part of an answer, 2 to 100.
options: Object: further rules; see the how-to on answering queries.
Example: SELECT kanon_protect(''patients'', 5);';
