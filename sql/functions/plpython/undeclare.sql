-- The owner role's part of kanon_undeclare.
CREATE OR REPLACE FUNCTION kanon.undeclare(relation regclass)
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
return plpython.releases.undeclare(*args)
$function$;
ALTER FUNCTION kanon.undeclare OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.undeclare FROM PUBLIC;
COMMENT ON FUNCTION kanon.undeclare IS
'Forgets the roles of a table''s columns; called by kanon_undeclare.';
GRANT EXECUTE ON FUNCTION kanon.undeclare TO kanon_curator;
