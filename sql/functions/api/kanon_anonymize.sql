-- Publishes a release.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_anonymize(
    relation regclass,
    k integer,
    quasi_identifiers name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL,
    method text DEFAULT 'auto',
    l integer DEFAULT NULL,
    p integer DEFAULT NULL,
    t double precision DEFAULT NULL,
    patterns jsonb DEFAULT NULL,
    hierarchies jsonb DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds',
    release name DEFAULT NULL,
    seed integer DEFAULT NULL,
    options jsonb DEFAULT NULL
)
RETURNS kanon.release_report
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('anonymize');
    PERFORM kanon.lend(relation);
    RETURN kanon.anonymize(relation, k, quasi_identifiers, sensitive, method, l, p, t, patterns, hierarchies,
        extract(epoch FROM time_limit)::double precision, release, seed, options);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) IS
'Publishes a k-anonymous release of a table as a view in schema safe and reports what is proven about it. With l, p or t the sensitive values of every class are diverse, too.
Example: SELECT * FROM kanon_anonymize(''patients'', 5);';
