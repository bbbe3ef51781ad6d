CREATE OR REPLACE FUNCTION {{ api }}.kanon_anonymize({{ anonymize.parameters }}) RETURNS kanon.release_report
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("anonymize") %}
    PERFORM kanon.grant_read(relation);
    PERFORM kanon.grant_read_along(relation, tables, false);
    RETURN kanon.anonymize({{ anonymize.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_anonymize IS 'Publishes a k-anonymous release of a table as a view in schema safe. It reports what is proven about the release. With l, p or t the sensitive values of every class are diverse, too.
Arguments:
{{ anonymize.help }}
Example: SELECT * FROM kanon_anonymize(''patients'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_anonymize TO kanon_curator;
