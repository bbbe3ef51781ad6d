-- The owner role's part of kanon_anonymize; kanon_pg/release/plan/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.anonymize(
{{ anonymize.inner_parameters }}
)
RETURNS kanon.release_report
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.anonymize(*args)
$function$;
ALTER FUNCTION kanon.anonymize OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.anonymize FROM PUBLIC;
COMMENT ON FUNCTION kanon.anonymize IS
'Publishes a release; called by kanon_anonymize.';
GRANT EXECUTE ON FUNCTION kanon.anonymize TO kanon_curator;
