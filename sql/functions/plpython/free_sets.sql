-- The owner role's part of kanon.forget_answer.
CREATE OR REPLACE FUNCTION kanon.free_sets(relation regclass, entry bigint)
RETURNS bigint
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.forget_answer(*args)
$function$;
ALTER FUNCTION kanon.free_sets OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.free_sets FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.free_sets TO kanon_curator;
COMMENT ON FUNCTION kanon.free_sets IS
'Frees the sets of an answer; called by kanon.forget_answer.';
