-- The owner role's part of kanon_certificate; kanon_pg/release/certificate.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.certificate(
{{ certificate.inner_parameters }}
)
RETURNS json
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.certificate(*args)
$function$;
ALTER FUNCTION kanon.certificate OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.certificate FROM PUBLIC;
COMMENT ON FUNCTION kanon.certificate IS
'Returns the certificate of a release; called by kanon_certificate.';
GRANT EXECUTE ON FUNCTION kanon.certificate TO kanon_curator;
