-- Computes a suppression curve with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.curve(
    relation regclass,
    ks integer[],
    quasi_identifiers name[],
    patterns jsonb,
    method text,
    time_limit_seconds double precision,
    seed integer
)
RETURNS SETOF kanon.curve_point
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.curve(*args)
$function$;
ALTER FUNCTION kanon.curve OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.curve FROM PUBLIC;
COMMENT ON FUNCTION kanon.curve IS
'Shows what each of several k would cost; called by kanon_curve.';
