CREATE OR REPLACE FUNCTION {{ api }}.kanon_protect({{ protect.parameters }}) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("protect") %}
    PERFORM kanon.grant_read(relation);
    PERFORM kanon.grant_read(relation, true);
    PERFORM kanon.protect({{ protect.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_protect IS 'Lets analysts run queries on a table with kanon_query. At least k people stand behind every part of an answer.
Arguments:
{{ protect.help }}
Example: SELECT kanon_protect(''patients'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_protect TO kanon_curator;
