-- Records the roles of columns.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_declare(
    relation regclass,
    identifiers name[] DEFAULT '{}',
    quasi_identifiers name[] DEFAULT '{}',
    sensitive name[] DEFAULT '{}',
    insensitive name[] DEFAULT '{}',
    entity name DEFAULT NULL,
    weights jsonb DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('declare');
    PERFORM kanon.lend(relation);
    PERFORM kanon.declare(relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) IS
'Records which roles the columns of a table play, and creates a view of its row types in schema kanon.
Example: SELECT kanon_declare(''patients'', identifiers => ''{name,ssn}'', quasi_identifiers => ''{zip,sex,birth_date}'', sensitive => ''{diagnosis}'');';
