CREATE OR REPLACE FUNCTION {{ api }}.kanon_groups({{ groups.parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.groups({{ groups.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_groups IS 'Groups the values of a column without order into classes. Each is shared by at least k people; a bound is proven.
Arguments:
{{ groups.help }}
Example: SELECT DISTINCT label, size, ratio FROM kanon_groups(''patients'', ''diagnosis'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_groups TO kanon_analyst;
