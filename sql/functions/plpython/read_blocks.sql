-- Answers the blocks of a query, and returns what remains to be run with the caller's own rights: the rest, whose parameter $1
-- is the blocks' rows.
CREATE OR REPLACE FUNCTION kanon.read_blocks(
    sql text, parameters text[], schemas name[], OUT rest text, OUT rows jsonb, OUT notices text[]
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.read_blocks(*args)
$function$;
ALTER FUNCTION kanon.read_blocks OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.read_blocks FROM PUBLIC;
COMMENT ON FUNCTION kanon.read_blocks IS
'Answers the parts of a query that are about people; called by kanon.answer_blocks.';
GRANT EXECUTE ON FUNCTION kanon.read_blocks TO kanon_analyst;
