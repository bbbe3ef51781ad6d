-- Names what reading a relation would run or read with the reader's rights although others wrote it.
CREATE OR REPLACE FUNCTION kanon.foreign_code(relation regclass)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT found.name
FROM (
{% include "foreign_code.sql" %}

) AS found
$function$;
ALTER FUNCTION kanon.foreign_code OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.foreign_code FROM PUBLIC;
COMMENT ON FUNCTION kanon.foreign_code IS
'Names a function or view that would run with the reader''s rights when a relation is read, and belongs to others than superusers; NULL if there is none.';
GRANT EXECUTE ON FUNCTION kanon.foreign_code TO kanon_curator;
