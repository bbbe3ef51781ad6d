-- Groups the values of a column without order, with the caller's own rights; kanon_pg/grouping/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.groups(
{{ groups.inner_parameters }}
)
RETURNS SETOF kanon.value_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.groups(*args)
$function$;
ALTER FUNCTION kanon.groups OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.groups FROM PUBLIC;
COMMENT ON FUNCTION kanon.groups IS
'Groups the values of a column without order; called by kanon_groups.';
GRANT EXECUTE ON FUNCTION kanon.groups TO kanon_analyst;
