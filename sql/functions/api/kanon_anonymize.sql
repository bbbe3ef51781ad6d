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
ALTER FUNCTION {{ api }}.kanon_anonymize OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_anonymize FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_anonymize IS
'Publishes a k-anonymous release of a table as a view in schema safe. It reports what is proven about the release. With l, p or t the sensitive values of every class are diverse, too.
Arguments:
relation: Table or view, as SQL writes it.
k: Fewest people who share their values, at least 2.
quasi_identifiers: In place of the declared ones.
sensitive: In place of the declared ones.
method: How to solve; see the page on arguments.
l: l-diversity of the sensitive columns, at least 2.
p: Fewest different sensitive values in a class, at least 2.
t: t-closeness of the sensitive columns, from 0 to less than 1.
patterns: Which columns may be suppressed together: a list of patterns, or an object of wishes.
hierarchies: Object: column to the name of a stored hierarchy.
time_limit: How long to search for something better; what is found by then counts.
release: Name of the view, if not that of the table.
seed: Breaks ties at random, reproducibly.
options: Object: diversity, distance, classes, suppressed_rows.
Example: SELECT * FROM kanon_anonymize(''patients'', 5);';
