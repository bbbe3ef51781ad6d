-- The owner role's part of kanon.restart_ledger.
CREATE OR REPLACE FUNCTION kanon.begin_ledger(relation regclass)
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
return plpython.queries.restart_ledger(*args)
$function$;
ALTER FUNCTION kanon.begin_ledger OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.begin_ledger FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.begin_ledger TO kanon_curator;
COMMENT ON FUNCTION kanon.begin_ledger IS
'Begins a new ledger of queries; called by kanon.restart_ledger.';
