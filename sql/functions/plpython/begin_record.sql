-- The owner role's part of kanon.restart_record.
CREATE OR REPLACE FUNCTION kanon.begin_record(relation regclass)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.restart_record(*args)
$function$;
ALTER FUNCTION kanon.begin_record OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.begin_record FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.begin_record TO kanon_curator;
COMMENT ON FUNCTION kanon.begin_record IS
'Begins a new record of answers; called by kanon.restart_record.';
