CREATE OR REPLACE FUNCTION {{ api }}.kanon_is_anonymous({{ is_anonymous.parameters }}) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN kanon.is_anonymous({{ is_anonymous.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_is_anonymous IS 'Tests whether at least k people share each combination of values. Combinations of the quasi-identifiers, or of the given columns.
Arguments:
{{ is_anonymous.help }}
Example: SELECT kanon_is_anonymous(''safe.patients'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_is_anonymous TO kanon_analyst;
