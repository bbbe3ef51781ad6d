CREATE OR REPLACE FUNCTION {{ api }}.kanon_declare({{ declare.parameters }}) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("declare") %}
    PERFORM kanon.grant_read(relation);
    PERFORM kanon.declare({{ declare.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_declare IS 'Records which roles the columns of a table play. It creates a view of the table''s row types in schema kanon. A column that is not mentioned is withheld.
Arguments:
{{ declare.help }}
Example: SELECT kanon_declare(''patients'', identifiers => ''{name,ssn}'', quasi_identifiers => ''{zip,sex,birth_date}'', sensitive => ''{diagnosis}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_declare TO kanon_curator;
