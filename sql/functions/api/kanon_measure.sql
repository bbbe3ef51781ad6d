-- Measures a table or view.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_measure(
    relation regclass,
    quasi_identifiers name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL
)
RETURNS kanon.measures
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN kanon.measure(relation, quasi_identifiers, sensitive);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_measure OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_measure FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_measure IS
'Measures how anonymous a table or view is. It shows k, l, p, t and related figures, risks and information loss.
Arguments:
relation: Any table, view or release that you may read.
quasi_identifiers: In place of the declared ones.
sensitive: In place of the declared ones.
Example: SELECT * FROM kanon_measure(''safe.patients'');';
