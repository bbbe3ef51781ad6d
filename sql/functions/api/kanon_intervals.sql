CREATE OR REPLACE FUNCTION {{ api }}.kanon_intervals({{ intervals.parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.intervals({{ intervals.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_intervals IS 'Groups the values of an ordered column into intervals. Each is shared by at least k people, at the least cost there is.
Arguments:
{{ intervals.help }}
Example: SELECT DISTINCT label, size FROM kanon_intervals(''patients'', ''birth_date'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_intervals TO kanon_analyst;
