-- Shows what each k costs, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_curve(
    relation regclass,
    ks integer[] DEFAULT '{2,3,5,10,25,50,100}',
    quasi_identifiers name[] DEFAULT NULL,
    patterns jsonb DEFAULT NULL,
    method text DEFAULT 'auto',
    time_limit interval DEFAULT '30 seconds',
    seed integer DEFAULT NULL
)
RETURNS SETOF kanon.curve_point
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.curve(relation, ks, quasi_identifiers, patterns, method,
        extract(epoch FROM time_limit)::double precision, seed);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_curve OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_curve FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_curve IS
'Shows what each of several k would cost, with proven bounds. It counts a table once and publishes nothing.
Arguments:
relation: Any table, view or release that you may read.
ks: Values of k, each at least 2.
quasi_identifiers: In place of the declared ones.
patterns: As in kanon_anonymize.
method: As in kanon_anonymize.
time_limit: For all k together: how long to search.
seed: Breaks ties at random, reproducibly.
Example: SELECT k, suppressed_share, gap, classes FROM kanon_curve(''patients'', ''{2,5,10}'');';
