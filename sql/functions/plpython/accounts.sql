-- What the accounts of people still hold for noisy answers, for curators. A function, not a view: it reads files.
CREATE OR REPLACE FUNCTION kanon.accounts()
RETURNS TABLE (
    relation text,
    login text,
    answers bigint,
    epsilon double precision,
    delta double precision,
    epsilon_spent double precision,
    epsilon_left double precision,
    delta_spent double precision,
    share_left double precision
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.accounts()
$function$;
ALTER FUNCTION kanon.accounts OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.accounts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.accounts TO kanon_curator;
COMMENT ON FUNCTION kanon.accounts IS
'What noisy answers have revealed of people, and what may still be, by login and in total; called by the view of the same name.
Example: SELECT * FROM kanon.accounts() WHERE login IS NULL;';
