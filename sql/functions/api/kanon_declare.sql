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
ALTER FUNCTION {{ api }}.kanon_declare OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_declare FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_declare IS
'Records which roles the columns of a table play. It creates a view of the table''s row types in schema kanon. A column that is not mentioned is withheld.
Arguments:
relation: Table or view, as SQL writes it.
identifiers: Name a person; never published.
quasi_identifiers: Can be linked with other sources.
sensitive: Must not be learned about a person; published unchanged.
insensitive: Tell nothing about a person; published unchanged.
entity: Names the person, where a person may have several rows.
weights: Object: cost of a suppressed cell per column, 1 where not mentioned.
Example: SELECT kanon_declare(''patients'', identifiers => ''{name,ssn}'', quasi_identifiers => ''{zip,sex,birth_date}'', sensitive => ''{diagnosis}'');';
