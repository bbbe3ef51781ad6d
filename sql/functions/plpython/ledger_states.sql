-- Whether the ledgers of queries can be used, for curators. A function, not a view: it reads files.
CREATE OR REPLACE FUNCTION kanon.ledger_states()
RETURNS TABLE (relation regclass, ok boolean, problem text, remedy text, used integer)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.ledger_states()
$function$;
ALTER FUNCTION kanon.ledger_states OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.ledger_states FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.ledger_states TO kanon_curator;
COMMENT ON FUNCTION kanon.ledger_states IS
'Whether the ledger of queries about each protected table can be used; what is wrong and what to do; called by the view of the same name.
Example: SELECT * FROM kanon.ledger_states() WHERE NOT ok;';
